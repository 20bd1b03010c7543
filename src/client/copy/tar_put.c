#include "client/copy/tar_put.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/names.h"
#include "client/copy/tree.h"
#include "client/place/login.h"
#include "client/remote/sftp.h"
#include "tar/writer.h"

#define COMMAND_MAX  (5 * PATH_LEN_MAX)
#define UNPACK_US    (600 * USEC_PER_S) /* a slow disk may have much to do yet */
#define NOT_RUN      126                /* a shell's exit status, and */
#define NOT_FOUND    127
#define TAR_STARTING "tar -x "

struct put {
    struct copy_tar_put *request;
    struct vfs *vfs;
    struct ssh_channel *channel;
    struct tar_writer writer;
    int64_t now_us; /* of the wall clock */
    int result;
    char name[PATH_LEN_MAX + 1];
};

/* -- the sample -- */

int copy_sample_tree(struct copy_end *end, struct bytes top, const struct endpoint_facts *facts,
                     struct copy_sample *ret)
{
    struct copy_tree *tree;
    struct copy_tree_step step;
    struct copy_sample sample = {.is_tree = true};
    int r = copy_tree_new(end, top, facts, &tree);
    if (r < 0)
        return r;
    while (sample.files < COPY_SAMPLE_FILES && (r = copy_tree_next(tree, &step)) > 0) {
        sample.files += step.kind == COPY_TREE_FILE;
        sample.bytes += step.kind == COPY_TREE_FILE ? step.facts.size_bytes : 0;
    }
    sample.is_all = r == 0;
    copy_tree_free(tree);
    *ret = sample;
    return r < 0 ? r : 0;
}

/* -- members -- */

static uint32_t mode_of(const struct put *p, const struct endpoint_facts *facts)
{
    uint32_t mode = facts->mode & 0777;
    return p->request->settings->preserves ? mode : mode & ~p->request->settings->umask;
}

/* Who unpacks as root makes the files of this owner. */
static PARKS int begin(struct put *p, struct bytes path, enum tar_member_kind kind,
                       const struct endpoint_facts *facts)
{
    const struct tar_member member = {
        .kind = kind,
        .name = p->name,
        .mode = mode_of(p, facts),
        .mtime_us = p->request->settings->preserves ? facts->mtime_us : p->now_us,
        .size_bytes = facts->size_bytes,
    };
    if (path.len >= sizeof(p->name))
        return -ENAMETOOLONG;
    (void)text_copy(p->name, sizeof(p->name), path);
    return tar_writer_begin(&p->writer, &member);
}

static PARKS int send_contents(struct put *p, struct bytes path, struct vfile *file)
{
    struct copy_tar_put *q = p->request;
    struct xfer_result moved = {0};
    const struct xfer_request request = {.length = UINT64_MAX,
                                         .buckets = {q->settings->bucket},
                                         .stall_us = p->writer.out->stall_us};
    int r = 0;
    if (vfile_stat(file)->size_bytes > 0)
        r = xfer_send(file, &p->writer.contents, &request, &moved);
    q->progress->file_bytes += moved.file_bytes;
    q->progress->moved_at = clock_now();
    if (p->writer.error < 0 || xfer_lost_peer(r))
        return p->writer.error < 0 ? p->writer.error : r;
    if (r < 0)
        q->failed(q->arg, path, r,
                  r == -FERRY_ETRUNCATED
                      ? "it became shorter while it was read: zeros stand for what is missing"
                      : "it could not be read to its end: zeros stand for what is missing");
    return tar_writer_finish(&p->writer);
}

static PARKS int put_file(struct put *p, struct bytes path)
{
    struct copy_tar_put *q = p->request;
    char *whole = copy_name_join(q->top, path);
    struct vpath at = {0};
    struct vfile *file;
    int r = whole == NULL ? -ENOMEM : vpath_parse(BYTES_LIT("/"), bytes_str(whole), &at);
    if (r == 0)
        r = vfs_open(p->vfs, &at, &file);
    vpath_done(&at);
    mem_free(whole);
    if (r < 0)
        return r;
    const struct vstat *st = vfile_stat(file);
    const struct endpoint_facts facts = {
        .mode = st->mode, .mtime_us = st->mtime_us, .size_bytes = st->size_bytes};
    r = begin(p, path, TAR_MEMBER_FILE, &facts);
    if (r == 0) {
        r = send_contents(p, path, file);
        q->files += r == 0;
    }
    (void)vfile_close(file);
    return r;
}

/* What ends all of it, beside what is one file's. */
static bool is_of_the_stream(const struct put *p, int result)
{
    return p->writer.error < 0 || xfer_lost_peer(result) || result == -ENOMEM;
}

static PARKS int put_step(struct put *p, const struct copy_tree_step *step)
{
    struct copy_tar_put *q = p->request;
    int r = 0;
    switch (step->kind) {
    case COPY_TREE_ENTER:
        if (step->path.len == 0) /* which is there */
            return 0;
        r = begin(p, step->path, TAR_MEMBER_DIRECTORY, &step->facts);
        q->directories += r == 0;
        break;
    case COPY_TREE_FILE:
        r = put_file(p, step->path);
        break;
    case COPY_TREE_LEAVE:
        return 0;
    case COPY_TREE_FAILED:
        q->failed(q->arg, step->path, step->error, step->why != NULL ? step->why : "");
        return 0;
    }
    if (r < 0 && !is_of_the_stream(p, r)) {
        q->failed(q->arg, step->path, r, "");
        r = 0;
    }
    return p->writer.error < 0 ? p->writer.error : r;
}

static PARKS int put_tree(struct put *p)
{
    struct copy_tar_put *q = p->request;
    struct copy_tree *tree;
    struct copy_tree_step step;
    int r = copy_tree_new(q->source, q->top, &q->facts, &tree);
    if (r < 0)
        return r;
    while ((r = copy_tree_next(tree, &step)) > 0) {
        r = put_step(p, &step);
        if (r < 0)
            break;
    }
    copy_tree_free(tree);
    return r;
}

/* -- the command -- */

/* Some servers run something else for any command, so it must say its name. */
static PARKS int read_version(struct ssh_channel *channel)
{
    struct stream *s = ssh_channel_stream(channel);
    char text[64], rest[256];
    size_t len = 0;
    int r = stream_end(s, 0);
    ssize_t n = r == 0 ? 1 : r;
    while (n > 0) {
        n = len < sizeof(text) ? stream_read(s, text + len, sizeof(text) - len)
                               : stream_read(s, rest, sizeof(rest));
        len += n > 0 && len < sizeof(text) ? (size_t)n : 0;
    }
    if (n < 0)
        return (int)n;
    int status = ssh_channel_status(channel, clock_after(DEFAULT_STALL_US));
    if (status == -ECANCELED)
        return status;
    bool is_tar = bytes_start_with(bytes_of(text, len), BYTES_LIT("tar ")) ||
                  bytes_start_with(bytes_of(text, len), BYTES_LIT("bsdtar "));
    return status == 0 && is_tar ? 0 : -EOPNOTSUPP;
}

static PARKS int find_tar(const struct ssh_link *link)
{
    struct ssh_channel *channel;
    if (link->is_ferry) /* which has it and no version of it */
        return 0;
    int r = ssh_channel_open_session(link->connection, false, BYTES_LIT("tar --version"),
                                     clock_after(DEFAULT_CONNECT_US), &channel);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
    r = read_version(channel);
    (void)ssh_channel_close(channel);
    return r;
}

static PARKS int open_channel(struct put *p, struct ssh_link *link)
{
    const struct copy_tar_put *q = p->request;
    struct buf command;
    buf_init(&command, COMMAND_MAX);
    int r =
        buf_append_str(&command, q->settings->preserves ? TAR_STARTING "-p " : TAR_STARTING);
    if (r == 0)
        r = buf_append_str(&command, "-f - -C ");
    if (r == 0)
        r = sftp_quote_word(bytes_str(q->place), &command);
    if (r == 0)
        r = ssh_channel_open_session(link->connection, false, buf_bytes(&command),
                                     clock_after(DEFAULT_CONNECT_US), &p->channel);
    buf_done(&command);
    return r == -FERRY_EREFUSED ? -EOPNOTSUPP : r;
}

/* Its status tells more than the stream that it closed. */
static PARKS int end_channel(struct put *p, int result)
{
    struct copy_tar_put *q = p->request;
    if (result == -ECANCELED || result == -ENOMEM)
        return result;
    if (result == 0)
        result = stream_end(ssh_channel_stream(p->channel), 0);
    int status = ssh_channel_status(p->channel, clock_after(UNPACK_US));
    (void)text_copy_printable(q->why, sizeof(q->why), ssh_channel_errors(p->channel));
    if (status == NOT_RUN || status == NOT_FOUND)
        return -EOPNOTSUPP;
    if (status > 0)
        return -FERRY_EREFUSED;
    return result < 0 ? result : status;
}

static PARKS void put_main(void *arg)
{
    struct put *p = arg;
    struct stream *out = ssh_channel_stream(p->channel);
    int r = tar_writer_open(&p->writer, out, TAR_PLAIN);
    if (r == 0)
        r = put_tree(p);
    r = tar_writer_close(&p->writer, r);
    p->result = end_channel(p, r);
}

/* libarchive wants a large stack. */
static PARKS int run_large(struct put *p)
{
    struct scope scope;
    scope_init(&scope);
    int r = scope_start(&scope, "tar", TASK_LARGE, put_main, p, NULL);
    if (r == 0)
        r = scope_wait(&scope, USEC_NEVER);
    scope_leave(&scope);
    return r < 0 ? r : p->result;
}

int copy_tar_put(struct copy_tar_put *request)
{
    struct endpoint *from, *to;
    struct put *p = mem_new(sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    p->request = request;
    p->now_us = clock_wall_us();
    int r = copy_end_enter(request->source, &from);
    if (r == 0) {
        p->vfs = endpoint_vfs(from);
        copy_end_leave(request->source, 0);
        r = copy_end_enter(request->target, &to);
    }
    if (r == 0) {
        r = to->ssh == NULL || p->vfs == NULL ? -EOPNOTSUPP : find_tar(to->ssh);
        if (r == 0)
            r = open_channel(p, to->ssh);
        if (r == 0)
            r = run_large(p);
        (void)ssh_channel_close(p->channel);
        copy_end_leave(request->target, r);
    }
    mem_free(p);
    return r;
}
