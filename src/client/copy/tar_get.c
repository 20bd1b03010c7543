#include "client/copy/tar_get.h"

#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/names.h"
#include "tar/tar.h"

#define STATUS_US  (60 * USEC_PER_S) /* all of its output is here */
#define SAMPLE_MAX 256               /* files */
#define NOT_RUN    126               /* a shell's exit status, and */
#define NOT_FOUND  127

struct get {
    struct copy_tar_get *request;
    struct vpath place;
};

/* -- the sample -- */

struct far {
    struct copy_sample sample;
    char *directory; /* the first that was seen */
};

static int see_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct far *f = arg;
    if (facts->kind == ENDPOINT_FILE) {
        f->sample.files++;
        f->sample.bytes += facts->has_size ? facts->size_bytes : 0;
    }
    if (facts->kind == ENDPOINT_DIRECTORY && f->directory == NULL) {
        f->directory = copy_name_join(BYTES_NONE, name);
        if (f->directory == NULL)
            return -ENOMEM;
    }
    return f->sample.files < SAMPLE_MAX ? 0 : -FERRY_ELIMIT;
}

static PARKS int list_far(struct endpoint *e, struct bytes path, struct far *f)
{
    int r = e->ops->list(e, path, see_name, f);
    return r == -FERRY_ELIMIT && f->sample.files >= SAMPLE_MAX ? 0 : r;
}

static PARKS int list_below(struct endpoint *e, struct bytes top, struct far *f)
{
    char *path = copy_name_join(top, bytes_str(f->directory));
    int r = path == NULL ? -ENOMEM : list_far(e, bytes_str(path), f);
    mem_free(path);
    return r;
}

int copy_sample_far(struct copy_end *end, struct bytes top, struct copy_sample *ret)
{
    struct far f = {.sample = {.is_tree = true}};
    struct endpoint *e;
    int r = copy_end_enter(end, &e);
    if (r < 0)
        return r;
    r = list_far(e, top, &f);
    if (r == 0 && f.sample.files < COPY_TAR_FILES && f.directory != NULL)
        r = list_below(e, top, &f);
    copy_end_leave(end, r);
    mem_free(f.directory);
    *ret = f.sample;
    return r;
}

/* -- what comes -- */

static struct bytes beneath(const struct get *g, struct bytes path)
{
    size_t len = g->place.len > 1 ? g->place.len + 1 : 1;
    return bytes_skip(path, len < path.len ? len : path.len);
}

static struct xfer_request begin_file(void *arg, uint64_t length_bytes,
                                      struct xfer_progress *progress)
{
    struct get *g = arg;
    struct copy_tar_get *q = g->request;
    bool is_large = length_bytes != UINT64_MAX;
    return (struct xfer_request){.length = length_bytes,
                                 .buckets = {q->settings->bucket},
                                 .stall_us = DEFAULT_STALL_US,
                                 .progress = is_large ? q->progress : progress};
}

static void end_file(void *arg, const struct xfer_progress *progress)
{
    struct get *g = arg;
    (void)progress;
    atomic_store(&g->request->progress->file_bytes, 0); /* it is told of by itself */
}

static void moved_file(void *arg, const char *operation, struct bytes path,
                       const struct xfer_result *result, int error)
{
    struct get *g = arg;
    struct copy_tar_get *q = g->request;
    (void)operation;
    if (error < 0) /* who complains tells it */
        return;
    q->files++;
    atomic_store(&q->progress->moved_at, clock_now());
    copy_end_moved(q->source);
    q->stored(q->arg, beneath(g, path), result->file_bytes, result->seconds_us);
}

static void made_directory(void *arg, struct bytes path, bool is_new)
{
    struct get *g = arg;
    (void)is_new;
    g->request->directories += path.len > g->place.len; /* the top is counted */
}

static const struct tar_watch watch = {
    .begin = begin_file, .end = end_file, .moved = moved_file, .made = made_directory};

/* What the server sent, or what was to be done with it here. */
static enum copy_side side_of(int error)
{
    switch (error) {
    case -FERRY_EBADNAME:
    case -FERRY_ENOTREG:
    case -FERRY_ELIMIT:
    case -EBADMSG:
        return COPY_SIDE_SOURCE;
    default:
        return COPY_SIDE_TARGET;
    }
}

static PARKS int complain(void *arg, const char *name, int error)
{
    struct get *g = arg;
    struct copy_tar_get *q = g->request;
    struct bytes path = bytes_str(name);
    if (q->refused == COPY_GET_REFUSED_MAX)
        return -FERRY_ELIMIT;
    if (bytes_start_with(path, BYTES_LIT("./")))
        path = bytes_skip(path, 2);
    while (path.len > 0 && path.data[path.len - 1] == '/')
        path.len--;
    q->failed(q->arg, path, side_of(error), error);
    return ++q->refused == COPY_GET_REFUSED_MAX ? -FERRY_ELIMIT : 0;
}

static PARKS int on_link(void *arg, const char *path)
{
    struct get *g = arg;
    return g->request->link(g->request->arg, bytes_str(path));
}

static PARKS int unpack(struct get *g, struct endpoint *to, struct stream *stream)
{
    struct copy_tar_get *q = g->request;
    bool preserves = q->settings->preserves;
    const struct tar_request request = {
        .vfs = endpoint_vfs(to),
        .stream = stream,
        .watch = &watch,
        .watch_arg = g,
        .complain = complain,
        .arg = g,
        .directory = &g->place,
        .keeps_modes = preserves,
        .mode_mask = 0777 & ~q->settings->umask,
        .leaves_facts = !preserves,
        .stamp_us = q->now_us,
        .trust = TAR_PLAIN_ONLY,
        .link = on_link,
        .made = q->made,
    };
    int r = stream_end(stream, 0);
    return r < 0 ? r : tar_extract(&request);
}

/* -- the command -- */

/* Its status tells more than the stream that it closed. */
static PARKS int end_channel(struct get *g, const struct ssh_link *link,
                             struct ssh_channel *channel, int result)
{
    struct copy_tar_get *q = g->request;
    if (result < 0 && result != -EBADMSG && result != -FERRY_ECLOSED)
        return result; /* it may still send */
    int status = copy_tar_status(link, channel, clock_after(STATUS_US), q->why);
    if (status == -ECANCELED)
        return status;
    if ((status == NOT_RUN || status == NOT_FOUND) && q->files == 0)
        return -EOPNOTSUPP;
    if (status > 0)
        return -FERRY_EREFUSED;
    return result < 0 ? result : status;
}

static PARKS int get_from(struct get *g, struct endpoint *from, struct endpoint *to)
{
    struct copy_tar_get *q = g->request;
    const struct copy_packing plain = {.codec = CODEC_NONE};
    struct ssh_channel *channel;
    enum tar_filter filter;
    const char *why;
    if (from->ssh == NULL || endpoint_vfs(to) == NULL)
        return -EOPNOTSUPP;
    int r = copy_tar_find(from->ssh, &plain, &filter, &why);
    if (r == 0)
        r = copy_tar_start_packing(from->ssh, q->top, &channel);
    if (r < 0)
        return r;
    q->has_begun = true;
    r = unpack(g, to, ssh_channel_stream(channel));
    r = end_channel(g, from->ssh, channel, r);
    (void)ssh_channel_close(channel);
    return r;
}

int copy_tar_get(struct copy_tar_get *request)
{
    struct endpoint *from, *to;
    struct get g = {.request = request};
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(request->place), &g.place);
    if (r < 0)
        return r;
    r = copy_end_enter(request->target, &to);
    if (r == 0) {
        r = copy_end_enter(request->source, &from);
        if (r == 0) {
            r = get_from(&g, from, to);
            copy_end_leave(request->source, r);
        }
        copy_end_leave(request->target, 0);
    }
    vpath_done(&g.place);
    return r;
}
