#include <malloc.h>

#include "check.h"
#include "ground.h"

static struct vdir *open_dir(struct ground *g, const char *text)
{
    struct vdir *d = NULL;
    TASK_ASSERT(WITH_PATH(text, vfs_dir_open(g->t.vfs, &path, &d)) == 0);
    return d;
}

static const struct ventry *find(const struct ventry *entries, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    }
    return NULL;
}

static void body_lists_every_kind_with_its_facts(struct ground *g)
{
    const struct ventry *all = NULL, *e;
    tree_file(&g->t, "root/file", "12345");
    tree_file(&g->t, "root/ctl\n\x01", "");
    tree_dir(&g->t, "root/dir");
    tree_link(&g->t, "../outside/secret", "root/link");
    TASK_ASSERT(mkfifo(tree_path(&g->t, "root/fifo"), 0600) == 0);
    tree_file(&g->t, "root/.ferry-up-0123456789abcdef", "hidden");
    tree_file(&g->t, "root/.ferry-part-0123456789abcdef", "hidden");
    struct vdir *d = open_dir(g, "/");
    int n = vdir_next(d, &all);
    TASK_ASSERT(n == 5);
    e = find(all, n, "file");
    TASK_ASSERT(e && e->stat.kind == VSTAT_FILE && e->stat.size_bytes == 5);
    TASK_ASSERT(e->name_len == 4 && e->stat.mode == 0644 && !e->link_target);
    e = find(all, n, "dir");
    TASK_ASSERT(e && e->stat.kind == VSTAT_DIRECTORY);
    e = find(all, n, "link");
    TASK_ASSERT(e && e->stat.kind == VSTAT_LINK);
    TASK_ASSERT(strcmp(e->link_target, "../outside/secret") == 0);
    e = find(all, n, "fifo");
    TASK_ASSERT(e && e->stat.kind == VSTAT_OTHER);
    TASK_ASSERT(find(all, n, "ctl\n\x01"));
    TASK_ASSERT(vdir_next(d, &all) == 0);
    TASK_ASSERT(vdir_next(d, &all) == 0);
    TASK_ASSERT(vdir_close(d) == NULL);
    TASK_ASSERT(unlink(tree_path(&g->t, "root/.ferry-up-0123456789abcdef")) == 0);
}
ON_FRESH_GROUND(lists_every_kind_with_its_facts)

static void body_a_target_of_many_bytes_is_cut(struct ground *g)
{
    const struct ventry *all = NULL;
    char target[1000];
    memset(target, 't', sizeof(target));
    target[sizeof(target) - 1] = '\0';
    tree_link(&g->t, target, "root/link");
    struct vdir *d = open_dir(g, "/");
    TASK_ASSERT(vdir_next(d, &all) == 1);
    TASK_ASSERT(strlen(all[0].link_target) == 255);
    (void)vdir_close(d);
}
ON_FRESH_GROUND(a_target_of_many_bytes_is_cut)

/* Long names, so that a batch is as large as it can be. */
#define MANY 2500

static void make_many(struct ground *g)
{
    char name[256 + 16];
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "root/%0250u", i);
        if (i % 2)
            tree_link(&g->t, tree_path(&g->t, name), name);
        else
            tree_file(&g->t, name, "");
    }
}

static void body_a_large_directory_comes_in_batches_of_bounded_memory(struct ground *g)
{
    static bool seen[MANY];
    const struct ventry *batch = NULL;
    unsigned total = 0;
    int n;
    memset(seen, 0, sizeof(seen)); /* there is more than one ground */
    make_many(g);
    size_t before = mallinfo2().uordblks, most = before;
    struct vdir *d = open_dir(g, "/");
    while ((n = vdir_next(d, &batch)) > 0) {
        for (int i = 0; i < n; i++) {
            unsigned at = (unsigned)strtoul(batch[i].name, NULL, 10);
            TASK_ASSERT(at < MANY && !seen[at] && batch[i].name_len == 250);
            TASK_ASSERT((batch[i].stat.kind == VSTAT_LINK) == (at % 2 == 1));
            seen[at] = true;
        }
        total += (unsigned)n;
        size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
        most = now > most ? now : most;
    }
    TASK_ASSERT(n == 0 && total == MANY);
    TASK_ASSERT(most - before < 1024 * 1024);
    (void)vdir_close(d);
}
ON_FRESH_GROUND(a_large_directory_comes_in_batches_of_bounded_memory)

/* Short names in small records, so that a batch has many links, each with a long target. */
static void body_many_links_to_long_names_are_bounded_too(struct ground *g)
{
    const struct ventry *batch = NULL;
    char name[32], target[256];
    unsigned total = 0;
    int n;
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "root/%u", i);
        (void)snprintf(target, sizeof(target), "%0255u", i);
        tree_link(&g->t, target, name);
    }
    size_t before = mallinfo2().uordblks;
    struct vdir *d = open_dir(g, "/");
    while ((n = vdir_next(d, &batch)) > 0) {
        for (int i = 0; i < n; i++)
            TASK_ASSERT(strtoul(batch[i].name, NULL, 10) ==
                        strtoul(batch[i].link_target, NULL, 10));
        total += (unsigned)n;
        TASK_ASSERT(mallinfo2().uordblks + mallinfo2().hblkhd - before < 700 * 1024);
    }
    TASK_ASSERT(n == 0 && total == MANY);
    (void)vdir_close(d);
}
ON_FRESH_GROUND(many_links_to_long_names_are_bounded_too)

static void body_names_alone_have_their_kind(struct ground *g)
{
    const struct ventry *all = NULL, *e;
    struct vdir *d = NULL;
    tree_file(&g->t, "root/file", "12345");
    tree_dir(&g->t, "root/dir");
    tree_link(&g->t, "dir", "root/link");
    TASK_ASSERT(mkfifo(tree_path(&g->t, "root/fifo"), 0600) == 0);
    tree_file(&g->t, "root/.ferry-part-0123456789abcdef", "hidden");
    TASK_ASSERT(WITH_PATH("/", vfs_dir_open_names(g->t.vfs, &path, &d)) == 0);
    TASK_ASSERT(vdir_next(d, &all) == 4);
    e = find(all, 4, "file");
    TASK_ASSERT(e && e->stat.kind == VSTAT_FILE && e->name_len == 4 && e->stat.size_bytes == 0);
    e = find(all, 4, "dir");
    TASK_ASSERT(e && e->stat.kind == VSTAT_DIRECTORY);
    e = find(all, 4, "link");
    TASK_ASSERT(e && e->stat.kind == VSTAT_LINK && !e->link_target);
    e = find(all, 4, "fifo");
    TASK_ASSERT(e && e->stat.kind == VSTAT_OTHER);
    TASK_ASSERT(vdir_next(d, &all) == 0);
    (void)vdir_close(d);
}
ON_FRESH_GROUND(names_alone_have_their_kind)

/* A directory whose every name is reserved fills batches that have nothing to show. */
static void body_hidden_names_are_not_taken_for_the_end(struct ground *g)
{
    const struct ventry *all = NULL;
    char name[300];
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "root/" VFS_PART_PREFIX "%0200u", i);
        tree_file(&g->t, name, "");
        if (i % 299 == 0) /* the first and the last that were made, whatever the order is */
            tree_file(&g->t, i == 0 ? "root/first" : "root/last", "");
    }
    unsigned total = 0;
    struct vdir *d = open_dir(g, "/");
    int n;
    while ((n = vdir_next(d, &all)) > 0)
        total += (unsigned)n;
    TASK_ASSERT(n == 0 && total == 2);
    (void)vdir_close(d);
}
ON_FRESH_GROUND(hidden_names_are_not_taken_for_the_end)

static void body_a_cancelled_listing_stays_ended(struct ground *g)
{
    const struct ventry *all = NULL;
    struct vdir *d = open_dir(g, "/");
    task_cancel(task_self());
    TASK_ASSERT(vdir_next(d, &all) == -ECANCELED);
    TASK_ASSERT(vdir_next(d, &all) == -ECANCELED);
    TASK_ASSERT(vdir_close(d) == NULL);
    TASK_ASSERT(vdir_close(NULL) == NULL);
}
ON_FRESH_GROUND(a_cancelled_listing_stays_ended)

static void body_a_removed_directory_ends_the_listing(struct ground *g)
{
    const struct ventry *all = NULL;
    tree_dir(&g->t, "root/d");
    struct vdir *d = open_dir(g, "/d");
    TASK_ASSERT(rmdir(tree_path(&g->t, "root/d")) == 0);
    int r = vdir_next(d, &all);
    TASK_ASSERT(r == 0 || r == -ENOENT);
    (void)vdir_close(d);
}
ON_FRESH_GROUND(a_removed_directory_ends_the_listing)

static void listing_outlives_its_vfs(void *arg)
{
    struct ground *g = arg;
    const struct ventry *all = NULL;
    if (worker_index(worker_self()) != 0)
        return;
    tree_serve(&g->t, NULL);
    tree_file(&g->t, "root/file", "");
    struct vdir *d = open_dir(g, "/");
    g->t.vfs = vfs_free(g->t.vfs);
    TASK_ASSERT(vdir_next(d, &all) == 1 && strcmp(all[0].name, "file") == 0);
    (void)vdir_close(d);
}

/* The job that reads ahead may wait, run, or have run when the listing is closed. */
static void closes_while_a_batch_is_read(void *arg)
{
    struct ground *g = arg;
    const struct ventry *all = NULL;
    if (worker_index(worker_self()) != 0)
        return;
    tree_serve(&g->t, NULL);
    make_many(g);
    for (unsigned i = 0; i < 50; i++) {
        struct vdir *d = open_dir(g, "/");
        TASK_ASSERT(vdir_next(d, &all) > 0);
        if (i % 2)
            task_yield();
        TASK_ASSERT(vdir_close(d) == NULL);
    }
    struct vdir *d = open_dir(g, "/");
    TASK_ASSERT(vdir_next(d, &all) > 0);
    task_cancel(task_self());
    TASK_ASSERT(vdir_next(d, &all) == -ECANCELED);
    TASK_ASSERT(vdir_close(d) == NULL);
    g->t.vfs = vfs_free(g->t.vfs);
}

static void a_listing_may_be_closed_at_any_time(void **state)
{
    (void)state;
    struct ground g = {0};
    tree_init(&g.t);
    run_threaded(1, closes_while_a_batch_is_read, &g);
    tree_done(&g.t);
}

static void a_listing_keeps_what_it_needs(void **state)
{
    (void)state;
    struct ground g = {0};
    tree_init(&g.t);
    run_threaded(1, listing_outlives_its_vfs, &g);
    tree_done(&g.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_every_kind_with_its_facts),
        cmocka_unit_test(a_target_of_many_bytes_is_cut),
        cmocka_unit_test(a_large_directory_comes_in_batches_of_bounded_memory),
        cmocka_unit_test(many_links_to_long_names_are_bounded_too),
        cmocka_unit_test(names_alone_have_their_kind),
        cmocka_unit_test(hidden_names_are_not_taken_for_the_end),
        cmocka_unit_test(a_cancelled_listing_stays_ended),
        cmocka_unit_test(a_removed_directory_ends_the_listing),
        cmocka_unit_test(a_listing_may_be_closed_at_any_time),
        cmocka_unit_test(a_listing_keeps_what_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
