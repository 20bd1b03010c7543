#include "sftp/flight.h"

#include "check.h"

#define MB (1024 * 1024)

/* A path with a round trip and a rate: a limit is moved in the longer of both times. */
static struct sftp_flight fly(usec_t round_trip_us, uint64_t bytes_per_s, uint64_t max,
                              unsigned rounds)
{
    struct sftp_flight f;
    usec_t now = 1000;
    sftp_flight_init(&f, 32 * 1024, max, now);
    for (unsigned i = 0; i < rounds; i++) {
        usec_t took = (usec_t)(f.limit_bytes * USEC_PER_S / bytes_per_s);
        now += took > round_trip_us ? took : round_trip_us;
        sftp_flight_moved(&f, f.limit_bytes, now);
    }
    return f;
}

static void grows_until_the_rate_does_not(void **state)
{
    (void)state;
    struct sftp_flight f = fly(100 * USEC_PER_MS, 40 * MB, 0, 40); /* holds 4 MB */
    assert_in_range(f.limit_bytes, 4 * MB, 8 * MB);
    f = fly(1 * USEC_PER_MS, 40 * MB, 0, 40);
    assert_true(f.limit_bytes <= MB);
}

static void stops_at_its_bound(void **state)
{
    (void)state;
    assert_int_equal(fly(USEC_PER_S, 1000 * MB, 0, 40).limit_bytes, SFTP_FLIGHT_MAX);
    assert_int_equal(fly(USEC_PER_S, 1000 * MB, 3 * MB, 40).limit_bytes, 3 * MB);
    assert_int_equal(fly(USEC_PER_S, 1000 * MB, 1000, 40).limit_bytes, 1000);
}

static void a_disturbed_round_costs_a_round(void **state)
{
    (void)state;
    struct sftp_flight f;
    usec_t now = 1000;
    sftp_flight_init(&f, 32 * 1024, 0, now);
    for (unsigned i = 0; i < 40; i++) {
        now += i % 2 == 0 ? 100 * USEC_PER_MS : 300 * USEC_PER_MS;
        sftp_flight_moved(&f, f.limit_bytes, now);
    }
    assert_int_equal(f.limit_bytes, SFTP_FLIGHT_MAX);
}

static void two_requests_always_fly(void **state)
{
    (void)state;
    struct sftp_flight f;
    sftp_flight_init(&f, 255 * 1024, 0, 0);
    assert_int_equal(f.limit_bytes, 510 * 1024);
    sftp_flight_init(&f, 1024, 0, 0);
    assert_int_equal(f.limit_bytes, SFTP_FLIGHT_FIRST);
    sftp_flight_moved(&f, SFTP_FLIGHT_FIRST, 0); /* in no time */
    assert_int_equal(f.limit_bytes, 2 * SFTP_FLIGHT_FIRST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_until_the_rate_does_not),
        cmocka_unit_test(stops_at_its_bound),
        cmocka_unit_test(a_disturbed_round_costs_a_round),
        cmocka_unit_test(two_requests_always_fly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
