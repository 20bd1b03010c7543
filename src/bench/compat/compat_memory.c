#include "bench/compat/compat_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"

#define FILE_BYTES_MAX (1024 * 1024)       /* "children" of a server with 100,000 processes */
#define PAGES_MAX      (UINT64_C(1) << 48) /* more than any address space has */

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
    const char *proc;
    struct buf file; /* what was read last */
    struct compat_memory sum;
};

static int read_file(struct walk *w, const char *path)
{
    buf_clear(&w->file);
    int r = file_read(path, &w->file);
    return r == -ESRCH ? -ENOENT : r; /* it ended between open and read */
}

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
    char path[96];
    snprintf(path, sizeof(path), "%s/%u/statm", w->proc, pid);
    int r = read_file(w, path);
    if (r < 0)
        return r;
    struct bytes text = buf_bytes(&w->file);
    uint64_t size, resident, shared, page = (uint64_t)sysconf(_SC_PAGESIZE);
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

/* The children that one thread has made. The pids are copied, since w->file is used again. */
static int add_children(struct walk *w, const char *task_path)
{
    char path[192];
    snprintf(path, sizeof(path), "%s/children", task_path);
    int r = read_file(w, path);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    struct buf pids = w->file;
    buf_init(&w->file, pids.cap);
    struct bytes text = buf_bytes(&pids);
    while (text.len > 0 && r == 0) {
        uint64_t pid = 0;
        r = next_number(&text, INT32_MAX, &pid);
        if (r == 0)
            r = add_process(w, (unsigned)pid);
        if (r == -ENOENT)
            r = 0; /* it ended meanwhile */
    }
    buf_done(&pids);
    return r;
}

static int add_all_children(struct walk *w, unsigned pid)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%u/task", w->proc, pid);
    struct buf threads; /* names, each with its NUL */
    buf_init(&threads, FILE_BYTES_MAX);
    int r = folder_list(path, &threads);
    size_t len;
    for (size_t at = 0; r == 0 && at < threads.len; at += len + 1) {
        const char *name = (const char *)threads.data + at;
        char task_path[160];
        len = strlen(name);
        snprintf(task_path, sizeof(task_path), "%s/%.31s", path, name);
        r = add_children(w, task_path);
    }
    buf_done(&threads);
    return r;
}

int compat_memory_read(const char *proc, unsigned pid, struct compat_memory *ret)
{
    struct walk w = {.proc = proc};
    buf_init(&w.file, FILE_BYTES_MAX);
    int r = add_process(&w, pid);
    uint64_t resident_bytes = w.sum.resident_bytes;
    if (r == 0)
        r = add_all_children(&w, pid);
    buf_done(&w.file);
    if (r < 0)
        return r;
    *ret = (struct compat_memory){resident_bytes, w.sum.own_bytes};
    return 0;
}

/* -- off the loop -- */

struct memory_job {
    struct job job;
    unsigned pid;
    int result;
    struct compat_memory memory;
};

static void run_job(struct job *job)
{
    struct memory_job *m = LIST_ENTRY(job, struct memory_job, job);
    m->result = compat_memory_read("/proc", m->pid, &m->memory);
}

static void free_job(struct job *job)
{
    mem_free(LIST_ENTRY(job, struct memory_job, job));
}

int compat_memory_run(struct pool *pool, unsigned pid, struct compat_memory *ret)
{
    struct memory_job *m = mem_new(sizeof(*m));
    if (m == NULL)
        return -ENOMEM;
    m->job = (struct job){.run = run_job, .free = free_job};
    m->pid = pid;
    int r = job_run(pool, &m->job, NULL, USEC_NEVER);
    if (r < 0)
        return r;
    r = m->result;
    if (r == 0)
        *ret = m->memory;
    free_job(&m->job);
    return r;
}
