/* A file comes to this machine. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/copy/file_internal.h"
#include "client/copy/names.h"
#include "client/copy/resume.h"
#include "task/sys.h"
#include "vfs/path.h"

#define SHIELD_US (30 * USEC_PER_S)

/* It goes under its own name at once where nothing stands there. Else, and to be checked first,
 * under the part's, from which it is renamed: a broken upload is kept only where no file is. */
struct download {
    struct copy_try *try;
    struct vfs *vfs;
    char *part; /* NULL: none */
    struct vpath at;
    struct endpoint_facts old;
    bool has_old;
    struct vupload *upload;
    uint64_t offset;
};

static PARKS int look_at_target(struct download *d)
{
    struct copy_try *t = d->try;
    struct copy_file *f = t->file;
    if (!f->is_new_place) {
        int r = t->target->ops->stat(t->target, bytes_str(f->target_path), false, &d->old);
        if (r < 0 && r != -ENOENT)
            return copy_try_target(t, r);
        d->has_old = r == 0;
        if (d->has_old && d->old.kind == ENDPOINT_DIRECTORY)
            return copy_try_fail(t, COPY_SIDE_TARGET, -EISDIR, "");
    }
    if (d->has_old || f->settings->verifies) {
        d->part = copy_name_part(bytes_str(f->target_path));
        if (d->part == NULL)
            return copy_try_fail(t, COPY_SIDE_TARGET, -ENOMEM, "");
    }
    struct bytes path = bytes_str(d->part != NULL ? d->part : f->target_path);
    return copy_try_target(t, vpath_parse(BYTES_LIT("/"), path, &d->at));
}

/* The part is hidden, so nobody can ask for its contents' digest: a time that is not the
 * source's means that it is not used. */
static PARKS void find_offset(struct download *d)
{
    struct copy_file *f = d->try->file;
    struct vstat st;
    bool is_partial = false, is_retry = f->certain > 0;
    d->offset = 0;
    if (f->is_anew || d->try->source->is_whole_only ||
        (!is_retry && (f->is_new_place || !f->settings->resumes)) ||
        vfs_stat_resumable(d->vfs, &d->at, &st, &is_partial) < 0 || !is_partial)
        return;
    const struct endpoint_facts part = {.kind = ENDPOINT_FILE,
                                        .has_size = true,
                                        .size_bytes = st.size_bytes,
                                        .has_times = true,
                                        .mtime_us = st.mtime_us};
    if (copy_resume_rule(&f->facts, &part, false) == COPY_RESUME_YES ||
        (is_retry && st.size_bytes == f->certain))
        d->offset = st.size_bytes;
}

static PARKS int begin(struct download *d)
{
    struct copy_file *f = d->try->file;
    find_offset(d);
    const struct vupload_request request = {
        .kind = d->offset > 0 ? VUPLOAD_RESUME : VUPLOAD_REPLACE,
        .offset = d->offset,
        .expect_bytes = f->facts.has_size ? f->facts.size_bytes : 0,
        .mode = d->offset > 0 ? 0 : copy_try_mode(d->try),
    };
    int r = vfs_upload_begin(d->vfs, &d->at, &request, &d->upload);
    if (r == -ENOSPC)
        return copy_try_fail(d->try, COPY_SIDE_TARGET, r, "there is no room for all of it");
    return copy_try_target(d->try, r);
}

static void set_times(struct download *d, const struct endpoint_facts *facts)
{
    struct timespec times[2];
    const int64_t us[2] = {facts->atime_us, facts->mtime_us};
    for (unsigned i = 0; i < 2; i++) {
        int64_t rest = us[i] % (int64_t)USEC_PER_S;
        times[i].tv_sec = (time_t)(us[i] / (int64_t)USEC_PER_S - (rest < 0));
        times[i].tv_nsec = (long)((rest < 0 ? rest + (int64_t)USEC_PER_S : rest) * 1000);
    }
    (void)(sys_futimens(vfile_fd(vupload_file(d->upload)), times) < 0); /* then it is not */
}

/* What is kept says of which state of the source it is: client/copy/resume.h. */
static PARKS void break_off(struct download *d, uint64_t end)
{
    struct copy_file *f = d->try->file;
    int fd = vfile_fd(vupload_file(d->upload));
    if (sys_ftruncate(fd, (off_t)end) == 0 && f->facts.has_times)
        set_times(d, &f->facts);
    task_shield_begin(clock_after(SHIELD_US));
    vupload_break(d->upload, end);
    task_shield_end();
    d->upload = NULL;
    f->kept_bytes = f->certain = end;
}

static int set_attributes(struct download *d)
{
    struct endpoint_facts attributes;
    int r = 0;
    bool any = copy_try_attributes(d->try, d->has_old ? &d->old : NULL, &attributes);
    if (!any && d->offset > 0) { /* the part had those of its own */
        attributes.has_mode = d->try->file->facts.has_mode;
        attributes.mode = copy_try_mode(d->try);
    }
    if (attributes.has_mode)
        r = sys_fchmod(vfile_fd(vupload_file(d->upload)), attributes.mode);
    if (r == 0 && attributes.has_times)
        set_times(d, &attributes);
    return copy_try_target(d->try, r);
}

static PARKS int commit(struct download *d, uint64_t end)
{
    task_shield_begin(clock_after(SHIELD_US));
    int r = vupload_commit(d->upload, end);
    task_shield_end();
    d->upload = NULL;
    return copy_try_target(d->try, r);
}

/* From the part's name to its own. A part that is another file than its source is of no use. */
static PARKS int give_name(struct download *d, uint64_t end)
{
    struct copy_try *t = d->try;
    struct endpoint *e = t->target;
    int r = copy_try_verify(t, d->part, end);
    if (r == 0) {
        r = copy_try_target(
            t, e->ops->rename(e, bytes_str(d->part), bytes_str(t->file->target_path)));
    }
    if (r < 0) {
        task_shield_begin(clock_after(SHIELD_US));
        (void)(e->ops->remove(e, bytes_str(d->part)) < 0);
        task_shield_end();
    }
    return r == -EBADMSG && d->offset > 0 ? COPY_ANEW : r;
}

static PARKS int finish(struct download *d, const struct endpoint_got *got)
{
    struct copy_try *t = d->try;
    uint64_t end = d->offset + got->bytes;
    int r = copy_try_check_size(t, &got->facts, d->offset, end);
    if (r == 0)
        r = set_attributes(d);
    if (r != 0) {
        break_off(d, 0);
        return r;
    }
    r = commit(d, end);
    return r == 0 && d->part != NULL ? give_name(d, end) : r;
}

static PARKS int move(struct download *d)
{
    struct copy_try *t = d->try;
    struct copy_file *f = t->file;
    struct endpoint_got got = {0};
    const struct endpoint_get get = {.offset = d->offset,
                                     .upload = d->upload,
                                     .bucket = f->settings->bucket,
                                     .progress = &f->progress};
    f->began_at = d->offset;
    int r = t->source->ops->get(t->source, bytes_str(f->source_path), &get, &got);
    r = copy_try_source(t, r);
    /* the failures of writing are the disk's */
    if (r == -ENOSPC || r == -EDQUOT || r == -EROFS || r == -FERRY_EQUOTA)
        f->side = COPY_SIDE_TARGET;
    if (r == 0)
        return finish(d, &got);
    break_off(d, t->source->is_whole_only ? 0 : d->offset + got.bytes);
    return r;
}

int copy_try_get(struct copy_try *t)
{
    struct download d = {.try = t, .vfs = endpoint_vfs(t->target)};
    int r = look_at_target(&d);
    if (r == 0)
        r = begin(&d);
    if (r == 0)
        r = move(&d);
    mem_free(d.part);
    vpath_done(&d.at);
    return r;
}
