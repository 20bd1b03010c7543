#include "tar/zstd.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"

#define MAGIC           0xFD2FB528u
#define MAGIC_SKIPPABLE 0x184D2A50u /* its last four bits are free */
#define MAGIC_BYTES     4
#define BLOCK_BYTES     3
#define CHECKSUM_BYTES  4

static uint64_t little_endian(const uint8_t *p, unsigned len)
{
    uint64_t n = 0;
    while (len-- > 0)
        n = n << 8 | p[len];
    return n;
}

static void expect(struct zstd_frames *z, int state, unsigned need)
{
    z->state = state;
    z->need = need;
}

void zstd_frames_init(struct zstd_frames *z)
{
    *z = (struct zstd_frames){.state = ZSTD_MAGIC, .need = MAGIC_BYTES};
}

bool zstd_is_magic(const uint8_t first[MAGIC_BYTES])
{
    uint64_t n = little_endian(first, MAGIC_BYTES);
    return n == MAGIC || (n & ~UINT64_C(15)) == MAGIC_SKIPPABLE;
}

/* 3.1.1.1: descriptor, window, dictionary, size of the contents; which of them, the first says.
 */
static const uint8_t dictionary_bytes[] = {0, 1, 2, 4};

static unsigned size_bytes_of(uint8_t descriptor)
{
    static const uint8_t sizes[] = {0, 2, 4, 8};
    bool is_single = descriptor & 0x20;
    return descriptor >> 6 == 0 ? is_single : sizes[descriptor >> 6];
}

static unsigned header_bytes(uint8_t descriptor)
{
    bool is_single = descriptor & 0x20;
    return 1 + !is_single + dictionary_bytes[descriptor & 3] + size_bytes_of(descriptor);
}

static uint64_t window_of(const uint8_t *header)
{
    if (header[0] & 0x20) { /* one segment: the contents are their own window */
        unsigned len = size_bytes_of(header[0]);
        uint64_t size = little_endian(header + 1 + dictionary_bytes[header[0] & 3], len);
        return len == 2 ? size + 256 : size;
    }
    uint64_t base = UINT64_C(1) << (10 + (header[1] >> 3));
    return base + base / 8 * (header[1] & 7);
}

static int on_magic(struct zstd_frames *z)
{
    if (!zstd_is_magic(z->head))
        return -EBADMSG;
    bool is_frame = little_endian(z->head, MAGIC_BYTES) == MAGIC;
    expect(z, is_frame ? ZSTD_HEADER : ZSTD_SKIPPABLE, is_frame ? 1 : 4);
    return 0;
}

static int on_header(struct zstd_frames *z)
{
    unsigned need = header_bytes(z->head[0]);
    if (z->len < need) {
        z->need = need;
        return 0;
    }
    if (window_of(z->head) > TAR_WINDOW_BYTES)
        return -FERRY_ELIMIT;
    z->has_checksum = z->head[0] & 4;
    expect(z, ZSTD_BLOCK, BLOCK_BYTES);
    return 0;
}

/* 3.1.1.2: is it the last, its type, its size; a run has one byte. */
static int on_block(struct zstd_frames *z)
{
    uint64_t n = little_endian(z->head, BLOCK_BYTES);
    unsigned type = n >> 1 & 3;
    if (type == 3)
        return -EBADMSG;
    z->skip = type == 1 ? 1 : n >> 3;
    if (n & 1) {
        z->skip += z->has_checksum ? CHECKSUM_BYTES : 0;
        expect(z, ZSTD_MAGIC, MAGIC_BYTES);
    }
    return 0;
}

static int on_skippable(struct zstd_frames *z)
{
    z->skip = little_endian(z->head, 4);
    expect(z, ZSTD_MAGIC, MAGIC_BYTES);
    return 0;
}

static int on_head(struct zstd_frames *z)
{
    static int (*const on[])(struct zstd_frames *) = {
        [ZSTD_MAGIC] = on_magic,
        [ZSTD_SKIPPABLE] = on_skippable,
        [ZSTD_HEADER] = on_header,
        [ZSTD_BLOCK] = on_block,
    };
    int state = z->state;
    unsigned needed = z->need;
    int r = on[state](z);
    if ((int)z->state != state || z->need == needed)
        z->len = 0;
    return r;
}

int zstd_frames_follow(struct zstd_frames *z, struct bytes piece)
{
    int r = 0;
    while (piece.len > 0 && r == 0) {
        size_t n = z->skip > 0 ? z->skip : z->need - z->len;
        if (n > piece.len)
            n = piece.len;
        if (z->skip > 0) {
            z->skip -= n;
        } else {
            memcpy(z->head + z->len, piece.data, n);
            z->len += (unsigned)n;
            if (z->len == z->need)
                r = on_head(z);
        }
        piece = bytes_skip(piece, n);
    }
    return r;
}
