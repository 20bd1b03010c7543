#include "ssh/wire/key_file.h"

#include <errno.h>

#include "base/fault.h"
#include "ssh_files.h"

static int teardown(void **state)
{
    (void)state;
    files_done();
    return 0;
}

static int parse_with(struct bytes text, const char *passphrase)
{
    struct crypto_key *key;
    int r = ssh_key_file_parse(text, bytes_str(passphrase), &key);
    if (r == 0) {
        assert_true(crypto_key_is_private(key));
        crypto_key_unref(key);
    }
    return r;
}

static int parse(struct bytes text)
{
    return parse_with(text, "");
}

static struct crypto_key *read_key(const char *name)
{
    struct crypto_key *key;
    assert_int_equal(ssh_key_file_parse(file_read(name, ""), BYTES_NONE, &key), 0);
    assert_true(crypto_key_is_private(key));
    return key;
}

static void check_signs_for(const struct crypto_key *private_key,
                            const struct crypto_key *public_key, const char *algorithm)
{
    uint8_t blob[SSH_SIGNATURE_BLOB_MAX];
    struct wire_writer w = wire_writer_of(blob, sizeof(blob));
    struct bytes name = bytes_str(algorithm), data = BYTES_LIT("signed");
    assert_true(crypto_key_equal(private_key, public_key));
    assert_int_equal(ssh_sign(private_key, name, data, &w), 0);
    assert_int_equal(ssh_signature_verify(public_key, name, data, bytes_of(blob, w.len)), 0);
}

/* -- reading -- */

static void files_of_openssh_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        struct crypto_key *key = read_key(key_samples[i].name);
        struct crypto_key *public_key = file_public(key_samples[i].name);
        check_signs_for(key, public_key, key_samples[i].algorithm);
        crypto_key_unref(key);
        crypto_key_unref(public_key);
    }
}

static void pem_is_read_with_its_passphrase(void **state)
{
    (void)state;
    struct crypto_key *key = read_key("ecdsa-sec1"), *same = read_key("ecdsa");
    assert_true(crypto_key_equal(key, same));
    crypto_key_unref(key);
    crypto_key_unref(same);
    assert_int_equal(parse(file_read("rsa2048-pkcs1", "")), 0);
    static const char *const encrypted[] = {"ecdsa-sec1-encrypted", "ecdsa-pkcs8-encrypted"};
    for (size_t i = 0; i < ARRAY_LEN(encrypted); i++) {
        struct bytes text = file_read(encrypted[i], "");
        assert_int_equal(parse_with(text, "secret"), 0);
        assert_int_equal(parse_with(text, "Secret"), -FERRY_EAUTH);
        assert_int_equal(parse_with(text, ""), -FERRY_EAUTH);
    }
}

static void an_encrypted_file_is_told_from_a_broken_one(void **state)
{
    (void)state;
    struct bytes text = file_read("ed25519-encrypted", "");
    assert_int_equal(parse(text), -EPROTONOSUPPORT);
    assert_int_equal(parse_with(text, "secret"), -EPROTONOSUPPORT);
}

static void lines_may_end_with_cr_lf(void **state)
{
    (void)state;
    struct bytes text = file_read("ed25519", "");
    struct buf *b = file_new();
    while (text.len > 0) {
        assert_int_equal(buf_append_bytes(b, bytes_take_until(&text, '\n')), 0);
        assert_int_equal(buf_append_str(b, "\r\n"), 0);
    }
    assert_int_equal(parse(buf_bytes(b)), 0);
}

/* Its last newline may be missing. */
static void a_file_that_was_cut_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        struct bytes text = file_read(key_samples[i].name, "");
        assert_int_equal(parse_copy(parse, bytes_first(text, text.len - 1)), 0);
        for (size_t len = 0; len < text.len - 1; len++)
            assert_int_equal(parse_copy(parse, bytes_first(text, len)), -FERRY_EPROTO);
    }
}

static void what_holds_no_private_key_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse(file_read("p384", "")), -FERRY_EPROTO);
    assert_int_equal(parse(file_read("ed25519", ".pub")), -FERRY_EPROTO);
    assert_int_equal(parse(BYTES_LIT("\0\0\0\0")), -FERRY_EPROTO);
    struct buf *b = file_new();
    assert_int_equal(buf_append_bytes(b, file_read("ed25519", "")), 0);
    while (b->len <= SSH_KEY_FILE_MAX)
        assert_int_equal(buf_append_byte(b, '\n'), 0);
    assert_int_equal(parse(buf_bytes(b)), -FERRY_EPROTO);
    assert_int_equal(parse(bytes_first(buf_bytes(b), SSH_KEY_FILE_MAX)), 0);
}

/* -- its bytes -- */

#define MARK                                                                                   \
    "-----BEGIN OPENSSH PRIVATE" /* and below: no file of the tree holds a key's mark */

static int parse_blob(struct bytes blob)
{
    struct buf text;
    buf_init(&text, SSH_KEY_FILE_MAX);
    assert_int_equal(buf_append_str(&text, MARK " KEY-----\n"), 0);
    assert_int_equal(ssh_base64_encode(blob, &text), 0);
    assert_int_equal(buf_append_str(&text, "\n-----END OPENSSH PRIVATE KEY-----\n"), 0);
    int r = parse_copy(parse, buf_bytes(&text));
    buf_done(&text);
    return r;
}

static struct buf *blob_of(const char *name)
{
    struct bytes text = file_read(name, "");
    struct buf *base64 = file_new(), *blob = file_new();
    for (bytes_take_until(&text, '\n'); text.len > 0 && text.data[0] != '-';)
        assert_int_equal(buf_append_bytes(base64, bytes_take_until(&text, '\n')), 0);
    assert_int_equal(ssh_base64_decode(buf_bytes(base64), blob), 0);
    return blob;
}

static void each_byte_but_the_comment_counts(void **state)
{
    (void)state;
    struct buf *b = blob_of("ed25519");
    size_t comment = strlen(key_samples[0].comment);
    size_t comment_end = b->len;
    while (memcmp(b->data + comment_end - comment, key_samples[0].comment, comment) != 0)
        comment_end--;
    assert_int_equal(parse_blob(buf_bytes(b)), 0);
    for (size_t at = 0; at < b->len; at++) {
        if (at >= comment_end - comment && at < comment_end)
            continue;
        b->data[at] ^= 1;
        int r = parse_blob(buf_bytes(b));
        assert_true(r == -FERRY_EPROTO || r == -EPROTONOSUPPORT);
        b->data[at] ^= 1;
    }
    for (size_t len = 0; len < b->len; len++)
        assert_int_equal(parse_blob(bytes_first(buf_bytes(b), len)), -FERRY_EPROTO);
    assert_int_equal(buf_append_byte(b, 0), 0);
    assert_int_equal(parse_blob(buf_bytes(b)), -FERRY_EPROTO);
}

static void the_public_key_in_front_is_that_of_the_secret(void **state)
{
    (void)state;
    struct buf *b = blob_of("ed25519");
    struct crypto_key *other;
    assert_int_equal(crypto_key_generate(CRYPTO_ED25519, &other), 0);
    /* "openssh-key-v1", "none" twice, "", a count, then a string with the type and the point */
    size_t at = 15 + 8 + 8 + 4 + 4 + 4 + 15 + 4;
    memcpy(b->data + at, crypto_key_public(other).point.data, 32);
    assert_int_equal(parse_blob(buf_bytes(b)), -FERRY_EPROTO);
    crypto_key_unref(other);
}

static void a_private_part_without_a_secret_is_no_key(void **state)
{
    (void)state;
    struct crypto_key *key = file_public("ecdsa");
    struct bytes public_blob = file_blob("ecdsa");
    uint8_t blob[1024], secret[512];
    struct wire_writer s = wire_writer_of(secret, sizeof(secret));
    wire_put_u64(&s, 0);
    wire_put_string(&s, BYTES_LIT("ecdsa-sha2-nistp256"));
    wire_put_string(&s, BYTES_LIT("nistp256"));
    wire_put_string(&s, crypto_key_public(key).point);
    wire_put_string(&s, BYTES_NONE);
    wire_put_string(&s, BYTES_NONE);
    for (uint8_t i = 1; s.len % 8 != 0; i++)
        wire_put_u8(&s, i);
    struct wire_writer w = wire_writer_of(blob, sizeof(blob));
    wire_put_bytes(&w, BYTES_LIT("openssh-key-v1\0"));
    wire_put_string(&w, BYTES_LIT("none"));
    wire_put_string(&w, BYTES_LIT("none"));
    wire_put_string(&w, BYTES_NONE);
    wire_put_u32(&w, 1);
    wire_put_string(&w, public_blob);
    wire_put_string(&w, bytes_of(secret, s.len));
    assert_int_equal(parse_blob(bytes_of(blob, w.len)), -FERRY_EPROTO);
    crypto_key_unref(key);
}

/* -- writing -- */

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        struct crypto_key *key, *got;
        struct buf *text = file_new();
        assert_int_equal(crypto_key_generate((enum crypto_key_kind)kind, &key), 0);
        for (size_t len = 0; len < 9; len++) { /* every length of the padding */
            buf_clear(text);
            assert_int_equal(
                ssh_key_file_write(key, bytes_first(BYTES_LIT("comments"), len), 77, text), 0);
            assert_int_equal(ssh_key_file_parse(buf_bytes(text), BYTES_NONE, &got), 0);
            assert_true(crypto_key_is_private(got));
            assert_true(crypto_key_equal(got, key));
            crypto_key_unref(got);
        }
        crypto_key_unref(key);
    }
}

/* The check number is the only thing that is random. */
static void files_are_written_as_openssh_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(key_samples); i++) {
        struct bytes theirs = file_read(key_samples[i].name, "");
        struct buf *b = blob_of(key_samples[i].name), *ours = file_new();
        struct crypto_key *key = read_key(key_samples[i].name);
        struct wire_reader r = wire_reader_of(bytes_skip(buf_bytes(b), 15 + 8 + 8 + 4 + 4));
        wire_get_string(&r, SSH_KEY_BLOB_MAX);
        wire_get_u32(&r);
        uint32_t check = wire_get_u32(&r);
        assert_int_equal(
            ssh_key_file_write(key, bytes_str(key_samples[i].comment), check, ours), 0);
        assert_true(bytes_equal(buf_bytes(ours), theirs));

        buf_clear(ours);
        assert_int_equal(ssh_public_line_write(key, bytes_str(key_samples[i].comment), ours),
                         0);
        assert_true(bytes_equal(buf_bytes(ours), file_read(key_samples[i].name, ".pub")));
        crypto_key_unref(key);
    }
}

static void what_does_not_fit_or_has_no_secret_is_not_written(void **state)
{
    (void)state;
    struct crypto_key *key = read_key("ed25519"), *public_key = file_public("ed25519");
    struct buf small, *large = file_new();
    uint8_t comment[9000];
    struct bytes long_comment = fill_pattern(comment, 'a', sizeof(comment));
    buf_init(&small, 200);
    assert_int_equal(ssh_key_file_write(key, BYTES_NONE, 1, &small), -FERRY_ELIMIT);
    assert_int_equal(ssh_key_file_write(key, long_comment, 1, large), -FERRY_ELIMIT);
    assert_int_equal(ssh_key_file_write(public_key, BYTES_NONE, 1, large), -EINVAL);
    assert_int_equal(ssh_public_line_write(key, BYTES_LIT("a\nb"), large), -EINVAL);
    assert_int_equal(large->len, 0);
    buf_done(&small);
    crypto_key_unref(key);
    crypto_key_unref(public_key);
}

static void without_memory_nothing_is_read_or_written(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    struct bytes text = file_read("rsa2048", "");
    struct crypto_key *key = read_key("ed25519");
    struct buf out;
    int r = -ENOMEM;
    for (unsigned n = 1; n < 100 && r != 0; n++) {
        fault_arm(FAULT_ALLOC, n);
        r = parse(text);
        assert_true(r == 0 || r == -ENOMEM);
    }
    assert_int_equal(r, 0);
    buf_init(&out, SSH_KEY_FILE_MAX);
    r = -ENOMEM;
    for (unsigned n = 1; n < 100 && r != 0; n++) {
        fault_arm(FAULT_ALLOC, n);
        r = ssh_key_file_write(key, BYTES_NONE, 1, &out);
        assert_true(r == 0 || r == -ENOMEM);
    }
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(r, 0);
    buf_wipe(&out);
    crypto_key_unref(key);
#else
    skip();
#endif
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(files_of_openssh_are_read),
        TEST(pem_is_read_with_its_passphrase),
        TEST(an_encrypted_file_is_told_from_a_broken_one),
        TEST(lines_may_end_with_cr_lf),
        TEST(a_file_that_was_cut_is_refused),
        TEST(what_holds_no_private_key_is_refused),
        TEST(each_byte_but_the_comment_counts),
        TEST(the_public_key_in_front_is_that_of_the_secret),
        TEST(a_private_part_without_a_secret_is_no_key),
        TEST(what_is_written_is_read),
        TEST(files_are_written_as_openssh_does),
        TEST(what_does_not_fit_or_has_no_secret_is_not_written),
        TEST(without_memory_nothing_is_read_or_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
