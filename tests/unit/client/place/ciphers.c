#include "client/place/ciphers.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static int resolve(const char *spec, bool is_strict, struct buf *ret)
{
    buf_init(ret, 1024);
    return ciphers_resolve(spec, is_strict, ret);
}

static void gives(const char *spec, const char *expected)
{
    struct buf b;
    int r = resolve(spec, false, &b);
    if (r != 0 || strcmp((const char *)b.data, expected) != 0)
        fail_msg("%s: %d, %s", spec, r, r == 0 ? (const char *)b.data : "");
    buf_done(&b);
}

static void lists_are_kept_in_their_order_and_unknown_names_left_out(void **state)
{
    (void)state;
    gives("aes256-ctr,aes128-ctr", "aes256-ctr,aes128-ctr");
    gives("3des-cbc,aes128-ctr,nonsense,aes128-ctr", "aes128-ctr");
}

static void signs_add_take_away_and_prefer(void **state)
{
    struct buf usual, b;
    (void)state;
    assert_int_equal(resolve("+nonsense", false, &usual), 0);
    assert_int_equal(resolve("-aes*-ctr", false, &b), 0);
    assert_null(strstr((const char *)b.data, "ctr"));
    assert_non_null(strstr((const char *)b.data, "chacha20-poly1305@openssh.com"));
    buf_done(&b);
    assert_int_equal(resolve("^aes192-ctr", false, &b), 0);
    assert_int_equal(strncmp((const char *)b.data, "aes192-ctr,", 11), 0);
    assert_int_equal(b.len, usual.len);
    buf_done(&b);
    buf_done(&usual);
}

static void what_leaves_nothing_is_refused(void **state)
{
    struct buf b;
    (void)state;
    assert_int_equal(resolve("nonsense", false, &b), -ENOENT);
    buf_done(&b);
    assert_int_equal(resolve("-*", false, &b), -ENOENT);
    buf_done(&b);
    assert_int_equal(resolve("", false, &b), -ENOENT);
    buf_done(&b);
    assert_int_equal(resolve("aes128-ctr,nonsense", true, &b), -EINVAL);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_kept_in_their_order_and_unknown_names_left_out),
        cmocka_unit_test(signs_add_take_away_and_prefer),
        cmocka_unit_test(what_leaves_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
