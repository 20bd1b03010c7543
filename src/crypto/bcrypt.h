/* bcrypt_pbkdf: what makes the key of an encrypted openssh-key-v1 out of its passphrase.
 *
 * The primitive is Botan's, which is loaded when the first such key is met: no program of ours
 * depends on it. The only file that loads a library. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define CRYPTO_BCRYPT_ROUNDS_MAX 1024 /* eight seconds; ssh-keygen takes 16 to 24 */
#define CRYPTO_BCRYPT_SALT_MAX   64   /* bytes; ssh-keygen takes 16 */
#define CRYPTO_BCRYPT_BYTES_MAX  128

/* Takes 8 ms a round, in a thread that the caller waits for. -ELIBACC: there is no Botan here,
 * which is said before the passphrase is looked at; -FERRY_EAUTH: it is empty; -FERRY_ELIMIT:
 * too many rounds, or too much salt or len; -EINVAL: none of them; -ENOMEM, -EAGAIN. */
MUST_CHECK int crypto_bcrypt_pbkdf(struct bytes passphrase, struct bytes salt, uint32_t rounds,
                                   uint8_t *ret, size_t len);
