/* The exchange hash and the keys that come of it (RFC 4253 7.2, 8; RFC 8731 3.1). */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "crypto/digest.h"
#include "ssh/wire/kexinit.h"

struct ssh_exchange {
    struct bytes client_ident, server_ident;     /* without CR LF */
    struct bytes client_kexinit, server_kexinit; /* payloads, with the message number */
    struct bytes host_key;                       /* K_S, the blob */
    struct bytes client_public, server_public;   /* e and f, Q_C and Q_S */
    /* K: of curves the 32 bytes, of groups the number, hashed as mpint; of ML-KEM with a curve
     * a digest, hashed as string */
    struct bytes secret;
};

struct ssh_hash {
    uint8_t bytes[CRYPTO_DIGEST_MAX];
    size_t len; /* 20, 32 or 64 */
};

enum crypto_digest_kind ssh_kex_digest(enum ssh_kex_kind);
bool ssh_kex_is_group(enum ssh_kex_kind); /* public values are mpints, not strings */

/* H. -ENOMEM. */
MUST_CHECK int ssh_exchange_hash(enum ssh_kex_kind, const struct ssh_exchange *,
                                 struct ssh_hash *ret);
/* letter: 'A' to 'F'. len at most SSH_KEY_MAX. session_id: the first H of the connection. */
MUST_CHECK int ssh_derive_key(enum ssh_kex_kind, struct bytes secret, const struct ssh_hash *h,
                              struct bytes session_id, char letter, uint8_t *ret, size_t len);
