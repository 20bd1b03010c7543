#include "io/addr.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/bytes.h"
#include "check.h"

static struct addr parsed(const char *text)
{
    struct addr a;
    assert_int_equal(addr_parse(bytes_str(text), &a), 0);
    return a;
}

static void what_was_parsed_is_formatted_alike(void **state)
{
    static const char *const texts[] = {
        "127.0.0.1:2121",
        "0.0.0.0:0",
        "255.255.255.255:65535",
        "[::1]:21",
        "[::]:65535",
        "[2001:db8:1234:5678:9abc:def0:1234:5678]:65535",
        "[fe80::1%4294967295]:80",
        "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535",
        "[::ffff:10.1.2.3]:21",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        char out[ADDR_TEXT_MAX];
        struct addr a = parsed(texts[i]);
        assert_string_equal(addr_format(&a, out), texts[i]);
    }
}

static void refuses_what_is_not_numeric_or_has_no_port(void **state)
{
    static const char *const texts[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        ":21",
        "localhost:1",
        "1.2.3:21",
        "1.2.3.4.5:21",
        "1.2.3.256:21",
        "::1",
        "[::1]",
        "[::1]:",
        "[::1]21",
        "[::1:21",
        "[]:21",
        "::1:21",
        "[::1%eth0]:21",
        "[::1%]:21",
        "[::1%4294967296]:21",
        "[1.2.3.4]:1",
        "1.2.3.4:1x",
        "[::g]:21",
        "1.2.3.4:21:22",
        "[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa]:1",
        "111111111111111111111111111111111111111111111111111:1",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct addr a;
        assert_int_equal(addr_parse(bytes_str(texts[i]), &a), -EINVAL);
    }
    struct addr a;
    assert_int_equal(addr_parse(BYTES_LIT("1.2.3.4\0:21"), &a), -EINVAL);
}

static void a_host_is_formatted_without_port_and_brackets(void **state)
{
    (void)state;
    char out[ADDR_TEXT_MAX];
    struct addr v4 = parsed("10.0.0.1:80"), v6 = parsed("[fe80::1%3]:80"), none = {0};
    assert_string_equal(addr_format_host(&v4, out), "10.0.0.1");
    assert_string_equal(addr_format_host(&v6, out), "fe80::1%3");
    assert_string_equal(addr_format_host(&none, out), "-");
    assert_string_equal(addr_format(&none, out), "-");
    assert_int_equal(addr_family(&none), AF_UNSPEC);
    assert_int_equal(addr_port(&none), 0);
}

static void the_port_can_be_set_in_both_families(void **state)
{
    (void)state;
    struct addr v4 = parsed("10.0.0.1:80"), v6 = parsed("[::1]:80");
    addr_set_port(&v4, 1);
    addr_set_port(&v6, 65535);
    assert_int_equal(addr_port(&v4), 1);
    assert_int_equal(addr_port(&v6), 65535);
    assert_int_equal(addr_family(&v4), AF_INET);
    assert_int_equal(addr_family(&v6), AF_INET6);
}

static void a_mapped_address_is_the_same_host_as_the_plain_one(void **state)
{
    (void)state;
    struct addr plain = parsed("10.1.2.3:80"), mapped = parsed("[::ffff:10.1.2.3]:21");
    struct addr other = parsed("10.1.2.4:80"), v6 = parsed("[::1]:1"), none = {0};
    struct addr here = parsed("[fe80::1%1]:1"), there = parsed("[fe80::1%2]:1");
    assert_true(addr_same_host(&plain, &mapped));
    assert_true(addr_same_host(&v6, &v6));
    assert_false(addr_same_host(&plain, &other));
    assert_false(addr_same_host(&plain, &v6));
    assert_false(addr_same_host(&here, &there));
    assert_false(addr_same_host(&none, &none));
    addr_unmap(&mapped);
    assert_int_equal(addr_family(&mapped), AF_INET);
    assert_int_equal(addr_port(&mapped), 21);
    addr_unmap(&v6);
    assert_int_equal(addr_family(&v6), AF_INET6);
}

static void loopback_is_known_in_all_its_forms(void **state)
{
    static const struct {
        const char *text;
        bool is_loopback;
    } rows[] = {
        {"127.0.0.1:1", true},
        {"127.255.1.2:1", true},
        {"[::1]:1", true},
        {"[::ffff:127.0.0.1]:1", true},
        {"128.0.0.1:1", false},
        {"0.0.0.0:1", false},
        {"[::]:1", false},
        {"[::2]:1", false},
        {"[::ffff:10.0.0.1]:1", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct addr a = parsed(rows[i].text);
        assert_int_equal(addr_is_loopback(&a), rows[i].is_loopback);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_parsed_is_formatted_alike),
        cmocka_unit_test(refuses_what_is_not_numeric_or_has_no_port),
        cmocka_unit_test(a_host_is_formatted_without_port_and_brackets),
        cmocka_unit_test(the_port_can_be_set_in_both_families),
        cmocka_unit_test(a_mapped_address_is_the_same_host_as_the_plain_one),
        cmocka_unit_test(loopback_is_known_in_all_its_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
