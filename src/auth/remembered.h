/* Digests of passwords that were right: a bounded table with one place for each account. Not
 * thread-safe: auth/check.c holds its lock. For auth/ only. */
#pragma once
#include "base/clock.h"
#include "crypto/mac.h"

struct remembered {
    struct remembered_entry *entries; /* REMEMBERED_MAX */
};

MUST_CHECK int remembered_init(struct remembered *);
void remembered_done(struct remembered *); /* wipes */

void remembered_put(struct remembered *, uint64_t generation,
                    const uint8_t digest[CRYPTO_MAC_BYTES], usec_t until);
bool remembered_has(const struct remembered *, uint64_t generation,
                    const uint8_t digest[CRYPTO_MAC_BYTES], usec_t now);
