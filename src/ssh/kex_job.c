#include "ssh/kex_job.h"

#include "base/err.h"
#include "base/mem.h"
#include "ssh/wire/key.h"

/* -- life -- */

static void run_job(struct job *job)
{
    (void)ssh_kex_run((struct ssh_kex *)(void *)job);
}

static void free_job(struct job *job)
{
    (void)ssh_kex_free((struct ssh_kex *)(void *)job);
}

struct ssh_kex *ssh_kex_new(void)
{
    struct ssh_kex *k = mem_new(sizeof(*k));
    if (k == NULL)
        return NULL;
    k->job.run = run_job;
    k->job.free = free_job;
    buf_init(&k->own_kexinit, SSH_KEXINIT_OWN_MAX);
    buf_init(&k->peer_kexinit, SSH_KEXINIT_MAX);
    buf_init(&k->peer_public, CRYPTO_AGREE_PUBLIC_MAX);
    buf_init(&k->host_key, SSH_KEY_BLOB_MAX);
    buf_init(&k->signature, SSH_SIGNATURE_BLOB_MAX);
    return k;
}

struct ssh_kex *ssh_kex_free(struct ssh_kex *k)
{
    if (k == NULL)
        return NULL;
    buf_done(&k->own_kexinit);
    buf_done(&k->peer_kexinit);
    buf_done(&k->peer_public);
    buf_done(&k->host_key);
    buf_done(&k->signature);
    crypto_key_unref(k->signer);
    crypto_key_unref(k->peer_key);
    crypto_agree_free(k->agree);
    ssh_cipher_free(k->sealing);
    ssh_cipher_free(k->opening);
    mem_wipe_free(k, sizeof(*k));
    return NULL;
}

/* -- public values -- */

enum crypto_agree_kind ssh_kex_agree(enum ssh_kex_kind kind)
{
    static const enum crypto_agree_kind kinds[] = {
        [SSH_KEX_CURVE25519] = CRYPTO_AGREE_X25519,
        [SSH_KEX_P256] = CRYPTO_AGREE_P256,
        [SSH_KEX_DH14] = CRYPTO_AGREE_DH14,
        [SSH_KEX_DH16] = CRYPTO_AGREE_DH16,
        [SSH_KEX_DH14_SHA1] = CRYPTO_AGREE_DH14,
        [SSH_KEX_MLKEM768_X25519] = CRYPTO_AGREE_MLKEM768_X25519,
    };

    return kinds[kind];
}

void ssh_kex_put_public(struct wire_writer *w, enum ssh_kex_kind kind, struct bytes value)
{
    if (ssh_kex_is_group(kind))
        wire_put_mpint(w, value);
    else
        wire_put_string(w, value);
}

/* A negative number reads as a very large one, which crypto_agree_secret() refuses; one zero
 * may stand before a number. */
struct bytes ssh_kex_get_public(struct wire_reader *r, enum ssh_kex_kind kind)
{
    struct bytes value = wire_get_string(r, CRYPTO_AGREE_PUBLIC_MAX + 1);
    if (ssh_kex_is_group(kind) && value.len > 0 && value.data[0] == 0)
        value = bytes_skip(value, 1);
    else if (ssh_kex_is_group(kind) && value.len > 0 && (value.data[0] & 0x80) != 0)
        r->has_failed = true;
    return value;
}

/* -- steps -- */

static int compute_hash(struct ssh_kex *k, struct bytes secret)
{
    bool is_server = k->role == SSH_SERVER;
    struct bytes own_public = crypto_agree_public(k->agree);
    struct bytes peer_public = buf_bytes(&k->peer_public);
    struct bytes own_kexinit = buf_bytes(&k->own_kexinit);
    struct bytes peer_kexinit = buf_bytes(&k->peer_kexinit);
    struct bytes peer_ident = bytes_of(k->peer_ident.text, k->peer_ident.len);
    const struct ssh_exchange e = {
        .client_ident = is_server ? peer_ident : k->own_ident,
        .server_ident = is_server ? k->own_ident : peer_ident,
        .client_kexinit = is_server ? peer_kexinit : own_kexinit,
        .server_kexinit = is_server ? own_kexinit : peer_kexinit,
        .host_key = buf_bytes(&k->host_key),
        .client_public = is_server ? peer_public : own_public,
        .server_public = is_server ? own_public : peer_public,
        .secret = secret,
    };
    return ssh_exchange_hash(k->chosen.kex, &e, &k->hash);
}

/* Keys of one direction: letters A, C, E to the server, B, D, F to the client (RFC 4253 7.2).
 */
static int make_cipher(struct ssh_kex *k, struct bytes secret, enum ssh_direction direction,
                       bool for_sealing, struct ssh_cipher **ret)
{
    struct {
        uint8_t iv[SSH_KEY_MAX], key[SSH_KEY_MAX], mac[SSH_KEY_MAX];
    } m;
    enum ssh_cipher_kind cipher = k->chosen.cipher[direction];
    enum ssh_mac_kind mac = k->chosen.mac[direction];
    struct ssh_key_sizes sizes = ssh_key_sizes(cipher, mac);
    const struct ssh_hash *id = k->session_id.len > 0 ? &k->session_id : &k->hash;
    struct bytes session_id = bytes_of(id->bytes, id->len);
    char shift = direction == SSH_TO_SERVER ? 0 : 1;
    int r = ssh_derive_key(k->chosen.kex, secret, &k->hash, session_id, (char)('A' + shift),
                           m.iv, sizes.iv);
    if (r == 0)
        r = ssh_derive_key(k->chosen.kex, secret, &k->hash, session_id, (char)('C' + shift),
                           m.key, sizes.key);
    if (r == 0)
        r = ssh_derive_key(k->chosen.kex, secret, &k->hash, session_id, (char)('E' + shift),
                           m.mac, sizes.mac);
    if (r == 0)
        r = ssh_cipher_new(cipher, mac, for_sealing, bytes_of(m.iv, sizes.iv),
                           bytes_of(m.key, sizes.key), bytes_of(m.mac, sizes.mac), ret);
    mem_wipe(&m, sizeof(m));
    return r;
}

static int make_ciphers(struct ssh_kex *k, struct bytes secret)
{
    bool is_server = k->role == SSH_SERVER;
    int r =
        make_cipher(k, secret, is_server ? SSH_TO_CLIENT : SSH_TO_SERVER, true, &k->sealing);
    if (r == 0)
        r = make_cipher(k, secret, is_server ? SSH_TO_SERVER : SSH_TO_CLIENT, false,
                        &k->opening);
    return r;
}

static int write_host_key(struct ssh_kex *k)
{
    int r = buf_reserve(&k->host_key, SSH_KEY_BLOB_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(k->host_key.data, SSH_KEY_BLOB_MAX);
    ssh_key_write(&w, k->signer);
    buf_added(&k->host_key, w.len);
    return wire_write_end(&w);
}

static int sign(struct ssh_kex *k)
{
    int r = buf_reserve(&k->signature, SSH_SIGNATURE_BLOB_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(k->signature.data, SSH_SIGNATURE_BLOB_MAX);
    r = ssh_sign(k->signer, bytes_str(k->chosen.host_key_name),
                 bytes_of(k->hash.bytes, k->hash.len), &w);
    buf_added(&k->signature, w.len);
    return r == 0 ? wire_write_end(&w) : r;
}

static int verify(struct ssh_kex *k)
{
    int r = ssh_key_parse(buf_bytes(&k->host_key), &k->peer_key);
    if (r == 0)
        r = ssh_signature_verify(k->peer_key, bytes_str(k->chosen.host_key_name),
                                 bytes_of(k->hash.bytes, k->hash.len),
                                 buf_bytes(&k->signature));
    return r;
}

static int compute(struct ssh_kex *k)
{
    struct secret secret = {0};
    int r;
    if (k->step == SSH_KEX_ANSWER)
        r = crypto_agree_answer(ssh_kex_agree(k->chosen.kex), buf_bytes(&k->peer_public),
                                &k->agree, &secret);
    else
        r = crypto_agree_secret(k->agree, buf_bytes(&k->peer_public), &secret);
    if (r == 0 && k->step == SSH_KEX_ANSWER)
        r = write_host_key(k);
    struct bytes shared = bytes_of(secret.data, secret.len);
    if (r == 0)
        r = compute_hash(k, shared);
    if (r == 0)
        r = k->step == SSH_KEX_ANSWER ? sign(k) : verify(k);
    if (r == 0)
        r = make_ciphers(k, shared);
    secret_done(&secret);
    return r;
}

int ssh_kex_run(struct ssh_kex *k)
{
    k->result = compute(k);
    return k->result;
}
