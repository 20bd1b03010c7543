/* Handles in a line, on a fresh tree with a ledger. */
#pragma once
#include "base/fault.h"
#include "base/limits.h"
#include "check.h"
#include "ground.h"
#include "vfs/handle.h"

#define READS    ((struct vhandle_request){.reads = true})
#define UPDATES  ((struct vhandle_request){.writes = true})
#define CREATES  ((struct vhandle_request){.writes = true, .create = true})
#define REWRITES ((struct vhandle_request){.writes = true, .create = true, .truncate = true})
#define CLAIMS   ((struct vhandle_request){.writes = true, .create = true, .exclusive = true})
#define EXTENDS  ((struct vhandle_request){.writes = true, .create = true, .append = true})
#define BOTH     ((struct vhandle_request){.reads = true, .writes = true, .create = true})

static inline int open_handle(struct tree *t, const char *name, struct vhandle_request request,
                              struct vhandle **ret)
{
    *ret = NULL;
    return WITH_PATH(name, vfs_handle_open(t->vfs, &path, &request, ret));
}

static inline int put(struct vhandle *h, uint64_t offset, const char *text)
{
    size_t len = strlen(text);
    int r = vhandle_reserve(h, &offset, len);
    if (r < 0)
        return r;
    TASK_ASSERT(pwrite(vfile_fd(vhandle_file(h)), text, len, (off_t)offset) == (ssize_t)len);
    return 0;
}

/* Opens, writes at the offset and closes. */
static inline int put_once(struct tree *t, const char *path, struct vhandle_request request,
                           uint64_t offset, const char *text)
{
    struct vhandle *h = NULL;
    int r = open_handle(t, path, request, &h);
    if (r < 0)
        return r;
    r = put(h, offset, text);
    int closed = vhandle_close(h, r == 0);
    return r < 0 ? r : closed;
}

static inline unsigned temps(const struct ground *g)
{
    return tree_count(&g->t, "root", VFS_TEMP_PREFIX);
}

static inline unsigned partials(const struct ground *g)
{
    return tree_count(&g->t, "root", VFS_PART_PREFIX);
}
