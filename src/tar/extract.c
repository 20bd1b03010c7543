/* tar x: entries of an archive into the tree. */
#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "tar/internal.h"

#define CLOSE_US        (30 * USEC_PER_S)
#define CLOSE_BROKEN_US (5 * USEC_PER_S)

/* A directory, whose mode and time come last: what is made in it would change the one and may
 * need the other. In extract.directories each has its path before it. */
struct made {
    struct vattr attr;
    size_t path_len;
};

struct extract {
    struct tar *tar;
    struct vfs *vfs;
    struct buf directories;
};

/* -- names -- */

/* Beneath the directory that was asked for, whatever the archive says. */
static int parse_name(const struct extract *x, const char *name, struct vpath *ret)
{
    if (name == NULL)
        return -FERRY_EBADNAME;
    struct bytes text = bytes_str(name), rest = text;
    while (rest.len > 0)
        if (bytes_equal(bytes_take_until(&rest, '/'), BYTES_LIT("..")))
            return -FERRY_EBADNAME;
    while (text.len > 0 && text.data[0] == '/')
        text = bytes_skip(text, 1);
    return vpath_parse(vpath_bytes(x->tar->request->directory), text, ret);
}

/* An archive may leave out the directories of what it holds. */
static PARKS int make_parents(struct extract *x, const struct vpath *path)
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

static struct vattr attr_of(const struct extract *x)
{
    struct archive_entry *e = x->tar->entry;
    const int64_t most = INT64_MAX / (int64_t)USEC_PER_S - 1;
    mode_t mask = x->tar->request->keeps_modes ? 0777 : vfs_mode_mask(x->vfs);
    struct vattr attr = {.has_mode = true, .mode = archive_entry_perm(e) & mask};
    int64_t seconds = archive_entry_mtime(e);
    if (archive_entry_mtime_is_set(e) && seconds < most && seconds > -most) {
        attr.has_times = true;
        attr.mtime_us = seconds * (int64_t)USEC_PER_S + archive_entry_mtime_nsec(e) / 1000;
        attr.atime_us = clock_wall_us();
    }
    return attr;
}

static int remember(struct extract *x, const struct vpath *path, const struct vattr *attr)
{
    const struct made made = {*attr, path->len};
    int r = buf_reserve(&x->directories, path->len + sizeof(made));
    if (r == 0)
        r = buf_append(&x->directories, path->text, path->len);
    return r < 0 ? r : buf_append(&x->directories, &made, sizeof(made));
}

/* The last first: a directory may forbid to reach what is in it. */
static PARKS int set_directories(struct extract *x)
{
    struct buf *b = &x->directories;
    int r = 0;
    while (b->len > 0 && r == 0) {
        struct made made;
        struct vpath path;
        memcpy(&made, b->data + b->len - sizeof(made), sizeof(made));
        b->len -= sizeof(made) + made.path_len;
        r = vpath_parse(BYTES_LIT("/"), bytes_of(b->data + b->len, made.path_len), &path);
        if (r < 0)
            break;
        r = vfs_set(x->vfs, &path, false, &made.attr);
        if (r < 0)
            r = tar_complain(x->tar, path.text, r);
        vpath_done(&path);
    }
    return r;
}

/* -- entries: 0, or what is to be complained of -- */

static PARKS int extract_directory(struct extract *x, const struct vpath *path)
{
    const struct vattr attr = attr_of(x);
    struct vstat st;
    if (vpath_is_root(path))
        return 0;
    int r = vfs_mkdir(x->vfs, path);
    if (r == -ENOENT) {
        r = make_parents(x, path);
        if (r == 0)
            r = vfs_mkdir(x->vfs, path);
    }
    if (r == -EEXIST) {
        r = vfs_stat(x->vfs, path, false, &st);
        if (r == 0 && st.kind != VSTAT_DIRECTORY)
            r = -ENOTDIR;
    }
    return r < 0 ? r : remember(x, path, &attr);
}

static PARKS int begin_upload(struct extract *x, const struct vpath *path, uint64_t size,
                              struct vupload **ret)
{
    mode_t mode = archive_entry_perm(x->tar->entry) & vfs_mode_mask(x->vfs);
    const struct vupload_request request = {
        .kind = VUPLOAD_REPLACE, .expect_bytes = size, .mode = mode};
    int r = vfs_upload_begin(x->vfs, path, &request, ret);
    if (r != -ENOENT)
        return r;
    r = make_parents(x, path);
    return r < 0 ? r : vfs_upload_begin(x->vfs, path, &request, ret);
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

static PARKS int extract_file(struct extract *x, const struct vpath *path)
{
    struct tar *t = x->tar;
    struct vupload *u;
    struct xfer_progress progress = {0};
    struct xfer_result moved = {0};
    struct tar_body body;
    const struct vattr attr = attr_of(x);
    int64_t size = archive_entry_size(t->entry);
    if (size < 0)
        return -EBADMSG;
    int r = begin_upload(x, path, (uint64_t)size, &u);
    if (r < 0)
        return r;
    tar_body_init(&body, t, (uint64_t)size);
    const struct xfer_request request =
        session_transfer_begin(t->request->session, "tar", (uint64_t)size, &progress);
    r = xfer_receive(&body.stream, u, &request, &moved);
    session_transfer_end(t->request->session, &progress);
    r = end_upload(u, r, moved.file_bytes);
    tar_audit(t, "upload", vpath_bytes(path), &moved, r);
    return r < 0 ? r : vfs_set(x->vfs, path, false, &attr);
}

static PARKS int extract_symlink(struct extract *x, const struct vpath *path)
{
    const char *target = archive_entry_symlink(x->tar->entry);
    if (target == NULL)
        return -FERRY_EBADNAME;
    int r = vfs_symlink(x->vfs, bytes_str(target), path);
    if (r == -ENOENT) {
        r = make_parents(x, path);
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

static PARKS int extract_as(struct extract *x, const struct vpath *path)
{
    struct archive_entry *e = x->tar->entry;
    if (archive_entry_hardlink(e) != NULL)
        return extract_hardlink(x, path);
    switch (archive_entry_filetype(e)) {
    case AE_IFDIR:
        return extract_directory(x, path);
    case AE_IFREG:
        return extract_file(x, path);
    case AE_IFLNK:
        return extract_symlink(x, path);
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
        r = extract_as(x, &path);
        vpath_done(&path);
    }
    if (t->error < 0)
        return t->error;
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
    struct extract x = {.tar = t, .vfs = t->request->session->vfs};
    buf_init(&x.directories, WALK_NAMES_BYTES);
    int r = look_at_directory(&x);
    if (r < 0) {
        r = tar_complain(t, t->request->directory->text, r);
    } else {
        r = extract_all(&x);
        if (r < 0)
            r = tar_complain(t, t->refused != NULL ? t->refused : "archive", r);
        tar_close_input(t);
    }
    int set = r == 0 ? set_directories(&x) : 0;
    buf_done(&x.directories);
    return r < 0 ? r : set;
}

int tar_extract(const struct tar_request *request)
{
    return tar_run(request, extract);
}
