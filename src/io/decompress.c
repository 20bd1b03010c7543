/* The decompressing filter: slices of the stream below are the input of steps in the pool, and
 * the next step runs while its reader uses what the last one made, if there is input for it. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "io/compress.h"

#define TAKE_BYTES (64 * 1024)
#define OUT_BYTES  (256 * 1024) /* of a step: about a millisecond */
/* Of input, which is not worth a trip to the pool; what it can become at once is bounded so
 * that it does not hold up the loop. */
#define INLINE_BYTES     1024
#define INLINE_OUT_BYTES (64 * 1024)

/* A job. It has the decoder while it runs, and all else that it touches is its own. */
struct step {
    struct job job;
    struct decoder *decoder;
    struct chunk *in_chunk;
    struct bytes in; /* what was not used is left in it */
    struct chunk *out;
    size_t out_max, out_len;
    bool is_inline;
    int result; /* of decoder_step() */
};

struct decompress_stream {
    struct stream stream;
    struct stream *below;
    struct pool *pool;
    const struct pool_shares *shares;
    struct decoder *decoder; /* NULL: the step has it */
    struct step *step;       /* NULL after a cancel */
    bool is_running;         /* and not waited for yet */
    struct slices in;
    unsigned piece;    /* of in, the next one */
    struct bytes rest; /* of the piece before it */
    bool has_more;     /* inside the decoder, whether there is input or not */
    bool codec_ended;  /* nothing may follow */
    bool is_ended;     /* nor does it */
    struct chunk *out; /* decompressed and not given out yet */
    size_t out_at, out_len;
    unsigned slots; /* of the chunk, used for parts of it */
    int failed;     /* what every later call gets */
};

static struct decompress_stream *decompress_of(struct stream *s)
{
    return (struct decompress_stream *)(void *)s; /* its first member */
}

/* -- a step -- */

static struct step *step_of(struct job *j)
{
    return LIST_ENTRY(j, struct step, job);
}

static void run_step(struct job *j)
{
    struct step *k = step_of(j);
    k->result = decoder_step(k->decoder, &k->in, k->out->data, k->out_max, &k->out_len);
}

static void free_step(struct job *j)
{
    struct step *k = step_of(j);
    (void)decoder_free(k->decoder);
    chunk_unref(k->in_chunk);
    chunk_unref(k->out);
    mem_free(k);
}

static bool has_input(const struct decompress_stream *d)
{
    return d->rest.len > 0 || d->piece < d->in.count;
}

static void next_piece(struct decompress_stream *d)
{
    if (d->rest.len > 0 || d->piece == d->in.count)
        return;
    const struct iovec *piece = &d->in.pieces[d->piece++];
    d->rest = bytes_of(piece->iov_base, piece->iov_len);
}

static int start(struct decompress_stream *d)
{
    struct step *k = d->step;
    next_piece(d);
    k->is_inline = !d->has_more && d->rest.len <= INLINE_BYTES;
    k->out_max = k->is_inline ? INLINE_OUT_BYTES : OUT_BYTES;
    k->out = chunk_new(k->out_max);
    if (k->out == NULL)
        return -ENOMEM;
    k->in = d->rest;
    k->in_chunk = d->in.chunk != NULL ? chunk_ref(d->in.chunk) : NULL;
    k->out_len = 0;
    k->decoder = d->decoder;
    d->decoder = NULL;
    int r = 0;
    if (k->is_inline)
        run_step(&k->job);
    else
        r = job_start(d->pool, &k->job, d->shares);
    d->is_running = r == 0;
    return r; /* after -EBUSY the step keeps the decoder, and dies with the stream */
}

/* Waits for the step; there may be output then. */
static int collect(struct decompress_stream *d)
{
    struct step *k = d->step;
    d->is_running = false;
    int r = k->is_inline ? 0 : job_wait(d->pool, &k->job, USEC_NEVER);
    if (r < 0) {
        d->step = NULL; /* it goes by itself, with the decoder */
        return r;
    }
    d->decoder = k->decoder;
    k->decoder = NULL;
    chunk_unref(k->in_chunk);
    k->in_chunk = NULL;
    d->rest = k->in;
    d->out = k->out;
    k->out = NULL;
    d->out_at = 0;
    d->out_len = k->out_len;
    d->slots = 0;
    d->has_more = k->result == 0 && k->out_len == k->out_max;
    d->codec_ended = k->result > 0;
    if (k->out_len == 0) {
        chunk_unref(d->out);
        d->out = NULL;
    }
    return k->result < 0 ? k->result : 0;
}

/* -- input -- */

/* The stream below has ended, or gives more. */
static int take_below(struct decompress_stream *d)
{
    slices_drop(&d->in);
    d->piece = 0;
    int r = stream_take(d->below, TAKE_BYTES, &d->in);
    if (r < 0 || d->in.len > 0)
        return r;
    d->is_ended = d->codec_ended || decoder_is_at_boundary(d->decoder);
    return d->is_ended ? 0 : -FERRY_ETRUNCATED;
}

/* One thing that leads to output or to the end. */
static int go_on(struct decompress_stream *d)
{
    if (d->is_running)
        return collect(d);
    if (d->codec_ended && has_input(d))
        return -EBADMSG;
    return !d->codec_ended && (d->has_more || has_input(d)) ? start(d) : take_below(d);
}

/* Until there is output, or the end. What was made before a failure comes before it. */
static int fill(struct decompress_stream *d)
{
    while (d->out == NULL && !d->is_ended) {
        if (d->failed == 0)
            d->failed = go_on(d);
        if (d->failed < 0 && d->out == NULL)
            return d->failed;
    }
    return 0;
}

/* Starts the next step, if that needs no wait. */
static void go_ahead(struct decompress_stream *d)
{
    if (d->failed < 0 || d->is_running || d->is_ended || d->codec_ended)
        return;
    if (!d->has_more && !has_input(d) && stream_wait(d->below, NULL, clock_now()) == 0)
        d->failed = take_below(d);
    if (d->failed == 0 && (d->has_more || has_input(d)))
        d->failed = start(d);
}

/* -- what goes up -- */

/* Parts of one chunk have a piece each: they may be held side by side. */
static void give_part(struct decompress_stream *d, size_t len, struct slices *ret)
{
    struct iovec *piece = &d->out->pieces[d->slots++ % ROOM_PIECES_MAX];
    *piece = (struct iovec){.iov_base = d->out->data + d->out_at, .iov_len = len};
    *ret = (struct slices){.stream = &d->stream,
                           .chunk = chunk_ref(d->out),
                           .pieces = piece,
                           .count = 1,
                           .len = len};
}

static void used(struct decompress_stream *d, size_t len)
{
    d->out_at += len;
    d->out_len -= len;
    if (d->out_len > 0)
        return;
    chunk_unref(d->out);
    d->out = NULL;
    go_ahead(d);
}

static int decompress_take(struct stream *s, size_t max, struct slices *ret)
{
    struct decompress_stream *d = decompress_of(s);
    int r = fill(d);
    if (r < 0)
        return r;
    *ret = (struct slices){0};
    if (d->out == NULL)
        return 0;
    size_t len = d->out_len < max ? d->out_len : max;
    give_part(d, len, ret);
    used(d, len);
    return 0;
}

static ssize_t decompress_read(struct stream *s, void *data, size_t max)
{
    struct decompress_stream *d = decompress_of(s);
    int r = fill(d);
    if (r < 0 || d->out == NULL)
        return r;
    size_t len = d->out_len < max ? d->out_len : max;
    memcpy(data, d->out->data + d->out_at, len);
    used(d, len);
    return (ssize_t)len;
}

static int decompress_wait(struct stream *s, struct event *event, usec_t deadline)
{
    struct decompress_stream *d = decompress_of(s);
    bool needs_no_peer = d->out != NULL || d->is_running || d->is_ended || d->failed < 0 ||
                         d->has_more || has_input(d);
    if (needs_no_peer)
        return event != NULL && event->is_set;
    return stream_wait(d->below, event, deadline);
}

static int decompress_end(struct stream *s, usec_t deadline)
{
    return stream_end(decompress_of(s)->below, deadline);
}

static void decompress_info(const struct stream *s, struct stream_info *ret)
{
    const struct decompress_stream *d = (const struct decompress_stream *)(const void *)s;
    stream_info(d->below, ret);
}

static void decompress_free(struct stream *s)
{
    struct decompress_stream *d = decompress_of(s);
    if (d->is_running && !d->step->is_inline)
        job_abandon(d->pool, &d->step->job);
    else if (d->step != NULL)
        free_step(&d->step->job);
    (void)decoder_free(d->decoder);
    chunk_unref(d->out);
    slices_drop(&d->in);
    (void)stream_free(d->below);
    mem_free(d);
}

/* Nothing is written to it. */
static const struct stream_ops decompress_ops = {
    .name = "decompress",
    .take = decompress_take,
    .read = decompress_read,
    .end = decompress_end,
    .wait = decompress_wait,
    .info = decompress_info,
    .free = decompress_free,
};

int decompress_stream_new(struct stream *below, enum codec codec,
                          const struct decoder_limits *limits, struct pool *pool,
                          const struct pool_shares *shares, struct stream **ret)
{
    struct decompress_stream *d = mem_new(sizeof(*d));
    if (d == NULL) {
        (void)stream_free(below);
        return -ENOMEM;
    }
    d->stream = (struct stream){.ops = &decompress_ops, .stall_us = below->stall_us};
    d->below = below;
    d->pool = pool;
    d->shares = shares;
    d->step = mem_new(sizeof(*d->step));
    int r = d->step != NULL ? decoder_new(codec, limits, &d->decoder) : -ENOMEM;
    if (r < 0) {
        if (d->step != NULL) {
            mem_free(d->step);
            d->step = NULL;
        }
        decompress_free(&d->stream);
        return r;
    }
    d->step->job.run = run_step;
    d->step->job.free = free_step;
    *ret = &d->stream;
    return 0;
}
