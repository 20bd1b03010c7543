/* A file goes to a server, or a stream into a file. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/copy/file_internal.h"
#include "client/copy/names.h"
#include "client/copy/resume.h"
#include "vfs/path.h"
#include "xfer/piece.h"

#define SHIELD_US (5 * USEC_PER_S)

/* A server with hidden names of its own cannot tell how much of one is there. So of a file for
 * which that matters a head is stored under the part's name, and the rest goes behind it. */
#define PART_LEAST_BYTES ((uint64_t)16 * 1024 * 1024)
#define HEAD_BYTES       ((size_t)128 * 1024)

struct upload {
    struct copy_try *try;
    char *part; /* NULL: the server keeps names of its own until it is complete */
    struct endpoint_facts old;
    bool has_old;
    struct vfile *file; /* of this machine; or NULL */
    bool needs_head;
    struct copy_giver giver;
    uint64_t offset, bytes;
};

static const char *path_of(const struct upload *u)
{
    return u->part != NULL ? u->part : u->try->file->target_path;
}

static PARKS int look_at_target(struct upload *u)
{
    struct copy_try *t = u->try;
    struct copy_file *f = t->file;
    bool is_large = t->source != NULL && t->source->host == NULL && f->facts.has_size &&
                    f->facts.size_bytes >= PART_LEAST_BYTES;
    u->needs_head = t->target->stores_whole;
    if (t->target->is_whole_only)
        return 0;
    if (t->target->stores_whole && (!is_large || f->settings->verifies))
        return 0;
    u->part = copy_name_part(bytes_str(f->target_path));
    if (u->part == NULL)
        return copy_try_fail(t, COPY_SIDE_TARGET, -ENOMEM, "");
    if (f->is_new_place)
        return 0;
    int r = t->target->ops->stat(t->target, bytes_str(f->target_path), true, &u->old);
    u->has_old = r == 0;
    if (u->has_old && u->old.kind == ENDPOINT_DIRECTORY)
        return copy_try_fail(t, COPY_SIDE_TARGET, -EISDIR, "");
    return r == -ENOENT ? 0 : copy_try_target(t, r);
}

static PARKS int open_source(struct upload *u)
{
    struct copy_try *t = u->try;
    struct copy_file *f = t->file;
    struct vfs *vfs = t->source != NULL ? endpoint_vfs(t->source) : NULL;
    struct vpath at;
    if (vfs == NULL)
        return 0;
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(f->source_path), &at);
    if (r < 0)
        return copy_try_source(t, r);
    r = vfs_open(vfs, &at, &u->file);
    vpath_done(&at);
    return copy_try_source(t, r);
}

/* -- where it is gone on with -- */

static PARKS int find_offset(struct upload *u)
{
    struct copy_try *t = u->try;
    struct copy_file *f = t->file;
    struct endpoint_facts part;
    bool is_retry = f->certain > 0;
    if (u->part == NULL || t->source == NULL || t->source->is_whole_only || f->is_anew ||
        (!is_retry && (f->is_new_place || !f->settings->resumes)))
        return 0;
    int r = t->target->ops->stat(t->target, bytes_str(u->part), false, &part);
    if (r < 0)
        return r == -ENOENT ? 0 : copy_try_target(t, r);
    enum copy_resume rule = copy_resume_rule(&f->facts, &part, f->settings->verifies);
    if (rule == COPY_RESUME_NO)
        return 0;
    if (is_retry && f->certain <= part.size_bytes) {
        u->offset = f->certain;
        return 0;
    }
    if (rule == COPY_RESUME_COMPARE) {
        r = copy_try_compare(t, u->part, part.size_bytes);
        if (copy_is_loss(r) || r == -ECANCELED)
            return r;
    }
    if (rule == COPY_RESUME_YES || r == 0)
        u->offset = part.size_bytes;
    return 0;
}

/* -- moving -- */

static PARKS ssize_t fill_from_stream(void *arg, uint64_t offset, struct chunk *chunk,
                                      const struct iovec *pieces, unsigned count)
{
    ssize_t filled = 0;
    (void)offset, (void)chunk;
    for (unsigned i = 0; i < count; i++)
        for (size_t done = 0; done < pieces[i].iov_len;) {
            ssize_t n = stream_read(arg, (uint8_t *)pieces[i].iov_base + done,
                                    pieces[i].iov_len - done);
            if (n <= 0)
                return n < 0 ? n : filled;
            done += (size_t)n;
            filled += n;
        }
    return filled;
}

static PARKS int put(struct upload *u, struct endpoint_put *how)
{
    struct copy_try *t = u->try;
    struct copy_file *f = t->file;
    how->offset = u->offset;
    how->mode = copy_try_mode(t);
    how->bucket = f->settings->bucket;
    how->progress = &f->progress;
    how->keeps = f->settings->preserves ? &f->facts : NULL;
    f->began_at = u->offset;
    return copy_try_target(
        t, t->target->ops->put(t->target, bytes_str(path_of(u)), how, &u->bytes));
}

struct head {
    struct vfile *file;
    size_t left;
};

static PARKS ssize_t fill_head(void *arg, uint64_t offset, struct chunk *chunk,
                               const struct iovec *pieces, unsigned count)
{
    struct head *head = arg;
    struct iovec piece = pieces[0];
    (void)count;
    if (piece.iov_len > head->left)
        piece.iov_len = head->left;
    ssize_t n = piece.iov_len > 0
                    ? xfer_read_at(head->file, offset, chunk, &piece, 1, DEFAULT_STALL_US)
                    : 0;
    head->left -= n > 0 ? (size_t)n : 0;
    return n;
}

static PARKS int put_head(struct upload *u)
{
    struct head head = {.file = u->file, .left = HEAD_BYTES};
    struct endpoint_put how = {.fill = fill_head, .arg = &head, .size_bytes = HEAD_BYTES};
    int r = put(u, &how);
    if (r == 0)
        u->offset = u->bytes;
    return r;
}

static void facts_of_file(const struct vfile *file, struct endpoint_facts *ret)
{
    const struct vstat *st = vfile_stat(file);
    *ret = (struct endpoint_facts){.has_size = true,
                                   .size_bytes = st->size_bytes,
                                   .has_times = true,
                                   .mtime_us = st->mtime_us,
                                   .atime_us = st->atime_us};
}

static PARKS int put_file(struct upload *u)
{
    struct endpoint_facts opened;
    facts_of_file(u->file, &opened);
    if (u->offset > 0 && !copy_is_same_state(&u->try->file->facts, &opened))
        u->offset = 0;
    struct endpoint_put how = {.file = u->file, .size_bytes = opened.size_bytes};
    int r = u->part != NULL && u->needs_head && u->offset == 0 ? put_head(u) : 0;
    if (r == 0)
        r = put(u, &how);
    return r < 0 ? r : copy_try_check_size(u->try, &opened, u->offset, u->offset + u->bytes);
}

static PARKS int put_relay(struct upload *u)
{
    const struct endpoint_facts *facts = &u->try->file->facts;
    struct endpoint_put how = {
        .fill = copy_relay_fill,
        .arg = &u->giver.relay,
        .size_bytes = facts->has_size ? facts->size_bytes : UINT64_MAX,
    };
    int r = copy_giver_start(&u->giver, u->try, u->offset);
    if (r < 0)
        return copy_try_source(u->try, r);
    r = put(u, &how);
    if (r == 0 && u->try->target->is_whole_only) /* it takes so many bytes and not the end */
        r = copy_giver_join(&u->giver);
    r = copy_giver_end(&u->giver, r);
    if (r == 0)
        r = copy_try_check_size(u->try, &u->giver.got.facts, u->offset, u->offset + u->bytes);
    u->try->file->has_grown = u->try->file->has_grown || u->giver.has_more;
    return r;
}

static PARKS int put_stream(struct upload *u)
{
    struct endpoint_put how = {
        .fill = fill_from_stream, .arg = u->try->file->input, .size_bytes = UINT64_MAX};
    int r = put(u, &how);
    u->try->file->size_bytes = u->bytes;
    return r;
}

static PARKS int move(struct upload *u)
{
    if (u->file != NULL)
        return put_file(u);
    return u->try->source != NULL ? put_relay(u) : put_stream(u);
}

/* -- the end -- */

static PARKS void remove_part(struct upload *u)
{
    struct endpoint *e = u->try->target;
    task_shield_begin(clock_after(SHIELD_US));
    if (u->part != NULL)
        (void)(e->ops->remove(e, bytes_str(u->part)) < 0);
    task_shield_end();
}

/* The part stays, and says of which state of the source it is, if it can still be told so. */
static PARKS void keep_part(struct upload *u)
{
    struct copy_try *t = u->try;
    struct copy_file *f = t->file;
    f->certain = u->part != NULL && t->source != NULL ? u->offset + u->bytes : 0;
    f->kept_bytes = f->certain;
    if (f->certain == 0 || copy_is_loss(t->target_result) ||
        t->target_result == -FERRY_EPROTO || !f->facts.has_times)
        return;
    const struct endpoint_facts mark = {
        .has_times = true, .mtime_us = f->facts.mtime_us, .atime_us = f->facts.atime_us};
    task_shield_begin(clock_after(SHIELD_US));
    (void)(t->target->ops->set(t->target, bytes_str(u->part), &mark) < 0);
    task_shield_end();
}

static PARKS int finish(struct upload *u)
{
    struct copy_try *t = u->try;
    struct endpoint *e = t->target;
    struct endpoint_facts attributes;
    int r = 0;
    if (!e->is_whole_only && copy_try_attributes(t, u->has_old ? &u->old : NULL, &attributes))
        r = copy_try_target(t, e->ops->set(e, bytes_str(path_of(u)), &attributes));
    if (r == -EOPNOTSUPP)
        r = 0;
    if (r == 0)
        r = copy_try_verify(t, path_of(u), u->offset + u->bytes);
    if (r == -EBADMSG) {
        remove_part(u);
        return u->offset > 0 ? COPY_ANEW : r;
    }
    if (r == 0 && u->part != NULL)
        r = copy_try_target(
            t, e->ops->rename(e, bytes_str(u->part), bytes_str(t->file->target_path)));
    return r;
}

static PARKS int run(struct upload *u)
{
    int r = look_at_target(u);
    if (r == 0)
        r = open_source(u);
    if (r == 0)
        r = find_offset(u);
    if (r < 0)
        return r;
    r = move(u);
    if (r == -ENOENT && u->offset > 0)
        return COPY_ANEW; /* the part went away meanwhile */
    if (r == 0)
        return finish(u);
    if (r == COPY_ANEW || r == -FERRY_ETRUNCATED)
        remove_part(u);
    else
        keep_part(u);
    return r;
}

int copy_try_put(struct copy_try *t)
{
    struct upload *u = mem_new(sizeof(*u)); /* the giver's task uses it */
    if (u == NULL)
        return copy_try_fail(t, COPY_SIDE_TARGET, -ENOMEM, "");
    u->try = t;
    int r = run(u);
    (void)(u->file != NULL ? vfile_close(u->file) : NULL);
    mem_free(u->part);
    mem_free(u);
    return r;
}
