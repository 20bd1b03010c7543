#include "auth/password.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "child.h"

static int verify(const char *password, const char *hash)
{
    struct secret s;
    assert_int_equal(secret_copy(bytes_str(password), &s), 0);
    int r = password_verify(&s, hash);
    secret_done(&s);
    return r;
}

static void a_new_hash_is_yescrypt_and_matches_its_password_alone(void **state)
{
    (void)state;
    char *hash;
    assert_int_equal(password_hash(BYTES_LIT("correct horse"), &hash), 0);
    assert_true(bytes_start_with(bytes_str(hash), BYTES_LIT("$y$")));
    assert_int_equal(verify("correct horse", hash), 0);
    assert_int_equal(verify("correct hors", hash), -FERRY_EAUTH);
    assert_int_equal(verify("correct horse ", hash), -FERRY_EAUTH);
    assert_int_equal(verify("", hash), -FERRY_EAUTH);
    mem_free(hash);
}

static void two_hashes_of_one_password_differ(void **state)
{
    (void)state;
    char *a, *b;
    assert_int_equal(password_hash(BYTES_LIT("same"), &a), 0);
    assert_int_equal(password_hash(BYTES_LIT("same"), &b), 0);
    assert_string_not_equal(a, b);
    mem_free(a);
    mem_free(b);
}

/* Of `openssl passwd -6 -salt ferrysalt` and its like. */
static void hashes_of_older_methods_still_match(void **state)
{
    (void)state;
    static const char sha512[] = "$6$ferrysalt$OdLbLHURUhcheSHE6n4O.CSQ/KRK289TGxfZmwh5"
                                 "T1BgJ8tY70lSqQA8FJz2.yOgAcguAFcJ3voUu0pdctGlS1";
    static const char *const hashes[] = {
        sha512,
        "$5$ferrysalt$r.jQZI8i83oAIamoXRXphANIVcMDHm.xDBLMO5YkZw2",
        "$1$ferrysal$o7HSOowK9qsCzNfJGeRwq/",
    };
    for (size_t i = 0; i < ARRAY_LEN(hashes); i++) {
        assert_int_equal(verify("old password", hashes[i]), 0);
        assert_int_equal(verify("new password", hashes[i]), -FERRY_EAUTH);
    }
}

/* In a child, which has what memory it has and gets no more. */
static int verify_without_memory(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
    return CHILD_SKIPS; /* sanitizers, which clang builds are for, need memory of their own */
#else
    char *hash;
    CHILD_ASSERT(password_hash(BYTES_LIT("right"), &hash) == 0);
    const struct rlimit none = {0};
    CHILD_ASSERT(setrlimit(RLIMIT_AS, &none) == 0);
    CHILD_ASSERT(verify("right", hash) == -ENOMEM);
    return 0;
#endif
}

static void a_right_password_is_not_called_wrong_for_want_of_memory(void **state)
{
    (void)state;
    run_in_child(verify_without_memory);
}

static void a_setting_matches_no_password(void **state)
{
    (void)state;
    char *setting;
    assert_int_equal(password_setting_new(&setting), 0);
    assert_true(password_hash_is_usable(setting));
    assert_int_equal(verify("any", setting), -FERRY_EAUTH);
    mem_free(setting);
}

static void what_crypt_would_not_read_whole_is_not_usable(void **state)
{
    (void)state;
    static char text[1024];
    memset(text, 'x', sizeof(text));
    assert_false(password_is_usable(BYTES_NONE));
    assert_false(password_is_usable(bytes_of("a\0b", 3)));
    assert_true(password_is_usable(BYTES_LIT("a")));
    assert_true(password_is_usable(bytes_of(text, 511)));
    assert_false(password_is_usable(bytes_of(text, 512)));
    assert_false(password_is_usable(bytes_of(text, sizeof(text))));
    char *hash;
    assert_int_equal(password_hash(bytes_of(text, 512), &hash), -EINVAL);
    assert_int_equal(password_hash(BYTES_NONE, &hash), -EINVAL);
}

static void locked_and_broken_hashes_are_not_usable(void **state)
{
    (void)state;
    static const char *const broken[] = {"", "!", "*", "*0", "!$6$a$b", "$9$x", "$y$", "x"};
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        assert_int_equal(verify("any", broken[i]), -FERRY_EAUTH);
    for (size_t i = 0; i < 6; i++)
        assert_false(password_hash_is_usable(broken[i]));
    assert_true(password_hash_is_usable("$6$ferrysalt$whatever"));
}

static void a_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    int r = -ENOMEM;
    for (uint64_t n = 1; r == -ENOMEM; n++) {
        assert_in_range(n, 1, 20);
        fault_arm(FAULT_ALLOC, n);
        char *hash;
        r = password_hash(BYTES_LIT("word"), &hash);
        fault_arm(FAULT_ALLOC, 0);
        if (r == 0)
            mem_free(hash);
    }
    assert_int_equal(r, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_hash_is_yescrypt_and_matches_its_password_alone),
        cmocka_unit_test(two_hashes_of_one_password_differ),
        cmocka_unit_test(hashes_of_older_methods_still_match),
        cmocka_unit_test(a_right_password_is_not_called_wrong_for_want_of_memory),
        cmocka_unit_test(a_setting_matches_no_password),
        cmocka_unit_test(what_crypt_would_not_read_whole_is_not_usable),
        cmocka_unit_test(locked_and_broken_hashes_are_not_usable),
        cmocka_unit_test(a_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
