#include <errno.h>
#include <limits.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/buf.h"
#include "base/err.h"
#include "crypto/algorithm.h"
#include "crypto/key_internal.h"

#define PEM_BYTES_MAX     (64 * 1024) /* RSA of 8192 bits has 7 KB */
#define PRIVATE_BYTES_MAX (6 * CRYPTO_RSA_BITS_MAX / 8)

struct question {
    struct bytes passphrase;
    bool was_asked;
};

static int answer(char *dst, int size, int for_writing, void *arg)
{
    struct question *q = arg;
    (void)for_writing;
    q->was_asked = true;
    if (q->passphrase.len == 0 || q->passphrase.len > (size_t)size)
        return -1;
    memcpy(dst, q->passphrase.data, q->passphrase.len);
    return (int)q->passphrase.len;
}

static int decode(struct bytes pem, struct bytes passphrase, EVP_PKEY **ret)
{
    struct question q = {.passphrase = passphrase};
    if (pem.len == 0 || pem.len > PEM_BYTES_MAX)
        return -FERRY_EPROTO;
    BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
    EVP_PKEY *pkey = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, answer, &q) : NULL;
    BIO_free(bio);
    if (pkey == NULL) /* a wrong passphrase shows as anything but a key */
        return crypto_failure(q.was_asked ? -FERRY_EAUTH : -FERRY_EPROTO);
    *ret = pkey;
    return 0;
}

static bool find_kind(const EVP_PKEY *pkey, enum crypto_key_kind *ret)
{
    char group[32] = "";
    size_t len;
    if (EVP_PKEY_is_a(pkey, "ED25519"))
        *ret = CRYPTO_ED25519;
    else if (EVP_PKEY_is_a(pkey, "RSA"))
        *ret = CRYPTO_RSA;
    else if (EVP_PKEY_is_a(pkey, "EC") &&
             EVP_PKEY_get_group_name(pkey, group, sizeof(group), &len) == 1 &&
             strcmp(group, "prime256v1") == 0)
        *ret = CRYPTO_ECDSA_P256;
    else
        return false;
    return true;
}

/* By way of its parts: a key from a file meets the same demands as any other. */
static int check(const struct crypto_key *k, struct crypto_key **ret)
{
    struct buf memory;
    struct crypto_key_parts parts;
    buf_init(&memory, PRIVATE_BYTES_MAX);
    int r = crypto_key_private(k, &memory, &parts);
    if (r == -FERRY_ELIMIT || r == -EINVAL) /* too long; a public key, or without factors */
        r = -FERRY_EPROTO;
    if (r == 0)
        r = crypto_key_from_parts(&parts, ret);
    buf_wipe(&memory);
    return r;
}

int crypto_key_from_pem(struct bytes pem, struct bytes passphrase, struct crypto_key **ret)
{
    EVP_PKEY *pkey = NULL;
    enum crypto_key_kind kind;
    int r = decode(pem, passphrase, &pkey);
    if (r != 0)
        return r;
    if (!find_kind(pkey, &kind)) {
        EVP_PKEY_free(pkey);
        return crypto_failure(-FERRY_EPROTO);
    }
    struct crypto_key *k = NULL;
    r = crypto_key_wrap(pkey, kind, true, &k);
    if (r != 0)
        return r;
    r = check(k, ret);
    crypto_key_unref(k);
    return r;
}
