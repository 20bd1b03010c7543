#include "bench/compat/compat_memory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/machine/aside.h"
#include "bench/machine/proc.h"

#define PAGES_MAX (UINT64_C(1) << 48) /* more than any address space has */

/* -- the pile -- */

void compat_samples_push(struct compat_samples *s, uint64_t bytes)
{
    assert(s->count < COMPAT_SAMPLES_MAX);
    s->bytes[s->count++] = bytes;
}

bool compat_samples_pop(struct compat_samples *s, uint64_t *ret)
{
    if (s->count == 0)
        return false;
    *ret = s->bytes[--s->count];
    return true;
}

/* -- /proc -- */

struct walk {
    struct proc proc;
    struct buf children; /* of unsigned */
    struct compat_memory sum;
};

/* The number up to the next blank; moves behind it. */
static int next_number(struct bytes *text, uint64_t max, uint64_t *ret)
{
    size_t end;
    if (!bytes_find(*text, ' ', &end))
        return -FERRY_EPROTO;
    int r = text_u64(bytes_first(*text, end), 10, max, ret);
    *text = bytes_skip(*text, end + 1);
    return r < 0 ? -FERRY_EPROTO : 0;
}

/* statm: "SIZE RESIDENT SHARED ...", in pages. */
static int add_process(struct walk *w, unsigned pid)
{
    struct bytes text;
    uint64_t size, resident, shared, page = (uint64_t)sysconf(_SC_PAGESIZE);
    int r = proc_read(&w->proc, pid, "statm", &text);
    if (r == 0)
        r = next_number(&text, PAGES_MAX, &size);
    if (r == 0)
        r = next_number(&text, PAGES_MAX, &resident);
    if (r == 0)
        r = next_number(&text, PAGES_MAX, &shared);
    if (r < 0)
        return r;
    w->sum.resident_bytes += resident * page;
    /* The kernel's counters may be a few pages behind each other. */
    w->sum.own_bytes += (resident > shared ? resident - shared : 0) * page;
    return 0;
}

static int find_children(void *arg, unsigned pid, const char *thread)
{
    struct walk *w = arg;
    int r = proc_list_children(&w->proc, pid, thread, &w->children);
    return r == -ENOENT ? 0 : r;
}

static int add_children(struct walk *w, unsigned pid)
{
    int r = proc_each_thread(&w->proc, pid, find_children, w);
    for (size_t at = 0; r == 0 && at < w->children.len; at += sizeof(pid)) {
        memcpy(&pid, w->children.data + at, sizeof(pid));
        r = add_process(w, pid);
        if (r == -ENOENT)
            r = 0; /* it ended meanwhile */
    }
    return r;
}

int compat_memory_read(const char *proc, unsigned pid, struct compat_memory *ret)
{
    struct walk w = {0};
    proc_init(&w.proc, proc);
    buf_init(&w.children, PROC_PIDS_MAX);
    int r = add_process(&w, pid);
    uint64_t resident_bytes = w.sum.resident_bytes;
    if (r == 0)
        r = add_children(&w, pid);
    buf_done(&w.children);
    proc_done(&w.proc);
    if (r < 0)
        return r;
    *ret = (struct compat_memory){resident_bytes, w.sum.own_bytes};
    return 0;
}

/* -- off the loop -- */

struct reading {
    unsigned pid;
    struct compat_memory *ret;
};

static int read_blocking(void *arg)
{
    const struct reading *r = arg;
    return compat_memory_read("/proc", r->pid, r->ret);
}

int compat_memory_run(struct pool *pool, unsigned pid, struct compat_memory *ret)
{
    struct reading reading = {.pid = pid, .ret = ret};
    return aside_run(pool, read_blocking, &reading);
}
