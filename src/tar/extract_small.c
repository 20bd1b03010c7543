/* Small files and directories of an archive, many in one job. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "tar/extract.h"
#include "xfer/pace.h"

#define SETTLE_US (30 * USEC_PER_S) /* no cancel is seen: a file is stored or it is not */

struct waiting {
    struct vpath path;
    char *name;
    struct vattr attr; /* of a directory */
    struct xfer_result moved;
    usec_t began_at;
};

struct extract_batch {
    struct vbatch *files; /* NULL: it was left behind */
    struct waiting items[VBATCH_ITEMS_MAX];
    unsigned count;
};

static struct extract_batch *free_batch(struct extract_batch *b)
{
    if (b == NULL)
        return NULL;
    (void)vbatch_free(b->files);
    for (unsigned i = 0; i < b->count; i++) {
        vpath_done(&b->items[i].path);
        mem_free(b->items[i].name);
    }
    mem_free(b);
    return NULL;
}

static struct extract_batch *new_batch(struct extract *x)
{
    struct extract_batch *b = mem_new(sizeof(*b));
    if (b == NULL)
        return NULL;
    b->files = vbatch_new(x->vfs);
    return b->files != NULL ? b : free_batch(b);
}

static void clear_batch(struct extract_batch *b)
{
    vbatch_clear(b->files);
    for (unsigned i = 0; i < b->count; i++) {
        vpath_done(&b->items[i].path);
        mem_free(b->items[i].name);
    }
    b->count = 0;
}

/* -- what became of them -- */

static PARKS int tell_item(struct extract *x, struct waiting *w, const struct vbatch_item *item,
                           int result)
{
    const struct tar_request *q = x->tar->request;
    if (item->kind == VBATCH_FILE) {
        w->moved.file_bytes = result == 0 ? item->len : 0;
        w->moved.seconds_us = clock_now() - w->began_at;
        q->watch->moved(q->watch_arg, "upload", vpath_bytes(&w->path), &w->moved, result);
        return result == 0 ? item->set_result : result;
    }
    return result < 0 ? result : extract_remember(x, &w->path, &w->attr, item->is_new);
}

/* All are told of, also when there is nobody left to complain to. failed: of all of them. */
static PARKS int tell_all(struct extract *x, struct extract_batch *b, int failed)
{
    static const struct vbatch_item unknown_file = {.kind = VBATCH_FILE};
    static const struct vbatch_item unknown_directory = {.kind = VBATCH_DIRECTORY};
    int r = 0;
    for (unsigned i = 0; i < b->count; i++) {
        struct waiting *w = &b->items[i];
        const struct vbatch_item *item = b->files != NULL  ? vbatch_item(b->files, i)
                                         : w->began_at > 0 ? &unknown_file
                                                           : &unknown_directory;
        int result = tell_item(x, w, item, failed < 0 ? failed : item->result);
        if (result < 0 && r == 0)
            r = tar_complain(x->tar, w->name, result);
    }
    return r;
}

/* -- the job -- */

static void refuse_rest(struct extract_batch *b, unsigned from, int result)
{
    for (unsigned i = from; i < b->count; i++)
        vbatch_refuse(b->files, i, result);
}

/* Its items from the first that is not made on. */
static PARKS int run_on(struct extract *x, struct extract_batch *b, unsigned *done)
{
    int r = extract_make_parents(x, &b->items[*done].path);
    if (r == -ECANCELED || r == -ETIMEDOUT)
        return r;
    if (r < 0)
        vbatch_refuse(b->files, *done, r);
    else
        vbatch_insist(b->files, *done);
    r = vbatch_start(b->files);
    if (r < 0) {
        refuse_rest(b, *done, r);
        *done = b->count;
        return 0;
    }
    r = vbatch_wait(b->files, done);
    if (r < 0)
        b->files = NULL;
    return r;
}

static PARKS int wait_for_all(struct extract *x, struct extract_batch *b)
{
    unsigned done;
    int r = vbatch_wait(b->files, &done);
    if (r < 0)
        b->files = NULL;
    while (r == 0 && done < b->count)
        r = run_on(x, b, &done);
    if (r < 0 && b->files != NULL)
        refuse_rest(b, done, r);
    return r;
}

/* What runs is through, and told of. */
static PARKS int settle(struct extract *x)
{
    struct extract_batch *b = x->running;
    if (b == NULL || b->count == 0)
        return 0;
    task_shield_begin(clock_after(SETTLE_US));
    int failed = wait_for_all(x, b);
    task_shield_end();
    int r = tell_all(x, b, b->files == NULL ? failed : 0);
    if (b->files != NULL)
        clear_batch(b);
    else
        x->running = free_batch(b);
    return r < 0 ? r : task_is_cancelled() ? -ECANCELED : 0;
}

/* What was collected runs, and there is room to collect. */
static PARKS int turn(struct extract *x)
{
    int r = settle(x);
    if (r < 0 || x->collected == NULL || x->collected->count == 0)
        return r;
    struct extract_batch *next = x->running;
    x->running = x->collected;
    x->collected = next;
    int started = vbatch_start(x->running->files);
    if (started < 0) {
        refuse_rest(x->running, 0, started);
        r = tell_all(x, x->running, 0);
        clear_batch(x->running);
    }
    return r;
}

int extract_flush(struct extract *x)
{
    int r = turn(x);
    return r < 0 ? r : settle(x);
}

int extract_small_end(struct extract *x, int result)
{
    const struct tar_request *q = x->tar->request;
    bool is_over = result == -ECANCELED || task_is_cancelled();
    int r = is_over ? settle(x) : extract_flush(x);
    if (x->running != NULL && x->running->count > 0) { /* settling another failed */
        int settled = settle(x);
        r = r < 0 ? r : settled;
    }
    if (x->collected != NULL && x->collected->count > 0) {
        int told = tell_all(x, x->collected, -ECANCELED);
        r = r < 0 ? r : told;
    }
    x->running = free_batch(x->running);
    x->collected = free_batch(x->collected);
    if (x->is_shown)
        q->watch->end(q->watch_arg, &x->progress);
    return result < 0 ? result : r;
}

/* -- collecting -- */

static PARKS int make_room(struct extract *x, size_t len)
{
    int r = 0;
    if (x->collected != NULL && !vbatch_has_room(x->collected->files, len))
        r = turn(x);
    if (r == 0 && x->collected == NULL) {
        x->collected = new_batch(x);
        if (x->collected == NULL)
            r = -ENOMEM;
    }
    return r;
}

static int note(struct extract_batch *b, const struct extract_entry *e,
                const struct waiting *values)
{
    struct waiting *w = &b->items[b->count];
    *w = *values;
    w->name = mem_strdup(e->name);
    if (w->name == NULL)
        return -ENOMEM;
    int r = vpath_copy(e->path, &w->path);
    if (r < 0)
        mem_free(w->name);
    return r;
}

static void unnote(struct extract_batch *b)
{
    vpath_done(&b->items[b->count].path);
    mem_free(b->items[b->count].name);
}

int extract_directory(struct extract *x, const struct extract_entry *e)
{
    int r = make_room(x, 0);
    if (r < 0)
        return r;
    const struct waiting values = {.attr = e->attr};
    r = note(x->collected, e, &values);
    if (r < 0)
        return r;
    r = vbatch_add_directory(x->collected->files, e->path);
    if (r < 0)
        unnote(x->collected);
    else
        x->collected->count++;
    return r;
}

/* At the account's rate. */
static PARKS int pace(struct extract *x, size_t len)
{
    const struct tar_request *q = x->tar->request;
    const struct xfer_request request = q->watch->begin(q->watch_arg, UINT64_MAX, &x->progress);
    x->is_shown = true;
    while (len > 0) {
        usec_t when;
        uint64_t n = pace_take(request.buckets, len, clock_now(), &when);
        int r = n > 0 ? 0 : task_sleep_until(when);
        if (r < 0)
            return r;
        len -= n;
    }
    return task_is_cancelled() ? -ECANCELED : 0;
}

static uint64_t bytes_of_stream(const struct stream *s)
{
    struct stream_info info;
    stream_info(s, &info);
    return info.sent_bytes + info.received_bytes;
}

static PARKS int read_contents(struct extract *x, size_t len, struct waiting *w)
{
    struct tar *t = x->tar;
    int r = pace(x, len);
    if (r < 0)
        return r;
    uint64_t before = bytes_of_stream(t->request->stream);
    r = tar_read_contents(t, vbatch_contents(x->collected->files), len);
    w->moved.wire_bytes = bytes_of_stream(t->request->stream) - before;
    if (r < 0)
        return r;
    atomic_fetch_add(&x->progress.file_bytes, len);
    atomic_fetch_add(&x->progress.wire_bytes, w->moved.wire_bytes);
    atomic_store(&x->progress.moved_at, clock_now());
    return 0;
}

int extract_small_file(struct extract *x, const struct extract_entry *e, size_t len)
{
    const struct tar_request *q = x->tar->request;
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE, .mode = e->mode};
    struct waiting values = {.began_at = clock_now()};
    int r = make_room(x, len);
    if (r < 0)
        return r;
    r = read_contents(x, len, &values);
    if (r < 0) {
        q->watch->moved(q->watch_arg, "upload", vpath_bytes(e->path), &values.moved, r);
        return r;
    }
    r = note(x->collected, e, &values);
    if (r < 0)
        return r;
    r = vbatch_add_file(x->collected->files, e->path, &request, &e->attr, len);
    if (r < 0)
        unnote(x->collected);
    else
        x->collected->count++;
    return r;
}
