#include "auth/remembered.h"

#include <errno.h>

#include "base/fault.h"
#include "base/limits.h"
#include "check.h"

static const uint8_t right[CRYPTO_MAC_BYTES] = {1, 2, 3};
static const uint8_t wrong[CRYPTO_MAC_BYTES] = {1, 2, 3, [31] = 1};

static void a_digest_is_remembered_for_its_account_until_it_expires(void **state)
{
    (void)state;
    struct remembered t;
    assert_int_equal(remembered_init(&t), 0);
    assert_false(remembered_has(&t, 5, right, 1000));
    remembered_put(&t, 5, right, 5000);
    assert_true(remembered_has(&t, 5, right, 1000));
    assert_false(remembered_has(&t, 5, wrong, 1000));
    assert_false(remembered_has(&t, 6, right, 1000));
    assert_false(remembered_has(&t, 5 + REMEMBERED_MAX, right, 1000));
    assert_true(remembered_has(&t, 5, right, 4999));
    assert_false(remembered_has(&t, 5, right, 5000));
    remembered_done(&t);
}

static void an_empty_place_knows_no_digest(void **state)
{
    (void)state;
    static const uint8_t zeros[CRYPTO_MAC_BYTES];
    struct remembered t;
    assert_int_equal(remembered_init(&t), 0);
    assert_false(remembered_has(&t, 0, zeros, 0));
    assert_false(remembered_has(&t, REMEMBERED_MAX, zeros, 0));
    remembered_done(&t);
}

static void as_many_accounts_as_there_are_places_do_not_evict_each_other(void **state)
{
    (void)state;
    struct remembered t;
    assert_int_equal(remembered_init(&t), 0);
    for (uint64_t g = 1; g <= REMEMBERED_MAX; g++)
        remembered_put(&t, g, right, 10);
    for (uint64_t g = 1; g <= REMEMBERED_MAX; g++)
        assert_true(remembered_has(&t, g, right, 1));
    remembered_put(&t, REMEMBERED_MAX + 1, right, 10);
    assert_true(remembered_has(&t, REMEMBERED_MAX + 1, right, 1));
    assert_false(remembered_has(&t, 1, right, 1));
    assert_true(remembered_has(&t, 2, right, 1));
    remembered_done(&t);
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct remembered t;
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(remembered_init(&t), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    remembered_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_digest_is_remembered_for_its_account_until_it_expires),
        cmocka_unit_test(an_empty_place_knows_no_digest),
        cmocka_unit_test(as_many_accounts_as_there_are_places_do_not_evict_each_other),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
