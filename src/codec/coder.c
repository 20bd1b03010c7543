#include <assert.h>
#include <errno.h>

#include <zstd.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "codec/internal.h"

/* Levels from 9 up would take windows of 4 and 8 MB and up to 90 MB of memory. With these they
 * take 9 to 16 MB, are faster, and put out 0.5 to 5 % more. 0: the level's own. */
#define ZSTD_LEVEL_OF_BOUNDS 9

static const struct zstd_bound {
    ZSTD_cParameter name;
    int value;
} zstd_bounds[] = {{ZSTD_c_windowLog, 21}, {ZSTD_c_hashLog, 20}, {ZSTD_c_chainLog, 21}};

/* So much input is not held back: what came out of a whole step is then what its level made of
 * it, as the controller takes it to be, and the sink is kept busy. Text, sources and programs
 * grow by 0.05 to 0.3 %. */
#define HELD_MAX (CODEC_STEP_BYTES / 2)

/* ferryd takes a stream that expands beyond EXPAND_RATIO_MAX for a bomb. A file of zeros is
 * none: where one nears that, single steps are stored, which costs less than a hundredth of the
 * link. */
#define DENSE_RATIO (EXPAND_RATIO_MAX * 3 / 4)
#define DENSE_BYTES (EXPAND_FREE_BYTES / 2)

struct coder {
    enum codec codec;
    int level;
    bool is_level_new; /* to be told before the next input */
    bool is_open;      /* zstd: a frame has begun */
    size_t held_bytes; /* of input that may not be out yet: below HELD_MAX */
    uint64_t in_bytes, out_bytes;

    union {
        z_stream z;
        ZSTD_CCtx *zstd;
    };
};

static bool has_level(enum codec codec, int level)
{
    switch (codec) {
    case CODEC_ZLIB:
    case CODEC_GZIP:
        return level >= 0 && level <= CODEC_ZLIB_LEVEL_MAX;
    case CODEC_ZSTD:
        return level >= CODEC_ZSTD_LEVEL_MIN && level <= CODEC_ZSTD_LEVEL_MAX;
    case CODEC_NONE:
        break;
    }
    return false;
}

/* For a call of the library: room for all that a step may put out, or for what the cap leaves.
 */
static int make_room(struct buf *out, size_t bound, size_t *ret_room)
{
    size_t left = out->cap - out->len;
    if (left == 0)
        return -FERRY_ELIMIT;
    int r = buf_reserve(out, bound < left ? bound : left);
    if (r < 0)
        return r;
    *ret_room = out->room - out->len;
    return 0;
}

/* -- zlib -- */

static int zlib_new(struct coder *c)
{
    int bits = ZLIB_WINDOW_BITS + (c->codec == CODEC_GZIP ? ZLIB_GZIP_BITS : 0);
    zlib_init(&c->z);
    int r = deflateInit2(&c->z, c->level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
    return r == Z_OK ? 0 : -ENOMEM;
}

static int set_output(struct coder *c, struct buf *out)
{
    size_t room;
    int r = make_room(out, coder_bound(c, c->z.avail_in), &room);
    if (r < 0)
        return r;
    c->z.next_out = out->data + out->len;
    c->z.avail_out = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
    return 0;
}

/* deflateParams() puts out what the old level still holds if the new one works in another way
 * (0, 1-3 and 4-9 do), as a block that does not end on a byte. Without room for it it changes
 * nothing and says Z_BUF_ERROR: drain and ask again. */
static int zlib_set_level(struct coder *c, struct buf *out)
{
    int r, said;
    c->z.next_in = NULL;
    c->z.avail_in = 0;
    do {
        if ((r = set_output(c, out)) < 0)
            return r;
        uInt room = c->z.avail_out;
        said = deflateParams(&c->z, c->level, Z_DEFAULT_STRATEGY);
        buf_added(out, room - c->z.avail_out);
    } while (said == Z_BUF_ERROR && c->z.avail_out == 0);
    return said == Z_OK ? 0 : -EINVAL;
}

/* Z_BUF_ERROR says that there was nothing to do, as in a second flush. Only room that is left
 * over says that all is out. */
static int zlib_step(struct coder *c, struct bytes in, enum coder_flush flush, struct buf *out)
{
    /* A partial flush is what RFC 4253 6.2 asks for, and with 10 bits the shortest. */
    static const int flushes[] = {
        [CODER_MORE] = Z_NO_FLUSH, [CODER_SYNC] = Z_PARTIAL_FLUSH, [CODER_END] = Z_FINISH};
    int r, said;
    c->z.next_in = in.data; /* ZLIB_CONST */
    c->z.avail_in = (uInt)in.len;
    do {
        if ((r = set_output(c, out)) < 0)
            return r;
        uInt room = c->z.avail_out;
        said = deflate(&c->z, flushes[flush]);
        buf_added(out, room - c->z.avail_out);
    } while (c->z.avail_out == 0 && said != Z_STREAM_END);
    return said == Z_STREAM_ERROR ? -EINVAL : 0;
}

/* -- zstd -- */

static int zstd_set(struct coder *c, ZSTD_cParameter name, int value)
{
    return zstd_error(ZSTD_CCtx_setParameter(c->zstd, name, value));
}

static int zstd_tell_level(struct coder *c)
{
    int r = zstd_set(c, ZSTD_c_compressionLevel, c->level);
    for (size_t i = 0; i < ARRAY_LEN(zstd_bounds) && r == 0; i++)
        r = zstd_set(c, zstd_bounds[i].name,
                     c->level >= ZSTD_LEVEL_OF_BOUNDS ? zstd_bounds[i].value : 0);
    return r;
}

static int zstd_new(struct coder *c)
{
    c->zstd = ZSTD_createCCtx();
    if (c->zstd == NULL)
        return -ENOMEM;
    int r = zstd_set(c, ZSTD_c_checksumFlag, 1);
    return r == 0 ? zstd_tell_level(c) : r;
}

static int zstd_run(struct coder *c, struct bytes in, ZSTD_EndDirective how, struct buf *out)
{
    ZSTD_inBuffer i = {in.data, in.len, 0};
    size_t room, left;
    do {
        int r = make_room(out, coder_bound(c, i.size - i.pos), &room);
        if (r < 0)
            return r;
        ZSTD_outBuffer o = {out->data + out->len, room, 0};
        left = ZSTD_compressStream2(c->zstd, &o, &i, how);
        buf_added(out, o.pos);
        if (ZSTD_isError(left))
            return zstd_error(left);
    } while (how == ZSTD_e_continue ? i.pos < i.size : left > 0);
    c->is_open = how != ZSTD_e_end;
    return 0;
}

/* Level 0, which is ours: each step is a frame of one raw block, as short as one can be (RFC
 * 8878 3.1.1): magic; descriptor of a single segment whose size has four bytes, without a
 * checksum; size; and of the block that it is the last, raw, and its size. */
#define STORED_HEAD 12
#define STORED_MAX  (128 * 1024) /* of a block */

static_assert(CODEC_STEP_BYTES <= STORED_MAX, "a step is one block");

static int zstd_store(struct bytes in, struct buf *out)
{
    uint32_t size = (uint32_t)in.len, block = size << 3 | 1;
    const uint8_t head[STORED_HEAD] = {
        0x28,
        0xb5,
        0x2f,
        0xfd,
        0xa0,
        (uint8_t)size,
        (uint8_t)(size >> 8),
        (uint8_t)(size >> 16),
        (uint8_t)(size >> 24),
        (uint8_t)block,
        (uint8_t)(block >> 8),
        (uint8_t)(block >> 16),
    };
    int r = buf_append(out, head, sizeof(head));
    return r < 0 ? r : buf_append(out, in.data, in.len);
}

/* A frame has one level: setting another in mid-frame succeeds and changes nothing. */
static int zstd_set_level(struct coder *c, struct buf *out)
{
    int r = c->is_open ? zstd_run(c, BYTES_NONE, ZSTD_e_end, out) : 0;
    return r == 0 && c->level != 0 ? zstd_tell_level(c) : r;
}

static int zstd_step(struct coder *c, struct bytes in, enum coder_flush flush, struct buf *out)
{
    static const ZSTD_EndDirective how[] = {
        [CODER_MORE] = ZSTD_e_continue, [CODER_SYNC] = ZSTD_e_flush, [CODER_END] = ZSTD_e_end};
    if (c->level == 0)
        return in.len > 0 || flush == CODER_END ? zstd_store(in, out) : 0;
    return zstd_run(c, in, how[flush], out);
}

/* -- both -- */

static const struct coder_kind {
    int (*new)(struct coder *);
    int (*set_level)(struct coder *, struct buf *out);
    int (*step)(struct coder *, struct bytes in, enum coder_flush, struct buf *out);
} kinds[] = {
    [CODEC_ZLIB] = {zlib_new, zlib_set_level, zlib_step},
    [CODEC_ZSTD] = {zstd_new, zstd_set_level, zstd_step},
    [CODEC_GZIP] = {zlib_new, zlib_set_level, zlib_step},
};

int coder_new(enum codec codec, int level, struct coder **ret)
{
    if (!has_level(codec, level))
        return -EINVAL;
    struct coder *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->codec = codec;
    c->level = level;
    int r = kinds[codec].new(c);
    if (r < 0) {
        coder_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct coder *coder_free(struct coder *c)
{
    if (c == NULL)
        return NULL;
    if (c->codec != CODEC_ZSTD)
        (void)deflateEnd(&c->z); /* Z_DATA_ERROR: in mid-stream */
    else
        (void)ZSTD_freeCCtx(c->zstd);
    mem_free(c);
    return NULL;
}

int coder_set_level(struct coder *c, int level)
{
    if (!has_level(c->codec, level))
        return -EINVAL;
    c->is_level_new = c->is_level_new || level != c->level;
    c->level = level;
    return 0;
}

int coder_level(const struct coder *c)
{
    return c->level;
}

static int run_step(struct coder *c, struct bytes in, enum coder_flush flush, struct buf *out)
{
    const struct coder_kind *kind = &kinds[c->codec];
    if (c->is_level_new) {
        int r = kind->set_level(c, out);
        if (r < 0)
            return r;
        c->is_level_new = false;
    }
    return kind->step(c, in, flush, out);
}

static bool is_dense(const struct coder *c)
{
    return c->in_bytes > DENSE_BYTES && c->in_bytes / DENSE_RATIO > c->out_bytes;
}

int coder_step(struct coder *c, struct bytes in, enum coder_flush flush, struct buf *out)
{
    assert(in.len <= CODEC_STEP_BYTES);
    if (in.len == 0 && flush != CODER_END && (flush == CODER_MORE || c->held_bytes == 0))
        return 0;
    if (flush == CODER_MORE && c->held_bytes + in.len >= HELD_MAX)
        flush = CODER_SYNC;
    int r, level = c->level;
    size_t before = out->len;
    if (is_dense(c)) {
        r = coder_set_level(c, 0);
        if (r == 0)
            r = run_step(c, in, flush, out);
        if (r == 0)
            r = coder_set_level(c, level);
    } else {
        r = run_step(c, in, flush, out);
    }
    if (r < 0)
        return r;
    c->in_bytes += in.len;
    c->out_bytes += out->len - before;
    c->held_bytes = flush == CODER_MORE ? c->held_bytes + in.len : 0;
    return 0;
}

/* zlib: literals of 9 bits, and 5 bytes for each stored block; head, flush and checksum. zstd:
 * ZSTD_compressBound(), and of two frames heads and checksums, which is more than what is
 * stored takes. */
size_t coder_bound(const struct coder *c, size_t in_bytes)
{
    size_t n = in_bytes + c->held_bytes;
    if (c->codec != CODEC_ZSTD)
        return n + n / 8 + n / 64 + 64;
    return ZSTD_compressBound(n) + 64;
}
