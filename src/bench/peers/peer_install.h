/* Fetches the peers that are not there: Debian's packages, unpacked beneath PEERS_FOLDER. Some
 * conflict as packages; nothing is installed, configured or started. Blocking, for minutes.
 */
#pragma once
#include <stdio.h>

#include "base/attr.h"
#include "bench/peers/recipe.h"

#define PEER_INSTALL_ERROR_MAX 512

/* Tells on `out` what it does. 0 when it is there afterwards; else -errno, and in `error` what
 * was in the way, in words: not root, no apt, no network. */
MUST_CHECK int peer_install(const struct recipe *, FILE *out,
                            char error[PEER_INSTALL_ERROR_MAX]);
