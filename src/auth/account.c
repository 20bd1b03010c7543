#include "auth/account.h"

#include <errno.h>

#include "auth/password.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

int account_new(struct bytes name, struct account **ret)
{
    if (name.len == 0 || name.len > USER_NAME_MAX || text_has_control(name))
        return -FERRY_EBADNAME;
    struct account *a = mem_new(sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    (void)text_copy(a->name, sizeof(a->name), name);
    rights_init(&a->rights, RIGHTS_DEFAULT);
    atomic_init(&a->refs, 1);
    *ret = a;
    return 0;
}

struct account *account_ref(struct account *a)
{
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

static void key_done(struct account_key *k)
{
    mem_free(k->blob);
    mem_free(k->from);
    mem_free(k->command);
}

static void account_free(struct account *a)
{
    for (unsigned i = 0; i < a->key_count; i++)
        key_done(&a->keys[i]);
    mem_free(a->keys);
    if (a->hash != NULL)
        mem_wipe_free(a->hash, strlen(a->hash));
    mem_free(a->root);
    rights_done(&a->rights);
    quota_unref(a->quota);
    pool_share_unref(a->share);
    mem_free(a);
}

void account_unref(struct account *a)
{
    if (a != NULL && atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) == 1)
        account_free(a);
}

int account_set_password(struct account *a, struct bytes password)
{
    char *hash;
    int r = password_hash(password, &hash);
    if (r < 0)
        return r;
    if (a->hash != NULL)
        mem_wipe_free(a->hash, strlen(a->hash));
    a->hash = hash;
    return 0;
}

/* -- keys -- */

static int key_copy(const struct account_key *key, struct account_key *ret)
{
    struct account_key k = {.blob_len = key->blob_len, .expires_s = key->expires_s};
    k.blob = mem_dup(key->blob, key->blob_len);
    k.from = key->from != NULL ? mem_strdup(key->from) : NULL;
    k.command = key->command != NULL ? mem_strdup(key->command) : NULL;
    if (k.blob == NULL || (key->from != NULL && k.from == NULL) ||
        (key->command != NULL && k.command == NULL)) {
        key_done(&k);
        return -ENOMEM;
    }
    *ret = k;
    return 0;
}

int account_add_key(struct account *a, const struct account_key *key)
{
    if (a->key_count == ACCOUNT_KEYS_MAX)
        return -FERRY_ELIMIT;
    struct account_key *keys = mem_resize(a->keys, (a->key_count + 1) * sizeof(*keys));
    if (keys == NULL)
        return -ENOMEM;
    a->keys = keys;
    int r = key_copy(key, &keys[a->key_count]);
    if (r == 0)
        a->key_count++;
    return r;
}
