#include "bench/machine/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"

#define FILE_BYTES_MAX (1024 * 1024) /* "children" of a server with 100,000 processes */
#define PATH_BYTES     192

void proc_init(struct proc *p, const char *root)
{
    p->root = root;
    buf_init(&p->text, FILE_BYTES_MAX);
    buf_init(&p->threads, FILE_BYTES_MAX);
}

void proc_done(struct proc *p)
{
    buf_done(&p->text);
    buf_done(&p->threads);
}

/* One that ended between open and read is as good as none. */
static int gone_or(int result)
{
    return result == -ESRCH ? -ENOENT : result;
}

int proc_read(struct proc *p, unsigned pid, const char *file, struct bytes *ret)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%u/%s", p->root, pid, file);
    buf_clear(&p->text);
    int r = gone_or(file_read(path, &p->text));
    if (r == 0)
        *ret = buf_bytes(&p->text);
    return r;
}

int proc_list_children(struct proc *p, unsigned pid, const char *thread, struct buf *ret_pids)
{
    char file[64];
    struct bytes text;
    snprintf(file, sizeof(file), "%s/children", thread);
    int r = proc_read(p, pid, file, &text);
    while (r == 0 && text.len > 0) {
        uint64_t number;
        if (text_u64(bytes_take_until(&text, ' '), 10, INT32_MAX, &number) < 0)
            return -FERRY_EPROTO;
        unsigned child = (unsigned)number;
        r = buf_append(ret_pids, &child, sizeof(child));
    }
    return r;
}

int proc_each_thread(struct proc *p, unsigned pid,
                     int (*fn)(void *arg, unsigned pid, const char *thread), void *arg)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%u/task", p->root, pid);
    buf_clear(&p->threads);
    int r = gone_or(folder_list(path, &p->threads));
    size_t len;
    for (size_t at = 0; r == 0 && at < p->threads.len; at += len + 1) {
        const char *name = (const char *)p->threads.data + at;
        char thread[48];
        len = strlen(name);
        snprintf(thread, sizeof(thread), "task/%.31s", name);
        r = fn(arg, pid, thread);
    }
    return r;
}
