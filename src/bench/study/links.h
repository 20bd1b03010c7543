/* Rates of links that studies share: what a plain TCP stream gets through Ethernet of that
 * name, 1448 bytes of payload in 1538 on the wire. */
#pragma once
#include <stdint.h>

#define LINK_100M_NAME "100 Mbit/s"
#define LINK_100M      (UINT64_C(12500000) * 1448 / 1538)
#define LINK_1G_NAME   "1 Gbit/s"
#define LINK_1G        (UINT64_C(125000000) * 1448 / 1538)
