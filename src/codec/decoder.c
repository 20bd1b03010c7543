#include <errno.h>

#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"
#include "codec/internal.h"

/* RFC 8878 3.1.1.1.2: what a decoder should be able to read, and none need offer more. */
#define ZSTD_WINDOW_BYTES (8 * 1024 * 1024)

struct decoder {
    enum codec codec;
    struct decoder_limits limits;
    uint64_t in_bytes, out_bytes;
    bool is_at_boundary;
    bool is_full; /* the last output was: more may be inside */
    int result;   /* 1 at the end of the stream, or the failure after which none follows */

    union {
        z_stream z;
        ZSTD_DCtx *zstd;
    };
};

/* -- zlib -- */

static int zlib_decoder_new(struct decoder *d)
{
    zlib_init(&d->z);
    return inflateInit2(&d->z, ZLIB_WINDOW_BITS) == Z_OK ? 0 : -ENOMEM;
}

/* Z_BUF_ERROR: no input, or no room. It also comes back for input that was all used before
 * with output left inside, so it is no failure. */
static int inflate_result(int said)
{
    switch (said) {
    case Z_OK:
    case Z_BUF_ERROR:
        return 0;
    case Z_STREAM_END:
        return 1;
    case Z_MEM_ERROR: /* the window is allocated when it is needed */
        return -ENOMEM;
    default: /* Z_DATA_ERROR; Z_NEED_DICT: nobody agreed on one */
        return -EBADMSG;
    }
}

static int zlib_decoder_step(struct decoder *d, struct bytes *in, uint8_t *out, size_t max,
                             size_t *ret_len)
{
    const uInt in_len = in->len < UINT32_MAX ? (uInt)in->len : UINT32_MAX;
    const uInt out_len = max < UINT32_MAX ? (uInt)max : UINT32_MAX;
    d->z.next_in = in->data;
    d->z.avail_in = in_len;
    d->z.next_out = out;
    d->z.avail_out = out_len;
    int r = inflate_result(inflate(&d->z, Z_NO_FLUSH));
    *in = bytes_skip(*in, in_len - d->z.avail_in);
    *ret_len = out_len - d->z.avail_out;
    d->is_at_boundary = r == 1;
    return r;
}

/* -- zstd -- */

static int log2_floor(size_t n)
{
    int log = 0;
    while (n >>= 1)
        log++;
    return log;
}

static int zstd_decoder_new(struct decoder *d)
{
    size_t window = d->limits.window_bytes != 0 ? d->limits.window_bytes : ZSTD_WINDOW_BYTES;
    d->is_at_boundary = true;
    d->zstd = ZSTD_createDCtx();
    if (d->zstd == NULL)
        return -ENOMEM;
    size_t said = ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, log2_floor(window));
    return ZSTD_isError(said) ? -EINVAL : 0;
}

/* Until the input is used or the room is full: of many small frames too. zstd says 0 where a
 * frame has ended and all of it is out, and fails if it is asked for nothing too often. */
static int zstd_decoder_step(struct decoder *d, struct bytes *in, uint8_t *out, size_t max,
                             size_t *ret_len)
{
    ZSTD_inBuffer i = {in->data, in->len, 0};
    ZSTD_outBuffer o = {out, max, 0};
    while (o.pos < max && (i.pos < i.size || d->is_full)) {
        size_t before = i.pos + o.pos;
        size_t said = ZSTD_decompressStream(d->zstd, &o, &i);
        if (ZSTD_isError(said))
            return zstd_error(said);
        d->is_full = o.pos == max;
        if (i.pos + o.pos == before)
            break;
        d->is_at_boundary = said == 0;
    }
    *in = bytes_skip(*in, i.pos);
    *ret_len = o.pos;
    return 0;
}

/* -- both -- */

static bool is_bomb(const struct decoder *d)
{
    return d->limits.ratio != 0 && d->out_bytes > d->limits.ratio_after_bytes &&
           d->out_bytes / d->limits.ratio > d->in_bytes;
}

int decoder_new(enum codec codec, const struct decoder_limits *limits, struct decoder **ret)
{
    if (codec == CODEC_NONE || codec == CODEC_GZIP)
        return -EINVAL;
    struct decoder *d = mem_new(sizeof(*d));
    if (d == NULL)
        return -ENOMEM;
    d->codec = codec;
    d->limits = *limits;
    int r = codec == CODEC_ZLIB ? zlib_decoder_new(d) : zstd_decoder_new(d);
    if (r < 0) {
        decoder_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

struct decoder *decoder_free(struct decoder *d)
{
    if (d == NULL)
        return NULL;
    if (d->codec == CODEC_ZLIB)
        (void)inflateEnd(&d->z);
    else
        (void)ZSTD_freeDCtx(d->zstd);
    mem_free(d);
    return NULL;
}

int decoder_step(struct decoder *d, struct bytes *in, void *out, size_t max, size_t *ret_len)
{
    struct bytes rest = *in;
    size_t len = 0;
    if (d->result < 0)
        return d->result;
    if (d->result == 0) {
        d->result = d->codec == CODEC_ZLIB ? zlib_decoder_step(d, &rest, out, max, &len)
                                           : zstd_decoder_step(d, &rest, out, max, &len);
        d->in_bytes += in->len - rest.len;
        d->out_bytes += len;
        if (d->result >= 0 && is_bomb(d))
            d->result = -FERRY_ELIMIT;
    }
    if (d->result < 0)
        return d->result;
    *in = rest;
    *ret_len = len;
    return d->result;
}

bool decoder_is_at_boundary(const struct decoder *d)
{
    return d->is_at_boundary;
}
