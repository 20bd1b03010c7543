#include "client/probe/levels.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/probe/data.h"
#include "codec/codec.h"

#define EXPANDED 6 /* the level whose output is expanded */

struct level {
    struct coder *coder;
    uint64_t in, out;
    usec_t took_us;
};

/* One piece by all levels: what disturbs the machine meanwhile disturbs all of them. */
struct levels_job {
    struct job job; /* first */
    struct level levels[PROBE_LEVELS];
    struct decoder *decoder;
    usec_t expand_us;
    uint8_t *piece; /* PROBE_PIECE_BYTES */
    size_t len;
    struct buf out;
    uint8_t *expanded; /* CODEC_STEP_BYTES */
    int result;
};

static int expand(struct levels_job *j)
{
    struct bytes in = buf_bytes(&j->out);
    size_t len;
    int r = 0;
    usec_t began_at = clock_now();
    do
        r = decoder_step(j->decoder, &in, j->expanded, CODEC_STEP_BYTES, &len);
    while (r == 0 && (in.len > 0 || len == CODEC_STEP_BYTES));
    j->expand_us += clock_now() - began_at;
    return r < 0 ? r : 0;
}

static int compress(struct levels_job *j, unsigned level)
{
    struct level *l = &j->levels[level];
    struct bytes rest = bytes_of(j->piece, j->len);
    int r = 0;
    while (r == 0 && rest.len > 0) {
        struct bytes step = bytes_first(rest, CODEC_STEP_BYTES);
        rest = bytes_skip(rest, step.len);
        buf_clear(&j->out);
        usec_t began_at = clock_now();
        r = coder_step(l->coder, step, CODER_SYNC, &j->out);
        l->took_us += clock_now() - began_at;
        l->in += step.len;
        l->out += j->out.len;
        if (r == 0 && level == EXPANDED)
            r = expand(j);
    }
    return r;
}

static void run_piece(struct job *job)
{
    struct levels_job *j = (struct levels_job *)job;
    j->result = 0;
    for (unsigned level = 1; j->result == 0 && level < PROBE_LEVELS; level++)
        j->result = compress(j, level);
}

static void free_job(struct job *job)
{
    struct levels_job *j = (struct levels_job *)job;
    for (unsigned i = 1; i < PROBE_LEVELS; i++)
        (void)coder_free(j->levels[i].coder);
    (void)decoder_free(j->decoder);
    buf_done(&j->out);
    mem_free(j->piece);
    mem_free(j->expanded);
    mem_free(j);
}

static int new_job(struct levels_job **ret)
{
    static const struct decoder_limits limits = {.ratio = 0};
    struct levels_job *j = mem_new(sizeof(*j));
    if (j == NULL)
        return -ENOMEM;
    j->job.run = run_piece;
    j->job.free = free_job;
    buf_init(&j->out, 2 * CODEC_STEP_BYTES);
    j->piece = mem_raw(PROBE_PIECE_BYTES);
    j->expanded = mem_raw(CODEC_STEP_BYTES);
    int r = j->piece == NULL || j->expanded == NULL
                ? -ENOMEM
                : decoder_new(CODEC_ZLIB, &limits, &j->decoder);
    for (unsigned i = 1; r == 0 && i < PROBE_LEVELS; i++)
        r = coder_new(CODEC_ZLIB, (int)i, &j->levels[i].coder);
    if (r < 0) {
        free_job(&j->job);
        return r;
    }
    *ret = j;
    return 0;
}

static double rate(uint64_t bytes, usec_t us)
{
    return (double)bytes * 1e6 / (double)(us > 0 ? us : 1);
}

static void take_result(const struct levels_job *j, struct probe_data *ret)
{
    *ret =
        (struct probe_data){.expand_bytes_per_s = rate(j->levels[EXPANDED].in, j->expand_us)};
    for (unsigned i = 1; i < PROBE_LEVELS; i++) {
        const struct level *l = &j->levels[i];
        ret->levels[i].ratio = l->in > 0 ? (double)l->out / (double)l->in : 1;
        ret->levels[i].bytes_per_s = rate(l->in, l->took_us);
    }
}

int probe_levels_measure(struct bytes sample, struct pool *pool, struct probe_data *ret)
{
    struct levels_job *j;
    usec_t until = clock_after(PROBE_LEVELS_US);
    int r = new_job(&j);
    if (r < 0)
        return r;
    do {
        struct bytes piece = bytes_first(sample, PROBE_PIECE_BYTES);
        sample = bytes_skip(sample, piece.len);
        memcpy(j->piece, piece.data, piece.len);
        j->len = piece.len;
        r = job_run(pool, &j->job, NULL, USEC_NEVER);
        if (r < 0)
            return r; /* it goes by itself */
        r = j->result;
    } while (r == 0 && sample.len > 0 && clock_now() < until);
    if (r == 0)
        take_result(j, ret);
    free_job(&j->job);
    return r;
}
