#include "bench/machine/host.h"

#include "base/attr.h"
#include "check.h"

static struct host parsed(const char *text)
{
    struct host host = {0};
    host_parse_cpuinfo(bytes_str(text), &host);
    return host;
}

static void cores_are_counted_and_the_first_one_names_them(void **state)
{
    (void)state;
    struct host host =
        parsed("processor\t: 0\nmodel name\t: A  Chip @ 2.0GHz \nflags\t\t: a b\n"
               "\nprocessor\t: 1\nmodel name\t: Another\n");
    assert_int_equal(host.cores, 2);
    assert_string_equal(host.cpu, "A  Chip @ 2.0GHz");
}

static void a_machine_that_does_not_say_its_model_has_cores(void **state)
{
    (void)state;
    struct host host = parsed("processor : 0\nBogoMIPS : 50\nno colon\nprocessor :\nprocessor");
    assert_int_equal(host.cores, 2);
    assert_string_equal(host.cpu, "");
    host = parsed("");
    assert_int_equal(host.cores, 0);
}

static void a_long_or_odd_model_stays_one_line(void **state)
{
    (void)state;
    struct host host = parsed("model name : 0123456789012345678901234567890123456789"
                              "01234567890123456789\t0123456789\n");
    assert_int_equal(strlen(host.cpu), HOST_TEXT_MAX - 1);
    host = parsed("model name : a\tb\n");
    assert_string_equal(host.cpu, "a?b");
}

static void this_machine_has_a_kernel_and_cores(void **state)
{
    (void)state;
    struct host host;
    host_read(&host);
    assert_true(host.cores > 0);
    assert_true(host.kernel[0] >= '1' && host.kernel[0] <= '9');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_are_counted_and_the_first_one_names_them),
        cmocka_unit_test(a_machine_that_does_not_say_its_model_has_cores),
        cmocka_unit_test(a_long_or_odd_model_stays_one_line),
        cmocka_unit_test(this_machine_has_a_kernel_and_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
