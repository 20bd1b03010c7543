/* Private keys in files: openssh-key-v1 (OpenSSH's PROTOCOL.key) and PEM. Both may be
 * encrypted. What makes a key of an openssh-key-v1's passphrase comes as an argument, since it
 * is a library that is loaded (crypto/bcrypt.h). */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "crypto/key.h"

#define SSH_KEY_FILE_MAX (32 * 1024)

/* bcrypt_pbkdf. Whoever implements it bounds rounds, and refuses an empty passphrase by
 * -FERRY_EAUTH. */
typedef int ssh_key_kdf_fn(struct bytes passphrase, struct bytes salt, uint32_t rounds,
                           uint8_t *ret, size_t len);

/* -FERRY_EAUTH: encrypted with another passphrase, or, where a tag or the numbers that tell are
 * wrong, damaged; -FERRY_EPROTO: no key, or one of a kind that is not known; -EPROTONOSUPPORT:
 * an openssh-key-v1 encrypted by a cipher that is not known (crypto/key_cipher.h); what kdf
 * fails with. */
MUST_CHECK int ssh_key_file_unlock(struct bytes text, struct bytes passphrase,
                                   ssh_key_kdf_fn *kdf, struct crypto_key **ret);
/* The same without a kdf: no encrypted openssh-key-v1, which is -EPROTONOSUPPORT. */
MUST_CHECK int ssh_key_file_parse(struct bytes text, struct bytes passphrase,
                                  struct crypto_key **ret);
/* openssh-key-v1 without encryption. ret: an initialised buffer, which the caller wipes.
 * check: a random number. -EINVAL: there is no secret; -FERRY_ELIMIT: the comment or ret's cap;
 * -ENOMEM. */
struct buf;
MUST_CHECK int ssh_key_file_write(const struct crypto_key *, struct bytes comment,
                                  uint32_t check, struct buf *ret);
/* "ssh-ed25519 AAAA... comment\n". -EINVAL: the comment has control characters. -FERRY_ELIMIT,
 * -ENOMEM. */
MUST_CHECK int ssh_public_line_write(const struct crypto_key *, struct bytes comment,
                                     struct buf *ret);
