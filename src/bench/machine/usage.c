#include "bench/machine/usage.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"

#define FILE_BYTES_MAX (1024 * 1024) /* "children" of a server with 100,000 processes */
#define PIDS_MAX       (1024 * 1024) /* bytes of the queue: 256 Ki processes */

/* -- the formats -- */

/* The n-th word, counted from 1; empty: there are fewer. */
static struct bytes word(struct bytes text, unsigned n)
{
    for (; n > 1; n--)
        (void)bytes_take_until(&text, ' ');
    return bytes_take_until(&text, ' ');
}

int usage_parse_stat(struct bytes text, uint64_t *ret_own, uint64_t *ret_children)
{
    /* proc(5): "PID (NAME) STATE ...", and the name may hold blanks and brackets itself. */
    size_t after_name = text.len;
    while (after_name > 0 && text.data[after_name - 1] != ')')
        after_name--;
    if (after_name == 0)
        return -FERRY_EPROTO;
    struct bytes rest = bytes_skip(text, after_name + 1); /* from field 3 on */
    uint64_t ticks[4];
    for (unsigned i = 0; i < ARRAY_LEN(ticks); i++)
        if (text_u64(word(rest, 14 - 2 + i), 10, UINT32_MAX, &ticks[i]) < 0)
            return -FERRY_EPROTO;
    *ret_own = ticks[0] + ticks[1];
    *ret_children = ticks[2] + ticks[3];
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
    const char *proc;
    struct buf pids;    /* of unsigned: those found, measured or not */
    struct buf threads; /* the names of one process's, each with its NUL */
    struct buf file;    /* what was read last */
    struct usage sum;
    bool with_memory;
};

static int read_file(struct walk *w, const char *path)
{
    buf_clear(&w->file);
    return file_read(path, &w->file);
}

static int add_memory(struct walk *w, unsigned pid)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%u/smaps_rollup", w->proc, pid);
    int r = read_file(w, path);
    /* A process that ends, or that has no memory (a zombie), reads as no such process. */
    if (r == -ENOENT || r == -ESRCH || (r == 0 && w->file.len == 0))
        return 0;
    uint64_t bytes = 0;
    if (r == 0)
        r = usage_parse_dirty(buf_bytes(&w->file), &bytes);
    if (r == -EACCES || r == -EPERM) {
        w->sum.dirty_result = r;
        return 0;
    }
    w->sum.dirty_bytes += bytes;
    return r;
}

static int add_children(struct walk *w, const char *task_path)
{
    char path[192];
    snprintf(path, sizeof(path), "%s/children", task_path);
    int r = read_file(w, path);
    if (r < 0)
        return r;
    struct bytes text = buf_bytes(&w->file);
    size_t end;
    while (bytes_find(text, ' ', &end)) {
        uint64_t pid;
        if (text_u64(bytes_first(text, end), 10, INT32_MAX, &pid) < 0)
            return -FERRY_EPROTO;
        unsigned child = (unsigned)pid;
        r = buf_append(&w->pids, &child, sizeof(child));
        if (r < 0)
            return r;
        text = bytes_skip(text, end + 1);
    }
    return 0;
}

/* One thread: its nanoseconds, and the children that it made. */
static int add_thread(struct walk *w, const char *task_path, usec_t *cpu_us)
{
    char path[192];
    snprintf(path, sizeof(path), "%s/schedstat", task_path);
    int r = read_file(w, path);
    uint64_t ns = 0;
    if (r == 0 && text_u64(word(buf_bytes(&w->file), 1), 10, UINT64_MAX, &ns) < 0)
        r = -FERRY_EPROTO;
    if (r == 0)
        *cpu_us += ns / 1000;
    if (r == 0 || r == -ENOENT) /* a kernel may have no schedstat */
        r = add_children(w, task_path);
    return r == -ENOENT || r == -ESRCH ? 0 : r;
}

static int add_threads(struct walk *w, unsigned pid, usec_t *cpu_us)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%u/task", w->proc, pid);
    buf_clear(&w->threads);
    int r = folder_list(path, &w->threads);
    if (r == -ENOENT || r == -ESRCH)
        return 0;
    size_t len;
    for (size_t at = 0; r == 0 && at < w->threads.len; at += len + 1) {
        const char *name = (const char *)w->threads.data + at;
        char task_path[160];
        len = strlen(name);
        snprintf(task_path, sizeof(task_path), "%s/%.31s", path, name);
        r = add_thread(w, task_path, cpu_us);
    }
    return r;
}

static int add_process(struct walk *w, unsigned pid)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%u/stat", w->proc, pid);
    int r = read_file(w, path);
    if (r == -ESRCH)
        r = -ENOENT;
    uint64_t own = 0, children = 0;
    if (r == 0)
        r = usage_parse_stat(buf_bytes(&w->file), &own, &children);
    usec_t threads_us = 0;
    if (r == 0)
        r = add_threads(w, pid, &threads_us);
    if (r == 0 && w->with_memory)
        r = add_memory(w, pid);
    if (r < 0)
        return r;
    /* Ticks are coarse and complete, the threads' times exact but without ended threads: both
     * are lower bounds. */
    usec_t tick_us = USEC_PER_S / (usec_t)sysconf(_SC_CLK_TCK);
    usec_t own_us = own * tick_us;
    w->sum.cpu_us += (own_us > threads_us ? own_us : threads_us) + children * tick_us;
    w->sum.processes++;
    return 0;
}

int usage_read_tree(const char *proc, unsigned pid, bool with_memory, struct usage *ret)
{
    struct walk w = {.proc = proc, .with_memory = with_memory};
    buf_init(&w.pids, PIDS_MAX);
    buf_init(&w.threads, FILE_BYTES_MAX);
    buf_init(&w.file, FILE_BYTES_MAX);
    int r = buf_append(&w.pids, &pid, sizeof(pid));
    for (size_t at = 0; r == 0 && at < w.pids.len; at += sizeof(pid)) {
        memcpy(&pid, w.pids.data + at, sizeof(pid));
        r = add_process(&w, pid);
        if (r == -ENOENT && at > 0)
            r = 0; /* it ended meanwhile */
    }
    buf_done(&w.pids);
    buf_done(&w.threads);
    buf_done(&w.file);
    if (r == 0)
        *ret = w.sum;
    return r;
}

/* -- off the loop -- */

struct usage_job {
    struct job job;
    unsigned pid;
    bool with_memory;
    int result;
    struct usage measure;
};

static void run_job(struct job *job)
{
    struct usage_job *m = LIST_ENTRY(job, struct usage_job, job);
    m->result = usage_read_tree("/proc", m->pid, m->with_memory, &m->measure);
}

static void free_job(struct job *job)
{
    mem_free(LIST_ENTRY(job, struct usage_job, job));
}

int usage_read(struct pool *pool, unsigned pid, bool with_memory, struct usage *ret)
{
    struct usage_job *m = mem_new(sizeof(*m));
    if (m == NULL)
        return -ENOMEM;
    m->job = (struct job){.run = run_job, .free = free_job};
    m->pid = pid;
    m->with_memory = with_memory;
    int r = job_run(pool, &m->job, NULL, USEC_NEVER);
    if (r < 0)
        return r;
    r = m->result;
    if (r == 0)
        *ret = m->measure;
    free_job(&m->job);
    return r;
}
