/* What stands between two ends of a connection, for tests that change what passes. */
#pragma once
#include "base/buf.h"
#include "io/stream.h"
#include "runtime_fixture.h"

/* One direction. at: how far it is; change: NULL, or what is done to each byte that passes. */
struct relay_way {
    struct stream *from, *to;
    uint64_t at;
    uint64_t flip_bit;  /* this bit of the whole is flipped; UINT64_MAX: none */
    uint64_t cut_at;    /* so many bytes pass and no more; UINT64_MAX: all */
    struct buf *record; /* NULL, or where all is kept */
};

static inline void relay_main(void *arg)
{
    struct relay_way *w = arg;
    for (;;) {
        uint8_t data[2048];
        ssize_t n = stream_read(w->from, data, sizeof(data));
        if (n <= 0)
            break;
        if (w->flip_bit / 8 >= w->at && w->flip_bit / 8 < w->at + (uint64_t)n)
            data[w->flip_bit / 8 - w->at] ^= (uint8_t)(1u << w->flip_bit % 8);
        if (w->record != NULL)
            TASK_ASSERT(buf_append(w->record, data, (size_t)n) == 0);
        uint64_t left = w->cut_at - w->at;
        size_t len = left < (uint64_t)n ? (size_t)left : (size_t)n;
        w->at += (uint64_t)n;
        if (len > 0 && stream_write_bytes(w->to, bytes_of(data, len)) < 0)
            break;
        if (len < (size_t)n)
            break;
    }
    (void)(stream_end(w->to, 0) < 0);
}
