#include "crypto/digest.h"

#include <errno.h>

#include <openssl/evp.h>

#include "base/mem.h"
#include "crypto/algorithm.h"

#define BLOCK_MAX 128 /* SHA-512's */

struct crypto_hash {
    EVP_MD_CTX *ctx;
};

/* Two states with half of the work done: the key's blocks are in. They are only copied. */
struct crypto_hmac {
    EVP_MD_CTX *inner, *outer;
    enum crypto_digest_kind kind;
};

size_t crypto_digest_len(enum crypto_digest_kind kind)
{
    static const uint8_t lens[] = {
        [CRYPTO_MD5] = 16, [CRYPTO_SHA1] = 20, [CRYPTO_SHA256] = 32, [CRYPTO_SHA512] = 64};
    return lens[kind];
}

/* All digests are built in: what can fail is memory. */
static int result_of(bool is_done)
{
    return is_done ? 0 : crypto_failure(-ENOMEM);
}

static EVP_MD_CTX *begin(enum crypto_digest_kind kind)
{
    const EVP_MD *md = crypto_md(kind);
    EVP_MD_CTX *ctx = md != NULL ? EVP_MD_CTX_new() : NULL;
    if (ctx != NULL && EVP_DigestInit_ex(ctx, md, NULL) == 1)
        return ctx;
    EVP_MD_CTX_free(ctx);
    return NULL;
}

static bool add_parts(EVP_MD_CTX *ctx, const struct bytes *parts, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (parts[i].len != 0 && EVP_DigestUpdate(ctx, parts[i].data, parts[i].len) != 1)
            return false;
    return true;
}

int crypto_digest(enum crypto_digest_kind kind, const struct bytes *parts, unsigned count,
                  uint8_t ret[CRYPTO_DIGEST_MAX])
{
    EVP_MD_CTX *ctx = begin(kind);
    bool is_done =
        ctx != NULL && add_parts(ctx, parts, count) && EVP_DigestFinal_ex(ctx, ret, NULL) == 1;
    EVP_MD_CTX_free(ctx); /* wipes */
    return result_of(is_done);
}

/* -- piece by piece -- */

int crypto_hash_new(enum crypto_digest_kind kind, struct crypto_hash **ret)
{
    struct crypto_hash *h = mem_new(sizeof(*h));
    if (h == NULL)
        return -ENOMEM;
    h->ctx = begin(kind);
    if (h->ctx == NULL) {
        mem_free(h);
        return result_of(false);
    }
    *ret = h;
    return 0;
}

int crypto_hash_add(struct crypto_hash *h, struct bytes part)
{
    return result_of(add_parts(h->ctx, &part, 1));
}

int crypto_hash_end(struct crypto_hash *h, uint8_t ret[CRYPTO_DIGEST_MAX])
{
    return result_of(EVP_DigestFinal_ex(h->ctx, ret, NULL) == 1);
}

struct crypto_hash *crypto_hash_free(struct crypto_hash *h)
{
    if (h != NULL)
        EVP_MD_CTX_free(h->ctx);
    mem_free(h);
    return NULL;
}

/* -- HMAC: H(key ^ opad, H(key ^ ipad, text)), RFC 2104 section 2 -- */

static EVP_MD_CTX *begin_with_key(enum crypto_digest_kind kind, struct bytes key, uint8_t pad)
{
    uint8_t block[BLOCK_MAX];
    EVP_MD_CTX *ctx = begin(kind);
    if (ctx == NULL)
        return NULL;
    size_t len = (size_t)EVP_MD_CTX_get_block_size(ctx);
    for (size_t i = 0; i < len; i++)
        block[i] = (i < key.len ? key.data[i] : 0) ^ pad;
    bool is_done = EVP_DigestUpdate(ctx, block, len) == 1;
    mem_wipe(block, sizeof(block));
    if (is_done)
        return ctx;
    EVP_MD_CTX_free(ctx);
    return NULL;
}

/* A key longer than a block is digested first. */
static int shorten(enum crypto_digest_kind kind, struct bytes *key,
                   uint8_t memory[CRYPTO_DIGEST_MAX])
{
    const EVP_MD *md = crypto_md(kind);
    if (md == NULL)
        return crypto_failure(-ENOMEM);
    if (key->len <= (size_t)EVP_MD_get_block_size(md))
        return 0;
    int r = crypto_digest(kind, key, 1, memory);
    *key = bytes_of(memory, crypto_digest_len(kind));
    return r;
}

int crypto_hmac_new(enum crypto_digest_kind kind, struct bytes key, struct crypto_hmac **ret)
{
    uint8_t memory[CRYPTO_DIGEST_MAX];
    int r = shorten(kind, &key, memory);
    if (r != 0)
        return r;
    struct crypto_hmac *h = mem_new(sizeof(*h));
    if (h == NULL) {
        mem_wipe(memory, sizeof(memory));
        return -ENOMEM;
    }
    h->kind = kind;
    h->inner = begin_with_key(kind, key, 0x36);
    h->outer = begin_with_key(kind, key, 0x5c);
    mem_wipe(memory, sizeof(memory));
    if (h->inner == NULL || h->outer == NULL) {
        crypto_hmac_free(h);
        return result_of(false);
    }
    *ret = h;
    return 0;
}

/* The state that works lives for one call: an idle session has none. */
int crypto_hmac(struct crypto_hmac *h, const struct bytes *parts, unsigned count,
                uint8_t ret[CRYPTO_DIGEST_MAX])
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool is_done = ctx != NULL && EVP_MD_CTX_copy_ex(ctx, h->inner) == 1 &&
                   add_parts(ctx, parts, count) && EVP_DigestFinal_ex(ctx, ret, NULL) == 1 &&
                   EVP_MD_CTX_copy_ex(ctx, h->outer) == 1 &&
                   EVP_DigestUpdate(ctx, ret, crypto_digest_len(h->kind)) == 1 &&
                   EVP_DigestFinal_ex(ctx, ret, NULL) == 1;
    EVP_MD_CTX_free(ctx);
    return result_of(is_done);
}

struct crypto_hmac *crypto_hmac_free(struct crypto_hmac *h)
{
    if (h != NULL) {
        EVP_MD_CTX_free(h->inner);
        EVP_MD_CTX_free(h->outer);
    }
    mem_free(h);
    return NULL;
}
