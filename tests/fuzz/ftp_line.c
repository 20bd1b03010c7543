/* However the bytes arrive, the same lines come out, and never is more held than promised.
 * Input: one byte that says how the second reader is fed, then the control connection. */
#include "base/limits.h"
#include "ftp/wire/line.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* All that came out of a reader, as a running hash. */
struct outcome {
    uint64_t hash;
};

static void note(struct outcome *o, uint8_t byte)
{
    o->hash = (o->hash ^ byte) * UINT64_C(0x100000001b3);
}

static void take_lines(struct ftp_line_reader *r, size_t cap, bool unreads, struct outcome *o)
{
    struct bytes line = BYTES_NONE;
    enum ftp_line_event event;

    while ((event = ftp_line_next(r, cap, &line)) != FTP_LINE_NONE) {
        if (event == FTP_LINE_READY && unreads) {
            size_t len = line.len;
            ftp_line_unread(r);
            INVARIANT(ftp_line_next(r, cap, &line) == FTP_LINE_READY && line.len == len);
        }
        note(o, (uint8_t)event);
        if (event != FTP_LINE_READY)
            continue;
        INVARIANT(line.len <= cap);
        for (size_t i = 0; i < line.len; i++) {
            INVARIANT(line.data[i] != '\n' && line.data[i] != 0);
            note(o, line.data[i]);
        }
    }
    INVARIANT(ftp_line_room(r, cap) > 0);
    INVARIANT(r->in.len > 0 || r->in.data == NULL);
}

static struct outcome read_all(struct bytes in, size_t cap, size_t chunk, bool unreads)
{
    struct ftp_line_reader r;
    struct outcome o = {.hash = UINT64_C(0xcbf29ce484222325)};

    ftp_line_init(&r);
    while (in.len > 0) {
        size_t room = ftp_line_room(&r, cap);
        size_t n = bytes_first(in, chunk < room ? chunk : room).len;
        INVARIANT(ftp_line_feed(&r, bytes_first(in, n)) == 0);
        INVARIANT(r.in.len <= cap + FTP_LINE_CHUNK);
        in = bytes_skip(in, n);
        take_lines(&r, cap, unreads, &o);
    }
    ftp_line_done(&r);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len == 0)
        return 0;
    struct bytes in = bytes_of(data + 1, len - 1);
    size_t cap = data[0] & 1 ? 16 : FTP_LINE_PRELOGIN_MAX;
    size_t chunk = 2 + (data[0] >> 1) * (size_t)5;
    struct outcome a = read_all(in, cap, 1, false), b = read_all(in, cap, chunk, true);
    INVARIANT(a.hash == b.hash);
    return 0;
}
