#include "ssh/host_keys.h"

#include <errno.h>

#include "base/text.h"

/* Best first: what host keys sign with. All names fit into ssh_host_keys.names. */
static const struct {
    const char *name;
    enum crypto_key_kind kind;
    bool is_legacy;
} algorithms[] = {
    {"ssh-ed25519", CRYPTO_ED25519, false}, {"ecdsa-sha2-nistp256", CRYPTO_ECDSA_P256, false},
    {"rsa-sha2-512", CRYPTO_RSA, false},    {"rsa-sha2-256", CRYPTO_RSA, false},
    {"ssh-rsa", CRYPTO_RSA, true},
};

static struct crypto_key *of_kind(const struct ssh_host_keys *h, enum crypto_key_kind kind)
{
    for (unsigned i = 0; i < h->count; i++)
        if (crypto_key_public(h->keys[i]).kind == kind)
            return h->keys[i];
    return NULL;
}

/* The key that signs so here. */
static struct crypto_key *signer_of(const struct ssh_host_keys *h, unsigned algorithm)
{
    bool is_on = h->legacy || !algorithms[algorithm].is_legacy;
    return is_on ? of_kind(h, algorithms[algorithm].kind) : NULL;
}

static void write_names(struct ssh_host_keys *h)
{
    size_t len = 0;
    for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++) {
        if (signer_of(h, i) == NULL)
            continue;
        if (len > 0)
            h->names[len++] = ',';
        len += text_copy(h->names + len, sizeof(h->names) - len, bytes_str(algorithms[i].name));
    }
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
    for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++)
        if (bytes_equal(bytes_str(algorithms[i].name), algorithm))
            return signer_of(h, i);
    return NULL;
}
