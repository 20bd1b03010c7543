/* layers: ssh_wire */
/* Public keys and signatures: a key that is taken has no other blob, and no signature is right
 * for two algorithms. Input: the length of a key's blob in two bytes, the blob, a signature's
 * blob over DATA. */
#include "base/err.h"
#include "base/wire.h"
#include "invariant.h"
#include "ssh/wire/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define DATA BYTES_LIT("what is signed")

static const char *const algorithms[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-256",
                                         "rsa-sha2-512", "ssh-rsa"};

static void check_key(const struct crypto_key *key, struct bytes blob)
{
    static uint8_t written[SSH_KEY_BLOB_MAX];
    char fingerprint[SSH_FINGERPRINT_TEXT];
    enum crypto_key_kind kind;
    struct wire_writer w = wire_writer_of(written, sizeof(written));
    ssh_key_write(&w, key);
    INVARIANT(wire_write_end(&w) == 0 && bytes_equal(bytes_of(written, w.len), blob));
    INVARIANT(ssh_key_kind_of(bytes_str(ssh_key_type(key)), &kind));
    INVARIANT(kind == crypto_key_public(key).kind && !crypto_key_is_private(key));
    INVARIANT(ssh_fingerprint(blob, fingerprint) == 0);
    INVARIANT(strlen(fingerprint) == SSH_FINGERPRINT_TEXT - 1);
}

static void check_signature(const struct crypto_key *key, struct bytes signature)
{
    unsigned right = 0;
    for (size_t i = 0; i < ARRAY_LEN(algorithms); i++) {
        enum crypto_scheme scheme;
        struct bytes name = bytes_str(algorithms[i]);
        int r = ssh_signature_verify(key, name, DATA, signature);
        INVARIANT(r == 0 || r == -FERRY_EAUTH || r == -FERRY_EPROTO);
        INVARIANT(r != 0 || ssh_scheme_of(name, crypto_key_public(key).kind, &scheme));
        INVARIANT(r != 0 || ssh_signature_verify(key, name, BYTES_LIT("else"), signature) ==
                                -FERRY_EAUTH);
        right += r == 0;
    }
    INVARIANT(right <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct crypto_key *key;
    struct wire_reader r = wire_reader_of(bytes_of(data, len));
    size_t blob_len = wire_get_u16(&r);
    struct bytes blob = wire_get_bytes(&r, blob_len);
    struct bytes signature = wire_get_rest(&r);
    if (r.has_failed)
        return 0;
    int rc = ssh_key_parse(blob, &key);
    INVARIANT(rc == 0 || rc == -FERRY_EPROTO);
    if (rc < 0)
        return 0;
    check_key(key, blob);
    check_signature(key, signature);
    crypto_key_unref(key);
    return 0;
}
