#include "session/limits.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "check.h"

static struct host host_number(uint32_t n)
{
    struct host h = {{0}};
    memcpy(h.octets, &n, sizeof(n));
    return h;
}

static void make(struct limits *l, struct session_limits max)
{
    limits_init(l, &max, 1, 4711);
}

static void expect_empty(struct limits *l)
{
    assert_int_equal(l->sessions, 0);
    assert_int_equal(l->unauthenticated, 0);
    assert_int_equal(l->host_count, 0);
    limits_done(l);
}

static void sessions_are_bounded_and_their_end_makes_room(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){.sessions = 2});
    struct host a = host_number(1), b = host_number(2);
    assert_int_equal(limits_enter(&l, &a), 0);
    assert_int_equal(limits_enter(&l, &b), 0);
    assert_int_equal(limits_enter(&l, &b), -FERRY_ELIMIT);
    limits_leave(&l, &a);
    assert_int_equal(limits_enter(&l, &b), 0);
    limits_leave(&l, &b);
    limits_leave(&l, &b);
    expect_empty(&l);
}

static void each_host_has_its_own_bound(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){.per_address = 2});
    struct host a = host_number(1), b = host_number(2);
    assert_int_equal(limits_enter(&l, &a), 0);
    assert_int_equal(limits_enter(&l, &a), 0);
    assert_int_equal(limits_enter(&l, &a), -FERRY_ELIMIT);
    assert_int_equal(limits_enter(&l, &b), 0);
    limits_leave(&l, &a);
    assert_int_equal(limits_enter(&l, &a), 0);
    limits_leave(&l, &a);
    limits_leave(&l, &a);
    limits_leave(&l, &b);
    expect_empty(&l);
}

static void the_sessions_of_a_host_have_one_share_of_the_pool(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){0});
    struct host a = host_number(1), b = host_number(2);
    assert_int_equal(limits_enter(&l, &a), 0);
    assert_int_equal(limits_enter(&l, &b), 0);
    struct pool_share *first = limits_share(&l, &a), *others = limits_share(&l, &b);
    assert_int_equal(limits_enter(&l, &a), 0);
    struct pool_share *second = limits_share(&l, &a);
    assert_non_null(first);
    assert_ptr_equal(second, first);
    assert_ptr_not_equal(others, first);
    limits_leave(&l, &a);
    limits_leave(&l, &a);
    limits_leave(&l, &b);
    expect_empty(&l);
    pool_share_unref(first); /* they outlive the count */
    pool_share_unref(second);
    pool_share_unref(others);
}

static void each_account_has_its_own_bound(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){.per_account = 1});
    struct account ann = {.name = "ann"}, bob = {.name = "bob"};
    struct host h = host_number(1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(limits_enter(&l, &h), 0);
    assert_int_equal(limits_login(&l, &ann), 0);
    assert_int_equal(limits_login(&l, &ann), -FERRY_ELIMIT);
    assert_int_equal(l.unauthenticated, 2);
    assert_int_equal(limits_login(&l, &bob), 0);
    limits_logout(&l, &ann);
    assert_int_equal(ann.sessions, 0);
    assert_int_equal(limits_login(&l, &ann), 0);
    limits_logout(&l, &ann);
    limits_logout(&l, &bob);
    for (int i = 0; i < 3; i++)
        limits_leave(&l, &h);
    expect_empty(&l);
}

/* Refusals out of 1000 when so many sessions have not logged in yet. */
static unsigned refusals_at(struct limits *l, unsigned waiting)
{
    struct host h = host_number(1);
    l->unauthenticated += waiting;
    unsigned refused = 0;
    for (int i = 0; i < 1000; i++) {
        int r = limits_enter(l, &h);
        if (r == 0)
            limits_leave(l, &h);
        else
            assert_int_equal(r, -FERRY_ELIMIT);
        refused += r != 0;
    }
    l->unauthenticated -= waiting;
    return refused;
}

static void before_login_refusals_become_likelier_from_half_the_bound_on(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){.unauthenticated = 100});
    assert_int_equal(refusals_at(&l, 0), 0);
    assert_int_equal(refusals_at(&l, 50), 0);
    assert_in_range(refusals_at(&l, 55), 50, 150);
    assert_in_range(refusals_at(&l, 75), 430, 570);
    assert_in_range(refusals_at(&l, 95), 850, 950);
    assert_int_equal(refusals_at(&l, 100), 1000);
    assert_int_equal(refusals_at(&l, 200), 1000);
    expect_empty(&l);
    make(&l, (struct session_limits){.unauthenticated = 1});
    assert_int_equal(refusals_at(&l, 0), 0);
    assert_int_equal(refusals_at(&l, 1), 1000);
    expect_empty(&l);
}

static void who_is_logged_in_is_not_before_login(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){.unauthenticated = 1});
    struct account ann = {.name = "ann"};
    struct host h = host_number(1);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(limits_enter(&l, &h), 0);
        assert_int_equal(limits_login(&l, &ann), 0);
    }
    limits_logout(&l, &ann);
    assert_int_equal(limits_enter(&l, &h), -FERRY_ELIMIT);
    limits_leave(&l, &h);
    for (int i = 0; i < 49; i++) {
        limits_logout(&l, &ann);
        limits_leave(&l, &h);
    }
    assert_int_equal(ann.sessions, 0);
    expect_empty(&l);
}

static void bounds_of_zero_are_none(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){0});
    struct account ann = {.name = "ann"};
    struct host h = host_number(1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(limits_enter(&l, &h), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(limits_login(&l, &ann), 0);
    for (int i = 0; i < 1000; i++) {
        limits_logout(&l, &ann);
        limits_leave(&l, &h);
    }
    expect_empty(&l);
}

static void the_table_of_hosts_grows_with_them(void **state)
{
    (void)state;
    struct limits l;
    make(&l, (struct session_limits){.per_address = 1});
    for (uint32_t n = 0; n < 5000; n++) {
        struct host h = host_number(n);
        assert_int_equal(limits_enter(&l, &h), 0);
    }
    assert_true(l.bucket_count >= 5000);
    for (uint32_t n = 0; n < 5000; n++) {
        struct host h = host_number(n);
        assert_int_equal(limits_enter(&l, &h), -FERRY_ELIMIT);
        limits_leave(&l, &h);
    }
    expect_empty(&l);
}

/* A session at a time, with the n-th allocation failing: counted or refused, never half. */
static void a_failed_allocation_counts_nothing(void **state)
{
    (void)state;
    unsigned refused = 0;
    for (uint64_t nth = 1; nth < 150; nth++) {
        struct limits l;
        make(&l, (struct session_limits){0});
        fault_arm(FAULT_ALLOC, nth);
        bool entered[70];
        unsigned count = 0;
        for (uint32_t n = 0; n < 70; n++) {
            struct host h = host_number(n);
            int r = limits_enter(&l, &h);
            assert_true(r == 0 || r == -ENOMEM);
            entered[n] = r == 0;
            count += entered[n];
        }
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(l.sessions, count);
        assert_int_equal(l.host_count, count);
        refused += 70 - count;
        for (uint32_t n = 0; n < 70; n++) {
            struct host h = host_number(n);
            if (entered[n])
                limits_leave(&l, &h);
        }
        expect_empty(&l);
    }
    /* Each host's count and share, and the first table; a larger table is only for speed. */
    assert_int_equal(refused, 141);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_are_bounded_and_their_end_makes_room),
        cmocka_unit_test(each_host_has_its_own_bound),
        cmocka_unit_test(the_sessions_of_a_host_have_one_share_of_the_pool),
        cmocka_unit_test(each_account_has_its_own_bound),
        cmocka_unit_test(before_login_refusals_become_likelier_from_half_the_bound_on),
        cmocka_unit_test(who_is_logged_in_is_not_before_login),
        cmocka_unit_test(bounds_of_zero_are_none),
        cmocka_unit_test(the_table_of_hosts_grows_with_them),
        cmocka_unit_test(a_failed_allocation_counts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
