#include "ssh/wire/key.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/wire.h"
#include "crypto/digest.h"
#include "ssh/wire/base64.h"
#include "ssh/wire/kexinit.h"
#include "ssh/wire/signature.h"

#define CURVE        BYTES_LIT("nistp256") /* RFC 5656 10.1 */
#define POINT_MAX    65
#define P256_BYTES   32
#define RSA_BYTES    (CRYPTO_RSA_BITS_MAX / 8 + 1) /* with the zero that keeps it positive */
#define ECDSA_SIGNED (2 * (4 + P256_BYTES + 1))    /* r and s */

/* By enum crypto_key_kind. */
static const struct bytes types[] = {
    [CRYPTO_ED25519] = BYTES_LIT("ssh-ed25519"),
    [CRYPTO_ECDSA_P256] = BYTES_LIT("ecdsa-sha2-nistp256"),
    [CRYPTO_RSA] = BYTES_LIT("ssh-rsa"),
};

bool ssh_scheme_of(struct bytes algorithm, enum crypto_key_kind kind, enum crypto_scheme *ret)
{
    const struct ssh_signature *s = ssh_signature_find(algorithm);
    if (s == NULL || s->kind != kind)
        return false;
    *ret = s->scheme;
    return true;
}

/* -- public keys -- */

const char *ssh_key_type(const struct crypto_key *key)
{
    return (const char *)types[crypto_key_public(key).kind].data;
}

bool ssh_key_kind_of(struct bytes type, enum crypto_key_kind *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (bytes_equal(types[i], type)) {
            *ret = (enum crypto_key_kind)i;
            return true;
        }
    }
    return false;
}

/* A positive number. One with zeros in front is none (RFC 4251 5): a key has one blob only, so
 * that blobs can be compared. */
static struct bytes get_mpint(struct wire_reader *r, size_t max)
{
    struct bytes s = wire_get_string(r, max);
    bool is_negative = s.len > 0 && (s.data[0] & 0x80) != 0;
    bool is_padded = s.len > 0 && s.data[0] == 0 && (s.len == 1 || (s.data[1] & 0x80) == 0);
    if (is_negative || is_padded)
        r->has_failed = true;
    return s;
}

int ssh_key_parse(struct bytes blob, struct crypto_key **ret)
{
    struct wire_reader r = wire_reader_of(blob);
    struct crypto_key_parts parts = {0};
    if (blob.len > SSH_KEY_BLOB_MAX ||
        !ssh_key_kind_of(wire_get_string(&r, SSH_NAME_MAX), &parts.kind))
        return -FERRY_EPROTO;
    switch (parts.kind) {
    case CRYPTO_ED25519:
        parts.point = wire_get_string(&r, POINT_MAX);
        break;
    case CRYPTO_ECDSA_P256:
        if (!bytes_equal(wire_get_string(&r, SSH_NAME_MAX), CURVE))
            return -FERRY_EPROTO;
        parts.point = wire_get_string(&r, POINT_MAX);
        break;
    case CRYPTO_RSA:
        parts.e = get_mpint(&r, RSA_BYTES);
        parts.n = get_mpint(&r, RSA_BYTES);
        break;
    }
    int rc = wire_read_end(&r);
    return rc == 0 ? crypto_key_from_parts(&parts, ret) : rc;
}

void ssh_key_write(struct wire_writer *w, const struct crypto_key *key)
{
    struct crypto_key_parts parts = crypto_key_public(key);
    wire_put_string(w, types[parts.kind]);
    switch (parts.kind) {
    case CRYPTO_ED25519:
        wire_put_string(w, parts.point);
        break;
    case CRYPTO_ECDSA_P256:
        wire_put_string(w, CURVE);
        wire_put_string(w, parts.point);
        break;
    case CRYPTO_RSA:
        wire_put_mpint(w, parts.e);
        wire_put_mpint(w, parts.n);
        break;
    }
}

/* -- signatures -- */

/* r and s of RFC 5656 3.1.2, as 32 bytes each. */
static int read_ecdsa(struct bytes from, uint8_t ret[2 * P256_BYTES])
{
    struct wire_reader r = wire_reader_of(from);
    memset(ret, 0, 2 * P256_BYTES);
    for (size_t i = 0; i < 2; i++) {
        struct bytes number = get_mpint(&r, P256_BYTES + 1);
        if (number.len == P256_BYTES + 1) /* its first byte is zero, or it would be no mpint */
            number = bytes_skip(number, number.data[0] == 0);
        if (number.len > P256_BYTES)
            return -FERRY_EPROTO;
        if (number.len > 0)
            memcpy(ret + (i + 1) * P256_BYTES - number.len, number.data, number.len);
    }
    return wire_read_end(&r);
}

int ssh_signature_verify(const struct crypto_key *key, struct bytes algorithm,
                         struct bytes data, struct bytes signature_blob)
{
    enum crypto_scheme scheme;
    if (signature_blob.len > SSH_SIGNATURE_BLOB_MAX ||
        !ssh_scheme_of(algorithm, crypto_key_public(key).kind, &scheme))
        return -FERRY_EPROTO;
    struct wire_reader r = wire_reader_of(signature_blob);
    struct bytes name = wire_get_string(&r, SSH_NAME_MAX);
    struct bytes signature = wire_get_string(&r, SSH_SIGNATURE_BLOB_MAX);
    int rc = wire_read_end(&r);
    if (rc != 0 || !bytes_equal(name, algorithm))
        return -FERRY_EPROTO;

    uint8_t numbers[2 * P256_BYTES];
    if (scheme == CRYPTO_SIGN_ECDSA_SHA256) {
        rc = read_ecdsa(signature, numbers);
        signature = bytes_of(numbers, sizeof(numbers));
    }
    return rc == 0 ? crypto_key_verify(key, scheme, data, signature) : rc;
}

int ssh_sign(const struct crypto_key *key, struct bytes algorithm, struct bytes data,
             struct wire_writer *w)
{
    enum crypto_scheme scheme;
    if (!ssh_scheme_of(algorithm, crypto_key_public(key).kind, &scheme))
        return -EINVAL;
    uint8_t raw[CRYPTO_SIGNATURE_MAX];
    size_t len;
    int r = crypto_key_sign(key, scheme, data, raw, &len);
    if (r != 0)
        return r;
    struct bytes signature = bytes_of(raw, len);

    uint8_t packed[ECDSA_SIGNED];
    if (scheme == CRYPTO_SIGN_ECDSA_SHA256) {
        struct wire_writer numbers = wire_writer_of(packed, sizeof(packed));
        wire_put_mpint(&numbers, bytes_first(signature, P256_BYTES));
        wire_put_mpint(&numbers, bytes_skip(signature, P256_BYTES));
        signature = bytes_of(packed, numbers.len);
    }
    wire_put_string(w, algorithm);
    wire_put_string(w, signature);
    return wire_write_end(w);
}

/* -- for people -- */

int ssh_fingerprint(struct bytes blob, char ret[SSH_FINGERPRINT_TEXT])
{
    uint8_t digest[CRYPTO_DIGEST_MAX];
    int r = crypto_digest(CRYPTO_SHA256, &blob, 1, digest);
    if (r != 0)
        return r;
    struct buf text;
    buf_init(&text, SSH_FINGERPRINT_TEXT); /* the padding's place is the NUL's */
    r = buf_append_str(&text, "SHA256:");
    if (r == 0)
        r = ssh_base64_encode(bytes_of(digest, crypto_digest_len(CRYPTO_SHA256)), &text);
    if (r == 0) {
        memcpy(ret, text.data, SSH_FINGERPRINT_TEXT - 1);
        ret[SSH_FINGERPRINT_TEXT - 1] = '\0';
    }
    buf_done(&text);
    return r;
}
