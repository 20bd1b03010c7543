#include "bench/machine/time_wait.h"

#include "check.h"

static unsigned count(const char *address, const char *table)
{
    struct addr addr;
    assert_int_equal(addr_parse(bytes_str(address), &addr), 0);
    return time_wait_parse_table(bytes_str(table), &addr);
}

static void the_total_is_that_of_tcp(void **state)
{
    (void)state;
    assert_int_equal(time_wait_parse_total(BYTES_LIT(
                         "sockets: used 18\nTCP: inuse 3 orphan 0 tw 22646 alloc 3 mem 0\n"
                         "UDP: inuse 0 mem 0\n")),
                     22646);
    assert_int_equal(time_wait_parse_total(BYTES_LIT("UDP: tw 5\nTCP: inuse 3 tw")), 0);
    assert_int_equal(time_wait_parse_total(BYTES_LIT("TCP: tw 99999999999\n")), 0);
    assert_int_equal(time_wait_parse_total(BYTES_NONE), 0);
}

/* The address of this side, in the machine's order of bytes, and the state. */
static void a_table_is_counted_by_own_address_and_state(void **state)
{
    (void)state;
    static const char table[] =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
        "   0: 0300007F:5777 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n"
        "   1: 0300007F:5778 0100017F:8000 06 00000000:00000000 03:00001770 00000000\n"
        "   2: 0100017F:8000 0300007F:5778 06 00000000:00000000 03:00001770 00000000\n"
        "12345: 0300007F:5779 0100017F:8001 06 00000000:00000000 03:00001770 00000000\n"
        "   4: 0300007F:5779 0100017F:8001 0";
    assert_int_equal(count("127.0.0.3:21", table), 2);
    assert_int_equal(count("127.1.0.1:21", table), 1);
    assert_int_equal(count("127.0.0.2:21", table), 0);
    assert_int_equal(count("127.0.0.3:21", "no table\n:\n::\n"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_total_is_that_of_tcp),
        cmocka_unit_test(a_table_is_counted_by_own_address_and_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
