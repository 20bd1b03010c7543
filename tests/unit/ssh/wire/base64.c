#include "ssh/wire/base64.h"

#include "base/buf.h"
#include "ssh_bytes.h"

/* RFC 4648 10, and each of the alphabet. */
static const struct {
    const char *data, *text;
} vectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff\xbe", "+/++"},
};

static void vectors_of_the_rfc_hold_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        struct buf b;
        buf_init(&b, 64);
        assert_int_equal(ssh_base64_encode(bytes_str(vectors[i].data), &b), 0);
        assert_true(bytes_equal(buf_bytes(&b), bytes_str(vectors[i].text)));
        buf_clear(&b);
        assert_int_equal(ssh_base64_decode(bytes_str(vectors[i].text), &b), 0);
        assert_true(bytes_equal(buf_bytes(&b), bytes_str(vectors[i].data)));
        buf_done(&b);
    }
}

static int decode(struct bytes text)
{
    struct buf b;
    buf_init(&b, 64);
    int r = ssh_base64_decode(text, &b);
    assert_true(r == 0 || b.len == 0);
    buf_done(&b);
    return r;
}

static void what_no_encoder_writes_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Z",      "Zg",    "Zg=",      "Zg===", "Z===",  "====",  "A===", "=",       "Zh==",
        "Zm9=",   "Zm9v=", "Zg==Zg==", "Z=g=",  "Zm 9v", "Zm9\n", "Zm9-", "Zm9_",    " Zm9v",
        "Zm9v\n", "Zm9@",  "Zm9[",     "Zm9`",  "Zm9{",  "Zm9:",  "Zm9.", "Zm9\x7f", "Zm9\xc1",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(parse_copy(decode, bytes_str(texts[i])), -FERRY_EPROTO);
    assert_int_equal(parse_copy(decode, BYTES_LIT("Zm9\0")), -FERRY_EPROTO);
}

static void every_length_and_byte_comes_back(void **state)
{
    (void)state;
    uint8_t data[256];
    for (size_t len = 0; len <= sizeof(data); len++) {
        struct buf text, back;
        struct bytes whole = fill_pattern(data, (uint8_t)len, len);
        buf_init(&text, 512);
        buf_init(&back, 512);
        assert_int_equal(ssh_base64_encode(whole, &text), 0);
        assert_int_equal(text.len, (len + 2) / 3 * 4);
        assert_int_equal(ssh_base64_decode(buf_bytes(&text), &back), 0);
        assert_true(bytes_equal(buf_bytes(&back), whole));
        buf_done(&text);
        buf_done(&back);
    }
}

static void both_append_within_the_cap(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 8);
    assert_int_equal(buf_append_str(&b, "abcde"), 0);
    assert_int_equal(ssh_base64_encode(BYTES_LIT("f"), &b), -FERRY_ELIMIT);
    assert_int_equal(ssh_base64_decode(BYTES_LIT("Zm9vYmFy"), &b), -FERRY_ELIMIT);
    assert_int_equal(ssh_base64_decode(BYTES_LIT("Zm9v"), &b), 0);
    assert_true(bytes_equal(buf_bytes(&b), BYTES_LIT("abcdefoo")));
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_rfc_hold_both_ways),
        cmocka_unit_test(what_no_encoder_writes_is_refused),
        cmocka_unit_test(every_length_and_byte_comes_back),
        cmocka_unit_test(both_append_within_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
