#include "base/bytes.h"

#include "check_bytes.h"

static void equal_means_same_length_and_bytes(void **state)
{
    (void)state;
    assert_true(bytes_equal(BYTES_LIT("abc"), bytes_str("abc")));
    assert_false(bytes_equal(BYTES_LIT("abc"), BYTES_LIT("abd")));
    assert_false(bytes_equal(BYTES_LIT("abc"), BYTES_LIT("ab")));
    assert_false(bytes_equal(BYTES_LIT("ab"), BYTES_LIT("abc")));
    assert_false(bytes_equal(BYTES_LIT("a\0b"), BYTES_LIT("a\0c")));
    assert_true(bytes_equal(BYTES_NONE, BYTES_LIT("")));
}

static void case_is_ignored_for_ascii_letters_alone(void **state)
{
    (void)state;
    assert_true(bytes_equal_nocase(BYTES_LIT("ReTr-AZaz"), BYTES_LIT("rEtR-azAZ")));
    assert_false(bytes_equal_nocase(BYTES_LIT("@"), BYTES_LIT("`")));
    assert_false(bytes_equal_nocase(BYTES_LIT("["), BYTES_LIT("{")));
    assert_false(bytes_equal_nocase(BYTES_LIT("\xc4"), BYTES_LIT("\xe4")));
    assert_false(bytes_equal_nocase(BYTES_LIT("ab"), BYTES_LIT("abc")));
    assert_true(bytes_equal_nocase(BYTES_NONE, BYTES_NONE));
}

static void a_prefix_is_no_longer_than_the_whole(void **state)
{
    (void)state;
    assert_true(bytes_start_with(BYTES_LIT("STOR x"), BYTES_LIT("STOR")));
    assert_true(bytes_start_with(BYTES_LIT("STOR"), BYTES_LIT("STOR")));
    assert_true(bytes_start_with(BYTES_LIT("STOR"), BYTES_NONE));
    assert_true(bytes_start_with(BYTES_NONE, BYTES_NONE));
    assert_false(bytes_start_with(BYTES_LIT("STO"), BYTES_LIT("STOR")));
    assert_false(bytes_start_with(BYTES_LIT("RETR x"), BYTES_LIT("STOR")));
}

static void find_gives_the_first_place(void **state)
{
    (void)state;
    size_t at = 99;
    assert_true(bytes_find(BYTES_LIT("a b c"), ' ', &at));
    assert_int_equal(at, 1);
    assert_true(bytes_find(BYTES_LIT("\0x"), 0, &at));
    assert_int_equal(at, 0);
    at = 99;
    assert_false(bytes_find(bytes_first(BYTES_LIT("abc"), 2), 'c', &at));
    assert_false(bytes_find(BYTES_NONE, 'a', &at));
    assert_int_equal(at, 99);
}

static void parts_never_leave_the_whole(void **state)
{
    (void)state;
    struct bytes s = BYTES_LIT("abc");
    assert_bytes_equal(bytes_skip(s, 0), "abc");
    assert_bytes_equal(bytes_skip(s, 2), "c");
    assert_bytes_equal(bytes_skip(s, 3), "");
    assert_bytes_equal(bytes_skip(s, SIZE_MAX), "");
    assert_bytes_equal(bytes_first(s, 0), "");
    assert_bytes_equal(bytes_first(s, 2), "ab");
    assert_bytes_equal(bytes_first(s, SIZE_MAX), "abc");
    assert_bytes_equal(bytes_skip(BYTES_NONE, 1), "");
    assert_bytes_equal(bytes_of("abc", 2), "ab");
}

static void a_text_is_taken_line_by_line(void **state)
{
    (void)state;
    struct bytes rest = BYTES_LIT("a\n\nbc");
    assert_bytes_equal(bytes_take_until(&rest, '\n'), "a");
    assert_bytes_equal(rest, "\nbc");
    assert_bytes_equal(bytes_take_until(&rest, '\n'), "");
    assert_bytes_equal(bytes_take_until(&rest, '\n'), "bc");
    assert_bytes_equal(rest, "");
    assert_bytes_equal(bytes_take_until(&rest, '\n'), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_means_same_length_and_bytes),
        cmocka_unit_test(case_is_ignored_for_ascii_letters_alone),
        cmocka_unit_test(a_prefix_is_no_longer_than_the_whole),
        cmocka_unit_test(find_gives_the_first_place),
        cmocka_unit_test(parts_never_leave_the_whole),
        cmocka_unit_test(a_text_is_taken_line_by_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
