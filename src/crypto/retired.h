/* Ciphers that ssh has given up, and today's beside them, as primitives: what they cost can
 * still be measured, and nothing here is for keeping a secret. OpenSSL has Blowfish and RC4 in
 * its legacy provider (OSSL_PROVIDER-legacy(7)), which is loaded for the object alone. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct crypto_retired;

/* By OpenSSL's name: "BF-CBC", "RC4", "DES-EDE3-CBC", "AES-128-CTR". -ENOENT: this library has
 * no such cipher; -ENOMEM. The key is fixed. */
MUST_CHECK int crypto_retired_new(const char *name, struct crypto_retired **ret);
/* In place, len a multiple of the block: 16. -EIO. */
MUST_CHECK int crypto_retired_apply(struct crypto_retired *, uint8_t *data, size_t len);
struct crypto_retired *crypto_retired_free(struct crypto_retired *); /* NULL is fine */
