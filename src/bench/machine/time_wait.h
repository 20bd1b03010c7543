/* Connections that a server has closed hold its ports for a minute more (TIME-WAIT). Where many
 * are held, a server that asks for any free port waits for the search. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "io/addr.h"
#include "task/pool.h"

/* So many of this IPv4 address. -FERRY_ELIMIT: the table is too long to be read; -ENOMEM,
 * -errno of /proc, or what aside_run() returns. */
PARKS MUST_CHECK int time_wait_count(struct pool *, const struct addr *, unsigned *ret);

/* -- the formats -- */

/* proc(5) /proc/net/sockstat: of all addresses, and cheap; 0 if it does not say. */
unsigned time_wait_parse_total(struct bytes);
/* /proc/net/tcp: of one address. */
unsigned time_wait_parse_table(struct bytes, const struct addr *);
