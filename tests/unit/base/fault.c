#include "base/fault.h"

#include "check.h"

#ifdef FERRY_FAULTS
static void fails_the_nth_call_and_no_other(void **state)
{
    (void)state;
    fault_arm(FAULT_SYSCALL, 3);
    for (unsigned call = 1; call <= 6; call++)
        assert_int_equal(fault_hits(FAULT_SYSCALL), call == 3);
    assert_int_equal(fault_count(FAULT_SYSCALL), 6);
}

static void counts_without_failing_when_disarmed(void **state)
{
    (void)state;
    fault_arm(FAULT_ALLOC, 0);
    for (unsigned call = 0; call < 5; call++)
        assert_false(fault_hits(FAULT_ALLOC));
    assert_int_equal(fault_count(FAULT_ALLOC), 5);
}

static void arming_starts_the_count_again(void **state)
{
    (void)state;
    fault_arm(FAULT_ALLOC, 2);
    assert_false(fault_hits(FAULT_ALLOC));
    fault_arm(FAULT_ALLOC, 2);
    assert_int_equal(fault_count(FAULT_ALLOC), 0);
    assert_false(fault_hits(FAULT_ALLOC));
    assert_true(fault_hits(FAULT_ALLOC));
    fault_arm(FAULT_ALLOC, 0);
}

static void kinds_are_counted_apart(void **state)
{
    (void)state;
    fault_arm(FAULT_ALLOC, 1);
    fault_arm(FAULT_SYSCALL, 0);
    assert_false(fault_hits(FAULT_SYSCALL));
    assert_int_equal(fault_count(FAULT_ALLOC), 0);
    assert_true(fault_hits(FAULT_ALLOC));
    assert_int_equal(fault_count(FAULT_SYSCALL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fails_the_nth_call_and_no_other),
        cmocka_unit_test(counts_without_failing_when_disarmed),
        cmocka_unit_test(arming_starts_the_count_again),
        cmocka_unit_test(kinds_are_counted_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 77; /* skipped: this build has no faults */
}
#endif
