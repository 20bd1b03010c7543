/* Signature algorithms of host keys and logins (RFC 4253 6.6, RFC 5656, RFC 8332, RFC 8709).
 * The one table of them: what is offered, chosen, signed, checked and told in EXT_INFO is read
 * here.
 *
 * How many bits a key must have is the key's affair, not the algorithm's: CRYPTO_RSA_BITS_MIN
 * (crypto/key.h) holds wherever a key comes from. Pure; all of it is static.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "crypto/key.h"

enum ssh_signature_use {
    SSH_SIGNATURE_USUAL,
    SSH_SIGNATURE_NISTP256, /* of a host key: by setting */
    SSH_SIGNATURE_LEGACY    /* SHA-1: by setting, and never in place of another */
};

struct ssh_signature {
    const char *name;
    enum crypto_key_kind kind;
    enum crypto_scheme scheme; /* with its digest */
    enum ssh_signature_use use;
};

#define SSH_SIGNATURE_COUNT 5
#define SSH_SIGNATURE_NAMES 80 /* bytes: all names between commas, and a NUL */

extern const struct ssh_signature ssh_signatures[SSH_SIGNATURE_COUNT]; /* best first */

/* NULL: unknown. */
const struct ssh_signature *ssh_signature_find(struct bytes name);

/* Those of several kinds of keys, a bit for each enum crypto_key_kind; best first, between
 * commas. legacy: with SSH_SIGNATURE_LEGACY. What does not fit is cut, and
 * SSH_SIGNATURE_NAMES holds all. Returns their length. */
#define SSH_SIGNATURE_ALL_KINDS (~0u)
size_t ssh_signature_names(unsigned kinds, bool legacy, size_t cap, char *ret);
