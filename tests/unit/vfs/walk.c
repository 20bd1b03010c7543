#include "vfs/walk.h"

#include "base/limits.h"
#include "check.h"
#include "ground.h"

/* What a walk tells, a line a step: "+dir", "file", "-dir", "!error". */
static char told[256 * 1024];

static void walk(struct ground *g, const char *top, const char *skipped)
{
    struct vpath path;
    struct vwalk *w;
    struct vwalk_step s;
    size_t len = 0;
    int r;
    TASK_ASSERT(vpath_parse(BYTES_LIT("/"), bytes_str(top), &path) == 0);
    TASK_ASSERT(vwalk_new(g->t.vfs, &path, &w) == 0);
    vpath_done(&path);
    told[0] = '\0';
    while ((r = vwalk_next(w, &s)) > 0) {
        if (len + s.path.len + 8 < sizeof(told))
            len += (size_t)snprintf(told + len, sizeof(told) - len, "%c%.*s\n", "+.-!"[s.kind],
                                    (int)s.path.len, s.path.data);
        if (s.kind == VWALK_ENTER && skipped && bytes_equal(s.path, bytes_str(skipped)))
            vwalk_skip(w);
    }
    TASK_ASSERT(r == 0);
    vwalk_free(w);
}

static bool tells(const char *what)
{
    if (strcmp(told, what) != 0)
        (void)fprintf(stderr, "told:\n%s", told);
    return strcmp(told, what) == 0;
}

static void make_tree(struct ground *g)
{
    tree_dir(&g->t, "root/d");
    tree_dir(&g->t, "root/d/e");
    tree_dir(&g->t, "root/d/e/f");
    tree_file(&g->t, "root/d/e/x", "");
    tree_file(&g->t, "root/d/file", "");
}

static void body_files_come_before_directories_and_each_is_left(struct ground *g)
{
    make_tree(g);
    walk(g, "d", NULL);
    TASK_ASSERT(tells("+/d\n./d/file\n+/d/e\n./d/e/x\n+/d/e/f\n-/d/e/f\n-/d/e\n-/d\n"));
    walk(g, "/", NULL);
    TASK_ASSERT(tells("+/\n+/d\n./d/file\n+/d/e\n./d/e/x\n+/d/e/f\n-/d/e/f\n-/d/e\n-/d\n-/\n"));
}
ON_FRESH_GROUND(files_come_before_directories_and_each_is_left)

static void body_what_is_skipped_is_left_out(struct ground *g)
{
    make_tree(g);
    walk(g, "d", "/d/e");
    TASK_ASSERT(tells("+/d\n./d/file\n+/d/e\n-/d\n"));
    walk(g, "d", "/d");
    TASK_ASSERT(tells("+/d\n"));
}
ON_FRESH_GROUND(what_is_skipped_is_left_out)

static void body_links_are_told_and_not_followed(struct ground *g)
{
    tree_dir(&g->t, "root/d");
    tree_link(&g->t, "..", "root/d/up");
    walk(g, "d", NULL);
    TASK_ASSERT(tells("+/d\n./d/up\n-/d\n"));
    tree_link(&g->t, "d", "root/top");
    walk(g, "top", NULL);
    TASK_ASSERT(tells("+/top\n./top/up\n-/top\n"));
}
ON_FRESH_GROUND(links_are_told_and_not_followed)

static void body_what_cannot_be_listed_is_told_and_the_rest_comes(struct ground *g)
{
    make_tree(g);
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/d/e"), RIGHT_READ) == 0);
    walk(g, "d", NULL);
    TASK_ASSERT(tells("+/d\n./d/file\n!/d/e\n-/d\n"));
}
ON_FRESH_GROUND(what_cannot_be_listed_is_told_and_the_rest_comes)

/* As deep as the path is long enough; the bound comes first. */
static void body_a_tree_too_deep_is_cut_off(struct ground *g)
{
    int fd = open(tree_path(&g->t, "root"), O_PATH | O_CLOEXEC);
    for (unsigned i = 0; i < WALK_DEPTH_MAX; i++) {
        TASK_ASSERT(mkdirat(fd, "a", 0755) == 0);
        int below = openat(fd, "a", O_PATH | O_CLOEXEC);
        (void)close(fd);
        fd = below;
    }
    (void)close(fd);
    walk(g, "/", NULL);
    const char *failed = strchr(told, '!');
    TASK_ASSERT(failed != NULL && strchr(failed, '\n') - failed == 2 * WALK_DEPTH_MAX + 1);
    TASK_ASSERT(strchr(failed, '+') == NULL);
}
ON_FRESH_GROUND(a_tree_too_deep_is_cut_off)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_before_directories_and_each_is_left),
        cmocka_unit_test(what_is_skipped_is_left_out),
        cmocka_unit_test(links_are_told_and_not_followed),
        cmocka_unit_test(what_cannot_be_listed_is_told_and_the_rest_comes),
        cmocka_unit_test(a_tree_too_deep_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
