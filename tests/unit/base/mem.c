#include "base/mem.h"

#include "base/attr.h"
#include "base/fault.h"
#include "check.h"

static void new_memory_is_zero(void **state)
{
    (void)state;
    static const char zeros[100];
    char *p = mem_new(sizeof(zeros));
    assert_non_null(p);
    assert_memory_equal(p, zeros, sizeof(zeros));
    mem_free(p);
}

static void a_size_of_zero_is_not_a_failure(void **state)
{
    (void)state;
    void *p[] = {mem_new(0), mem_raw(0), mem_resize(mem_raw(1), 0), mem_dup(NULL, 0)};
    for (size_t i = 0; i < ARRAY_LEN(p); i++) {
        assert_non_null(p[i]);
        mem_free(p[i]);
    }
}

static void copies_are_equal_and_apart(void **state)
{
    (void)state;
    char source[] = "a\0b";
    char *copy = mem_dup(source, sizeof(source));
    char *text = mem_strdup("text");
    assert_non_null(copy);
    assert_non_null(text);
    assert_ptr_not_equal(copy, source);
    assert_memory_equal(copy, source, sizeof(source));
    assert_string_equal(text, "text");
    mem_free(copy);
    mem_free(text);
}

static void a_wipe_leaves_zeros(void **state)
{
    (void)state;
    static const char zeros[16];
    char secret[16] = "0123456789abcde";
    mem_wipe(secret, sizeof(secret));
    assert_memory_equal(secret, zeros, sizeof(secret));
    mem_wipe(NULL, 0);
    mem_wipe_free(NULL, 0);
    mem_free(NULL);
}

#ifdef FERRY_FAULTS
static void each_function_can_be_made_to_fail(void **state)
{
    (void)state;
    char *old = mem_strdup("old");
    assert_non_null(old);
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_new(1));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_raw(1));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_dup("x", 1));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_strdup("x"));
    fault_arm(FAULT_ALLOC, 1);
    assert_null(mem_resize(old, 1000));
    fault_arm(FAULT_ALLOC, 0);
    assert_string_equal(old, "old");
    mem_free(old);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_memory_is_zero),
        cmocka_unit_test(a_size_of_zero_is_not_a_failure),
        cmocka_unit_test(copies_are_equal_and_apart),
        cmocka_unit_test(a_wipe_leaves_zeros),
#ifdef FERRY_FAULTS
        cmocka_unit_test(each_function_can_be_made_to_fail),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
