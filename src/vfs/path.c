#include "vfs/path.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"

/* Appends one component to a text that never ends in '/' (the root is the empty text here). */
static int push(struct vpath *p, struct bytes name)
{
    if (name.len == 0 || bytes_equal(name, BYTES_LIT(".")))
        return 0;
    if (bytes_equal(name, BYTES_LIT(".."))) {
        while (p->len > 0 && p->text[--p->len] != '/')
            ;
        return 0;
    }
    if (name.len > NAME_LEN_MAX)
        return -ENAMETOOLONG;
    if (vfs_name_is_reserved(name))
        return -ENOENT;
    p->text[p->len++] = '/';
    memcpy(p->text + p->len, name.data, name.len);
    p->len += name.len;
    return 0;
}

static int push_all(struct vpath *p, struct bytes text)
{
    int r = 0;
    while (r == 0 && text.len > 0) {
        size_t end = text.len;
        (void)bytes_find(text, '/', &end);
        r = push(p, bytes_first(text, end));
        text = bytes_skip(text, end + 1);
    }
    return r;
}

int vpath_parse(struct bytes cwd, struct bytes text, struct vpath *ret)
{
    size_t at;
    if (bytes_find(text, '\0', &at) || bytes_find(cwd, '\0', &at))
        return -FERRY_EBADNAME;
    if (cwd.len > PATH_LEN_MAX || text.len > PATH_LEN_MAX)
        return -ENAMETOOLONG;
    /* each side gains at most one '/' in front; "/" and the NUL need two more */
    struct vpath p = {.text = mem_raw(cwd.len + text.len + 4)};
    if (!p.text)
        return -ENOMEM;
    int r = 0;
    if (text.len == 0 || text.data[0] != '/')
        r = push_all(&p, cwd);
    if (r == 0)
        r = push_all(&p, text);
    if (r == 0 && p.len > PATH_LEN_MAX)
        r = -ENAMETOOLONG;
    if (r < 0) {
        vpath_done(&p);
        return r;
    }
    if (p.len == 0)
        p.text[p.len++] = '/';
    p.text[p.len] = '\0';
    *ret = p;
    return 0;
}

int vpath_copy(const struct vpath *p, struct vpath *ret)
{
    char *text = mem_dup(p->text, p->len + 1);
    if (!text)
        return -ENOMEM;
    *ret = (struct vpath){text, p->len};
    return 0;
}

void vpath_done(struct vpath *p)
{
    mem_free(p->text);
    *p = (struct vpath){0};
}

bool vpath_is_root(const struct vpath *p)
{
    return p->len == 1;
}

struct bytes vpath_bytes(const struct vpath *p)
{
    return bytes_of(p->text, p->len);
}

/* Where the last component starts. */
static size_t name_at(const struct vpath *p)
{
    size_t at = p->len;
    while (p->text[at - 1] != '/')
        at--;
    return at;
}

struct bytes vpath_name(const struct vpath *p)
{
    return bytes_skip(vpath_bytes(p), name_at(p));
}

struct bytes vpath_parent(const struct vpath *p)
{
    size_t at = name_at(p);
    return bytes_first(vpath_bytes(p), at > 1 ? at - 1 : 1);
}

const char *vpath_relative(const struct vpath *p)
{
    return vpath_is_root(p) ? "." : p->text + 1;
}

bool vfs_name_is_reserved(struct bytes name)
{
    return bytes_start_with(name, BYTES_LIT(VFS_TEMP_PREFIX)) ||
           bytes_start_with(name, BYTES_LIT(VFS_PART_PREFIX));
}
