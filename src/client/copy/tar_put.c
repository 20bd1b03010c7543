#include "client/copy/tar_put.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/names.h"
#include "client/copy/tar_peer.h"
#include "client/copy/tree.h"
#include "ssh/transport.h"
#include "tar/writer.h"

#define UNPACK_US (600 * USEC_PER_S) /* a slow disk may have much to do yet */
#define SHIELD_US (5 * USEC_PER_S)

struct put {
    struct copy_tar_put *request;
    struct vfs *vfs;
    struct endpoint *target;
    struct ssh_channel *channel;
    struct tar_writer writer;
    int result;
    bool is_open; /* the member of this name is not yet complete */
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
        .mtime_us = p->request->settings->preserves ? facts->mtime_us : p->request->now_us,
        .size_bytes = facts->size_bytes,
    };
    if (path.len >= sizeof(p->name))
        return -ENAMETOOLONG;
    (void)text_copy(p->name, sizeof(p->name), path);
    int r = tar_writer_begin(&p->writer, &member);
    p->is_open = kind == TAR_MEMBER_FILE && r != -ENAMETOOLONG;
    return r;
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
    if (r == -ENOMEM)
        return r;
    int finished = tar_writer_finish(&p->writer); /* with zeros for what is missing */
    p->is_open = finished < 0;
    if (finished == 0 && r < 0)
        q->damaged(q->arg, path, r);
    return finished;
}

static PARKS int put_file(struct put *p, struct bytes path, uint64_t device)
{
    struct copy_tar_put *q = p->request;
    char *whole = copy_name_join(q->top, path);
    struct vpath at = {0};
    struct vfile *file = NULL;
    int r = whole == NULL ? -ENOMEM : vpath_parse(BYTES_LIT("/"), bytes_str(whole), &at);
    if (r == 0)
        r = vfs_open_listed(p->vfs, &at, device, &file);
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
        if (q->files == 1)
            copy_end_moved(q->target);
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
        r = put_file(p, step->path, step->facts.device);
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

/* -- the end -- */

/* What the server's tar was writing when the stream broke off may be there in part, in the
 * place of what was there before. ferryd's is never. Once the tar has ended nobody writes to it
 * any more. */
static PARKS void remove_part(struct put *p)
{
    struct copy_tar_put *q = p->request;
    if (!p->is_open || q->filter != TAR_PLAIN || p->target->ssh->is_ferry)
        return; /* of what is compressed, the last that was sent did not get there */
    char *path = copy_name_join(bytes_str(q->place), bytes_str(p->name));
    if (path != NULL)
        q->has_removed_part = p->target->ops->remove(p->target, bytes_str(path)) == 0;
    mem_free(path);
}

/* The server's tar gets the end of its input, and a moment. */
static PARKS int end_cancelled(struct put *p, int result)
{
    struct copy_tar_put *q = p->request;
    task_shield_begin(clock_after(SHIELD_US));
    int r = stream_end(ssh_channel_stream(p->channel), 0);
    if (r == 0)
        r = copy_tar_status(p->target->ssh, p->channel, clock_after(SHIELD_US), q->why);
    if (r >= 0)
        remove_part(p);
    task_shield_end();
    return result;
}

/* Its status tells more than the stream that it closed; but who does not read any more may say
 * nothing any more either. */
static PARKS int end_channel(struct put *p, int result)
{
    struct copy_tar_put *q = p->request;
    if (result == -ECANCELED)
        return end_cancelled(p, result);
    int ended = stream_end(ssh_channel_stream(p->channel), 0);
    if (result == 0)
        result = ended;
    int status = copy_tar_status(p->target->ssh, p->channel,
                                 clock_after(result < 0 ? SHIELD_US : UNPACK_US), q->why);
    if (status == -ECANCELED)
        return end_cancelled(p, status);
    if (status > 0)
        return -FERRY_EREFUSED;
    if (result < 0)
        return result;
    return status;
}

static void on_level(void *arg, const struct controller_decision *decision)
{
    struct copy_tar_put *q = arg;
    q->level = decision->level;
}

static PARKS void put_main(void *arg)
{
    struct put *p = arg;
    struct stream *out = ssh_channel_stream(p->channel);
    struct copy_tar_put *q = p->request;
    const struct tar_packing packing = {
        .filter = q->filter, .level = q->packing.level, .decided = on_level, .arg = q};
    struct ssh_transport *t = ssh_client_transport(p->target->ssh->client);
    q->level = q->packing.level;
    ssh_transport_store(t, q->filter != TAR_PLAIN);
    int r = tar_writer_open(&p->writer, out, &packing);
    q->has_begun = true;
    if (r == 0)
        r = put_tree(p);
    r = tar_writer_close(&p->writer, r);
    p->result = end_channel(p, r);
    ssh_transport_store(t, false);
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

static PARKS int put_to(struct put *p)
{
    const struct ssh_link *link = p->target->ssh;
    if (link == NULL || p->vfs == NULL)
        return -EOPNOTSUPP;
    struct copy_tar_put *q = p->request;
    struct copy_tar_found found = {.why = ""};
    int r =
        copy_tar_find_and_start(link, &q->packing, q->settings->preserves, q->place, &found);
    q->filter = found.filter;
    q->refusal = found.why;
    if (r < 0)
        return r;
    p->channel = found.channel;
    r = run_large(p);
    (void)ssh_channel_close(p->channel);
    return r;
}

int copy_tar_put(struct copy_tar_put *request)
{
    struct endpoint *from;
    struct put *p = mem_new(sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    p->request = request;
    int r = copy_end_enter(request->source, &from);
    if (r == 0) {
        p->vfs = endpoint_vfs(from);
        copy_end_leave(request->source, 0);
        r = copy_end_enter(request->target, &p->target);
    }
    if (r == 0) {
        r = put_to(p);
        copy_end_leave(request->target, r);
    }
    mem_free(p);
    return r;
}
