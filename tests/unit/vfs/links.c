#include <sys/statvfs.h>

#include "handle_ground.h"

static void may_link(struct ground *g)
{
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
}

static int link_to(struct ground *g, const char *from, const char *to)
{
    struct vpath target = vpath_of(to);
    int r = WITH_PATH(from, vfs_link(g->t.vfs, &path, &target));
    vpath_done(&target);
    return r;
}

static int rename_new(struct ground *g, const char *from, const char *to)
{
    struct vpath target = vpath_of(to);
    int r = WITH_PATH(from, vfs_rename_new(g->t.vfs, &path, &target));
    vpath_done(&target);
    return r;
}

#define SYMLINK(g, target, name)                                                               \
    WITH_PATH(name, vfs_symlink((g)->t.vfs, BYTES_LIT(target), &path))
#define UNLINK(g, name) WITH_PATH(name, vfs_unlink((g)->t.vfs, &path))

/* -- symbolic -- */

static void body_a_symbolic_link_costs_a_file_and_says_what_it_was_told(struct ground *g)
{
    char target[32];
    may_link(g);
    TASK_ASSERT(SYMLINK(g, "../f and more", "/l") == 0 && used(g, 0, 1));
    TASK_ASSERT(WITH_PATH("/l", vfs_readlink(g->t.vfs, &path, target, sizeof(target))) == 0);
    TASK_ASSERT(strcmp(target, "../f and more") == 0);
    TASK_ASSERT(WITH_PATH("/l", vfs_readlink(g->t.vfs, &path, target, 5)) == 0);
    TASK_ASSERT(strcmp(target, "../f") == 0);
    TASK_ASSERT(WITH_PATH("/l", vfs_readlink(g->t.vfs, &path, target, 0)) == -EINVAL);
    TASK_ASSERT(SYMLINK(g, "x", "/l") == -EEXIST && SYMLINK(g, "x", "/") == -EEXIST);
    TASK_ASSERT(used(g, 0, 1));
    TASK_ASSERT(UNLINK(g, "/l") == 0 && used(g, 0, 0));
    TASK_ASSERT(quota_take(g->quota, 0, 10) == 0);
    TASK_ASSERT(SYMLINK(g, "x", "/l") == -FERRY_EQUOTA && !tree_has(&g->t, "root/l"));
}
ON_FRESH_GROUND(a_symbolic_link_costs_a_file_and_says_what_it_was_told)

static void body_a_target_is_text_of_a_path_and_none_of_our_own_names(struct ground *g)
{
    static char longest[PATH_LEN_MAX + 1];
    may_link(g);
    memset(longest, 'a', PATH_LEN_MAX);
    TASK_ASSERT(SYMLINK(g, "", "/l") == -ENOENT);
    TASK_ASSERT(SYMLINK(g, "a\0b", "/l") == -FERRY_EBADNAME);
    TASK_ASSERT(SYMLINK(g, VFS_TEMP_PREFIX "0123456789abcdef", "/l") == -ENOENT);
    TASK_ASSERT(SYMLINK(g, "./d/../" VFS_PART_PREFIX "0123456789abcdef", "/l") == -ENOENT);
    TASK_ASSERT(SYMLINK(g, "d/" VFS_PART_PREFIX "0/x", "/l") == -ENOENT);
    TASK_ASSERT(WITH_PATH("/l", vfs_symlink(g->t.vfs, bytes_of(longest, PATH_LEN_MAX),
                                            &path)) == -ENAMETOOLONG);
    TASK_ASSERT(!tree_has(&g->t, "root/l") && used(g, 0, 0));
    TASK_ASSERT(WITH_PATH("/l", vfs_symlink(g->t.vfs, bytes_of(longest, PATH_LEN_MAX - 1),
                                            &path)) == 0);
}
ON_FRESH_GROUND(a_target_is_text_of_a_path_and_none_of_our_own_names)

static void body_a_link_that_leads_out_is_not_followed(struct ground *g)
{
    struct vhandle *h;
    struct vstat st;
    may_link(g);
    tree_file(&g->t, "outside/secret", "secret");
    TASK_ASSERT(SYMLINK(g, "../outside/secret", "/l") == 0);
    TASK_ASSERT(SYMLINK(g, "/etc/passwd", "/m") == 0);

    static const char *const names[] = {"/l", "/m"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        TASK_ASSERT(open_handle(&g->t, names[i], READS, &h) == -EXDEV);
        TASK_ASSERT(open_handle(&g->t, names[i], UPDATES, &h) == -EXDEV);
        TASK_ASSERT(open_handle(&g->t, names[i], REWRITES, &h) == -EXDEV);
        TASK_ASSERT(WITH_PATH(names[i], vfs_stat(g->t.vfs, &path, true, &st)) == -EXDEV);
    }
    TASK_ASSERT(tree_holds(&g->t, "outside/secret", "secret"));
}
ON_FRESH_GROUND(a_link_that_leads_out_is_not_followed)

/* -- hard -- */

static void body_a_second_name_costs_a_file_and_no_bytes(struct ground *g)
{
    may_link(g);
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "12345") == 0);
    TASK_ASSERT(link_to(g, "/f", "/g") == 0 && used(g, 5, 2));
    TASK_ASSERT(link_to(g, "/f", "/g") == -EEXIST && used(g, 5, 2));
    TASK_ASSERT(UNLINK(g, "/f") == 0 && used(g, 5, 1));
    TASK_ASSERT(tree_holds(&g->t, "root/g", "12345"));
    TASK_ASSERT(UNLINK(g, "/g") == 0 && used(g, 0, 0));
    TASK_ASSERT(link_to(g, "/g", "/h") == -ENOENT && used(g, 0, 0));
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "") == 0 && quota_take(g->quota, 0, 9) == 0);
    TASK_ASSERT(link_to(g, "/f", "/g") == -FERRY_EQUOTA && !tree_has(&g->t, "root/g"));
}
ON_FRESH_GROUND(a_second_name_costs_a_file_and_no_bytes)

static void body_regular_files_alone_are_linked(struct ground *g)
{
    may_link(g);
    tree_dir(&g->t, "root/d");
    tree_file(&g->t, "outside/secret", "secret");
    tree_link(&g->t, "../outside/secret", "root/l");
    TASK_ASSERT(mkfifo(tree_path(&g->t, "root/fifo"), 0644) == 0);
    TASK_ASSERT(link_to(g, "/d", "/x") == -EISDIR);
    TASK_ASSERT(link_to(g, "/l", "/x") == -FERRY_ENOTREG);
    TASK_ASSERT(link_to(g, "/fifo", "/x") == -FERRY_ENOTREG);
    TASK_ASSERT(link_to(g, "/", "/x") == -EPERM && link_to(g, "/l", "/") == -EPERM);
    TASK_ASSERT(!tree_has(&g->t, "root/x") && used(g, 0, 0));
}
ON_FRESH_GROUND(regular_files_alone_are_linked)

/* -- rights -- */

static void body_links_need_their_right(struct ground *g)
{
    char target[8];
    tree_file(&g->t, "root/f", "f");
    tree_link(&g->t, "f", "root/l");
    TASK_ASSERT(SYMLINK(g, "f", "/m") == -FERRY_ERIGHTS);
    TASK_ASSERT(link_to(g, "/f", "/m") == -FERRY_ERIGHTS);
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), 0) == 0);
    TASK_ASSERT(WITH_PATH("/l", vfs_readlink(g->t.vfs, &path, target, 8)) == -FERRY_ERIGHTS);
    TASK_ASSERT(rename_new(g, "/f", "/m") == -FERRY_ERIGHTS);
    TASK_ASSERT(!tree_has(&g->t, "root/m"));
}
ON_FRESH_GROUND(links_need_their_right)

static void body_a_second_name_allows_nothing_that_the_first_does_not(struct ground *g)
{
    static const struct {
        unsigned from, to;
        int expected;
    } rows[] = {
        {RIGHTS_READ_ONLY | RIGHT_LINK, RIGHTS_ALL, -FERRY_ERIGHTS},
        {RIGHT_LINK | RIGHT_LIST, RIGHT_LINK | RIGHT_READ, -FERRY_ERIGHTS},
        {RIGHT_LINK | RIGHT_READ, RIGHT_LINK | RIGHT_READ | RIGHT_SETATTR, -FERRY_ERIGHTS},
        {RIGHT_LINK | RIGHT_READ, RIGHT_LINK | RIGHT_READ | RIGHT_APPEND, -FERRY_ERIGHTS},
        {RIGHTS_ALL & ~(unsigned)RIGHT_LINK, RIGHTS_ALL, -FERRY_ERIGHTS},
        {RIGHTS_ALL, RIGHTS_ALL & ~(unsigned)RIGHT_LINK, -FERRY_ERIGHTS},
        {RIGHTS_ALL, RIGHT_LINK, 0},
        {RIGHT_LINK | RIGHT_READ, RIGHT_LINK | RIGHT_READ | RIGHT_DELETE, 0},
    };

    tree_dir(&g->t, "root/a");
    tree_dir(&g->t, "root/b");
    tree_file(&g->t, "root/a/f", "f");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/a"), rows[i].from) == 0);
        TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/b"), rows[i].to) == 0);
        TASK_ASSERT(link_to(g, "/a/f", "/b/f") == rows[i].expected);
        TASK_ASSERT(tree_has(&g->t, "root/b/f") == (rows[i].expected == 0));
        (void)unlink(tree_path(&g->t, "root/b/f"));
    }
}
ON_FRESH_GROUND(a_second_name_allows_nothing_that_the_first_does_not)

/* -- rename -- */

static void body_a_rename_to_a_new_name_replaces_nothing(struct ground *g)
{
    TASK_ASSERT(store(&g->t, "/f", REPLACE, "12345") == 0);
    TASK_ASSERT(store(&g->t, "/g", REPLACE, "123") == 0);
    tree_dir(&g->t, "root/d");
    TASK_ASSERT(rename_new(g, "/f", "/g") == -EEXIST && rename_new(g, "/f", "/d") == -EEXIST);
    TASK_ASSERT(rename_new(g, "/f", "/f") == -EEXIST);
    TASK_ASSERT(tree_holds(&g->t, "root/g", "123") && tree_holds(&g->t, "root/f", "12345"));
    TASK_ASSERT(rename_new(g, "/f", "/h") == 0 && tree_holds(&g->t, "root/h", "12345"));
    TASK_ASSERT(rename_new(g, "/none", "/i") == -ENOENT && rename_new(g, "/", "/i") == -EPERM);
    TASK_ASSERT(used(g, 8, 2));
}
ON_FRESH_GROUND(a_rename_to_a_new_name_replaces_nothing)

/* -- space -- */

static void body_space_is_the_quotas_where_that_is_less(struct ground *g)
{
    struct vspace s = {0};
    struct statvfs fs;
    struct quota *large = NULL;
    TASK_ASSERT(statvfs(tree_path(&g->t, "root"), &fs) == 0);
    TASK_ASSERT(quota_take(g->quota, 100, 3) == 0);
    TASK_ASSERT(WITH_PATH("/", vfs_space(g->t.vfs, &path, &s)) == 0);
    TASK_ASSERT(s.block_bytes == fs.f_frsize && s.name_max == 255 && !s.read_only);
    TASK_ASSERT(s.blocks == 1000 / s.block_bytes && s.blocks_available == 900 / s.block_bytes);
    TASK_ASSERT(s.files <= 10 && s.files_free <= 7);
    TASK_ASSERT(quota_new(100 * s.block_bytes, 0, &large) == 0);
    TASK_ASSERT(quota_take(large, 40 * s.block_bytes, 0) == 0);
    (void)vfs_free(g->t.vfs);
    TASK_ASSERT(vfs_new(g->t.root, &g->t.rights, &g->t.policy, large,
                        runtime_files_pool(runtime_self()), NULL, &g->t.vfs) == 0);
    TASK_ASSERT(WITH_PATH("/", vfs_space(g->t.vfs, &path, &s)) == 0);
    TASK_ASSERT(s.blocks == 100 && s.blocks_free == 60 && s.blocks_available == 60);
    TASK_ASSERT(s.files == fs.f_files);
    TASK_ASSERT(WITH_PATH("/none", vfs_space(g->t.vfs, &path, &s)) == -ENOENT);
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), 0) == 0);
    TASK_ASSERT(WITH_PATH("/", vfs_space(g->t.vfs, &path, &s)) == -FERRY_ERIGHTS);
    quota_unref(large);
}
ON_FRESH_GROUND(space_is_the_quotas_where_that_is_less)

static void body_without_a_quota_the_space_is_the_file_systems(struct ground *g)
{
    struct vspace s = {0};
    struct statvfs fs;
    TASK_ASSERT(statvfs(tree_path(&g->t, "root"), &fs) == 0);
    (void)vfs_free(g->t.vfs);
    TASK_ASSERT(vfs_new(g->t.root, &g->t.rights, &g->t.policy, NULL,
                        runtime_files_pool(runtime_self()), NULL, &g->t.vfs) == 0);
    TASK_ASSERT(WITH_PATH("/", vfs_space(g->t.vfs, &path, &s)) == 0);
    TASK_ASSERT(s.blocks == fs.f_blocks && s.files == fs.f_files);
    TASK_ASSERT(s.blocks_available <= s.blocks_free && s.blocks_free <= s.blocks);
}
ON_FRESH_GROUND(without_a_quota_the_space_is_the_file_systems)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_symbolic_link_costs_a_file_and_says_what_it_was_told),
        cmocka_unit_test(a_target_is_text_of_a_path_and_none_of_our_own_names),
        cmocka_unit_test(a_link_that_leads_out_is_not_followed),
        cmocka_unit_test(a_second_name_costs_a_file_and_no_bytes),
        cmocka_unit_test(regular_files_alone_are_linked),
        cmocka_unit_test(links_need_their_right),
        cmocka_unit_test(a_second_name_allows_nothing_that_the_first_does_not),
        cmocka_unit_test(a_rename_to_a_new_name_replaces_nothing),
        cmocka_unit_test(space_is_the_quotas_where_that_is_less),
        cmocka_unit_test(without_a_quota_the_space_is_the_file_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
