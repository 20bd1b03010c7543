#include "ssh/wire/key_file.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/wire.h"
#include "crypto/key_cipher.h"
#include "ssh/wire/base64.h"
#include "ssh/wire/kexinit.h"
#include "ssh/wire/key.h"

/* In two parts: no file of the tree but test data has the mark of a private key. */
#define BEGIN                                                                                  \
    BYTES_LIT("-----BEGIN OPENSSH PRIVATE "                                                    \
              "KEY-----")
#define END                                                                                    \
    BYTES_LIT("-----END OPENSSH PRIVATE "                                                      \
              "KEY-----")

#define MAGIC       BYTES_LIT("openssh-key-v1\0")
#define NONE        BYTES_LIT("none")
#define BCRYPT      BYTES_LIT("bcrypt")
#define CURVE       BYTES_LIT("nistp256")
#define NUMBER_MAX  (CRYPTO_RSA_BITS_MAX / 8 + 1)
#define SEED_BYTES  32
#define BLOCK_BYTES 8          /* the secret part is padded to it where nothing encrypts */
#define LINE_CHARS  70         /* of base64 */
#define BLOB_MAX    (8 * 1024) /* that we write: the largest RSA key and a comment */

/* A file's fields, borrowed from its blob. */
struct contents {
    const struct crypto_key_cipher *cipher; /* NULL: none */
    struct bytes salt;
    uint32_t rounds;
    struct bytes public_blob, secret, tag;
};

/* What opens the secret of an encrypted file. */
struct opener {
    struct bytes passphrase;
    ssh_key_kdf_fn *kdf; /* NULL: nothing does */
};

/* -- reading -- */

static struct bytes without_cr(struct bytes line)
{
    return bytes_first(line, line.len - (line.len > 0 && line.data[line.len - 1] == '\r'));
}

/* The base64 between the marks; ret has room for it. */
static int read_armor(struct bytes text, struct buf *ret)
{
    if (!bytes_equal(without_cr(bytes_take_until(&text, '\n')), BEGIN))
        return -FERRY_EPROTO;
    while (text.len > 0) {
        struct bytes line = without_cr(bytes_take_until(&text, '\n'));
        if (bytes_equal(line, END))
            return 0;
        int r = buf_append_bytes(ret, line);
        if (r != 0)
            return r;
    }
    return -FERRY_EPROTO;
}

static int read_secret_parts(struct wire_reader *r, struct crypto_key_parts *ret)
{
    switch (ret->kind) {
    case CRYPTO_ED25519:
        ret->point = wire_get_string(r, NUMBER_MAX);
        ret->secret = wire_get_string(r, 2 * SEED_BYTES); /* the seed, and the point again */
        if (ret->secret.len != 2 * SEED_BYTES ||
            !bytes_equal(bytes_skip(ret->secret, SEED_BYTES), ret->point))
            return -FERRY_EPROTO;
        ret->secret = bytes_first(ret->secret, SEED_BYTES);
        break;
    case CRYPTO_ECDSA_P256:
        if (!bytes_equal(wire_get_string(r, SSH_NAME_MAX), CURVE))
            return -FERRY_EPROTO;
        ret->point = wire_get_string(r, NUMBER_MAX);
        ret->secret = wire_get_string(r, NUMBER_MAX);
        break;
    case CRYPTO_RSA:
        ret->n = wire_get_string(r, NUMBER_MAX);
        ret->e = wire_get_string(r, NUMBER_MAX);
        ret->d = wire_get_string(r, NUMBER_MAX);
        ret->iqmp = wire_get_string(r, NUMBER_MAX);
        ret->p = wire_get_string(r, NUMBER_MAX);
        ret->q = wire_get_string(r, NUMBER_MAX);
        break;
    }
    return 0;
}

/* 1, 2, 3, ... */
static bool is_padding(struct bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] != i + 1)
            return false;
    return b.len <= UINT8_MAX;
}

/* Without a secret crypto_key_from_parts() makes a public key, which is none of a file. */
static int read_key(struct wire_reader *r, struct crypto_key **ret)
{
    struct crypto_key_parts parts = {0};
    if (!ssh_key_kind_of(wire_get_string(r, SSH_NAME_MAX), &parts.kind) ||
        read_secret_parts(r, &parts) != 0)
        return -FERRY_EPROTO;
    wire_get_string(r, SSH_KEY_FILE_MAX); /* comment */
    struct bytes padding = wire_get_rest(r);
    if (wire_read_end(r) != 0 || !is_padding(padding) ||
        (parts.secret.len == 0 && parts.d.len == 0))
        return -FERRY_EPROTO;
    return crypto_key_from_parts(&parts, ret);
}

/* The two numbers in front are the same, unless another passphrase opened it. */
static int read_secret(const struct contents *c, struct crypto_key **ret)
{
    struct wire_reader r = wire_reader_of(c->secret);
    uint32_t check = wire_get_u32(&r);
    if (wire_get_u32(&r) != check)
        return c->cipher != NULL ? -FERRY_EAUTH : -FERRY_EPROTO;
    return read_key(&r, ret);
}

static int open_secret(const struct contents *c, const struct opener *opener, uint8_t *data)
{
    uint8_t key[CRYPTO_KEY_CIPHER_SECRET_MAX];
    const struct crypto_key_cipher *cipher = c->cipher;
    if (opener->kdf == NULL)
        return -EPROTONOSUPPORT;
    int r = opener->kdf(opener->passphrase, c->salt, c->rounds, key,
                        (size_t)cipher->key_len + cipher->nonce_len);
    if (r == 0)
        r = crypto_key_cipher_open(cipher, key, data, c->secret.len, c->tag);
    mem_wipe(key, sizeof(key));
    return r;
}

/* "none" without options, or "bcrypt" with salt and rounds, as the cipher asks for it. */
static int read_kdf(struct bytes name, struct bytes options, struct contents *ret)
{
    if (bytes_equal(name, NONE) || ret->cipher == NULL)
        return bytes_equal(name, NONE) && ret->cipher == NULL && options.len == 0
                   ? 0
                   : -FERRY_EPROTO;
    if (!bytes_equal(name, BCRYPT))
        return -EPROTONOSUPPORT;
    struct wire_reader r = wire_reader_of(options);
    ret->salt = wire_get_string(&r, SSH_KEY_FILE_MAX);
    ret->rounds = wire_get_u32(&r);
    return wire_read_end(&r) == 0 && ret->salt.len > 0 && ret->rounds > 0 ? 0 : -FERRY_EPROTO;
}

static int read_contents(struct bytes blob, struct contents *ret)
{
    struct wire_reader r = wire_reader_of(blob);
    if (!bytes_equal(wire_get_bytes(&r, MAGIC.len), MAGIC))
        return -FERRY_EPROTO;
    struct bytes cipher = wire_get_string(&r, SSH_NAME_MAX);
    struct bytes kdf = wire_get_string(&r, SSH_NAME_MAX);
    struct bytes kdf_options = wire_get_string(&r, SSH_KEY_FILE_MAX);
    uint32_t count = wire_get_u32(&r);
    ret->public_blob = wire_get_string(&r, SSH_KEY_BLOB_MAX);
    ret->secret = wire_get_string(&r, SSH_KEY_FILE_MAX);
    ret->tag = wire_get_rest(&r);
    if (wire_read_end(&r) != 0 || count != 1)
        return -FERRY_EPROTO;
    ret->cipher = crypto_key_cipher_find(cipher);
    if (ret->cipher == NULL && !bytes_equal(cipher, NONE))
        return -EPROTONOSUPPORT;
    size_t block_len = ret->cipher != NULL ? ret->cipher->block_len : BLOCK_BYTES;
    size_t tag_len = ret->cipher != NULL ? ret->cipher->tag_len : 0;
    if (ret->secret.len == 0 || ret->secret.len % block_len != 0 || ret->tag.len != tag_len)
        return -FERRY_EPROTO;
    return read_kdf(kdf, kdf_options, ret);
}

/* The public key in front must be that of the secret: who shows the one signs with the other.
 * It is looked at first: nobody is asked to open what would be refused. */
static int read_blob(struct buf *blob, const struct opener *opener, struct crypto_key **ret)
{
    struct contents c = {0};
    struct crypto_key *public_key;
    struct crypto_key *key = NULL;
    int r = read_contents(buf_bytes(blob), &c);
    if (r == 0)
        r = ssh_key_parse(c.public_blob, &public_key);
    if (r != 0)
        return r;
    if (c.cipher != NULL)
        r = open_secret(&c, opener, blob->data + (c.secret.data - blob->data));
    if (r == 0)
        r = read_secret(&c, &key);
    if (r == 0 && !crypto_key_equal(key, public_key)) {
        crypto_key_unref(key);
        r = -FERRY_EPROTO;
    }
    crypto_key_unref(public_key);
    if (r == 0)
        *ret = key;
    return r;
}

static int read_openssh(struct bytes text, const struct opener *opener, struct crypto_key **ret)
{
    struct buf base64, blob;
    buf_init(&base64, SSH_KEY_FILE_MAX);
    buf_init(&blob, SSH_KEY_FILE_MAX);
    int r = buf_reserve(&base64, text.len);
    if (r == 0)
        r = read_armor(text, &base64);
    if (r == 0)
        r = ssh_base64_decode(buf_bytes(&base64), &blob);
    if (r == 0)
        r = read_blob(&blob, opener, ret);
    buf_wipe(&base64);
    buf_wipe(&blob);
    return r;
}

int ssh_key_file_unlock(struct bytes text, struct bytes passphrase, ssh_key_kdf_fn *kdf,
                        struct crypto_key **ret)
{
    const struct opener opener = {passphrase, kdf};
    if (text.len > SSH_KEY_FILE_MAX)
        return -FERRY_EPROTO;
    if (bytes_start_with(text, BEGIN))
        return read_openssh(text, &opener, ret);
    return crypto_key_from_pem(text, passphrase, ret);
}

int ssh_key_file_parse(struct bytes text, struct bytes passphrase, struct crypto_key **ret)
{
    return ssh_key_file_unlock(text, passphrase, NULL, ret);
}

/* -- writing -- */

/* A string whose length is known once it is written. */
static size_t begin_string(struct wire_writer *w)
{
    wire_put_u32(w, 0);
    return w->len;
}

static void end_string(struct wire_writer *w, size_t at)
{
    if (!w->has_failed)
        wire_set_u32(w->data + at - 4, (uint32_t)(w->len - at));
}

static void write_secret_parts(struct wire_writer *w, const struct crypto_key_parts *p)
{
    switch (p->kind) {
    case CRYPTO_ED25519:
        wire_put_string(w, p->point);
        wire_put_u32(w, 2 * SEED_BYTES);
        wire_put_bytes(w, p->secret);
        wire_put_bytes(w, p->point);
        break;
    case CRYPTO_ECDSA_P256:
        wire_put_string(w, CURVE);
        wire_put_string(w, p->point);
        wire_put_mpint(w, p->secret);
        break;
    case CRYPTO_RSA:
        wire_put_mpint(w, p->n);
        wire_put_mpint(w, p->e);
        wire_put_mpint(w, p->d);
        wire_put_mpint(w, p->iqmp);
        wire_put_mpint(w, p->p);
        wire_put_mpint(w, p->q);
        break;
    }
}

static int write_blob(const struct crypto_key *key, const struct crypto_key_parts *parts,
                      struct bytes comment, uint32_t check, struct buf *ret)
{
    int r = buf_reserve(ret, BLOB_MAX);
    if (r != 0)
        return r;
    struct wire_writer w = wire_writer_of(ret->data, BLOB_MAX);
    wire_put_bytes(&w, MAGIC);
    wire_put_string(&w, NONE);
    wire_put_string(&w, NONE);
    wire_put_string(&w, BYTES_NONE);
    wire_put_u32(&w, 1); /* keys */
    size_t at = begin_string(&w);
    ssh_key_write(&w, key);
    end_string(&w, at);

    at = begin_string(&w);
    wire_put_u32(&w, check);
    wire_put_u32(&w, check);
    wire_put_string(&w, bytes_str(ssh_key_type(key)));
    write_secret_parts(&w, parts);
    wire_put_string(&w, comment);
    for (uint8_t i = 1; !w.has_failed && (w.len - at) % BLOCK_BYTES != 0; i++)
        wire_put_u8(&w, i);
    end_string(&w, at);
    buf_added(ret, w.len);
    return wire_write_end(&w);
}

static int write_armor(struct bytes base64, struct buf *ret)
{
    size_t lines = base64.len / LINE_CHARS + 1;
    int r = buf_reserve(ret, BEGIN.len + base64.len + lines + END.len + 2);
    if (r == 0)
        r = buf_append_bytes(ret, BEGIN);
    if (r == 0)
        r = buf_append_byte(ret, '\n');
    for (; r == 0 && base64.len > 0; base64 = bytes_skip(base64, LINE_CHARS)) {
        r = buf_append_bytes(ret, bytes_first(base64, LINE_CHARS));
        if (r == 0)
            r = buf_append_byte(ret, '\n');
    }
    if (r == 0)
        r = buf_append_bytes(ret, END);
    return r == 0 ? buf_append_byte(ret, '\n') : r;
}

int ssh_key_file_write(const struct crypto_key *key, struct bytes comment, uint32_t check,
                       struct buf *ret)
{
    struct crypto_key_parts parts;
    struct buf memory, blob, base64;
    buf_init(&memory, BLOB_MAX);
    buf_init(&blob, BLOB_MAX);
    buf_init(&base64, SSH_KEY_FILE_MAX);
    int r = crypto_key_private(key, &memory, &parts);
    if (r == 0)
        r = write_blob(key, &parts, comment, check, &blob);
    if (r == 0)
        r = ssh_base64_encode(buf_bytes(&blob), &base64);
    if (r == 0)
        r = write_armor(buf_bytes(&base64), ret);
    buf_wipe(&memory);
    buf_wipe(&blob);
    buf_wipe(&base64);
    return r;
}

static int write_line(const struct crypto_key *key, struct bytes blob, struct bytes comment,
                      struct buf *ret)
{
    int r = buf_append_str(ret, ssh_key_type(key));
    if (r == 0)
        r = buf_append_byte(ret, ' ');
    if (r == 0)
        r = ssh_base64_encode(blob, ret);
    if (r == 0 && comment.len > 0)
        r = buf_append_byte(ret, ' ');
    if (r == 0)
        r = buf_append_bytes(ret, comment);
    return r == 0 ? buf_append_byte(ret, '\n') : r;
}

int ssh_public_line_write(const struct crypto_key *key, struct bytes comment, struct buf *ret)
{
    if (text_has_control(comment)) /* it would be a line of its own */
        return -EINVAL;
    struct buf blob;
    buf_init(&blob, SSH_KEY_BLOB_MAX);
    int r = buf_reserve(&blob, SSH_KEY_BLOB_MAX);
    if (r == 0) {
        struct wire_writer w = wire_writer_of(blob.data, SSH_KEY_BLOB_MAX);
        ssh_key_write(&w, key);
        r = wire_write_end(&w);
        buf_added(&blob, w.len);
    }
    if (r == 0)
        r = write_line(key, buf_bytes(&blob), comment, ret);
    buf_done(&blob);
    return r;
}
