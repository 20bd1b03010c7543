/* Ciphers that work in place, as SSH uses them. Primitives are OpenSSL's; nothing here keeps a
 * sequence number: who calls does. One thread at a time uses an object. Results: 0, -ENOMEM,
 * -EIO (the library refused, which no input can cause), and -FERRY_EPROTO: the tag is wrong,
 * and what was to be opened has been overwritten with zeros.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

#define CRYPTO_TAG_BYTES   16
#define CRYPTO_NONCE_BYTES 12

/* AES-GCM (NIST SP 800-38D) with a tag of 16 bytes. key: 16 or 32 bytes. */
struct crypto_gcm;
MUST_CHECK int crypto_gcm_new(struct bytes key, bool for_sealing, struct crypto_gcm **ret);
MUST_CHECK int crypto_gcm_seal(struct crypto_gcm *, const uint8_t nonce[CRYPTO_NONCE_BYTES],
                               struct bytes extra, uint8_t *data, size_t len,
                               uint8_t ret_tag[CRYPTO_TAG_BYTES]);
MUST_CHECK int crypto_gcm_open(struct crypto_gcm *, const uint8_t nonce[CRYPTO_NONCE_BYTES],
                               struct bytes extra, uint8_t *data, size_t len,
                               const uint8_t tag[CRYPTO_TAG_BYTES]);
struct crypto_gcm *crypto_gcm_free(struct crypto_gcm *); /* wipes; NULL is fine */

/* chacha20-poly1305@openssh.com (OpenSSH's PROTOCOL.chacha20poly1305): key is 64 bytes, the
 * first half for contents, the second for lengths; number is the packet's. */
struct crypto_chacha;
#define CRYPTO_CHACHA_KEY_BYTES 64
MUST_CHECK int crypto_chacha_new(struct bytes key, struct crypto_chacha **ret);
/* The length field in clear; data are its four encrypted bytes. */
MUST_CHECK int crypto_chacha_length(struct crypto_chacha *, uint64_t number,
                                    const uint8_t data[4], uint8_t ret[4]);
/* data: four bytes of length in clear and then the contents; len counts both, and is over 4. */
MUST_CHECK int crypto_chacha_seal(struct crypto_chacha *, uint64_t number, uint8_t *data,
                                  size_t len, uint8_t ret_tag[CRYPTO_TAG_BYTES]);
/* data as sealed; the length field is left encrypted. */
MUST_CHECK int crypto_chacha_open(struct crypto_chacha *, uint64_t number, uint8_t *data,
                                  size_t len, const uint8_t tag[CRYPTO_TAG_BYTES]);
struct crypto_chacha *crypto_chacha_free(struct crypto_chacha *); /* wipes; NULL is fine */

/* AES-CTR (RFC 4344) as one running stream: the same call encrypts and decrypts. key: 16, 24 or
 * 32 bytes; counter: the first block's. */
struct crypto_ctr;
MUST_CHECK int crypto_ctr_new(struct bytes key, const uint8_t counter[16],
                              struct crypto_ctr **ret);
MUST_CHECK int crypto_ctr_apply(struct crypto_ctr *, uint8_t *data, size_t len);
struct crypto_ctr *crypto_ctr_free(struct crypto_ctr *); /* wipes; NULL is fine */

/* CBC (NIST SP 800-38A) as one running chain, for peers that know nothing better: what is
 * decrypted is garbage where it was changed, and nothing says so. */
enum crypto_cbc_kind {
    CRYPTO_CBC_AES128, /* blocks and iv of 16 bytes, key of 16 */
    CRYPTO_CBC_AES256, /* 16, 32 */
    CRYPTO_CBC_3DES    /* EDE with three keys: 8, 24 */
};
struct crypto_cbc;
MUST_CHECK int crypto_cbc_new(enum crypto_cbc_kind, struct bytes key, const uint8_t *iv,
                              bool for_sealing, struct crypto_cbc **ret);
MUST_CHECK int crypto_cbc_apply(struct crypto_cbc *, uint8_t *data, size_t len); /* of blocks */
struct crypto_cbc *crypto_cbc_free(struct crypto_cbc *); /* wipes; NULL is fine */

/* Rough speed of this machine in bytes per second, measured once in about a millisecond each:
 * what orders an offer of ciphers. Thread-safe. */
struct crypto_speeds {
    uint64_t gcm128, gcm256, chacha, ctr_hmac;
};
struct crypto_speeds crypto_speeds(void);
/* What an earlier process has measured on the same machine with the same library: nothing is
 * measured then. Before the first crypto_speeds(), by one thread. */
void crypto_speeds_remember(const struct crypto_speeds *);
/* Name and version of the library: what a measurement is of. */
const char *crypto_library(void);
