/* Uploads that end on the loop: in a memory file system, small and plain. What may wait does
 * not stop the loop, and nothing that is done there needs the pool. */
#include <semaphore.h>

#include "base/mem.h"
#include "check.h"
#include "stoppable_mount.h"
#include "tree.h"

#define LARGE_BYTES (1024 * 1024 + 1)
#define TURNS       100               /* of the loop, for whoever could run */
#define PATIENCE_US (10 * USEC_PER_S) /* then the test has failed */

/* -- a pool with no thread to spare -- */

static sem_t release_jobs;

struct held_job {
    struct job job;
};

static void hold(struct job *j)
{
    (void)j;
    while (sem_wait(&release_jobs) != 0)
        continue;
}

static void free_held(struct job *j)
{
    mem_free(j);
}

static void hold_pool(void)
{
    struct pool *pool = runtime_files_pool(runtime_self());
    for (unsigned i = 0; i < pool_threads(pool); i++) {
        struct held_job *h = mem_new(sizeof(*h));
        TASK_ASSERT(h != NULL);
        h->job.run = hold;
        h->job.free = free_held;
        TASK_ASSERT(job_post(pool, &h->job, NULL) == 0);
    }
}

static void release_pool(void)
{
    unsigned threads = pool_threads(runtime_files_pool(runtime_self()));
    for (unsigned i = 0; i < threads; i++)
        TASK_ASSERT(sem_post(&release_jobs) == 0);
}

/* -- an upload beside the test -- */

struct storing {
    struct tree *tree;
    const char *path;
    struct vupload_request request;
    struct scope scope;
    bool is_done;
    int result;
};

static void store_beside(void *arg)
{
    struct storing *s = arg;
    s->result = store(s->tree, s->path, s->request, "new");
    s->is_done = true;
}

static void start_storing(struct storing *s)
{
    scope_init(&s->scope);
    TASK_ASSERT(scope_start(&s->scope, "store", TASK_NORMAL, store_beside, s, NULL) == 0);
    for (unsigned i = 0; i < TURNS && !s->is_done; i++)
        task_yield();
}

static int end_storing(struct storing *s)
{
    TASK_ASSERT(scope_wait(&s->scope, clock_after(PATIENCE_US)) == 0);
    return s->result;
}

static int store_now(struct tree *t, const char *path)
{
    struct storing s = {.tree = t, .path = path, .request = REPLACE};
    start_storing(&s);
    TASK_ASSERT(s.is_done);
    return end_storing(&s);
}

static void expect_waits_for_the_pool(struct tree *t, const char *path,
                                      struct vupload_request request)
{
    struct storing s = {.tree = t, .path = path, .request = request};
    hold_pool();
    start_storing(&s);
    TASK_ASSERT(!s.is_done);
    release_pool();
    TASK_ASSERT(end_storing(&s) == 0);
}

/* -- the tests -- */

static bool is_in_memory(const struct tree *t)
{
    return strncmp(t->base, "/dev/shm", strlen("/dev/shm")) == 0;
}

static void on_tree(task_fn *body)
{
    struct tree t;
    tree_init(&t);
    bool runs = is_in_memory(&t);
    TASK_ASSERT(sem_init(&release_jobs, 0, 0) == 0);
    if (runs)
        run_threaded(1, body, &t);
    TASK_ASSERT(sem_destroy(&release_jobs) == 0);
    if (runs)
        TASK_ASSERT(tree_count(&t, "root", VFS_TEMP_PREFIX) == 0);
    tree_done(&t);
    if (!runs)
        skip();
}

static void store_without_pool(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    tree_dir(t, "root/dir");
    hold_pool();
    TASK_ASSERT(store_now(t, "/f") == 0);
    TASK_ASSERT(store_now(t, "/f") == 0);
    TASK_ASSERT(store_now(t, "/dir/f") == 0);
    TASK_ASSERT(tree_holds(t, "root/f", "new") && tree_holds(t, "root/dir/f", "new"));
    release_pool();
}

static void a_small_file_in_memory_needs_no_thread_of_the_pool(void **state)
{
    (void)state;
    on_tree(store_without_pool);
}

static void store_what_is_not_plain(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    tree_file(t, "root/large", "");
    TASK_ASSERT(truncate(tree_path(t, "root/large"), LARGE_BYTES) == 0);
    tree_link(t, "large", "root/link");
    expect_waits_for_the_pool(t, "/large", REPLACE);
    expect_waits_for_the_pool(t, "/link", REPLACE);
    expect_waits_for_the_pool(t, "/large", APPENDED);
    expect_waits_for_the_pool(t, "/unique", UNIQUE);
    TASK_ASSERT(break_after(t, "/partial", REPLACE, "first") == 0);
    expect_waits_for_the_pool(t, "/partial", REPLACE);
    t->policy.sync = VFS_SYNC_FILE;
    expect_waits_for_the_pool(t, "/synced", REPLACE);
}

static void what_is_not_plain_and_small_waits_for_the_pool(void **state)
{
    (void)state;
    on_tree(store_what_is_not_plain);
}

static void commit_over_one_that_grew(void *arg)
{
    struct tree *t = arg;
    struct vupload *u = NULL;
    uint64_t at = 0;
    tree_serve(t, NULL);
    TASK_ASSERT(begin_and_write(t, "/f", REPLACE, "new", &u, &at) == 0);
    tree_file(t, "root/f", "");
    TASK_ASSERT(truncate(tree_path(t, "root/f"), LARGE_BYTES) == 0);
    TASK_ASSERT(vupload_commit(u, at) == 0);
    TASK_ASSERT(tree_holds(t, "root/f", "new"));
}

static void a_name_that_was_taken_meanwhile_is_replaced(void **state)
{
    (void)state;
    on_tree(commit_over_one_that_grew);
}

static void store_while_names_are_locked(void *arg)
{
    struct tree *t = arg;
    struct quota *quota;
    uint64_t bytes, files;
    TASK_ASSERT(quota_new(1000, 10, &quota) == 0);
    tree_serve(t, quota);
    struct storing s = {.tree = t, .path = "/f", .request = REPLACE};
    quota_names_lock(quota);
    start_storing(&s);
    TASK_ASSERT(!s.is_done);
    quota_names_unlock(quota);
    TASK_ASSERT(end_storing(&s) == 0);
    quota_used(quota, &bytes, &files);
    TASK_ASSERT(bytes == 3 && files == 1);
    t->vfs = vfs_free(t->vfs);
    quota_unref(quota);
}

static void who_holds_the_names_stops_the_upload_and_not_the_loop(void **state)
{
    (void)state;
    on_tree(store_while_names_are_locked);
}

/* -- a stopped file system below a root in memory -- */

static pid_t server;

static void store_into_stopped_mount(void *arg)
{
    struct tree *t = arg;
    tree_serve(t, NULL);
    struct storing inside = {.tree = t, .path = "/stopped/f", .request = REPLACE};
    struct storing itself = {.tree = t, .path = "/stopped", .request = REPLACE};
    TASK_ASSERT(kill(server, SIGSTOP) == 0);
    start_storing(&inside);
    start_storing(&itself);
    TASK_ASSERT(!inside.is_done);
    TASK_ASSERT(store_now(t, "/beside") == 0);
    stoppable_kill(server);
    TASK_ASSERT(end_storing(&inside) < 0);
    TASK_ASSERT(end_storing(&itself) < 0);
}

static void a_stopped_mount_below_a_root_in_memory_does_not_stop_the_loop(void **state)
{
    (void)state;
    struct tree t;
    static char backing[512], place[512];
    tree_init(&t);
    tree_dir(&t, "root/stopped");
    (void)snprintf(backing, sizeof(backing), "%s", tree_path(&t, "outside"));
    (void)snprintf(place, sizeof(place), "%s", tree_path(&t, "root/stopped"));
    server = is_in_memory(&t) ? stoppable_mount(backing, place) : -1;
    bool runs = server > 0;
    if (runs)
        run_threaded(1, store_into_stopped_mount, &t);
    stoppable_unmount(place);
    tree_done(&t);
    if (!runs)
        skip();
}

int main(int argc, char **argv)
{
    (void)argc;
    stoppable_find(argv[0]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_file_in_memory_needs_no_thread_of_the_pool),
        cmocka_unit_test(what_is_not_plain_and_small_waits_for_the_pool),
        cmocka_unit_test(a_name_that_was_taken_meanwhile_is_replaced),
        cmocka_unit_test(who_holds_the_names_stops_the_upload_and_not_the_loop),
        cmocka_unit_test(a_stopped_mount_below_a_root_in_memory_does_not_stop_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
