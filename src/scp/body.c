/* The bytes of one file within the dialogue, as a stream that ends where the file does. It
 * knows what was taken, also if that was not written: what is left can be thrown away, and the
 * next line is found. */
#include "base/err.h"
#include "scp/internal.h"

#define DRAIN_BYTES (256 * 1024)

static struct scp_body *body_of(struct stream *s)
{
    return (struct scp_body *)(void *)s; /* its first member */
}

static int body_take(struct stream *s, size_t max, struct slices *ret)
{
    struct scp_body *b = body_of(s);
    if (b->left == 0) {
        *ret = (struct slices){0};
        return 0;
    }
    int r = stream_take(b->lower, max < b->left ? max : (size_t)b->left, ret);
    if (r == 0)
        b->left -= ret->len;
    return r;
}

static int body_wait(struct stream *s, struct event *event, usec_t deadline)
{
    struct scp_body *b = body_of(s);
    return b->left == 0 ? 0 : stream_wait(b->lower, event, deadline);
}

static void body_info(const struct stream *s, struct stream_info *ret)
{
    stream_info(((const struct scp_body *)(const void *)s)->lower, ret);
}

static const struct stream_ops body_ops = {
    .name = "scp body",
    .take = body_take,
    .wait = body_wait,
    .info = body_info,
};

void scp_body_init(struct scp_body *b, struct stream *lower, uint64_t len)
{
    *b = (struct scp_body){.stream = {&body_ops, lower->stall_us}, .lower = lower, .left = len};
}

int scp_body_drain(struct scp_body *b)
{
    while (b->left > 0) {
        struct slices slices;
        int r = body_take(&b->stream, DRAIN_BYTES, &slices);
        if (r < 0)
            return r;
        if (slices.len == 0)
            return -FERRY_ECLOSED;
        slices_drop(&slices);
    }
    return 0;
}
