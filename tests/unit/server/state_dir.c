#include "server/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char base[64], path[128];
static struct refusal why;
static const struct identity nobody_changes = {.changes = false};

static int setup(void **state)
{
    (void)state;
    strcpy(base, "/tmp/ferry-state-dir-XXXXXX");
    if (mkdtemp(base) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/a/b", base);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char name[160];
    snprintf(name, sizeof(name), "%s/lock", path);
    unlink(name);
    rmdir(path);
    snprintf(name, sizeof(name), "%s/a", base);
    rmdir(name);
    return rmdir(base);
}

static void it_is_made_with_its_parents_for_its_owner_alone(void **state)
{
    (void)state;
    struct state_dir dir;
    struct stat st;
    assert_int_equal(state_dir_open(path, &nobody_changes, &dir, &why), 0);
    assert_int_equal(fstat(dir.fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(fstat(dir.lock, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    state_dir_close(&dir);
    assert_int_equal(dir.fd, -1);
}

static void two_servers_do_not_share_one(void **state)
{
    (void)state;
    struct state_dir dir, second;
    assert_int_equal(state_dir_open(path, &nobody_changes, &dir, &why), 0);
    assert_int_equal(state_dir_open(path, &nobody_changes, &second, &why), -EINVAL);
    assert_non_null(strstr(why.text, "another ferryd"));
    assert_non_null(strstr(why.text, path));
    state_dir_close(&dir);
    assert_int_equal(state_dir_open(path, &nobody_changes, &second, &why), 0);
    state_dir_close(&second);
}

static void one_that_others_may_write_is_refused(void **state)
{
    (void)state;
    struct state_dir dir;
    assert_int_equal(state_dir_open(path, &nobody_changes, &dir, &why), 0);
    assert_int_equal(fchmod(dir.fd, 0770), 0);
    state_dir_close(&dir);
    assert_int_equal(state_dir_open(path, &nobody_changes, &dir, &why), -EINVAL);
    assert_non_null(strstr(why.text, "others may write"));
}

static void one_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    const struct identity other = {.uid = 65534, .gid = 65534, .changes = true};
    struct state_dir dir;
    assert_int_equal(state_dir_open(path, &nobody_changes, &dir, &why), 0);
    assert_int_equal(fchown(dir.fd, 65533, 65533), 0);
    state_dir_close(&dir);
    assert_int_equal(state_dir_open(path, &other, &dir, &why), -EINVAL);
    assert_non_null(strstr(why.text, "another user"));
    assert_int_equal(chown(path, other.uid, other.gid), 0);
    assert_int_equal(state_dir_open(path, &nobody_changes, &dir, &why), -EINVAL);
    assert_int_equal(state_dir_open(path, &other, &dir, &why), 0);
    state_dir_close(&dir);
}

static void one_that_cannot_be_is_named(void **state)
{
    (void)state;
    struct state_dir dir;
    assert_int_equal(state_dir_open("/proc/no/such", &nobody_changes, &dir, &why), -EINVAL);
    assert_non_null(strstr(why.text, "/proc/no/such"));
    assert_int_equal(state_dir_open("/etc/passwd", &nobody_changes, &dir, &why), -EINVAL);
}

static void a_new_one_belongs_to_whom_the_server_becomes(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    const struct identity who = {.changes = true, .uid = 65534, .gid = 65534};
    struct state_dir dir;
    struct stat st;
    assert_int_equal(state_dir_open(path, &who, &dir, &why), 0);
    assert_int_equal(fstat(dir.fd, &st), 0);
    assert_int_equal(st.st_uid, 65534);
    state_dir_close(&dir);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(it_is_made_with_its_parents_for_its_owner_alone),
        TEST(two_servers_do_not_share_one),
        TEST(one_that_others_may_write_is_refused),
        TEST(one_of_another_user_is_refused),
        TEST(one_that_cannot_be_is_named),
        TEST(a_new_one_belongs_to_whom_the_server_becomes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
