/* Keys and signatures as SSH packs them (RFC 4253 6.6, RFC 8332, RFC 8709, RFC 5656 3.1). */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "crypto/key.h"
#include "ssh/wire/auth.h"

/* A public key's blob. -FERRY_EPROTO: none that is known and sound. -ENOMEM. */
MUST_CHECK int ssh_key_parse(struct bytes blob, struct crypto_key **ret);
struct wire_writer;
void ssh_key_write(struct wire_writer *, const struct crypto_key *);
/* "ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa". */
const char *ssh_key_type(const struct crypto_key *);
bool ssh_key_kind_of(struct bytes type, enum crypto_key_kind *ret); /* false: unknown */

/* Of a signature algorithm (ssh/wire/signature.h), also of one that is for old peers alone.
 * false: unknown, or not of a key of that kind. */
bool ssh_scheme_of(struct bytes algorithm, enum crypto_key_kind, enum crypto_scheme *ret);

/* A signature's blob over data. The algorithm inside must be the one that was agreed on.
 * 0, -FERRY_EAUTH: it is not right; -FERRY_EPROTO: no signature; -ENOMEM. */
MUST_CHECK int ssh_signature_verify(const struct crypto_key *, struct bytes algorithm,
                                    struct bytes data, struct bytes signature_blob);
MUST_CHECK int ssh_sign(const struct crypto_key *, struct bytes algorithm, struct bytes data,
                        struct wire_writer *);

/* "SHA256:..." in base64 without padding, and a NUL. -ENOMEM. */
#define SSH_FINGERPRINT_TEXT 51
MUST_CHECK int ssh_fingerprint(struct bytes blob, char ret[SSH_FINGERPRINT_TEXT]);
