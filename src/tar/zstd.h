/* The frames of a zstd stream, followed from outside (RFC 8878 3.1): what memory each would
 * have its reader take is known before the reader sees it. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define ZSTD_HEAD_MAX 18 /* magic and frame header */

struct zstd_frames {
    uint8_t head[ZSTD_HEAD_MAX]; /* what is complete at `need` bytes */
    unsigned len, need;
    uint64_t skip; /* contents, before the next head */

    enum { ZSTD_MAGIC, ZSTD_SKIPPABLE, ZSTD_HEADER, ZSTD_BLOCK } state;

    bool has_checksum;
};

void zstd_frames_init(struct zstd_frames *);
bool zstd_is_magic(const uint8_t first[4]);
/* The next bytes of the stream, cut anywhere. -FERRY_ELIMIT: a frame's window is over
 * TAR_WINDOW_BYTES. -EBADMSG: no zstd. */
MUST_CHECK int zstd_frames_follow(struct zstd_frames *, struct bytes);
