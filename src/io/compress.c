/* The compressing filter: bytes are gathered into steps, a step runs in the pool, and while it
 * does, what the one before it made is written below. Two steps and one coder go round. */
#include "io/compress.h"

#include <assert.h>
#include <errno.h>

#include "base/mem.h"
#include "io/chunk.h"

/* What comes in pieces of this size is compressed where it lies, smaller ones are gathered. */
#define ADOPT_BYTES   (CODEC_STEP_BYTES / 2)
#define TELLING_BYTES 1024 /* less of a step tells nothing of a level's speed */
/* Of a source that delivers a little now and then, nothing is held back for longer. */
#define HOLD_US USEC_PER_S
/* Asking the kernel how the link drains costs as much as storing some kilobytes. */
#define ASK_US (USEC_PER_MS / 2)

/* A job. It has the coder while it runs, and all else that it touches is its own. */
struct step {
    struct job job;
    struct coder *coder;
    struct chunk *in; /* NULL: only the flush */
    size_t in_len;
    int level;
    enum coder_flush flush;
    bool is_inline; /* it has run already, on the loop */
    struct buf out;
    usec_t took_us;
    int result;
};

struct compress_stream {
    struct stream stream;
    struct stream *below;
    struct compress_settings settings;
    struct coder *coder;   /* NULL: a step has it */
    struct step *steps[2]; /* in turn; made when first needed */
    unsigned turn;
    struct step *running; /* one of them, not waited for yet */
    struct step *made;    /* one whose output is not yet written */
    struct chunk *gathered;
    size_t gathered_len;
    struct controller controller;
    usec_t returned_at; /* since then the source is waited for; 0: not yet */
    usec_t synced_at;
    usec_t asked_at; /* the kernel, about the link */
    bool is_ended;
    int failed; /* what every later call gets */
};

static struct compress_stream *compress_of(struct stream *s)
{
    return (struct compress_stream *)(void *)s; /* its first member */
}

/* -- a step -- */

static struct step *step_of(struct job *j)
{
    return LIST_ENTRY(j, struct step, job);
}

static void run_step(struct job *j)
{
    struct step *k = step_of(j);
    usec_t began_at = clock_now();
    struct bytes in = k->in != NULL ? bytes_of(k->in->data, k->in_len) : BYTES_NONE;
    k->result = coder_level(k->coder) != k->level ? coder_set_level(k->coder, k->level) : 0;
    size_t bound = coder_bound(k->coder, in.len);
    if (k->out.cap < bound)
        k->out.cap = bound;
    if (k->result == 0)
        k->result = coder_step(k->coder, in, k->flush, &k->out);
    k->took_us = clock_now() - began_at;
}

static void free_step(struct job *j)
{
    struct step *k = step_of(j);
    (void)coder_free(k->coder);
    chunk_unref(k->in);
    buf_done(&k->out);
    mem_free(k);
}

static int next_step(struct compress_stream *c, struct step **ret)
{
    struct step **k = &c->steps[c->turn];
    if (*k == NULL) {
        *k = mem_new(sizeof(**k));
        if (*k == NULL)
            return -ENOMEM;
        (*k)->job.run = run_step;
        (*k)->job.free = free_step;
        buf_init(&(*k)->out, 0);
    }
    c->turn ^= 1;
    *ret = *k;
    return 0;
}

static void forget_step(struct compress_stream *c, const struct step *k)
{
    for (unsigned i = 0; i < ARRAY_LEN(c->steps); i++)
        if (c->steps[i] == k)
            c->steps[i] = NULL;
}

/* -- the level -- */

/* The kernel would take megabytes at once, and hide from the controller what the link does. */
static void bound_unsent(const struct compress_stream *c)
{
    stream_bound_unsent(c->below, controller_unsent_max(&c->controller));
}

static int choose_level(struct compress_stream *c)
{
    if (c->settings.level != COMPRESS_AUTO)
        return c->settings.level;
    int level;
    usec_t now = clock_now();
    if (now - c->asked_at >= ASK_US) {
        struct stream_info info;
        stream_info(c->below, &info);
        controller_round_trip(&c->controller, info.rtt_us);
        controller_sink(&c->controller, now, info.acked_bytes, info.rate_bytes_per_s,
                        info.unsent_bytes);
        c->asked_at = now;
    }
    if (controller_decide(&c->controller, now, &level)) {
        bound_unsent(c);
        if (c->settings.decided != NULL)
            c->settings.decided(c->settings.arg, &c->controller.last);
    }
    return level;
}

static bool may_run_here(const struct compress_stream *c, int level)
{
    /* storing is a copy; what another level holds back must come out first */
    return level == 0 && coder_level(c->coder) == 0;
}

/* -- steps one after the other -- */

/* Waits for the running step: what it made can be written. */
static int collect(struct compress_stream *c)
{
    struct step *k = c->running;
    if (k == NULL)
        return 0;
    c->running = NULL;
    int r = k->is_inline ? 0 : job_wait(c->settings.pool, &k->job, USEC_NEVER);
    if (r < 0) {
        forget_step(c, k); /* it goes by itself, with the coder */
        return r;
    }
    c->coder = k->coder;
    k->coder = NULL;
    chunk_unref(k->in);
    k->in = NULL;
    if (k->result < 0)
        return k->result;
    if (k->in_len >= TELLING_BYTES)
        controller_step(&c->controller, clock_now(), k->level, k->in_len, k->out.len,
                        k->took_us > 0 ? k->took_us : 1);
    c->made = k;
    return 0;
}

static int write_made(struct compress_stream *c)
{
    struct step *k = c->made;
    c->made = NULL;
    return k != NULL && k->out.len > 0 ? stream_write_bytes(c->below, buf_bytes(&k->out)) : 0;
}

/* Gives what was gathered to the coder. */
static int start(struct compress_stream *c, enum coder_flush flush)
{
    struct step *k;
    int r = next_step(c, &k);
    if (r < 0)
        return r;
    int level = choose_level(c);
    k->is_inline = may_run_here(c, level);
    k->coder = c->coder;
    k->in = c->gathered;
    k->in_len = c->gathered_len;
    k->level = level;
    k->flush = flush;
    buf_clear(&k->out);
    c->coder = NULL;
    c->gathered = NULL;
    c->gathered_len = 0;
    if (k->is_inline)
        run_step(&k->job);
    else
        r = job_start(c->settings.pool, &k->job, c->settings.shares);
    if (r == 0)
        c->running = k;
    return r; /* after -EBUSY the step keeps the coder, and dies with the stream */
}

static int step(struct compress_stream *c, enum coder_flush flush)
{
    int r = collect(c);
    if (r == 0)
        r = start(c, flush);
    if (r == 0)
        r = write_made(c);
    return r;
}

/* Everything that came so far is written below. */
static int drain(struct compress_stream *c, enum coder_flush flush)
{
    int r = step(c, flush);
    if (r == 0)
        r = collect(c);
    if (r == 0)
        r = write_made(c);
    c->synced_at = clock_now();
    return r;
}

/* -- what comes from above -- */

static int gather(struct compress_stream *c, const uint8_t *data, size_t len)
{
    int r = 0;
    while (len > 0 && r == 0) {
        if (c->gathered == NULL)
            c->gathered = chunk_new(CODEC_STEP_BYTES);
        if (c->gathered == NULL)
            return -ENOMEM;
        size_t n = CODEC_STEP_BYTES - c->gathered_len;
        if (n > len)
            n = len;
        memcpy(c->gathered->data + c->gathered_len, data, n);
        c->gathered_len += n;
        data += n;
        len -= n;
        if (c->gathered_len == CODEC_STEP_BYTES)
            r = step(c, CODER_MORE);
    }
    return r;
}

/* What a call from above begins and ends with. */
static int enter(struct compress_stream *c, size_t len)
{
    assert(!c->is_ended);
    usec_t now = clock_now();
    if (c->returned_at != 0)
        controller_source(&c->controller, now, len, now - c->returned_at);
    return c->failed;
}

static int leave(struct compress_stream *c, int r)
{
    if (r == 0 && clock_now() - c->synced_at >= HOLD_US)
        r = drain(c, CODER_SYNC);
    c->returned_at = clock_now();
    c->failed = r;
    return r;
}

static int compress_room(struct stream *s, size_t want, struct room *ret)
{
    return chunk_room(s, want < CODEC_STEP_BYTES ? want : CODEC_STEP_BYTES, ret);
}

static int compress_send(struct stream *s, struct room *room, size_t len)
{
    struct compress_stream *c = compress_of(s);
    int r = enter(c, len);
    if (r == 0 && c->gathered_len == 0 && len >= ADOPT_BYTES) {
        chunk_unref(c->gathered);
        c->gathered = chunk_ref(room->chunk);
        c->gathered_len = len;
        r = step(c, CODER_MORE);
    } else if (r == 0) {
        r = gather(c, room->chunk->data, len);
    }
    chunk_unref(room->chunk);
    return leave(c, r);
}

static int compress_write(struct stream *s, const struct iovec *data, int count)
{
    struct compress_stream *c = compress_of(s);
    size_t len = 0;
    for (int i = 0; i < count; i++)
        len += data[i].iov_len;
    int r = enter(c, len);
    for (int i = 0; i < count && r == 0; i++)
        r = gather(c, data[i].iov_base, data[i].iov_len);
    return leave(c, r);
}

static int compress_flush(struct stream *s)
{
    struct compress_stream *c = compress_of(s);
    if (c->failed == 0)
        c->failed = drain(c, CODER_SYNC);
    return c->failed == 0 ? stream_flush(c->below) : c->failed;
}

static int compress_end(struct stream *s, usec_t deadline)
{
    struct compress_stream *c = compress_of(s);
    if (c->failed == 0 && !c->is_ended)
        c->failed = drain(c, CODER_END);
    c->is_ended = true;
    return c->failed == 0 ? stream_end(c->below, deadline) : c->failed;
}

static void compress_info(const struct stream *s, struct stream_info *ret)
{
    const struct compress_stream *c = (const struct compress_stream *)(const void *)s;
    stream_info(c->below, ret);
}

static void compress_free(struct stream *s)
{
    struct compress_stream *c = compress_of(s);
    if (c->running != NULL && !c->running->is_inline) {
        forget_step(c, c->running);
        job_abandon(c->settings.pool, &c->running->job);
    }
    for (unsigned i = 0; i < ARRAY_LEN(c->steps); i++)
        if (c->steps[i] != NULL)
            free_step(&c->steps[i]->job);
    (void)coder_free(c->coder);
    chunk_unref(c->gathered);
    if (c->settings.level == COMPRESS_AUTO)
        stream_bound_unsent(c->below, SIZE_MAX);
    if (!c->settings.borrows)
        (void)stream_free(c->below);
    mem_free(c);
}

/* Nothing reads from it. */
static const struct stream_ops compress_ops = {
    .name = "compress",
    .room = compress_room,
    .send = compress_send,
    .write = compress_write,
    .flush = compress_flush,
    .end = compress_end,
    .info = compress_info,
    .free = compress_free,
};

static int set_up(struct compress_stream *c)
{
    int level = c->settings.level;
    usec_t now = c->synced_at = clock_now();
    controller_init(&c->controller, c->settings.codec, now);
    if (level == COMPRESS_AUTO) {
        (void)controller_decide(&c->controller, now, &level);
        bound_unsent(c);
    }
    return coder_new(c->settings.codec, level, &c->coder);
}

int compress_stream_new(struct stream *below, const struct compress_settings *settings,
                        struct stream **ret)
{
    struct compress_stream *c = mem_new(sizeof(*c));
    if (c == NULL) {
        if (!settings->borrows)
            (void)stream_free(below);
        return -ENOMEM;
    }
    c->stream = (struct stream){.ops = &compress_ops, .stall_us = below->stall_us};
    c->below = below;
    c->settings = *settings;
    int r = set_up(c);
    if (r < 0) {
        compress_free(&c->stream);
        return r;
    }
    *ret = &c->stream;
    return 0;
}
