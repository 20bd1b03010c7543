#include "base/bucket.h"

/* Wide enough for every product of a time and a rate. */
__extension__ typedef unsigned __int128 wide_t;

void bucket_init(struct bucket *b, uint64_t rate_per_s, uint64_t burst, usec_t now)
{
    if (burst == 0)
        burst = 1;
    if (burst > INT64_MAX)
        burst = INT64_MAX;
    *b = (struct bucket){
        .rate_per_s = rate_per_s,
        .burst = burst,
        .tokens = (int64_t)burst,
        .filled_at = now,
    };
}

/* What b lacks of n tokens. The difference fits: neither is further from 0 than INT64_MAX. */
static uint64_t missing(const struct bucket *b, uint64_t n)
{
    return n - (uint64_t)b->tokens;
}

static void fill(struct bucket *b, usec_t now)
{
    if (now <= b->filled_at)
        return;
    wide_t millionths = (wide_t)(now - b->filled_at) * b->rate_per_s + b->rest;
    wide_t bytes = millionths / USEC_PER_S;
    b->filled_at = now;
    if (bytes >= missing(b, b->burst)) {
        b->tokens = (int64_t)b->burst;
        b->rest = 0;
        return;
    }
    b->tokens = (int64_t)((uint64_t)b->tokens + (uint64_t)bytes);
    b->rest = (uint64_t)(millionths % USEC_PER_S);
}

static uint64_t step_of(const struct bucket *b, uint64_t want)
{
    uint64_t step = b->rate_per_s / (USEC_PER_S / BUCKET_STEP_US);
    if (step > b->burst)
        step = b->burst;
    if (step > want)
        step = want;
    return step != 0 ? step : 1;
}

static usec_t filled_with(const struct bucket *b, uint64_t tokens)
{
    wide_t millionths = (wide_t)missing(b, tokens) * USEC_PER_S - b->rest;
    wide_t us = (millionths + b->rate_per_s - 1) / b->rate_per_s;
    return us < USEC_NEVER - b->filled_at ? b->filled_at + (usec_t)us : USEC_NEVER;
}

uint64_t bucket_budget(struct bucket *b, uint64_t want, usec_t now, usec_t *ret_when)
{
    *ret_when = now;
    if (b->rate_per_s == 0)
        return want;
    fill(b, now);
    uint64_t step = step_of(b, want);
    if (b->tokens < (int64_t)step) {
        *ret_when = filled_with(b, step);
        return 0;
    }
    return want < (uint64_t)b->tokens ? want : (uint64_t)b->tokens;
}

void bucket_take(struct bucket *b, uint64_t bytes, usec_t now)
{
    if (b->rate_per_s == 0)
        return;
    fill(b, now);
    uint64_t most = (uint64_t)b->tokens + INT64_MAX;
    b->tokens = bytes < most ? (int64_t)((uint64_t)b->tokens - bytes) : -INT64_MAX;
}
