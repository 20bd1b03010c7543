#include "base/text.h"

#include <errno.h>

#include "check_bytes.h"

static void whole_numbers_are_read(void **state)
{
    (void)state;

    static const struct {
        struct bytes s;
        unsigned base;
        uint64_t max;
        int result;
        uint64_t n;
    } rows[] = {
        {BYTES_LIT("0"), 10, 0, 0, 0},
        {BYTES_LIT("007"), 10, 7, 0, 7},
        {BYTES_LIT("18446744073709551615"), 10, UINT64_MAX, 0, UINT64_MAX},
        {BYTES_LIT("18446744073709551616"), 10, UINT64_MAX, -ERANGE, 0},
        {BYTES_LIT("99999999999999999999999"), 10, UINT64_MAX, -ERANGE, 0},
        {BYTES_LIT("256"), 10, 255, -ERANGE, 0},
        {BYTES_LIT("99999999999999999999999x"), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT("755"), 8, 07777, 0, 0755},
        {BYTES_LIT("758"), 8, 07777, -EINVAL, 0},
        {BYTES_LIT("10000"), 8, 07777, -ERANGE, 0},
        {BYTES_LIT(""), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT("-1"), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT("+1"), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT(" 1"), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT("1 "), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT("1\0"), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT("0x10"), 10, UINT64_MAX, -EINVAL, 0},
        {BYTES_LIT("\xb1"), 10, UINT64_MAX, -EINVAL, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t n = 77;
        assert_int_equal(text_u64(rows[i].s, rows[i].base, rows[i].max, &n), rows[i].result);
        assert_int_equal(n, rows[i].result == 0 ? rows[i].n : 77);
    }
}

static void sizes_are_digits_with_an_optional_unit(void **state)
{
    (void)state;

    static const struct {
        struct bytes s;
        int result;
        uint64_t n;
    } rows[] = {
        {BYTES_LIT("4096"), 0, 4096},
        {BYTES_LIT("64K"), 0, 65536},
        {BYTES_LIT("10M"), 0, 10485760},
        {BYTES_LIT("10G"), 0, UINT64_C(10737418240)},
        {BYTES_LIT("1T"), 0, UINT64_C(1) << 40},
        {BYTES_LIT("0T"), 0, 0},
        {BYTES_LIT("16777215T"), 0, UINT64_C(16777215) << 40},
        {BYTES_LIT("16777216T"), -ERANGE, 0},
        {BYTES_LIT("99999999999999999999999"), -ERANGE, 0},
        {BYTES_LIT(""), -EINVAL, 0},
        {BYTES_LIT("K"), -EINVAL, 0},
        {BYTES_LIT("1.5G"), -EINVAL, 0},
        {BYTES_LIT("10k"), -EINVAL, 0},
        {BYTES_LIT("10MB"), -EINVAL, 0},
        {BYTES_LIT("10 M"), -EINVAL, 0},
        {BYTES_LIT("10KM"), -EINVAL, 0},
        {BYTES_LIT("-1"), -EINVAL, 0},
        {BYTES_LIT("1\0"), -EINVAL, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t n = 77;
        assert_int_equal(text_size(rows[i].s, &n), rows[i].result);
        assert_int_equal(n, rows[i].result == 0 ? rows[i].n : 77);
    }
}

static void copies_are_cut_and_terminated(void **state)
{
    (void)state;
    char dst[5] = "....";
    assert_int_equal(text_copy(dst, sizeof(dst), BYTES_LIT("ab")), 2);
    assert_string_equal(dst, "ab");
    assert_int_equal(text_copy(dst, sizeof(dst), BYTES_LIT("abcdef")), 4);
    assert_string_equal(dst, "abcd");
    assert_int_equal(text_copy(dst, 1, BYTES_LIT("x")), 0);
    assert_string_equal(dst, "");
    assert_int_equal(text_copy(dst, 0, BYTES_LIT("x")), 0);
    assert_int_equal(text_copy(dst, sizeof(dst), BYTES_NONE), 0);
    assert_string_equal(dst, "");
}

static void printable_copies_hold_no_control_character(void **state)
{
    (void)state;
    char dst[16];
    struct bytes s = BYTES_LIT("a\r\n\t\x1b\x7f\0\xc3\xa4~ ");
    assert_int_equal(text_copy_printable(dst, sizeof(dst), s), 11);
    assert_string_equal(dst, "a??????\xc3\xa4~ ");
    assert_int_equal(text_copy_printable(dst, 3, s), 2);
    assert_string_equal(dst, "a?");
}

static void control_characters_are_found(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        const uint8_t s[] = {'a', (uint8_t)c};
        assert_int_equal(text_has_control(bytes_of(s, 2)), c < 0x20 || c == 0x7f);
    }
    assert_false(text_has_control(BYTES_NONE));
}

static bool is_utf8(struct bytes s)
{
    size_t len = 1;
    for (; s.len != 0 && len != 0; s = bytes_skip(s, len))
        len = text_utf8_len(s);
    return len != 0;
}

static void utf8_is_what_the_rfc_says(void **state)
{
    (void)state;

    static const struct {
        struct bytes s;
        bool valid;
    } rows[] = {
        {BYTES_LIT(""), true},
        {BYTES_LIT("plain\0 \x7f"), true},
        {BYTES_LIT("\xc2\x80 \xdf\xbf"), true},
        {BYTES_LIT("\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"), true},
        {BYTES_LIT("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"), true},
        {BYTES_LIT("\x80"), false},             /* a tail alone */
        {BYTES_LIT("\xc0\xaf"), false},         /* overlong '/' */
        {BYTES_LIT("\xc1\xbf"), false},         /* overlong */
        {BYTES_LIT("\xe0\x9f\xbf"), false},     /* overlong */
        {BYTES_LIT("\xf0\x8f\xbf\xbf"), false}, /* overlong */
        {BYTES_LIT("\xed\xa0\x80"), false},     /* a surrogate */
        {BYTES_LIT("\xf4\x90\x80\x80"), false}, /* above U+10FFFF */
        {BYTES_LIT("\xf5\x80\x80\x80"), false},
        {BYTES_LIT("\xff"), false},
        {BYTES_LIT("\xc3"), false}, /* cut short */
        {BYTES_LIT("\xe2\x82"), false},
        {BYTES_LIT("\xf0\x90\x80"), false},
        {BYTES_LIT("\xe2\x82 "), false},
        {BYTES_LIT("\xf0\x90\x80\xc0"), false},
        {BYTES_LIT("\xe4tt"), false}, /* Latin-1 */
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(is_utf8(rows[i].s), rows[i].valid);
}

/* The whole of it, as whoever writes a string does. */
static struct bytes json_of(struct bytes s, char *dst)
{
    size_t len = 0, used;
    for (; s.len != 0; s = bytes_skip(s, used))
        len += text_json_char(s, dst + len, &used);
    return bytes_of(dst, len);
}

static void json_escapes_what_it_must(void **state)
{
    (void)state;
    char dst[100];
    assert_bytes_equal(json_of(BYTES_LIT("\"\\/\b\f\n\r\t\0\x1f\x7f"), dst),
                       "\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f");
    assert_bytes_equal(json_of(BYTES_LIT("\xc2\x9b\xc2\xa0\xf0\x9f\x9a\xa2"), dst),
                       "\\u009b\xc2\xa0\xf0\x9f\x9a\xa2");
    struct bytes mended = json_of(BYTES_LIT("a\xff\xe2\x82z"), dst);
    assert_bytes_equal(mended, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
    assert_true(is_utf8(mended));
}

static void case_changes_ascii_letters_alone(void **state)
{
    (void)state;
    for (int c = -128; c < 128; c++)
        assert_int_equal(text_upper((char)c), c >= 'a' && c <= 'z' ? c - 32 : c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_read),
        cmocka_unit_test(sizes_are_digits_with_an_optional_unit),
        cmocka_unit_test(copies_are_cut_and_terminated),
        cmocka_unit_test(printable_copies_hold_no_control_character),
        cmocka_unit_test(control_characters_are_found),
        cmocka_unit_test(utf8_is_what_the_rfc_says),
        cmocka_unit_test(json_escapes_what_it_must),
        cmocka_unit_test(case_changes_ascii_letters_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
