#include "server/own_ports.h"

#include "base/attr.h"
#include "check.h"

static struct own_ports within(const char *range, const char *reserved, uint32_t random)
{
    return own_ports_within(bytes_str(range), bytes_str(reserved), random);
}

static void a_part_of_the_range_lies_in_it_wherever_it_begins(void **state)
{
    (void)state;
    for (uint32_t random = 0; random < 20000; random += 7) {
        struct own_ports p = within("32768\t60999\n", "\n", random);
        assert_in_range(p.first, 32768, 60999);
        assert_in_range(p.last, p.first, 60999);
        assert_int_equal((p.last - p.first) / OWN_PORTS_STEP + 1, OWN_PORTS_MAX);
    }
    assert_int_not_equal(within("32768 60999", "", 1).first,
                         within("32768 60999", "", 2).first);
}

static void every_second_port_is_left_to_those_who_connect(void **state)
{
    (void)state;
    for (uint32_t random = 0; random < 100; random++) {
        assert_int_equal(within("32768 60999\n", "\n", random).first % 2, 1);
        assert_int_equal(within("40001 60999\n", "\n", random).first % 2, 0);
        assert_int_equal(within("40001 60999\n", "\n", random).last % 2, 0);
    }
}

static void a_small_range_is_used_whole(void **state)
{
    (void)state;
    struct own_ports p = within("50000 50009\n", "\n", 77);
    assert_int_equal(p.first, 50001);
    assert_int_equal(p.last, 50009);
    p = within("50000 50001\n", "\n", 77);
    assert_int_equal(p.first, 50001);
    assert_int_equal(p.last, 50001);
    p = within("1024 65535\n", "\n", UINT32_MAX);
    assert_in_range(p.last, 1024, 65535);
}

static void reserved_ports_and_what_is_no_range_leave_it_to_the_kernel(void **state)
{
    (void)state;
    assert_int_equal(within("32768 60999\n", "50000-50100\n", 0).first, 0);
    static const char *const bad[] = {
        "", "\n", "32768", "x 60999", "32768 70000", "60999 32768", "1000 60999", "50000 50000",
    };
    for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(within(bad[i], "\n", 0).first, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_the_range_lies_in_it_wherever_it_begins),
        cmocka_unit_test(every_second_port_is_left_to_those_who_connect),
        cmocka_unit_test(a_small_range_is_used_whole),
        cmocka_unit_test(reserved_ports_and_what_is_no_range_leave_it_to_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
