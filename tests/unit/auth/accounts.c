#include "auth/accounts.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"

#define MANY 1000

static struct account *make(const char *name, const char *hash)
{
    struct account *a = NULL;
    assert_int_equal(account_new(bytes_str(name), &a), 0);
    if (hash != NULL)
        a->hash = mem_strdup(hash);
    return a;
}

static void names_are_bounded_and_printable(void **state)
{
    (void)state;
    char name[USER_NAME_MAX + 1];
    memset(name, 'n', sizeof(name));
    struct account *a = NULL;
    assert_int_equal(account_new(BYTES_NONE, &a), -FERRY_EBADNAME);
    assert_int_equal(account_new(bytes_of(name, sizeof(name)), &a), -FERRY_EBADNAME);
    assert_int_equal(account_new(BYTES_LIT("a\nb"), &a), -FERRY_EBADNAME);
    assert_int_equal(account_new(bytes_of("a\0b", 3), &a), -FERRY_EBADNAME);
    assert_int_equal(account_new(bytes_of(name, USER_NAME_MAX), &a), 0);
    assert_int_equal(strlen(a->name), USER_NAME_MAX);
    account_unref(a);
    account_unref(NULL);
}

static void a_new_password_takes_the_place_of_the_old_one(void **state)
{
    (void)state;
    struct account *a = make("ann", "$6$old$old");
    assert_int_equal(account_set_password(a, BYTES_NONE), -EINVAL);
    assert_string_equal(a->hash, "$6$old$old");
    assert_int_equal(account_set_password(a, BYTES_LIT("new")), 0);
    assert_true(bytes_start_with(bytes_str(a->hash), BYTES_LIT("$y$")));
    account_unref(a);
}

static int count_account(struct account *a, void *arg)
{
    (void)a;
    unsigned *count = arg;
    return ++*count == 7 ? -EIO : 0;
}

static void each_account_is_found_by_its_name_alone(void **state)
{
    (void)state;
    struct accounts t;
    accounts_init(&t, 42);
    assert_null(accounts_find(&t, BYTES_LIT("user1")));
    char name[16];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "user%d", i);
        assert_int_equal(accounts_add(&t, make(name, NULL)), 0);
    }
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "user%d", i);
        assert_string_equal(accounts_find(&t, bytes_str(name))->name, name);
    }
    assert_null(accounts_find(&t, BYTES_LIT("User1")));
    assert_null(accounts_find(&t, BYTES_LIT("user")));
    assert_null(accounts_find(&t, BYTES_NONE));
    assert_int_equal(accounts_add(&t, make("user7", NULL)), -EEXIST);
    assert_int_equal(t.count, MANY);

    unsigned count = 0;
    assert_int_equal(accounts_each(&t, count_account, &count), -EIO);
    assert_int_equal(count, 7);
    assert_int_equal(accounts_each(&t, count_account, &count), 0);
    assert_int_equal(count, MANY + 7);
    accounts_done(&t);
}

static void a_decoy_is_some_account_s_hash_and_the_same_each_time(void **state)
{
    (void)state;
    struct accounts t;
    accounts_init(&t, 42);
    assert_null(accounts_decoy(&t, BYTES_LIT("nobody")));
    assert_int_equal(accounts_add(&t, make("keys-only", NULL)), 0);
    assert_int_equal(accounts_add(&t, make("locked", "!$6$a$b")), 0);
    assert_null(accounts_decoy(&t, BYTES_LIT("nobody")));
    assert_int_equal(accounts_add(&t, make("ann", "$6$ann$x")), 0);
    assert_int_equal(accounts_add(&t, make("bob", "$5$bob$x")), 0);
    assert_string_equal(accounts_decoy(&t, BYTES_LIT("ann")), "$6$ann$x");
    assert_string_equal(accounts_decoy(&t, BYTES_LIT("bob")), "$5$bob$x");
    assert_non_null(accounts_decoy(&t, BYTES_LIT("locked")));

    unsigned of_ann = 0;
    for (int i = 0; i < 100; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "nobody%d", i);
        const char *decoy = accounts_decoy(&t, bytes_str(name));
        assert_ptr_equal(decoy, accounts_decoy(&t, bytes_str(name)));
        of_ann += strcmp(decoy, "$6$ann$x") == 0;
    }
    assert_in_range(of_ann, 1, 99); /* both methods are picked */
    accounts_done(&t);
}

static void a_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    struct accounts t;
    accounts_init(&t, 42);
    struct account *a = NULL;
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(account_new(BYTES_LIT("ann"), &a), -ENOMEM);
    assert_int_equal(account_new(BYTES_LIT("ann"), &a), 0);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(accounts_add(&t, a), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    assert_int_equal(accounts_add(&t, make("ann", NULL)), 0);
    accounts_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_bounded_and_printable),
        cmocka_unit_test(a_new_password_takes_the_place_of_the_old_one),
        cmocka_unit_test(each_account_is_found_by_its_name_alone),
        cmocka_unit_test(a_decoy_is_some_account_s_hash_and_the_same_each_time),
        cmocka_unit_test(a_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
