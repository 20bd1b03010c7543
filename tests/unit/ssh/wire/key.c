#include "ssh/wire/key.h"

#include <errno.h>

#include "ssh_files.h"

static int teardown(void **state)
{
    (void)state;
    files_done();
    return 0;
}

static int parse(struct bytes blob)
{
    struct crypto_key *key;
    int r = ssh_key_parse(blob, &key);
    if (r == 0)
        crypto_key_unref(key);
    return r;
}

/* -- public keys -- */

static void keys_of_openssh_are_read_and_written_as_they_were(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        uint8_t written[SSH_KEY_BLOB_MAX];
        struct bytes blob = file_blob(key_samples[i].name);
        struct crypto_key *key = file_public(key_samples[i].name);
        struct wire_writer w = wire_writer_of(written, sizeof(written));
        ssh_key_write(&w, key);
        assert_int_equal(wire_write_end(&w), 0);
        assert_true(bytes_equal(bytes_of(written, w.len), blob));
        assert_string_equal(ssh_key_type(key), key_samples[i].type);
        crypto_key_unref(key);
    }
}

static void fingerprints_are_those_of_openssh(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        char text[SSH_FINGERPRINT_TEXT];
        assert_int_equal(ssh_fingerprint(file_blob(key_samples[i].name), text), 0);
        assert_string_equal(text, key_samples[i].fingerprint);
    }
}

static void a_key_is_taken_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        uint8_t copy[SSH_KEY_BLOB_MAX];
        struct bytes blob = file_blob(key_samples[i].name);
        for (size_t len = 0; len < blob.len; len++)
            assert_int_equal(parse_copy(parse, bytes_first(blob, len)), -FERRY_EPROTO);
        memcpy(copy, blob.data, blob.len);
        copy[blob.len] = 0;
        assert_int_equal(parse_copy(parse, bytes_of(copy, blob.len + 1)), -FERRY_EPROTO);
    }
}

static void keys_of_other_types_and_sizes_are_refused(void **state)
{
    (void)state;
    assert_int_equal(parse(file_blob("ed25519-cert")), -FERRY_EPROTO);
    assert_int_equal(parse(file_blob("p384")), -FERRY_EPROTO);
    assert_int_equal(parse(file_blob("rsa1024")), -FERRY_EPROTO);

    uint8_t blob[512];
    static const char *const types[] = {"sk-ssh-ed25519@openssh.com",
                                        "ssh-dss",
                                        "ssh-ed448",
                                        "ssh-ed2551",
                                        "ssh-ed255190",
                                        "SSH-ED25519",
                                        ""};
    struct crypto_key *key = file_public("ed25519");
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct wire_writer w = wire_writer_of(blob, sizeof(blob));
        wire_put_string(&w, bytes_str(types[i]));
        wire_put_string(&w, crypto_key_public(key).point);
        assert_int_equal(parse(bytes_of(blob, w.len)), -FERRY_EPROTO);
        wire_put_string(&w, BYTES_LIT("ssh:"));
        assert_int_equal(parse(bytes_of(blob, w.len)), -FERRY_EPROTO);
    }
    crypto_key_unref(key);
}

static void the_curve_is_named_as_the_type_says(void **state)
{
    (void)state;
    uint8_t copy[256];
    struct bytes blob = file_blob("ecdsa");
    memcpy(copy, blob.data, blob.len);
    copy[4 + 19 + 4 + 7] = '7'; /* nistp257 */
    assert_int_equal(parse(bytes_of(copy, blob.len)), -FERRY_EPROTO);
}

static int parse_rsa(struct bytes e, struct bytes n)
{
    uint8_t blob[1024];
    struct wire_writer w = wire_writer_of(blob, sizeof(blob));
    wire_put_string(&w, BYTES_LIT("ssh-rsa"));
    wire_put_string(&w, e);
    wire_put_string(&w, n);
    return parse(bytes_of(blob, w.len));
}

static void a_key_has_one_blob_only(void **state)
{
    (void)state;
    struct crypto_key *key = file_public("rsa2048");
    struct crypto_key_parts p = crypto_key_public(key);
    uint8_t padded[512] = {0};
    struct bytes e = BYTES_LIT("\x01\x00\x01");
    assert_true(bytes_equal(p.e, e));
    assert_int_equal(p.n.len, 256);
    memcpy(padded + 2, p.n.data, p.n.len);
    assert_int_equal(parse_rsa(e, bytes_of(padded + 1, p.n.len + 1)), 0);
    assert_int_equal(parse_rsa(e, bytes_of(padded, p.n.len + 2)), -FERRY_EPROTO);
    assert_int_equal(parse_rsa(e, bytes_of(padded + 2, p.n.len)), -FERRY_EPROTO); /* negative */
    assert_int_equal(parse_rsa(BYTES_LIT("\0\x01\x00\x01"), bytes_of(padded + 1, p.n.len + 1)),
                     -FERRY_EPROTO);
    assert_int_equal(parse_rsa(BYTES_LIT("\0"), bytes_of(padded + 1, p.n.len + 1)),
                     -FERRY_EPROTO);
    assert_int_equal(parse_rsa(BYTES_NONE, bytes_of(padded + 1, p.n.len + 1)), -FERRY_EPROTO);
    crypto_key_unref(key);
}

/* -- signatures -- */

static void signatures_of_openssh_are_right_over_their_data_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        struct bytes data;
        struct bytes algorithm = bytes_str(key_samples[i].algorithm);
        struct bytes signature = file_signature(key_samples[i].name, &data);
        struct crypto_key *key = file_public(key_samples[i].name);
        assert_int_equal(ssh_signature_verify(key, algorithm, data, signature), 0);
        assert_int_equal(
            ssh_signature_verify(key, algorithm, bytes_first(data, data.len - 1), signature),
            -FERRY_EAUTH);
        crypto_key_unref(key);
    }
}

static void each_changed_byte_of_a_signature_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        uint8_t copy[SSH_SIGNATURE_BLOB_MAX];
        struct bytes data;
        struct bytes signature = file_signature(key_samples[i].name, &data);
        struct crypto_key *key = file_public(key_samples[i].name);
        memcpy(copy, signature.data, signature.len);
        for (size_t at = 0; at < signature.len; at++) {
            copy[at] ^= 1;
            int r = ssh_signature_verify(key, bytes_str(key_samples[i].algorithm), data,
                                         bytes_of(copy, signature.len));
            assert_true(r == -FERRY_EAUTH || r == -FERRY_EPROTO);
            copy[at] ^= 1;
        }
        crypto_key_unref(key);
    }
}

static struct crypto_key *verifier;
static struct bytes verified, agreed;

static int verify(struct bytes signature)
{
    return ssh_signature_verify(verifier, agreed, verified, signature);
}

static void a_signature_is_taken_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        uint8_t copy[SSH_SIGNATURE_BLOB_MAX];
        struct bytes signature = file_signature(key_samples[i].name, &verified);
        verifier = file_public(key_samples[i].name);
        agreed = bytes_str(key_samples[i].algorithm);
        for (size_t len = 0; len < signature.len; len++)
            assert_int_equal(parse_copy(verify, bytes_first(signature, len)), -FERRY_EPROTO);
        memcpy(copy, signature.data, signature.len);
        copy[signature.len] = 0;
        assert_int_equal(parse_copy(verify, bytes_of(copy, signature.len + 1)), -FERRY_EPROTO);
        crypto_key_unref(verifier);
    }
}

/* rsa2048's answer to a signature by that name over the message. */
static int verify_rsa(const char *agreed_name, const char *name, struct bytes signature)
{
    uint8_t blob[SSH_SIGNATURE_BLOB_MAX];
    struct crypto_key *key = file_public("rsa2048");
    struct wire_writer w = wire_writer_of(blob, sizeof(blob));
    wire_put_string(&w, bytes_str(name));
    wire_put_string(&w, signature);
    int r = ssh_signature_verify(key, bytes_str(agreed_name), file_read("message", ""),
                                 bytes_of(blob, w.len));
    crypto_key_unref(key);
    return r;
}

static void rsa_signs_with_the_digest_that_was_agreed_on_alone(void **state)
{
    (void)state;
    struct bytes sha256 = file_read("rsa2048", ".sha256"), sha1 = file_read("rsa2048", ".sha1");
    assert_int_equal(verify_rsa("rsa-sha2-256", "rsa-sha2-256", sha256), 0);
    assert_int_equal(verify_rsa("rsa-sha2-512", "rsa-sha2-512", sha256), -FERRY_EAUTH);
    assert_int_equal(verify_rsa("rsa-sha2-512", "rsa-sha2-256", sha256), -FERRY_EPROTO);
    assert_int_equal(verify_rsa("rsa-sha2-256", "ssh-rsa", sha256), -FERRY_EPROTO);
    assert_int_equal(verify_rsa("ssh-rsa", "ssh-rsa", sha1),
                     0); /* who may agree: ssh/offer.h */
    assert_int_equal(verify_rsa("ssh-rsa", "ssh-rsa", sha256), -FERRY_EAUTH);
    assert_int_equal(verify_rsa("ssh-rsa", "rsa-sha2-256", sha256), -FERRY_EPROTO);
    assert_int_equal(verify_rsa("rsa-sha2-256", "ssh-rsa", sha1), -FERRY_EPROTO);
    assert_int_equal(verify_rsa("rsa-sha2-256", "rsa-sha2-256", sha1), -FERRY_EAUTH);
    assert_int_equal(verify_rsa("ssh-ed25519", "ssh-ed25519", sha256), -FERRY_EPROTO);
}

static int verify_ecdsa(struct bytes r, struct bytes s)
{
    uint8_t numbers[256], blob[512];
    struct crypto_key *key = file_public("ecdsa");
    struct bytes name = BYTES_LIT("ecdsa-sha2-nistp256");
    struct wire_writer w = wire_writer_of(numbers, sizeof(numbers));
    wire_put_string(&w, r);
    wire_put_string(&w, s);
    struct wire_writer whole = wire_writer_of(blob, sizeof(blob));
    wire_put_string(&whole, name);
    wire_put_string(&whole, bytes_of(numbers, w.len));
    int rc = ssh_signature_verify(key, name, BYTES_LIT("x"), bytes_of(blob, whole.len));
    crypto_key_unref(key);
    return rc;
}

static void numbers_of_ecdsa_are_positive_and_of_32_bytes(void **state)
{
    (void)state;
    uint8_t number[40];
    struct bytes one = BYTES_LIT("\x01");
    memset(number, 0x7f, sizeof(number));
    assert_int_equal(verify_ecdsa(one, one), -FERRY_EAUTH);
    assert_int_equal(verify_ecdsa(BYTES_NONE, BYTES_NONE), -FERRY_EAUTH);
    assert_int_equal(verify_ecdsa(bytes_of(number, 32), one), -FERRY_EAUTH);
    assert_int_equal(verify_ecdsa(bytes_of(number, 33), one), -FERRY_EPROTO);
    assert_int_equal(verify_ecdsa(one, bytes_of(number, 34)), -FERRY_EPROTO);
    assert_int_equal(verify_ecdsa(one, BYTES_LIT("\x80")), -FERRY_EPROTO);
    assert_int_equal(verify_ecdsa(one, BYTES_LIT("\0\x01")), -FERRY_EPROTO);
}

static void what_is_signed_is_right(void **state)
{
    (void)state;

    static const struct {
        enum crypto_key_kind kind;
        const char *algorithm;
    } cases[] = {
        {CRYPTO_ED25519, "ssh-ed25519"},
        {CRYPTO_ECDSA_P256, "ecdsa-sha2-nistp256"},
        {CRYPTO_RSA, "rsa-sha2-256"},
        {CRYPTO_RSA, "rsa-sha2-512"},
    };
    struct crypto_key *keys[3];
    for (unsigned i = 0; i < ARRAY_LEN(keys); i++)
        assert_int_equal(crypto_key_generate((enum crypto_key_kind)i, &keys[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t blob[SSH_SIGNATURE_BLOB_MAX];
        struct crypto_key *key = keys[cases[i].kind];
        struct bytes algorithm = bytes_str(cases[i].algorithm);
        /* ECDSA's numbers have leading zeros now and then */
        for (unsigned n = 0; n < (cases[i].kind == CRYPTO_ECDSA_P256 ? 2000u : 3u); n++) {
            struct wire_writer w = wire_writer_of(blob, sizeof(blob));
            struct bytes data = bytes_of(&n, sizeof(n));
            assert_int_equal(ssh_sign(key, algorithm, data, &w), 0);
            struct bytes signature = bytes_of(blob, w.len);
            assert_int_equal(ssh_signature_verify(key, algorithm, data, signature), 0);
        }
        struct wire_writer small = wire_writer_of(blob, 60);
        assert_int_equal(ssh_sign(key, algorithm, BYTES_LIT("x"), &small), -FERRY_ELIMIT);
    }
    for (unsigned i = 0; i < ARRAY_LEN(keys); i++)
        crypto_key_unref(keys[i]);
}

static void a_key_signs_by_its_own_algorithms_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"ssh-ed25519",
                                        "ecdsa-sha2-nistp256",
                                        "rsa-sha2-256",
                                        "rsa-sha2-512",
                                        "ssh-rsa",
                                        "ssh-dss",
                                        ""};
    /* columns: Ed25519, ECDSA, RSA */
    static const bool is_of[ARRAY_LEN(names)][3] = {{true, false, false},
                                                    {false, true, false},
                                                    {false, false, true},
                                                    {false, false, true},
                                                    {false, false, true}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            enum crypto_scheme scheme;
            assert_int_equal(
                ssh_scheme_of(bytes_str(names[i]), (enum crypto_key_kind)kind, &scheme),
                is_of[i][kind]);
        }
    }
    struct crypto_key *key;
    uint8_t blob[SSH_SIGNATURE_BLOB_MAX];
    struct wire_writer w = wire_writer_of(blob, sizeof(blob));
    assert_int_equal(crypto_key_generate(CRYPTO_ED25519, &key), 0);
    assert_int_equal(ssh_sign(key, BYTES_LIT("rsa-sha2-256"), BYTES_LIT("x"), &w), -EINVAL);
    crypto_key_unref(key);
    key = file_public("ed25519");
    assert_int_equal(ssh_sign(key, BYTES_LIT("ssh-ed25519"), BYTES_LIT("x"), &w), -EINVAL);
    crypto_key_unref(key);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(keys_of_openssh_are_read_and_written_as_they_were),
        TEST(fingerprints_are_those_of_openssh),
        TEST(a_key_is_taken_whole),
        TEST(keys_of_other_types_and_sizes_are_refused),
        TEST(the_curve_is_named_as_the_type_says),
        TEST(a_key_has_one_blob_only),
        TEST(signatures_of_openssh_are_right_over_their_data_alone),
        TEST(each_changed_byte_of_a_signature_is_found),
        TEST(a_signature_is_taken_whole),
        TEST(rsa_signs_with_the_digest_that_was_agreed_on_alone),
        TEST(numbers_of_ecdsa_are_positive_and_of_32_bytes),
        TEST(what_is_signed_is_right),
        TEST(a_key_signs_by_its_own_algorithms_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
