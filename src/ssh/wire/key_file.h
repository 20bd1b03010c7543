/* Private keys in files: openssh-key-v1 (OpenSSH's PROTOCOL.key), and PEM, which may be
 * encrypted. An encrypted openssh-key-v1 needs bcrypt_pbkdf, which no library here has:
 * -EPROTONOSUPPORT; an agent can hold such a key. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "crypto/key.h"

#define SSH_KEY_FILE_MAX (32 * 1024)

/* -FERRY_EPROTO: no key, or one of a kind that is not known; -FERRY_EAUTH: PEM with another
 * passphrase. */
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
