/* A peer's host as limits and bans count it: an IPv4 address (also when it comes as
 * ::ffff:a.b.c.d), or the /64 network of an IPv6 address, since whoever has one address of it
 * has them all. Loopback is a host like any other.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/attr.h"

struct host {
    uint8_t octets[16];
};

/* Neither IPv4 nor IPv6: all such peers are one host. */
struct host host_of(const struct sockaddr *);
bool host_equal(const struct host *, const struct host *);

/* For hash tables. Peers choose their addresses, so the seed is random. */
uint64_t host_hash(const struct host *, uint64_t seed);
MUST_CHECK int host_seed_new(uint64_t *ret);
