/* The bytes that tests of ssh send and expect: of no short period, in rooms of any size. */
#pragma once
#include "io/stream.h"

static inline uint8_t pattern_at(uint64_t at)
{
    return (uint8_t)(at * 2654435761u >> 13);
}

static inline void pattern_fill(uint8_t *dst, size_t len, uint64_t at)
{
    for (size_t i = 0; i < len; i++)
        dst[i] = pattern_at(at + i);
}

static inline bool is_pattern(const uint8_t *data, size_t len, uint64_t at)
{
    for (size_t i = 0; i < len; i++)
        if (data[i] != pattern_at(at + i))
            return false;
    return true;
}

static inline int send_pattern(struct stream *stream, uint64_t count)
{
    uint64_t at = 0;
    while (at < count) {
        struct room room;
        size_t most = pattern_at(at + 1) % 8 == 0 ? 200 * 1000 : 5000; /* of any size */
        size_t want = count - at < most ? (size_t)(count - at) : most;
        int r = stream_room(stream, want, &room);
        if (r < 0)
            return r;
        uint64_t filled = at;
        for (unsigned i = 0; i < room.count; i++) {
            pattern_fill(room.pieces[i].iov_base, room.pieces[i].iov_len, filled);
            filled += room.pieces[i].iov_len;
        }
        size_t len = room.len > 7 && at % 3 == 0 ? room.len - 7 : room.len;
        r = stream_send(stream, &room, len);
        if (r < 0)
            return r;
        at += len;
    }
    return 0;
}
