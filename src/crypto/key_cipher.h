/* What encrypts private keys in openssh-key-v1 files: each file once, with a key of its own.
 * Ciphers of connections are crypto/cipher.h's. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define CRYPTO_KEY_CIPHER_SECRET_MAX 64 /* key_len + nonce_len */

struct crypto_key_cipher {
    const char *name;      /* as OpenSSH has it */
    const char *algorithm; /* as OpenSSL has it */
    uint8_t key_len, nonce_len, block_len, tag_len;
};

/* NULL: not known. CBC is among them: it was ssh-keygen's default until OpenSSH 7.6. */
const struct crypto_key_cipher *crypto_key_cipher_find(struct bytes name);
/* In place. secret: the key, then the nonce; len: a multiple of block_len, and not 0; tag: of
 * tag_len. -FERRY_EAUTH: the tag is another one; -ENOMEM; -EIO: the library refused. */
MUST_CHECK int crypto_key_cipher_open(const struct crypto_key_cipher *, const uint8_t *secret,
                                      uint8_t *data, size_t len, struct bytes tag);
