/* Files and directories made in one job: what one by one would be, in their order. */
#include "vfs/batch.h"

#include "base/fault.h"
#include "check.h"
#include "tree.h"

#define N_MAX 1000 /* far more calls than a batch makes */

static const struct vattr no_attr;

static struct vbatch *batch_of(struct tree *t)
{
    struct vbatch *b = vbatch_new(t->vfs);
    TASK_ASSERT(b != NULL);
    return b;
}

static int add_file(struct vbatch *b, const char *name, const char *text,
                    const struct vattr *attr)
{
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE, .mode = 0640};
    size_t len = strlen(text);
    TASK_ASSERT(vbatch_has_room(b, len));
    memcpy(vbatch_contents(b), text, len);
    return WITH_PATH(name, vbatch_add_file(b, &path, &request, attr, len));
}

static void file(struct vbatch *b, const char *name, const char *text)
{
    TASK_ASSERT(add_file(b, name, text, &no_attr) == 0);
}

static void directory(struct vbatch *b, const char *name)
{
    TASK_ASSERT(WITH_PATH(name, vbatch_add_directory(b, &path)) == 0);
}

static unsigned run(struct vbatch *b)
{
    unsigned done = 0;
    TASK_ASSERT(vbatch_start(b) == 0);
    TASK_ASSERT(vbatch_wait(b, &done) == 0);
    return done;
}

static int result(const struct vbatch *b, unsigned i)
{
    return vbatch_item(b, i)->result;
}

static void on_tree(task_fn *body)
{
    struct tree t;
    tree_init(&t);
    run_threaded(1, body, &t);
    assert_int_equal(tree_count(&t, "root", VFS_TEMP_PREFIX), 0);
    tree_done(&t);
}

static void make_in_order(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    tree_file(t, "root/old", "old");
    struct vbatch *b = batch_of(t);
    directory(b, "/d");
    file(b, "/d/f", "first");
    file(b, "/d/f", "second");
    file(b, "/empty", "");
    file(b, "/old", "new");
    directory(b, "/d");
    TASK_ASSERT(run(b) == 6);
    for (unsigned i = 0; i < 6; i++)
        TASK_ASSERT(result(b, i) == 0);
    TASK_ASSERT(vbatch_item(b, 0)->is_new && !vbatch_item(b, 5)->is_new);
    TASK_ASSERT(tree_holds(t, "root/d/f", "second") && tree_holds(t, "root/empty", "") &&
                tree_holds(t, "root/old", "new"));
    vbatch_clear(b);
    file(b, "/again", "it is as new");
    TASK_ASSERT(run(b) == 1 && result(b, 0) == 0 &&
                tree_holds(t, "root/again", "it is as new"));
    b = vbatch_free(b);
}

static void all_are_made_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    on_tree(make_in_order);
}

static void fail_one_by_one(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    tree_dir(t, "root/in the way");
    tree_file(t, "root/file", "old");
    tree_link(t, "../outside", "root/out");
    struct vbatch *b = batch_of(t);
    file(b, "/in the way", "x");
    directory(b, "/file");
    file(b, "/file/f", "x");
    file(b, "/out/f", "x");
    directory(b, "/out/d");
    file(b, "/", "x");
    file(b, "/good", "good");
    TASK_ASSERT(run(b) == 7);
    TASK_ASSERT(result(b, 0) == -EISDIR && result(b, 1) == -ENOTDIR &&
                result(b, 2) == -ENOTDIR);
    TASK_ASSERT(result(b, 3) == -EXDEV && result(b, 4) == -EXDEV && result(b, 5) == -EISDIR);
    TASK_ASSERT(result(b, 6) == 0 && tree_holds(t, "root/good", "good"));
    TASK_ASSERT(tree_holds(t, "root/file", "old") && !tree_has(t, "outside/f"));
    b = vbatch_free(b);
}

static void a_failure_is_of_one_and_the_rest_is_made(void **state)
{
    (void)state;
    on_tree(fail_one_by_one);
}

static void lack_rights(void *arg)
{
    struct tree *t = arg;
    const struct vattr attr = {.has_mode = true, .mode = 0600};
    TASK_ASSERT(rights_set(&t->rights, BYTES_LIT("/"), RIGHT_WRITE) == 0);
    TASK_ASSERT(rights_set(&t->rights, BYTES_LIT("/no"), RIGHT_READ) == 0);
    tree_serve(t, NULL);
    tree_dir(t, "root/no");
    tree_file(t, "root/old", "old");
    struct vbatch *b = batch_of(t);
    file(b, "/no/f", "x");
    directory(b, "/d");
    file(b, "/old", "new");
    TASK_ASSERT(add_file(b, "/set", "x", &attr) == 0);
    TASK_ASSERT(run(b) == 4);
    for (unsigned i = 0; i < 3; i++)
        TASK_ASSERT(result(b, i) == -FERRY_ERIGHTS);
    TASK_ASSERT(result(b, 3) == 0 && vbatch_item(b, 3)->set_result == -FERRY_ERIGHTS);
    TASK_ASSERT(tree_holds(t, "root/old", "old") && tree_holds(t, "root/set", "x"));
    TASK_ASSERT(!tree_has(t, "root/no/f") && !tree_has(t, "root/d"));
    b = vbatch_free(b);
}

static void rights_are_asked_for_each(void **state)
{
    (void)state;
    on_tree(lack_rights);
}

static void run_into_the_quota(void *arg)
{
    struct tree *t = arg;
    struct quota *quota;
    uint64_t bytes, files;
    TASK_ASSERT(quota_new(10, 3, &quota) == 0);
    tree_serve(t, quota);
    struct vbatch *b = batch_of(t);
    directory(b, "/d");
    file(b, "/d/six", "123456");
    file(b, "/d/five", "12345");
    file(b, "/d/four", "1234");
    file(b, "/d/more", "");
    TASK_ASSERT(run(b) == 5);
    TASK_ASSERT(result(b, 1) == 0 && result(b, 2) == -FERRY_EQUOTA && result(b, 3) == 0 &&
                result(b, 4) == -FERRY_EQUOTA);
    quota_used(quota, &bytes, &files);
    TASK_ASSERT(bytes == 10 && files == 3 && !tree_has(t, "root/d/five"));
    TASK_ASSERT(tree_count(t, "root/d", ".ferry") == 0);
    b = vbatch_free(b);
    quota_unref(quota);
}

static void quota_is_counted_for_each(void **state)
{
    (void)state;
    on_tree(run_into_the_quota);
}

static void set_facts(void *arg)
{
    struct tree *t = arg;
    struct stat st;
    const struct vattr attr = {
        .has_mode = true, .mode = 06755, .has_times = true, .mtime_us = 1500000000000000};
    tree_serve(t, NULL);
    tree_file(t, "root/old", "old");
    struct vbatch *b = batch_of(t);
    TASK_ASSERT(add_file(b, "/f", "x", &attr) == 0);
    TASK_ASSERT(add_file(b, "/old", "x", &attr) == 0);
    file(b, "/plain", "x");
    TASK_ASSERT(run(b) == 3);
    TASK_ASSERT(stat(tree_path(t, "root/f"), &st) == 0);
    TASK_ASSERT((st.st_mode & 07777) == 0755 && st.st_mtime == 1500000000);
    TASK_ASSERT(stat(tree_path(t, "root/old"), &st) == 0 && (st.st_mode & 07777) == 0755);
    TASK_ASSERT(stat(tree_path(t, "root/plain"), &st) == 0 && (st.st_mode & 07777) == 0640);
    b = vbatch_free(b);
}

static void files_have_their_facts_and_never_set_id_bits(void **state)
{
    (void)state;
    on_tree(set_facts);
}

static void lack_parents(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    struct vbatch *b = batch_of(t);
    file(b, "/a", "a");
    file(b, "/p/b", "b");
    directory(b, "/q/c");
    file(b, "/d", "d");
    TASK_ASSERT(run(b) == 1 && tree_has(t, "root/a") && !tree_has(t, "root/d"));
    tree_dir(t, "root/p");
    vbatch_insist(b, 1);
    TASK_ASSERT(run(b) == 2 && tree_holds(t, "root/p/b", "b") && !tree_has(t, "root/d"));
    vbatch_insist(b, 2);
    TASK_ASSERT(run(b) == 4 && result(b, 2) == -ENOENT && tree_has(t, "root/d"));
    vbatch_clear(b);
    file(b, "/q/e", "e");
    file(b, "/f", "f");
    TASK_ASSERT(run(b) == 0);
    vbatch_refuse(b, 0, -EACCES);
    TASK_ASSERT(run(b) == 2 && result(b, 0) == -EACCES && tree_has(t, "root/f"));
    b = vbatch_free(b);
}

static void it_stops_where_a_parent_is_missing_and_goes_on(void **state)
{
    (void)state;
    on_tree(lack_parents);
}

static void keep_bounds(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    struct vbatch *b = batch_of(t);
    TASK_ASSERT(vbatch_has_room(b, VBATCH_BYTES) && !vbatch_has_room(b, VBATCH_BYTES + 1) &&
                !vbatch_has_room(b, SIZE_MAX));
    file(b, "/f", "x");
    TASK_ASSERT(!vbatch_has_room(b, VBATCH_BYTES));
    while (vbatch_count(b) < VBATCH_ITEMS_MAX)
        directory(b, "/d");
    TASK_ASSERT(!vbatch_has_room(b, 0));
    b = vbatch_free(b); /* and nothing was made */
    TASK_ASSERT(!tree_has(t, "root/f") && !tree_has(t, "root/d"));
    t->policy.sync = VFS_SYNC_FILE;
    b = batch_of(t);
    for (unsigned i = 0; i < VBATCH_SYNCED; i++)
        file(b, "/synced", "x");
    TASK_ASSERT(!vbatch_has_room(b, 0));
    TASK_ASSERT(run(b) == VBATCH_SYNCED && tree_holds(t, "root/synced", "x"));
    b = vbatch_free(b);
}

static void it_has_room_for_so_much(void **state)
{
    (void)state;
    on_tree(keep_bounds);
}

/* -- each failure once -- */

struct faulty {
    struct tree t;
    enum fault_kind kind;
    uint64_t nth, counted;
    int results[3];
    bool is_over; /* results hold */
};

static void talk(struct faulty *f)
{
    unsigned done = 0;
    struct vbatch *b = vbatch_new(f->t.vfs);
    if (b == NULL)
        return;
    memcpy(vbatch_contents(b), "new", 3);
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE, .mode = 0640};
    const struct vattr attr = {.has_mode = true, .mode = 0600, .has_times = true};
    int r = WITH_PATH("/d", vbatch_add_directory(b, &path));
    if (r == 0)
        r = WITH_PATH("/old", vbatch_add_file(b, &path, &request, &attr, 3));
    memcpy(vbatch_contents(b), "new", 3);
    if (r == 0)
        r = WITH_PATH("/d/f", vbatch_add_file(b, &path, &request, &attr, 3));
    if (r == 0)
        r = vbatch_start(b);
    if (r == 0)
        r = vbatch_wait(b, &done);
    f->is_over = r == 0 && done == 3;
    for (unsigned i = 0; f->is_over && i < 3; i++)
        f->results[i] = result(b, i);
    b = vbatch_free(b);
}

static void talk_with_fault(void *arg)
{
    struct faulty *f = arg;
    tree_serve(&f->t, NULL);
    fault_arm(f->kind, f->nth);
    talk(f);
    f->counted = fault_count(f->kind);
    fault_arm(f->kind, 0);
}

static void each_failure(enum fault_kind kind)
{
    uint64_t n = 1, counted;
    do {
        struct faulty f = {.kind = kind, .nth = n};
        tree_init(&f.t);
        tree_file(&f.t, "root/old", "old");
        run_deterministic(n, talk_with_fault, &f);
        bool is_new = tree_holds(&f.t, "root/old", "new");
        assert_true(is_new || tree_holds(&f.t, "root/old", "old"));
        if (f.is_over && f.results[1] == 0)
            assert_true(is_new);
        assert_true(tree_holds(&f.t, "root/d/f", "new") || !tree_has(&f.t, "root/d/f"));
        if (f.is_over && f.results[2] == 0)
            assert_true(tree_has(&f.t, "root/d/f"));
        counted = f.counted;
        tree_done(&f.t);
    } while (n++ <= counted && n < N_MAX);
    assert_true(n > 10);
}

static void a_file_is_whole_or_old_whatever_fails(void **state)
{
    (void)state;
    each_failure(FAULT_ALLOC);
    each_failure(FAULT_SYSCALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_made_in_the_order_in_which_they_came),
        cmocka_unit_test(a_failure_is_of_one_and_the_rest_is_made),
        cmocka_unit_test(rights_are_asked_for_each),
        cmocka_unit_test(quota_is_counted_for_each),
        cmocka_unit_test(files_have_their_facts_and_never_set_id_bits),
        cmocka_unit_test(it_stops_where_a_parent_is_missing_and_goes_on),
        cmocka_unit_test(it_has_room_for_so_much),
        cmocka_unit_test(a_file_is_whole_or_old_whatever_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
