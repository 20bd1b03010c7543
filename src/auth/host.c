#include "auth/host.h"

#include <netinet/in.h>
#include <string.h>

#include "crypto/random.h"

#define NETWORK_OCTETS 8 /* a /64 */

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

struct host host_of(const struct sockaddr *address)
{
    struct host h = {{0}};
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        memcpy(h.octets, mapped_prefix, sizeof(mapped_prefix));
        memcpy(h.octets + sizeof(mapped_prefix), &v4.sin_addr, sizeof(v4.sin_addr));
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
        memcpy(h.octets, &v6.sin6_addr, is_mapped ? sizeof(h.octets) : NETWORK_OCTETS);
    }
    return h;
}

bool host_equal(const struct host *a, const struct host *b)
{
    return memcmp(a->octets, b->octets, sizeof(a->octets)) == 0;
}

/* Two rounds of a multiplicative mix (the finaliser of splitmix64) over seed and octets. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t host_hash(const struct host *h, uint64_t seed)
{
    uint64_t halves[2];
    memcpy(halves, h->octets, sizeof(halves));
    return mix(mix(seed ^ halves[0]) ^ halves[1]);
}

int host_seed_new(uint64_t *ret)
{
    return crypto_random(ret, sizeof(*ret));
}
