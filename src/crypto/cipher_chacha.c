#include <errno.h>
#include <limits.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/secret.h"
#include "crypto/algorithm.h"
#include "crypto/cipher.h"

#define LENGTH_BYTES   4
#define KEY_BYTES      32
#define BLOCK_BYTES    64
#define POLY_KEY_BYTES 32

/* One context serves both keys: ChaCha20 has no key schedule that would be lost. */
struct crypto_chacha {
    EVP_CIPHER_CTX *stream;
    EVP_MAC_CTX *poly;
    uint8_t key_contents[KEY_BYTES];
    uint8_t key_length[KEY_BYTES];
};

int crypto_chacha_new(struct bytes key, struct crypto_chacha **ret)
{
    if (key.len != CRYPTO_CHACHA_KEY_BYTES)
        return -EIO;
    struct crypto_chacha *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    memcpy(c->key_contents, key.data, KEY_BYTES);
    memcpy(c->key_length, key.data + KEY_BYTES, KEY_BYTES);
    const EVP_CIPHER *cipher = crypto_cipher(CRYPTO_CHACHA20);
    EVP_MAC *poly = crypto_poly1305();
    if (cipher != NULL && poly != NULL) {
        c->stream = EVP_CIPHER_CTX_new();
        c->poly = EVP_MAC_CTX_new(poly);
    }
    if (c->stream == NULL || c->poly == NULL ||
        EVP_EncryptInit_ex(c->stream, cipher, NULL, NULL, NULL) != 1) {
        crypto_chacha_free(c);
        return crypto_failure(-ENOMEM);
    }
    *ret = c;
    return 0;
}

struct crypto_chacha *crypto_chacha_free(struct crypto_chacha *c)
{
    if (c == NULL)
        return NULL;
    EVP_CIPHER_CTX_free(c->stream);
    EVP_MAC_CTX_free(c->poly);
    mem_wipe_free(c, sizeof(*c));
    return NULL;
}

/* To the first byte of the key stream of a packet. */
static bool begin(struct crypto_chacha *c, const uint8_t key[KEY_BYTES], uint64_t number)
{
    uint8_t iv[16] = {0}; /* the block's number, then the packet's */
    for (size_t i = sizeof(iv); i-- > 8; number >>= 8)
        iv[i] = (uint8_t)number;
    return EVP_EncryptInit_ex(c->stream, NULL, NULL, key, iv) == 1;
}

static bool apply(struct crypto_chacha *c, const uint8_t *from, uint8_t *to, size_t len)
{
    int done;
    return len <= INT_MAX && EVP_EncryptUpdate(c->stream, to, &done, from, (int)len) == 1;
}

/* Block 0 of the contents' stream is the tag's key; the stream then stands at block 1, where
 * the contents begin. */
static bool begin_contents(struct crypto_chacha *c, uint64_t number)
{
    static const uint8_t zeros[BLOCK_BYTES];
    uint8_t block[BLOCK_BYTES];
    bool is_done = begin(c, c->key_contents, number) && apply(c, zeros, block, sizeof(block)) &&
                   EVP_MAC_init(c->poly, block, POLY_KEY_BYTES, NULL) == 1;
    mem_wipe(block, sizeof(block));
    return is_done;
}

static bool make_tag(struct crypto_chacha *c, const uint8_t *data, size_t len,
                     uint8_t ret[CRYPTO_TAG_BYTES])
{
    size_t tag_len;
    return EVP_MAC_update(c->poly, data, len) == 1 &&
           EVP_MAC_final(c->poly, ret, &tag_len, CRYPTO_TAG_BYTES) == 1 &&
           tag_len == CRYPTO_TAG_BYTES;
}

int crypto_chacha_length(struct crypto_chacha *c, uint64_t number, const uint8_t data[4],
                         uint8_t ret[4])
{
    bool is_done = begin(c, c->key_length, number) && apply(c, data, ret, LENGTH_BYTES);
    return is_done ? 0 : crypto_failure(-EIO);
}

int crypto_chacha_seal(struct crypto_chacha *c, uint64_t number, uint8_t *data, size_t len,
                       uint8_t ret_tag[CRYPTO_TAG_BYTES])
{
    bool is_done = len > LENGTH_BYTES && begin(c, c->key_length, number) &&
                   apply(c, data, data, LENGTH_BYTES) && begin_contents(c, number) &&
                   apply(c, data + LENGTH_BYTES, data + LENGTH_BYTES, len - LENGTH_BYTES) &&
                   make_tag(c, data, len, ret_tag);
    return is_done ? 0 : crypto_failure(-EIO);
}

int crypto_chacha_open(struct crypto_chacha *c, uint64_t number, uint8_t *data, size_t len,
                       const uint8_t tag[CRYPTO_TAG_BYTES])
{
    uint8_t right[CRYPTO_TAG_BYTES];
    bool has_tag =
        len > LENGTH_BYTES && begin_contents(c, number) && make_tag(c, data, len, right);
    bool is_right =
        has_tag && secret_equal(bytes_of(right, sizeof(right)), bytes_of(tag, sizeof(right)));
    bool is_done =
        is_right && apply(c, data + LENGTH_BYTES, data + LENGTH_BYTES, len - LENGTH_BYTES);
    int r = is_done ? 0 : has_tag && !is_right ? -FERRY_EPROTO : crypto_failure(-EIO);
    mem_wipe(right, sizeof(right)); /* of a forgery, it is what the forger wants */
    if (r != 0)
        mem_wipe(data, len);
    return r;
}
