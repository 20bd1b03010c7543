/* Passwords and their hashes, by crypt(3): yescrypt for new ones, whatever libcrypt knows for
 * old ones. Every call that hashes takes about 20 ms and 16 MB, and needs a stack of a thread,
 * not of a task. Scratch memory is on the heap and wiped. For auth/ only.
 */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "base/secret.h"

/* Whether crypt(3) sees the whole of it: not empty, no NUL, and shorter than libcrypt's bound,
 * which answers longer ones at once. */
bool password_is_usable(struct bytes password);

/* Whether libcrypt can compute this method; "!", "*" and garbage fail at once, and so would
 * show that the account exists. */
bool password_hash_is_usable(const char *hash);

/* A setting (method, cost, salt) as for a new hash, on the heap. -ENOMEM, random's failure. */
MUST_CHECK int password_setting_new(char **ret);

/* A new hash, on the heap. -EINVAL: not usable. -ENOMEM. */
MUST_CHECK int password_hash(struct bytes password, char **ret);

/* hash: a hash or a setting. 0, or -FERRY_EAUTH: does not match. -ENOMEM. */
MUST_CHECK int password_verify(const struct secret *password, const char *hash);
