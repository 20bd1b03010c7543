/* What one endpoint gives while another, or standard output, takes. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/copy/file_internal.h"

static void giver_main(void *arg)
{
    struct copy_giver *g = arg;
    struct endpoint *source = g->try->source;
    g->result =
        source->ops->get(source, bytes_str(g->try->file->source_path), &g->get, &g->got);
    copy_relay_end(&g->relay, g->result < 0);
}

int copy_giver_start(struct copy_giver *g, struct copy_try *t, uint64_t offset)
{
    g->try = t;
    g->result = 0;
    g->has_more = false;
    g->get = (struct endpoint_get){.offset = offset, .take = copy_relay_take, .arg = &g->relay};
    scope_init(&g->scope);
    copy_relay_init(&g->relay, offset);
    return scope_start(&g->scope, "giver", TASK_NORMAL, giver_main, g, NULL);
}

int copy_giver_join(struct copy_giver *g)
{
    struct chunk *chunk = chunk_new(1);
    if (chunk == NULL)
        return -ENOMEM;
    const struct iovec piece = {chunk->data, 1};
    ssize_t n = copy_relay_fill(&g->relay, g->relay.offset, chunk, &piece, 1);
    chunk_unref(chunk);
    g->has_more = n > 0;
    return n < 0 ? (int)n : 0;
}

/* Each hears of the other's failure as a cancel: the first one counts. */
int copy_giver_end(struct copy_giver *g, int result)
{
    copy_relay_cut(&g->relay);
    scope_leave(&g->scope);
    copy_relay_done(&g->relay);
    if (g->result == -ECANCELED && result == 0 && g->has_more)
        g->result = 0; /* cut off by us, behind what was promised */
    if (g->result < 0 && (result == 0 || result == -ECANCELED) && !task_is_cancelled())
        return copy_try_source(g->try, g->result);
    if (g->result != -ECANCELED)
        g->try->source_result = g->result;
    return result;
}

/* -- to standard output -- */

static PARKS int write_all(struct copy_try *t, struct copy_giver *g)
{
    struct copy_file *f = t->file;
    struct chunk *chunk = chunk_new(CHUNK_BYTES_MAX / 2);
    ssize_t n = chunk == NULL ? -ENOMEM : 1;
    while (n > 0) {
        struct iovec piece = {chunk->data, CHUNK_BYTES_MAX / 2};
        n = copy_relay_fill(&g->relay, g->relay.offset, chunk, &piece, 1);
        if (n <= 0)
            break;
        piece.iov_len = (size_t)n;
        int r = stream_write(f->output, &piece, 1);
        if (r < 0)
            n = copy_try_fail(t, COPY_SIDE_TARGET, r == -FERRY_ECLOSED ? -EPIPE : r, "");
        else
            atomic_fetch_add(&f->progress.file_bytes, (uint64_t)n);
    }
    chunk_unref(chunk);
    return (int)n;
}

static PARKS int output_from(struct copy_try *t, struct copy_giver *g)
{
    int r = copy_giver_start(g, t, 0);
    if (r < 0)
        return copy_try_source(t, r);
    g->get.bucket = t->file->settings->bucket;
    r = copy_giver_end(g, write_all(t, g));
    return r < 0 ? r : copy_try_check_size(t, &g->got.facts, 0, g->relay.offset);
}

int copy_try_output(struct copy_try *t)
{
    struct copy_file *f = t->file;
    if (t->source == NULL)
        return copy_try_fail(t, COPY_SIDE_SOURCE, -EINVAL, "");
    struct copy_giver *g = mem_new(sizeof(*g));
    if (g == NULL)
        return copy_try_fail(t, COPY_SIDE_SOURCE, -ENOMEM, "");
    int r = output_from(t, g);
    if (r == 0 && f->settings->verifies)
        f->check = COPY_CHECK_NOT_POSSIBLE;
    mem_free(g);
    return r;
}
