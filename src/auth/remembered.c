#include "auth/remembered.h"

#include <errno.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/secret.h"

struct remembered_entry {
    uint64_t generation; /* of the account; 0: empty */
    usec_t until;
    uint8_t digest[CRYPTO_MAC_BYTES];
};

int remembered_init(struct remembered *t)
{
    t->entries = mem_new(REMEMBERED_MAX * sizeof(*t->entries));
    return t->entries != NULL ? 0 : -ENOMEM;
}

void remembered_done(struct remembered *t)
{
    mem_wipe_free(t->entries, REMEMBERED_MAX * sizeof(*t->entries));
    t->entries = NULL;
}

/* Generations are given in turn, so two accounts share a place only when there are more than
 * REMEMBERED_MAX; then the later login takes it. */
static struct remembered_entry *place_of(const struct remembered *t, uint64_t generation)
{
    return &t->entries[generation % REMEMBERED_MAX];
}

void remembered_put(struct remembered *t, uint64_t generation,
                    const uint8_t digest[CRYPTO_MAC_BYTES], usec_t until)
{
    struct remembered_entry *e = place_of(t, generation);
    e->generation = generation;
    e->until = until;
    memcpy(e->digest, digest, CRYPTO_MAC_BYTES);
}

bool remembered_has(const struct remembered *t, uint64_t generation,
                    const uint8_t digest[CRYPTO_MAC_BYTES], usec_t now)
{
    const struct remembered_entry *e = place_of(t, generation);
    return e->generation == generation && now < e->until &&
           secret_equal(bytes_of(e->digest, CRYPTO_MAC_BYTES),
                        bytes_of(digest, CRYPTO_MAC_BYTES));
}
