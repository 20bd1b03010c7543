#include "ssh/host_keys.h"

#include <assert.h>
#include <errno.h>

#include "ssh/wire/signature.h"

static_assert(sizeof(((struct ssh_host_keys *)0)->names) >= SSH_SIGNATURE_NAMES, "all fit");

static struct crypto_key *of_kind(const struct ssh_host_keys *h, enum crypto_key_kind kind)
{
    for (unsigned i = 0; i < h->count; i++)
        if (crypto_key_public(h->keys[i]).kind == kind)
            return h->keys[i];
    return NULL;
}

static void write_names(struct ssh_host_keys *h)
{
    unsigned kinds = 0;
    for (unsigned i = 0; i < h->count; i++)
        kinds |= 1u << crypto_key_public(h->keys[i]).kind;
    (void)ssh_signature_names(kinds, h->legacy, sizeof(h->names), h->names);
}

int ssh_host_keys_add(struct ssh_host_keys *h, struct crypto_key *key)
{
    if (h->count == SSH_HOST_KEYS_MAX || of_kind(h, crypto_key_public(key).kind) != NULL)
        return -EEXIST;
    h->keys[h->count++] = crypto_key_ref(key);
    write_names(h);
    return 0;
}

void ssh_host_keys_done(struct ssh_host_keys *h)
{
    for (unsigned i = 0; i < h->count; i++)
        crypto_key_unref(h->keys[i]);
    *h = (struct ssh_host_keys){0};
}

struct crypto_key *ssh_host_keys_find(const struct ssh_host_keys *h, struct bytes algorithm)
{
    const struct ssh_signature *s = ssh_signature_find(algorithm);
    if (s == NULL || (s->use == SSH_SIGNATURE_LEGACY && !h->legacy))
        return NULL;
    return of_kind(h, s->kind);
}
