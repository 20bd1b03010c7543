#include "auth/accounts.h"

#include <errno.h>

#include "auth/password.h"
#include "base/mem.h"

#define SLOTS_MIN 16

void accounts_init(struct accounts *t, uint64_t seed)
{
    *t = (struct accounts){.seed = seed};
}

void accounts_done(struct accounts *t)
{
    for (unsigned i = 0; i < t->slot_count; i++)
        account_unref(t->slots[i]);
    mem_free(t->slots);
    *t = (struct accounts){0};
}

/* FNV-1a from a random start. Names in the table are the administrator's, so nobody else can
 * make it slow. */
static unsigned first_slot(const struct accounts *t, struct bytes name)
{
    uint64_t h = t->seed;
    for (size_t i = 0; i < name.len; i++)
        h = (h ^ name.data[i]) * UINT64_C(0x100000001b3);
    return (unsigned)(h ^ h >> 32) & (t->slot_count - 1);
}

/* Where the name is, or the empty slot where it would go. The table is never full. */
static struct account **find_slot(const struct accounts *t, struct bytes name)
{
    unsigned i = first_slot(t, name);
    while (t->slots[i] != NULL && !bytes_equal(bytes_str(t->slots[i]->name), name))
        i = (i + 1) & (t->slot_count - 1);
    return &t->slots[i];
}

static int make_room(struct accounts *t)
{
    if ((t->count + 1) * 2 <= t->slot_count)
        return 0;
    struct accounts larger = {.seed = t->seed, .count = t->count};
    larger.slot_count = t->slot_count != 0 ? t->slot_count * 2 : SLOTS_MIN;
    larger.slots = mem_new(larger.slot_count * sizeof(struct account *));
    if (larger.slots == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < t->slot_count; i++) {
        if (t->slots[i] != NULL)
            *find_slot(&larger, bytes_str(t->slots[i]->name)) = t->slots[i];
    }
    mem_free(t->slots);
    *t = larger;
    return 0;
}

int accounts_add(struct accounts *t, struct account *a)
{
    int r = make_room(t);
    if (r == 0 && accounts_find(t, bytes_str(a->name)) != NULL)
        r = -EEXIST;
    if (r < 0) {
        account_unref(a);
        return r;
    }
    *find_slot(t, bytes_str(a->name)) = a;
    t->count++;
    return 0;
}

struct account *accounts_find(const struct accounts *t, struct bytes name)
{
    return t->slot_count != 0 ? *find_slot(t, name) : NULL;
}

int accounts_each(const struct accounts *t, int (*fn)(struct account *, void *), void *arg)
{
    for (unsigned i = 0; i < t->slot_count; i++) {
        int r = t->slots[i] != NULL ? fn(t->slots[i], arg) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

const char *accounts_decoy(const struct accounts *t, struct bytes name)
{
    struct account *a = accounts_find(t, name);
    if (a != NULL && a->hash != NULL && password_hash_is_usable(a->hash))
        return a->hash;
    for (unsigned n = 0; n < t->slot_count; n++) {
        a = t->slots[(first_slot(t, name) + n) & (t->slot_count - 1)];
        if (a != NULL && a->hash != NULL && password_hash_is_usable(a->hash))
            return a->hash;
    }
    return NULL;
}
