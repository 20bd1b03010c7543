/* A test's body as a task on a fresh tree, with a ledger of 1000 bytes and 10 files. */
#pragma once
#include "tree.h"

struct ground {
    struct tree t;
    struct quota *quota;
    void (*body)(struct ground *);
};

static inline void run_body(void *arg)
{
    struct ground *g = arg;
    tree_serve(&g->t, g->quota);
    g->body(g);
    g->t.vfs = vfs_free(g->t.vfs);
}

static inline void on_fresh_ground_in(const char *directory, void (*body)(struct ground *))
{
    struct ground g = {.body = body};
    tree_init_in(&g.t, directory);
    TASK_ASSERT(quota_new(1000, 10, &g.quota) == 0);
    run_deterministic(1, run_body, &g);
    TASK_ASSERT(tree_count(&g.t, "root", VFS_TEMP_PREFIX) == 0);
    tree_done(&g.t);
    quota_unref(g.quota);
}

/* In memory, where uploads end on the loop, and on a disk. */
static inline void on_fresh_ground(void (*body)(struct ground *))
{
    if (access("/dev/shm", W_OK) == 0)
        on_fresh_ground_in("/dev/shm", body);
    on_fresh_ground_in("/tmp", body);
}

#define ON_FRESH_GROUND(name)                                                                  \
    static void name(void **state)                                                             \
    {                                                                                          \
        (void)state;                                                                           \
        on_fresh_ground(body_##name);                                                          \
    }

static inline bool used(const struct ground *g, uint64_t bytes, uint64_t files)
{
    uint64_t used_bytes = 0, used_files = 0;
    quota_used(g->quota, &used_bytes, &used_files);
    if (used_bytes != bytes || used_files != files)
        (void)fprintf(stderr, "the ledger says %ju bytes, %ju files\n", (uintmax_t)used_bytes,
                      (uintmax_t)used_files);
    return used_bytes == bytes && used_files == files;
}
