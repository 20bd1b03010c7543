#include "bench/machine/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/machine/aside.h"
#include "bench/machine/proc.h"

/* -- the formats -- */

/* The n-th word, counted from 1; empty: there are fewer. */
static struct bytes word(struct bytes text, unsigned n)
{
    for (; n > 1; n--)
        (void)bytes_take_until(&text, ' ');
    return bytes_take_until(&text, ' ');
}

int usage_parse_ticks(struct bytes text, uint64_t ret[USAGE_TICKS])
{
    /* proc(5): "PID (NAME) STATE ...", and the name may hold blanks and brackets itself. */
    size_t after_name = text.len;
    while (after_name > 0 && text.data[after_name - 1] != ')')
        after_name--;
    if (after_name == 0)
        return -FERRY_EPROTO;
    struct bytes rest = bytes_skip(text, after_name + 1); /* from field 3 on */
    uint64_t ticks[USAGE_TICKS];
    for (unsigned i = 0; i < USAGE_TICKS; i++)
        if (text_u64(word(rest, 14 - 2 + i), 10, UINT32_MAX, &ticks[i]) < 0)
            return -FERRY_EPROTO;
    memcpy(ret, ticks, sizeof(ticks));
    return 0;
}

int usage_parse_stat(struct bytes text, uint64_t *ret_own, uint64_t *ret_children)
{
    uint64_t ticks[USAGE_TICKS];
    int r = usage_parse_ticks(text, ticks);
    if (r < 0)
        return r;
    *ret_own = ticks[USAGE_USER] + ticks[USAGE_SYSTEM];
    *ret_children = ticks[USAGE_CHILD_USER] + ticks[USAGE_CHILD_SYSTEM];
    return 0;
}

int usage_parse_dirty(struct bytes text, uint64_t *ret_bytes)
{
    static const struct bytes key = BYTES_LIT("Private_Dirty:");
    while (text.len > 0) {
        struct bytes line = bytes_take_until(&text, '\n');
        if (!bytes_start_with(line, key))
            continue;
        line = bytes_skip(line, key.len);
        while (line.len > 0 && line.data[0] == ' ')
            line = bytes_skip(line, 1);
        uint64_t kilobytes;
        if (text_u64(word(line, 1), 10, UINT32_MAX, &kilobytes) < 0)
            return -FERRY_EPROTO;
        *ret_bytes = kilobytes * 1024;
        return 0;
    }
    return -FERRY_EPROTO;
}

/* -- one process -- */

struct walk {
    struct proc proc;
    struct buf pids; /* of unsigned: those found, measured or not */
    usec_t threads_us;
    struct usage sum;
    bool with_memory;
};

static int add_memory(struct walk *w, unsigned pid)
{
    struct bytes text;
    int r = proc_read(&w->proc, pid, "smaps_rollup", &text);
    /* A process that ends, or that has no memory (a zombie), reads as no such process. */
    if (r == -ENOENT || (r == 0 && text.len == 0))
        return 0;
    uint64_t bytes = 0;
    if (r == 0)
        r = usage_parse_dirty(text, &bytes);
    if (r == -EACCES || r == -EPERM) {
        w->sum.dirty_result = r;
        return 0;
    }
    w->sum.dirty_bytes += bytes;
    return r;
}

/* One thread: its nanoseconds, and the children that it made. */
static int add_thread(void *arg, unsigned pid, const char *thread)
{
    struct walk *w = arg;
    char file[64];
    snprintf(file, sizeof(file), "%s/schedstat", thread);
    struct bytes text;
    int r = proc_read(&w->proc, pid, file, &text);
    uint64_t ns = 0;
    if (r == 0 && text_u64(word(text, 1), 10, UINT64_MAX, &ns) < 0)
        r = -FERRY_EPROTO;
    if (r == 0)
        w->threads_us += ns / 1000;
    if (r == 0 || r == -ENOENT) /* a kernel may have no schedstat */
        r = proc_list_children(&w->proc, pid, thread, &w->pids);
    return r == -ENOENT ? 0 : r;
}

static int add_process(struct walk *w, unsigned pid)
{
    struct bytes text;
    int r = proc_read(&w->proc, pid, "stat", &text);
    uint64_t ticks[USAGE_TICKS] = {0};
    if (r == 0)
        r = usage_parse_ticks(text, ticks);
    if (r < 0)
        return r;
    w->threads_us = 0;
    r = proc_each_thread(&w->proc, pid, add_thread, w);
    if (r == -ENOENT)
        r = 0;
    if (r == 0 && w->with_memory)
        r = add_memory(w, pid);
    if (r < 0)
        return r;
    /* Ticks are coarse and complete, the threads' times exact but without ended threads: both
     * are lower bounds. */
    usec_t tick_us = USEC_PER_S / (usec_t)sysconf(_SC_CLK_TCK);
    usec_t own_us = (ticks[USAGE_USER] + ticks[USAGE_SYSTEM]) * tick_us;
    usec_t children_us = (ticks[USAGE_CHILD_USER] + ticks[USAGE_CHILD_SYSTEM]) * tick_us;
    w->sum.cpu_us += (own_us > w->threads_us ? own_us : w->threads_us) + children_us;
    w->sum.user_us += (ticks[USAGE_USER] + ticks[USAGE_CHILD_USER]) * tick_us;
    w->sum.system_us += (ticks[USAGE_SYSTEM] + ticks[USAGE_CHILD_SYSTEM]) * tick_us;
    w->sum.processes++;
    return 0;
}

int usage_read_tree(const char *proc, unsigned pid, bool with_memory, struct usage *ret)
{
    struct walk w = {.with_memory = with_memory};
    proc_init(&w.proc, proc);
    buf_init(&w.pids, PROC_PIDS_MAX);
    int r = buf_append(&w.pids, &pid, sizeof(pid));
    for (size_t at = 0; r == 0 && at < w.pids.len; at += sizeof(pid)) {
        memcpy(&pid, w.pids.data + at, sizeof(pid));
        r = add_process(&w, pid);
        if (r == -ENOENT && at > 0)
            r = 0; /* it ended meanwhile */
    }
    buf_done(&w.pids);
    proc_done(&w.proc);
    if (r == 0)
        *ret = w.sum;
    return r;
}

/* -- off the loop -- */

struct reading {
    unsigned pid;
    bool with_memory;
    struct usage *ret;
};

static int read_blocking(void *arg)
{
    const struct reading *r = arg;
    return usage_read_tree("/proc", r->pid, r->with_memory, r->ret);
}

int usage_read(struct pool *pool, unsigned pid, bool with_memory, struct usage *ret)
{
    struct reading reading = {.pid = pid, .with_memory = with_memory, .ret = ret};
    return aside_run(pool, read_blocking, &reading);
}
