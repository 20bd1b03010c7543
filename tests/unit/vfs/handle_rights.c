/* What each right lets a handle do. */
#include "handle_ground.h"

#define REFUSED (-FERRY_ERIGHTS)
#define CUTS    ((struct vhandle_request){.writes = true, .truncate = true})

enum { NOT_ASKED = 1 };

static const struct row {
    unsigned rights;
    bool exists; /* "0123" */
    struct vhandle_request request;
    int open, at_start, at_end;
} rows[] = {
    {RIGHT_READ, true, READS, 0, -EBADF, -EBADF},
    {RIGHTS_ALL & ~(unsigned)RIGHT_READ, true, READS, REFUSED, 1, 1},
    {RIGHTS_ALL & ~(unsigned)RIGHT_READ, true, BOTH, REFUSED, 1, 1},
    {RIGHTS_ALL & ~(unsigned)RIGHT_READ, false, BOTH, REFUSED, 1, 1},
    {RIGHT_READ | RIGHT_WRITE, false, BOTH, 0, 0, 0},
    {RIGHTS_READ_ONLY, true, UPDATES, REFUSED, 1, 1},
    {RIGHTS_READ_ONLY, false, CREATES, REFUSED, 1, 1},
    /* a new name */
    {RIGHT_WRITE, false, CREATES, 0, 0, 0},
    {RIGHT_WRITE, false, REWRITES, 0, 0, 0},
    {RIGHT_WRITE, false, CLAIMS, 0, 0, 0},
    {RIGHT_WRITE, false, EXTENDS, 0, 0, 0},
    {RIGHT_APPEND | RIGHT_OVERWRITE, false, CREATES, REFUSED, 1, 1},
    {RIGHT_APPEND | RIGHT_OVERWRITE, false, CLAIMS, REFUSED, 1, 1},
    /* what is there */
    {RIGHT_WRITE, true, CREATES, REFUSED, 1, 1},
    {RIGHT_WRITE, true, REWRITES, REFUSED, 1, 1},
    {RIGHT_WRITE, true, UPDATES, REFUSED, 1, 1},
    {RIGHT_WRITE, true, CUTS, REFUSED, 1, 1},
    {RIGHT_WRITE, true, EXTENDS, REFUSED, 1, 1},
    {RIGHT_APPEND, true, UPDATES, 0, REFUSED, 0},
    {RIGHT_APPEND, true, CREATES, 0, REFUSED, 0},
    {RIGHT_APPEND, true, EXTENDS, 0, 0, 0},
    {RIGHT_APPEND, true, REWRITES, REFUSED, 1, 1},
    {RIGHT_APPEND, true, CUTS, REFUSED, 1, 1},
    {RIGHT_OVERWRITE, true, UPDATES, 0, 0, 0},
    {RIGHT_OVERWRITE, true, REWRITES, 0, 0, 0},
    {RIGHT_OVERWRITE, true, CUTS, 0, 0, 0},
    {RIGHT_OVERWRITE, true, EXTENDS, 0, 0, 0},
};

static int reserve(struct vhandle *h, uint64_t offset)
{
    return vhandle_reserve(h, &offset, 1);
}

static void try_row(struct ground *g, const struct row *row)
{
    struct vhandle *h;
    (void)unlink(tree_path(&g->t, "root/f"));
    if (row->exists)
        tree_file(&g->t, "root/f", "0123");
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), row->rights) == 0);
    int at_start = NOT_ASKED, at_end = NOT_ASKED;
    int r = open_handle(&g->t, "/f", row->request, &h);
    if (r == 0) {
        at_start = reserve(h, 0);
        at_end = reserve(h, 4);
        (void)vhandle_free(h);
    }
    if (r != row->open || at_start != row->at_start || at_end != row->at_end) {
        (void)fprintf(stderr, "row %td: open %s, at the start %d, at the end %d\n", row - rows,
                      err_name(r), at_start, at_end);
        abort();
    }
    TASK_ASSERT(!row->exists || tree_size(&g->t, "root/f") == 4 ||
                (!g->t.policy.atomic_upload && row->request.truncate));
    TASK_ASSERT(row->exists || r == 0 || !tree_has(&g->t, "root/f"));
}

static void body_each_way_to_write_asks_for_its_right(struct ground *g)
{
    g->t.policy.keep_partial = false;
    for (int atomic = 0; atomic < 2; atomic++) {
        g->t.policy.atomic_upload = atomic;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            try_row(g, &rows[i]);
    }
}
ON_FRESH_GROUND(each_way_to_write_asks_for_its_right)

static void body_a_size_asks_for_the_right_to_what_it_changes(struct ground *g)
{
    struct vhandle *h;
    const struct vattr shorter = {.has_size = true, .size_bytes = 3};
    const struct vattr longer = {.has_size = true, .size_bytes = 5};
    tree_file(&g->t, "root/f", "0123");
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_APPEND) == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", UPDATES, &h) == 0);
    TASK_ASSERT(vhandle_set(h, &shorter) == REFUSED);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, true, &shorter)) == REFUSED);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 4);
    TASK_ASSERT(vhandle_set(h, &longer) == 0 && tree_size(&g->t, "root/f") == 5);
    TASK_ASSERT(vhandle_close(h, true) == 0);
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_WRITE | RIGHT_SETATTR) == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, true, &longer)) == REFUSED);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, true, &shorter)) == REFUSED);
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_OVERWRITE) == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, true, &shorter)) == 0);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 3);
}
ON_FRESH_GROUND(a_size_asks_for_the_right_to_what_it_changes)

static void body_mode_and_times_ask_for_the_right_to_attributes(struct ground *g)
{
    struct vhandle *h;
    const struct vattr mode = {.has_mode = true, .mode = 0600}, nothing = {0};
    const struct vattr times = {.has_times = true};
    const struct vattr all = {.has_size = true, .has_times = true};
    unsigned others = RIGHTS_ALL & ~(unsigned)RIGHT_SETATTR;
    tree_file(&g->t, "root/f", "0123");
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), others) == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(vhandle_set(h, &mode) == REFUSED && vhandle_set(h, &times) == REFUSED);
    TASK_ASSERT(vhandle_set(h, &all) == REFUSED);
    TASK_ASSERT(vhandle_close(h, false) == 0);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, true, &mode)) == REFUSED);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, false, &times)) == REFUSED);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, true, &all)) == REFUSED);
    TASK_ASSERT(WITH_PATH("/f", vfs_set(g->t.vfs, &path, true, &nothing)) == REFUSED);
    TASK_ASSERT(tree_size(&g->t, "root/f") == 4);
}
ON_FRESH_GROUND(mode_and_times_ask_for_the_right_to_attributes)

static void body_a_commit_that_may_not_replace_leaves_what_came_meanwhile(struct ground *g)
{
    struct vhandle *h;
    TASK_ASSERT(rights_set(&g->t.rights, BYTES_LIT("/"), RIGHT_WRITE) == 0);
    TASK_ASSERT(open_handle(&g->t, "/f", REWRITES, &h) == 0);
    TASK_ASSERT(put(h, 0, "new") == 0);
    tree_file(&g->t, "root/f", "came");
    TASK_ASSERT(vhandle_close(h, true) == REFUSED);
    TASK_ASSERT(tree_holds(&g->t, "root/f", "came") && used(g, 0, 0));
}
ON_FRESH_GROUND(a_commit_that_may_not_replace_leaves_what_came_meanwhile)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_to_write_asks_for_its_right),
        cmocka_unit_test(a_size_asks_for_the_right_to_what_it_changes),
        cmocka_unit_test(mode_and_times_ask_for_the_right_to_attributes),
        cmocka_unit_test(a_commit_that_may_not_replace_leaves_what_came_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
