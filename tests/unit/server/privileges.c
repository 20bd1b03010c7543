#include "server/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"

#define OTHER_UID 65534

static struct settings s;
static struct refusal why;
static char dir[64];

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/ferry-privileges-XXXXXX");
    struct account_setting *a;
    if (mkdtemp(dir) == NULL || settings_init(&s) < 0 ||
        settings_serve_dir(&s, dir, &why) < 0 ||
        settings_add_account(&s, BYTES_LIT("anna"), &why, &a) < 0)
        return -1;
    return settings_set_text(&a->root, dir);
}

static int teardown(void **state)
{
    (void)state;
    settings_done(&s);
    return rmdir(dir);
}

static bool has_no_capability(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if ((sets[i].effective | sets[i].permitted | sets[i].inheritable) != 0)
            return false;
    return true;
}

static bool bounding_set_is_empty(void)
{
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
            return false;
    return true;
}

static int becomes_the_owner(void)
{
    if (geteuid() != 0)
        return CHILD_SKIPS;
    struct identity who;
    const gid_t groups[] = {7, 8};
    CHILD_ASSERT(setgroups(ARRAY_LEN(groups), groups) == 0);
    CHILD_ASSERT(chown(dir, OTHER_UID, OTHER_UID) == 0);
    CHILD_ASSERT(privileges_choose(&s, &who, &why) == 0);
    CHILD_ASSERT(who.changes && who.uid == OTHER_UID && who.gid == OTHER_UID);
    CHILD_ASSERT(privileges_drop(&who) == 0);
    uid_t uids[3];
    gid_t gids[3], group;
    CHILD_ASSERT(getresuid(&uids[0], &uids[1], &uids[2]) == 0);
    CHILD_ASSERT(getresgid(&gids[0], &gids[1], &gids[2]) == 0);
    for (int i = 0; i < 3; i++)
        CHILD_ASSERT(uids[i] == OTHER_UID && gids[i] == OTHER_UID);
    CHILD_ASSERT(getgroups(1, &group) == 0);
    CHILD_ASSERT(setuid(0) < 0 && errno == EPERM);
    CHILD_ASSERT(has_no_capability());
    CHILD_ASSERT(bounding_set_is_empty());
    CHILD_ASSERT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    CHILD_ASSERT(open("/etc/shadow", O_RDONLY) < 0 && errno == EACCES);
    CHILD_ASSERT(chdir(dir) == 0 && open("new", O_WRONLY | O_CREAT, 0600) >= 0);
    CHILD_ASSERT(unlink("new") == 0);
    return 0;
}

static void root_becomes_the_owner_of_the_directory_for_good(void **state)
{
    (void)state;
    run_in_child(becomes_the_owner);
}

static int stays_root_without_capabilities(void)
{
    if (geteuid() != 0)
        return CHILD_SKIPS;
    struct identity who;
    int fd = open(dir, O_RDONLY | O_DIRECTORY);
    CHILD_ASSERT(mkdirat(fd, "of-another", 0700) == 0);
    CHILD_ASSERT(fchownat(fd, "of-another", OTHER_UID, OTHER_UID, 0) == 0);
    CHILD_ASSERT(privileges_choose(&s, &who, &why) == 0);
    CHILD_ASSERT(who.uid == 0);
    CHILD_ASSERT(privileges_drop(&who) == 0);
    CHILD_ASSERT(getuid() == 0 && has_no_capability() && bounding_set_is_empty());
    CHILD_ASSERT(setuid(OTHER_UID) < 0 && errno == EPERM);
    CHILD_ASSERT(openat(fd, "of-another", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES);
    CHILD_ASSERT(unlinkat(fd, "of-another", AT_REMOVEDIR) == 0);
    return 0;
}

static void a_tree_of_root_is_served_by_root_without_any_capability(void **state)
{
    (void)state;
    run_in_child(stays_root_without_capabilities);
}

static void the_user_of_the_configuration_rules(void **state)
{
    (void)state;
    struct identity who;
    assert_int_equal(settings_set_text(&s.user, "no-such-user-at-all"), 0);
    assert_int_equal(privileges_choose(&s, &who, &why), -EINVAL);
    assert_non_null(strstr(why.text, "no-such-user-at-all"));
    assert_int_equal(settings_set_text(&s.user, "nobody"), 0);
    int r = privileges_choose(&s, &who, &why);
    if (geteuid() != 0) {
        assert_int_equal(r, -EINVAL);
        assert_non_null(strstr(why.text, "only root"));
        return;
    }
    assert_int_equal(r, 0);
    assert_int_equal(who.uid, OTHER_UID);
    assert_string_equal(who.name, "nobody");
    identity_done(&who);
}

static int is_not_dumpable(void)
{
    struct identity who = {.changes = false};
    CHILD_ASSERT(privileges_drop(&who) == 0);
    CHILD_ASSERT(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == privileges_leave_core());
    return 0;
}

static void only_a_debug_build_leaves_a_core(void **state)
{
    (void)state;
    run_in_child(is_not_dumpable);
}

static int raises_descriptors(void)
{
    struct rlimit limit;
    CHILD_ASSERT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 64;
    CHILD_ASSERT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD_ASSERT(privileges_raise_descriptors() == limit.rlim_max);
    CHILD_ASSERT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD_ASSERT(limit.rlim_cur == limit.rlim_max);
    return 0;
}

static void descriptors_are_raised_to_the_hard_limit(void **state)
{
    (void)state;
    run_in_child(raises_descriptors);
}

static void so_many_sessions_need_so_many_descriptors(void **state)
{
    (void)state;
    assert_true(privileges_descriptors_for(5000, 2) > 3 * 5000);
    assert_int_equal(privileges_descriptors_for(UINT32_MAX, 2), UINT32_MAX);
}

/* The kernel's bound is a setting of the machine, so it is read once more here. */
static void the_kernel_s_bound_on_mappings_bounds_the_tasks(void **state)
{
    (void)state;
    unsigned mappings = 0;
    FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%u", &mappings), 1); // NOLINT(cert-err34-c)
    (void)fclose(f);
    assert_in_range(privileges_tasks_awake(), mappings / 2 - 1000, mappings / 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(root_becomes_the_owner_of_the_directory_for_good),
        TEST(a_tree_of_root_is_served_by_root_without_any_capability),
        TEST(the_user_of_the_configuration_rules),
        TEST(only_a_debug_build_leaves_a_core),
        TEST(descriptors_are_raised_to_the_hard_limit),
        TEST(so_many_sessions_need_so_many_descriptors),
        TEST(the_kernel_s_bound_on_mappings_bounds_the_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
