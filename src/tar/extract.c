/* tar x: entries of an archive into the tree. */
#include "tar/extract.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"

#define CLOSE_US        (30 * USEC_PER_S)
#define CLOSE_BROKEN_US (5 * USEC_PER_S)

/* A directory, whose mode and time come last: what is made in it would change the one and may
 * need the other. In extract.directories each has its path before it. */
struct made {
    struct vattr attr;
    size_t path_len;
};

/* -- names -- */

/* Beneath the directory that was asked for, whatever the archive says. */
static int parse_name(const struct extract *x, const char *name, struct vpath *ret)
{
    if (name == NULL)
        return -FERRY_EBADNAME;
    bool is_plain = x->tar->request->trust == TAR_PLAIN_ONLY;
    if (name[0] == '/' && is_plain)
        return -FERRY_EBADNAME;
    struct bytes text = bytes_str(name), rest = text;
    for (unsigned depth = 0; rest.len > 0; depth++) {
        if (bytes_equal(bytes_take_until(&rest, '/'), BYTES_LIT("..")))
            return -FERRY_EBADNAME;
        if (depth == WALK_DEPTH_MAX && is_plain)
            return -FERRY_ELIMIT;
    }
    while (text.len > 0 && text.data[0] == '/')
        text = bytes_skip(text, 1);
    return vpath_parse(vpath_bytes(x->tar->request->directory), text, ret);
}

/* An archive may leave out the directories of what it holds. */
int extract_make_parents(struct extract *x, const struct vpath *path)
{
    int r = 0;
    for (size_t i = 1; i < path->len && r == 0; i++) {
        struct vpath parent;
        if (path->text[i] != '/')
            continue;
        r = vpath_parse(BYTES_LIT("/"), bytes_of(path->text, i), &parent);
        if (r < 0)
            break;
        r = vfs_mkdir(x->vfs, &parent);
        if (r == -EEXIST)
            r = 0;
        vpath_done(&parent);
    }
    return r;
}

/* -- facts -- */

static mode_t usual_mask(const struct extract *x)
{
    const struct tar_request *q = x->tar->request;
    return q->mode_mask != 0 ? q->mode_mask : vfs_mode_mask(x->vfs);
}

static struct vattr attr_of(const struct extract *x)
{
    const struct tar_request *q = x->tar->request;
    struct archive_entry *e = x->tar->entry;
    const int64_t most = INT64_MAX / (int64_t)USEC_PER_S - 1;
    mode_t mask = q->keeps_modes ? 0777 : usual_mask(x);
    struct vattr attr = {.has_mode = true, .mode = archive_entry_perm(e) & mask};
    int64_t seconds = archive_entry_mtime(e);
    if (!q->leaves_facts && archive_entry_mtime_is_set(e) && seconds < most &&
        seconds > -most) {
        attr.has_times = true;
        attr.mtime_us = seconds * (int64_t)USEC_PER_S + archive_entry_mtime_nsec(e) / 1000;
        attr.atime_us = clock_wall_us();
    }
    return attr;
}

int extract_remember(struct extract *x, const struct vpath *path, const struct vattr *attr,
                     bool is_new)
{
    const struct tar_request *q = x->tar->request;
    const struct made made = {*attr, path->len};
    if (q->watch->made != NULL)
        q->watch->made(q->watch_arg, vpath_bytes(path), is_new);
    if (vpath_is_root(path) || (q->leaves_facts && !is_new))
        return 0;
    int r = buf_reserve(&x->directories, path->len + sizeof(made));
    if (r == 0)
        r = buf_append(&x->directories, path->text, path->len);
    return r < 0 ? r : buf_append(&x->directories, &made, sizeof(made));
}

/* The last: a directory may forbid to reach what is in it. 1; 0: there is none left. */
static PARKS int set_last(struct vfs *vfs, struct buf *b, struct vpath *ret_path, int *ret)
{
    struct made made;
    if (b->len == 0)
        return 0;
    memcpy(&made, b->data + b->len - sizeof(made), sizeof(made));
    b->len -= sizeof(made) + made.path_len;
    int r = vpath_parse(BYTES_LIT("/"), bytes_of(b->data + b->len, made.path_len), ret_path);
    if (r < 0)
        return r;
    *ret = vfs_set(vfs, ret_path, false, &made.attr);
    return 1;
}

int tar_set_directories(struct vfs *vfs, struct buf *made)
{
    struct vpath path;
    int first = 0, set = 0, r;
    while ((r = set_last(vfs, made, &path, &set)) > 0) {
        vpath_done(&path);
        first = first < 0 ? first : set;
        if (set == -ECANCELED)
            break;
    }
    return r < 0 ? r : first;
}

static PARKS int set_directories(struct extract *x)
{
    struct vpath path;
    int set = 0, r;
    while ((r = set_last(x->vfs, &x->directories, &path, &set)) > 0) {
        r = set < 0 ? tar_complain(x->tar, path.text, set) : 0;
        vpath_done(&path);
        if (r < 0)
            break;
    }
    return r;
}

/* -- entries: 0, or what is to be complained of -- */

static PARKS int begin_upload(struct extract *x, const struct extract_entry *e, uint64_t size,
                              struct vupload **ret)
{
    const struct vupload_request request = {
        .kind = VUPLOAD_REPLACE, .expect_bytes = size, .mode = e->mode};
    int r = vfs_upload_begin(x->vfs, e->path, &request, ret);
    if (r != -ENOENT)
        return r;
    r = extract_make_parents(x, e->path);
    return r < 0 ? r : vfs_upload_begin(x->vfs, e->path, &request, ret);
}

static PARKS int end_upload(struct vupload *u, int result, uint64_t written)
{
    task_shield_begin(clock_after(result < 0 ? CLOSE_BROKEN_US : CLOSE_US));
    if (result < 0)
        vupload_break(u, 0); /* half of an entry is of no use to anybody */
    else
        result = vupload_commit(u, written);
    task_shield_end();
    return result;
}

static PARKS int extract_large(struct extract *x, const struct extract_entry *e, uint64_t size)
{
    struct tar *t = x->tar;
    const struct tar_request *q = t->request;
    struct vupload *u;
    struct xfer_progress progress = {0};
    struct xfer_result moved = {0};
    struct tar_body body;
    int r = begin_upload(x, e, size, &u);
    if (r < 0)
        return r;
    tar_body_init(&body, t, size);
    const struct xfer_request request = q->watch->begin(q->watch_arg, size, &progress);
    r = xfer_receive(&body.stream, u, &request, &moved);
    q->watch->end(q->watch_arg, &progress);
    r = end_upload(u, r, moved.file_bytes);
    q->watch->moved(q->watch_arg, "upload", vpath_bytes(e->path), &moved, r);
    return r < 0 ? r : vfs_set(x->vfs, e->path, false, &e->attr);
}

static PARKS int extract_file(struct extract *x, struct extract_entry *e)
{
    int64_t size = archive_entry_size(x->tar->entry);
    if (size < 0)
        return -EBADMSG;
    if (x->tar->request->leaves_facts)
        e->attr = (struct vattr){.has_times = true,
                                 .mtime_us = x->tar->request->stamp_us,
                                 .atime_us = x->tar->request->stamp_us};
    if (size <= EXTRACT_SMALL_BYTES)
        return extract_small_file(x, e, (size_t)size);
    int r = extract_flush(x);
    return r < 0 ? r : extract_large(x, e, (uint64_t)size);
}

static PARKS int extract_symlink(struct extract *x, const struct vpath *path)
{
    const char *target = archive_entry_symlink(x->tar->entry);
    if (target == NULL)
        return -FERRY_EBADNAME;
    int r = vfs_symlink(x->vfs, bytes_str(target), path);
    if (r == -ENOENT) {
        r = extract_make_parents(x, path);
        if (r == 0)
            r = vfs_symlink(x->vfs, bytes_str(target), path);
    }
    if (r != -EEXIST)
        return r;
    r = vfs_unlink(x->vfs, path);
    return r < 0 ? r : vfs_symlink(x->vfs, bytes_str(target), path);
}

static PARKS int extract_hardlink(struct extract *x, const struct vpath *path)
{
    struct vpath from;
    int r = parse_name(x, archive_entry_hardlink(x->tar->entry), &from);
    if (r < 0)
        return r;
    r = vfs_link(x->vfs, &from, path);
    if (r == -EEXIST && !bytes_equal(vpath_bytes(&from), vpath_bytes(path))) {
        r = vfs_unlink(x->vfs, path);
        if (r == 0)
            r = vfs_link(x->vfs, &from, path);
    }
    vpath_done(&from);
    return r;
}

/* Of the far side's making: who asked for it sees what it leads to, by himself. */
static PARKS int hand_over_link(struct extract *x, const struct vpath *path)
{
    const struct tar_request *q = x->tar->request;
    size_t len = q->directory->len; /* "/" is a part of what follows */
    return q->link(q->arg, path->text + (len > 1 ? len + 1 : 1));
}

static PARKS int extract_link(struct extract *x, const struct vpath *path, bool is_hard)
{
    if (x->tar->request->trust == TAR_PLAIN_ONLY)
        return path->len > x->tar->request->directory->len ? hand_over_link(x, path)
                                                           : -FERRY_EBADNAME;
    int r = extract_flush(x);
    if (r < 0)
        return r;
    return is_hard ? extract_hardlink(x, path) : extract_symlink(x, path);
}

static PARKS int extract_as(struct extract *x, const char *name, const struct vpath *path)
{
    struct archive_entry *e = x->tar->entry;
    struct extract_entry entry = {.name = name,
                                  .path = path,
                                  .attr = attr_of(x),
                                  .mode = archive_entry_perm(e) & usual_mask(x)};
    if (archive_entry_hardlink(e) != NULL)
        return extract_link(x, path, true);
    switch (archive_entry_filetype(e)) {
    case AE_IFDIR:
        return extract_directory(x, &entry);
    case AE_IFREG:
        return extract_file(x, &entry);
    case AE_IFLNK:
        return extract_link(x, path, false);
    default:
        return -FERRY_ENOTREG;
    }
}

/* What fails is complained of, and the next entry follows; but not when the archive itself
 * failed. */
static PARKS int extract_entry(struct extract *x)
{
    struct tar *t = x->tar;
    const char *name = archive_entry_pathname(t->entry);
    struct vpath path;
    int r = parse_name(x, name, &path);
    if (r == 0) {
        r = extract_as(x, name, &path);
        vpath_done(&path);
    }
    if (t->error < 0)
        return t->error;
    if (r < 0 && t->is_broken && t->request->trust == TAR_PLAIN_ONLY)
        return r;
    if (r < 0)
        r = tar_complain(t, name != NULL ? name : "-", r);
    return r < 0 ? r : tar_skip_body(t);
}

static PARKS int extract_all(struct extract *x)
{
    int r = tar_open_input(x->tar);
    if (r == 0)
        r = tar_next_entry(x->tar);
    while (r > 0) {
        r = extract_entry(x);
        if (task_turn_is_over())
            task_yield();
        if (r == 0)
            r = tar_next_entry(x->tar);
    }
    return r;
}

/* Is there a directory to extract into? */
static PARKS int look_at_directory(struct extract *x)
{
    struct vstat st;
    int r = vfs_stat(x->vfs, x->tar->request->directory, true, &st);
    return r == 0 && st.kind != VSTAT_DIRECTORY ? -ENOTDIR : r;
}

static PARKS int extract(struct tar *t)
{
    struct extract x = {.tar = t, .vfs = t->request->vfs};
    bool is_plain = t->request->trust == TAR_PLAIN_ONLY;
    if (t->request->made != NULL)
        x.directories = *t->request->made;
    else
        buf_init(&x.directories, WALK_NAMES_BYTES);
    int r = look_at_directory(&x);
    if (r < 0) {
        r = tar_complain(t, t->request->directory->text, r);
    } else {
        r = extract_small_end(&x, extract_all(&x));
        if (r < 0 && !is_plain)
            r = tar_complain(t, t->refused != NULL ? t->refused : "archive", r);
        tar_close_input(t);
    }
    int set = 0;
    if (t->request->made != NULL) {
        *t->request->made = x.directories;
    } else {
        set = r == 0 ? set_directories(&x) : 0;
        buf_done(&x.directories);
    }
    return r < 0 ? r : set;
}

int tar_extract(const struct tar_request *request)
{
    return tar_run(request, extract);
}
