/* Encrypted openssh-key-v1 files: what ssh-keygen encrypted is opened, and nothing else. */
#include <errno.h>

#include "base/fault.h"
#include "crypto/bcrypt.h"
#include "crypto/key_cipher.h"
#include "ssh/wire/key_file.h"
#include "ssh_files.h"

#define MARK                                                                                   \
    "-----BEGIN OPENSSH PRIVATE" /* and below: no file of the tree holds a key's mark */

static const char *const ciphers[] = {
    "aes128-ctr", "aes192-ctr", "aes256-ctr", "aes128-cbc",        "aes192-cbc",
    "aes256-cbc", "aes128-gcm", "aes256-gcm", "chacha20-poly1305",
};

static int teardown(void **state)
{
    (void)state;
    files_done();
    return 0;
}

/* The last derivation is kept: a file is opened hundreds of times here. */
static int kdf(struct bytes passphrase, struct bytes salt, uint32_t rounds, uint8_t *ret,
               size_t len)
{
    static uint8_t in[256], out[CRYPTO_BCRYPT_BYTES_MAX];
    static size_t in_len;
    uint8_t now[256];
    struct wire_writer w = wire_writer_of(now, sizeof(now));
    wire_put_string(&w, passphrase);
    wire_put_string(&w, salt);
    wire_put_u32(&w, rounds);
    wire_put_u32(&w, (uint32_t)len);
    if (wire_write_end(&w) != 0)
        return -FERRY_ELIMIT;
    if (w.len != in_len || memcmp(in, now, in_len) != 0) {
        in_len = 0;
        int r = crypto_bcrypt_pbkdf(passphrase, salt, rounds, out, len);
        if (r != 0)
            return r;
        memcpy(in, now, w.len);
        in_len = w.len;
    }
    memcpy(ret, out, len);
    return 0;
}

static int unlock_with(struct bytes text, const char *passphrase, ssh_key_kdf_fn *fn)
{
    struct crypto_key *key;
    int r = ssh_key_file_unlock(text, bytes_str(passphrase), fn, &key);
    if (r == 0) {
        assert_true(crypto_key_is_private(key));
        crypto_key_unref(key);
    }
    return r;
}

static int unlock(struct bytes text)
{
    return unlock_with(text, "secret", kdf);
}

static void skip_without_botan(void)
{
    uint8_t out[1];
    int r = crypto_bcrypt_pbkdf(BYTES_LIT("p"), BYTES_LIT("s"), 1, out, sizeof(out));
    if (r == -ELIBACC)
        skip();
    assert_int_equal(r, 0);
}

static struct bytes encrypted(const char *cipher)
{
    char suffix[64];
    snprintf(suffix, sizeof(suffix), "-%s", cipher);
    return file_read("ed25519", suffix);
}

static struct buf *blob_of(struct bytes text)
{
    struct buf *base64 = file_new(), *blob = file_new();
    for (bytes_take_until(&text, '\n'); text.len > 0 && text.data[0] != '-';)
        assert_int_equal(buf_append_bytes(base64, bytes_take_until(&text, '\n')), 0);
    assert_int_equal(ssh_base64_decode(buf_bytes(base64), blob), 0);
    return blob;
}

static int unlock_blob(struct bytes blob)
{
    struct buf text;
    buf_init(&text, SSH_KEY_FILE_MAX);
    assert_int_equal(buf_append_str(&text, MARK " KEY-----\n"), 0);
    assert_int_equal(ssh_base64_encode(blob, &text), 0);
    assert_int_equal(buf_append_str(&text, "\n-----END OPENSSH PRIVATE KEY-----\n"), 0);
    int r = parse_copy(unlock, buf_bytes(&text));
    buf_done(&text);
    return r;
}

static void check_same(struct bytes text, const char *plain)
{
    struct crypto_key *key, *same;
    assert_int_equal(ssh_key_file_unlock(text, BYTES_LIT("secret"), kdf, &key), 0);
    assert_int_equal(ssh_key_file_parse(file_read(plain, ""), BYTES_NONE, &same), 0);
    assert_true(crypto_key_is_private(key));
    assert_true(crypto_key_equal(key, same));
    crypto_key_unref(key);
    crypto_key_unref(same);
}

static void each_cipher_of_ssh_keygen_is_opened(void **state)
{
    (void)state;
    skip_without_botan();
    for (size_t i = 0; i < ARRAY_LEN(ciphers); i++)
        check_same(encrypted(ciphers[i]), "ed25519");
    check_same(file_read("rsa2048", "-encrypted"), "rsa2048");
    assert_int_equal(unlock(file_read("ed25519", "-encrypted")), 0); /* with 16 rounds */
}

static void another_passphrase_opens_nothing(void **state)
{
    (void)state;
    skip_without_botan();
    for (size_t i = 0; i < ARRAY_LEN(ciphers); i++) {
        assert_int_equal(unlock_with(encrypted(ciphers[i]), "Secret", kdf), -FERRY_EAUTH);
        assert_int_equal(unlock_with(encrypted(ciphers[i]), "", kdf), -FERRY_EAUTH);
    }
    assert_int_equal(unlock_with(file_read("ed25519", ""), "Secret", kdf), 0);
}

static void without_a_kdf_or_a_known_cipher_nothing_is_opened(void **state)
{
    (void)state;
    assert_int_equal(unlock_with(encrypted("aes256-ctr"), "secret", NULL), -EPROTONOSUPPORT);
    assert_int_equal(unlock_with(encrypted("3des-cbc"), "secret", kdf), -EPROTONOSUPPORT);
}

static int no_kdf_is_asked(struct bytes passphrase, struct bytes salt, uint32_t rounds,
                           uint8_t *ret, size_t len)
{
    (void)passphrase, (void)salt, (void)rounds, (void)ret, (void)len;
    fail_msg("asked to open what is refused anyway");
    return -EIO;
}

static void a_key_of_an_unknown_kind_is_refused_before_it_is_opened(void **state)
{
    (void)state;
    struct bytes text = file_read("p384", "-encrypted");
    assert_int_equal(unlock_with(text, "secret", no_kdf_is_asked), -FERRY_EPROTO);
}

/* What a byte is part of decides what the failure looks like, but none is overlooked: but for
 * the comment, which nothing guards where there is no tag. */
static void no_byte_may_be_another(const char *cipher, unsigned unguarded)
{
    struct buf *b = blob_of(encrypted(cipher));
    unsigned taken = 0;
    assert_int_equal(unlock_blob(buf_bytes(b)), 0);
    for (size_t at = 0; at < b->len; at++) {
        b->data[at] ^= 4; /* of the rounds: not too many to wait for */
        int r = unlock_blob(buf_bytes(b));
        taken += r == 0;
        assert_true(r == 0 || r == -FERRY_EPROTO || r == -FERRY_EAUTH || r == -FERRY_ELIMIT ||
                    r == -EPROTONOSUPPORT);
        b->data[at] ^= 4;
    }
    assert_int_equal(taken, unguarded);
}

static void each_byte_counts(void **state)
{
    (void)state;
    skip_without_botan();
    no_byte_may_be_another("aes256-ctr", (unsigned)strlen(key_samples[0].comment));
    no_byte_may_be_another("aes256-gcm", 0);
    no_byte_may_be_another("chacha20-poly1305", 0);
}

static void a_file_that_was_cut_or_goes_on_is_refused(void **state)
{
    (void)state;
    skip_without_botan();
    for (size_t i = 0; i < ARRAY_LEN(ciphers); i++) {
        struct buf *b = blob_of(encrypted(ciphers[i]));
        for (size_t len = 0; len < b->len; len++)
            assert_int_equal(unlock_blob(bytes_first(buf_bytes(b), len)), -FERRY_EPROTO);
        assert_int_equal(buf_append_byte(b, 0), 0);
        assert_int_equal(unlock_blob(buf_bytes(b)), -FERRY_EPROTO);
        files_done();
    }
}

/* -- what a file may ask of the kdf -- */

static unsigned times_asked;

static int note_kdf(struct bytes passphrase, struct bytes salt, uint32_t rounds, uint8_t *ret,
                    size_t len)
{
    (void)rounds, (void)ret;
    assert_int_equal(passphrase.len, 6);
    assert_true(salt.len > 0);
    assert_in_range(len, 1, CRYPTO_KEY_CIPHER_SECRET_MAX);
    times_asked++;
    return -FERRY_ELIMIT;
}

/* A whole file but for its contents, which nobody gets to see. */
static int unlock_options(const char *cipher, const char *kdf_name, struct bytes options)
{
    struct bytes public_blob = file_blob("ed25519");
    uint8_t data[1024], secret[128] = {0};
    struct wire_writer w = wire_writer_of(data, sizeof(data));
    struct buf text;
    wire_put_bytes(&w, BYTES_LIT("openssh-key-v1\0"));
    wire_put_string(&w, bytes_str(cipher));
    wire_put_string(&w, bytes_str(kdf_name));
    wire_put_string(&w, options);
    wire_put_u32(&w, 1);
    wire_put_string(&w, public_blob);
    wire_put_string(&w, bytes_of(secret, sizeof(secret)));
    buf_init(&text, SSH_KEY_FILE_MAX);
    assert_int_equal(buf_append_str(&text, MARK " KEY-----\n"), 0);
    assert_int_equal(ssh_base64_encode(bytes_of(data, w.len), &text), 0);
    assert_int_equal(buf_append_str(&text, "\n-----END OPENSSH PRIVATE KEY-----\n"), 0);
    int r = unlock_with(buf_bytes(&text), "secret", note_kdf);
    buf_done(&text);
    return r;
}

static void salt_and_rounds_are_there_and_nothing_else(void **state)
{
    (void)state;

    static const struct {
        const char *cipher, *kdf;
        struct bytes options;
        int expected;
        unsigned asked;
    } rows[] = {

#define OPTIONS(text) {(const uint8_t *)(text), sizeof(text) - 1}
        {"aes256-ctr", "bcrypt", OPTIONS("\0\0\0\4salt\0\0\0\1"), -FERRY_ELIMIT, 1},
        {"aes256-ctr", "bcrypt", OPTIONS("\0\0\0\4salt\xff\xff\xff\xff"), -FERRY_ELIMIT, 1},
        {"aes256-ctr", "bcrypt", OPTIONS("\0\0\0\4salt\0\0\0\0"), -FERRY_EPROTO, 0},
        {"aes256-ctr", "bcrypt", OPTIONS("\0\0\0\0\0\0\0\1"), -FERRY_EPROTO, 0},
        {"aes256-ctr", "bcrypt", OPTIONS("\0\0\0\4salt\0\0\0"), -FERRY_EPROTO, 0},
        {"aes256-ctr", "bcrypt", OPTIONS("\0\0\0\4salt\0\0\0\1x"), -FERRY_EPROTO, 0},
        {"aes256-ctr", "bcrypt", OPTIONS("\xff\xff\xff\xffsalt\0\0\0\1"), -FERRY_EPROTO, 0},
        {"aes256-ctr", "bcrypt", OPTIONS(""), -FERRY_EPROTO, 0},
        {"aes256-ctr", "none", OPTIONS(""), -FERRY_EPROTO, 0},
        {"none", "bcrypt", OPTIONS("\0\0\0\4salt\0\0\0\1"), -FERRY_EPROTO, 0},
        {"none", "none", OPTIONS("x"), -FERRY_EPROTO, 0},
        {"aes256-ctr", "argon2", OPTIONS("\0\0\0\4salt\0\0\0\1"), -EPROTONOSUPPORT, 0},
        {"aes256-gcm", "bcrypt", OPTIONS("\0\0\0\4salt\0\0\0\1"), -EPROTONOSUPPORT, 0},
        /* without its tag */
        {"aes256-gcm@openssh.com", "bcrypt", OPTIONS("\0\0\0\4salt\0\0\0\1"), -FERRY_EPROTO, 0},
#undef OPTIONS
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        times_asked = 0;
        assert_int_equal(unlock_options(rows[i].cipher, rows[i].kdf, rows[i].options),
                         rows[i].expected);
        assert_int_equal(times_asked, rows[i].asked);
    }
}

static void without_memory_nothing_is_opened(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    skip_without_botan();
    struct bytes text = encrypted("aes256-gcm");
    int r = -ENOMEM;
    for (unsigned n = 1; n < 100 && r != 0; n++) {
        fault_arm(FAULT_ALLOC, n);
        r = unlock(text);
        assert_true(r == 0 || r == -ENOMEM);
    }
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(r, 0);
#else
    skip();
#endif
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_cipher_of_ssh_keygen_is_opened),
        TEST(another_passphrase_opens_nothing),
        TEST(without_a_kdf_or_a_known_cipher_nothing_is_opened),
        TEST(a_key_of_an_unknown_kind_is_refused_before_it_is_opened),
        TEST(each_byte_counts),
        TEST(a_file_that_was_cut_or_goes_on_is_refused),
        TEST(salt_and_rounds_are_there_and_nothing_else),
        TEST(without_memory_nothing_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
