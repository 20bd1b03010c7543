#include "ssh/wire/exchange.h"

#include <assert.h>

#include "base/mem.h"
#include "base/wire.h"
#include "ssh/wire/packet.h"

static const struct {
    enum crypto_digest_kind digest;
    bool is_group;
    bool is_digest; /* the secret: hashed as a string, not as a number */
} kexes[] = {
    [SSH_KEX_CURVE25519] = {CRYPTO_SHA256, false, false},
    [SSH_KEX_P256] = {CRYPTO_SHA256, false, false},
    [SSH_KEX_DH14] = {CRYPTO_SHA256, true, false},
    [SSH_KEX_DH16] = {CRYPTO_SHA512, true, false},
    [SSH_KEX_DH14_SHA1] = {CRYPTO_SHA1, true, false},
    [SSH_KEX_MLKEM768_X25519] = {CRYPTO_SHA256, false, true},
};

enum crypto_digest_kind ssh_kex_digest(enum ssh_kex_kind kind)
{
    return kexes[kind].digest;
}

bool ssh_kex_is_group(enum ssh_kex_kind kind)
{
    return kexes[kind].is_group;
}

/* What is hashed, in pieces: nothing is copied, but for the heads of strings and numbers. */
struct pieces {
    struct bytes parts[2 * 8];
    uint8_t heads[8][5]; /* a length, and the zero that keeps a number positive */
    unsigned part_count, head_count;
};

static void add_bytes(struct pieces *p, struct bytes s)
{
    p->parts[p->part_count++] = s;
}

static void add_headed(struct pieces *p, struct bytes s, bool needs_zero)
{
    uint8_t *head = p->heads[p->head_count++];
    wire_set_u32(head, (uint32_t)(s.len + needs_zero));
    head[4] = 0;
    add_bytes(p, bytes_of(head, 4 + (size_t)needs_zero));
    add_bytes(p, s);
}

static void add_string(struct pieces *p, struct bytes s)
{
    add_headed(p, s, false);
}

/* As wire_put_mpint() writes it. */
static void add_mpint(struct pieces *p, struct bytes s)
{
    while (s.len > 0 && s.data[0] == 0)
        s = bytes_skip(s, 1);
    add_headed(p, s, s.len > 0 && (s.data[0] & 0x80) != 0);
}

static void add_secret(struct pieces *p, enum ssh_kex_kind kind, struct bytes secret)
{
    if (kexes[kind].is_digest)
        add_string(p, secret);
    else
        add_mpint(p, secret);
}

static int hash(enum ssh_kex_kind kind, const struct pieces *p, uint8_t ret[CRYPTO_DIGEST_MAX])
{
    return crypto_digest(ssh_kex_digest(kind), p->parts, p->part_count, ret);
}

int ssh_exchange_hash(enum ssh_kex_kind kind, const struct ssh_exchange *x,
                      struct ssh_hash *ret)
{
    void (*add_public)(struct pieces *, struct bytes) =
        ssh_kex_is_group(kind) ? add_mpint : add_string;
    struct pieces p = {0};
    add_string(&p, x->client_ident);
    add_string(&p, x->server_ident);
    add_string(&p, x->client_kexinit);
    add_string(&p, x->server_kexinit);
    add_string(&p, x->host_key);
    add_public(&p, x->client_public);
    add_public(&p, x->server_public);
    add_secret(&p, kind, x->secret);
    ret->len = crypto_digest_len(ssh_kex_digest(kind));
    return hash(kind, &p, ret->bytes);
}

/* K1 = HASH(K || H || letter || session_id), Kn = HASH(K || H || K1 || ... || Kn-1). */
int ssh_derive_key(enum ssh_kex_kind kind, struct bytes secret, const struct ssh_hash *h,
                   struct bytes session_id, char letter, uint8_t *ret, size_t len)
{
    uint8_t letter_byte = (uint8_t)letter, made[SSH_KEY_MAX + CRYPTO_DIGEST_MAX];
    size_t step = crypto_digest_len(ssh_kex_digest(kind)), done = 0;
    int rc = 0;
    assert(len <= SSH_KEY_MAX);
    while (rc == 0 && done < len) {
        struct pieces p = {0};
        add_secret(&p, kind, secret);
        add_bytes(&p, bytes_of(h->bytes, h->len));
        if (done == 0) {
            add_bytes(&p, bytes_of(&letter_byte, 1));
            add_bytes(&p, session_id);
        } else {
            add_bytes(&p, bytes_of(made, done));
        }
        rc = hash(kind, &p, made + done);
        done += step;
    }
    if (rc == 0)
        memcpy(ret, made, len);
    mem_wipe(made, sizeof(made));
    return rc;
}
