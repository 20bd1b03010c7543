#include "vfs/job.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "task/sys.h"

/* struct job is the first member of struct op, and that of each operation. */
static struct op *op_of(struct job *j)
{
    return LIST_ENTRY(j, struct op, job);
}

static void run_op(struct job *j)
{
    struct op *o = op_of(j);
    o->result = o->act(o);
}

void op_release(struct op *o)
{
    if (o->drop)
        o->drop(o);
    vroot_unref(o->root);
    quota_unref(o->quota);
    vfs_shares_unref(&o->shares);
    mem_free(o);
}

static void free_op(struct job *j)
{
    op_release(op_of(j));
}

void *op_new(const struct vfs *v, size_t size, const struct vpath *path,
             int (*act)(struct op *))
{
    const char *relative = vpath_relative(path);
    size_t len = strlen(relative) + 1;
    struct op *o = mem_new(size + len);
    if (!o)
        return NULL;
    o->job.run = run_op;
    o->job.free = free_op;
    o->act = act;
    o->root = vroot_ref(v->root);
    o->quota = quota_ref(v->quota);
    o->shares = vfs_shares_ref(&v->shares);
    o->pool = v->pool;
    o->path = (char *)o + size;
    memcpy(o->path, relative, len);
    return o;
}

void op_free(struct op *o)
{
    o->job.free(&o->job);
}

static int result_of(struct op *o)
{
    int r = o->result;
    if (r < 0)
        op_free(o);
    return r;
}

int op_run(struct op *o)
{
    int r = job_run(o->pool, &o->job, &o->shares, USEC_NEVER);
    return r < 0 ? r : result_of(o);
}

int op_start(struct op *o)
{
    return job_start(o->pool, &o->job, &o->shares);
}

int op_wait(struct op *o)
{
    int r = job_wait(o->pool, &o->job, USEC_NEVER);
    return r < 0 ? r : result_of(o);
}

void op_abandon(struct op *o)
{
    job_abandon(o->pool, &o->job);
}

int op_finish(struct op *o)
{
    int r = op_run(o);
    if (r < 0)
        return r;
    op_free(o);
    return 0;
}

int op_on_two(struct op *o, char *from, char *to,
              int (*act)(struct op *, int, const char *, int, const char *))
{
    int from_dir = -1, to_dir = -1;
    const char *from_leaf = NULL, *to_leaf = NULL;
    int r = beneath_parent(&o->root->tree, from, &from_dir, &from_leaf);
    if (r == 0)
        r = beneath_parent(&o->root->tree, to, &to_dir, &to_leaf);
    if (r == 0) {
        quota_names_lock(o->quota);
        r = act(o, from_dir, from_leaf, to_dir, to_leaf);
        quota_names_unlock(o->quota);
    }
    sys_close(from_dir);
    sys_close(to_dir);
    return r;
}
