#include "auth/host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "check.h"

static struct host v4(const char *text)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = 1};
    assert_int_equal(inet_pton(AF_INET, text, &a.sin_addr), 1);
    return host_of((const struct sockaddr *)&a);
}

static struct host v6(const char *text)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = 2, .sin6_scope_id = 3};
    assert_int_equal(inet_pton(AF_INET6, text, &a.sin6_addr), 1);
    return host_of((const struct sockaddr *)&a);
}

static bool same(struct host a, struct host b)
{
    bool is_same = host_equal(&a, &b);
    if (is_same)
        assert_true(host_hash(&a, 7) == host_hash(&b, 7));
    else
        assert_true(host_hash(&a, 7) != host_hash(&b, 7));
    return is_same;
}

static void an_ipv4_host_is_one_address_also_when_mapped(void **state)
{
    (void)state;
    assert_true(same(v4("192.0.2.1"), v4("192.0.2.1")));
    assert_true(same(v4("192.0.2.1"), v6("::ffff:192.0.2.1")));
    assert_false(same(v4("192.0.2.1"), v4("192.0.2.2")));
    assert_false(same(v6("::ffff:192.0.2.1"), v6("::ffff:192.0.2.2")));
}

static void an_ipv6_host_is_a_network_of_64_bits(void **state)
{
    (void)state;
    assert_true(same(v6("2001:db8::1"), v6("2001:db8::ffff:1:2:3")));
    assert_false(same(v6("2001:db8::1"), v6("2001:db8:0:1::1")));
    assert_false(same(v6("::1"), v4("127.0.0.1")));
}

static void peers_without_an_address_are_one_host(void **state)
{
    (void)state;
    struct sockaddr local = {.sa_family = AF_UNIX}, none = {0};
    assert_true(same(host_of(&local), host_of(&none)));
}

static void seeds_are_random_and_change_the_hash(void **state)
{
    (void)state;
    uint64_t a = 0, b = 0;
    assert_int_equal(host_seed_new(&a), 0);
    assert_int_equal(host_seed_new(&b), 0);
    assert_true(a != b);
    struct host h = v4("192.0.2.1");
    assert_true(host_hash(&h, a) != host_hash(&h, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ipv4_host_is_one_address_also_when_mapped),
        cmocka_unit_test(an_ipv6_host_is_a_network_of_64_bits),
        cmocka_unit_test(peers_without_an_address_are_one_host),
        cmocka_unit_test(seeds_are_random_and_change_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
