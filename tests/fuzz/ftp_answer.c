/* However a server's bytes arrive, the same replies come out, within their bounds; and whatever
 * stands in them, an address that is taken from one is one that can be connected to.
 * Input: one byte that says how the second reader is fed, then the control connection. */
#include "base/limits.h"
#include "ftp/wire/answer.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint64_t mix(uint64_t hash, struct bytes what)
{
    for (size_t i = 0; i < what.len; i++)
        hash = (hash ^ what.data[i]) * UINT64_C(0x100000001b3);
    return (hash ^ what.len) * UINT64_C(0x100000001b3);
}

static void check_arguments(struct bytes text)
{
    struct ftp_address address;
    uint16_t port;
    uint64_t size;

    if (ftp_answer_pasv(text, &address) == 0)
        INVARIANT(address.family == FTP_FAMILY_IPV4 && address.port > 0);
    if (ftp_answer_epsv(text, &port) == 0)
        INVARIANT(port > 0 && text.len >= 6);
    if (ftp_answer_size(text, &size) == 0)
        INVARIANT(size <= INT64_MAX && text.len > 0);
}

static uint64_t note(uint64_t hash, const struct ftp_answer *a)
{
    size_t at;

    INVARIANT(a->code >= 100 && a->code <= 599);
    INVARIANT(a->text.len <= FTP_LINE_MAX && a->lines.len <= FTP_REPLY_MAX);
    INVARIANT(!bytes_find(a->text, '\n', &at));
    check_arguments(a->text);
    return mix(mix(hash ^ a->code, a->text), a->lines);
}

/* The replies, and how it ended, as one number. */
static uint64_t read_all(struct bytes in, size_t chunk, bool drops)
{
    struct ftp_answer_reader r;
    struct ftp_answer a;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int result = 0;

    ftp_answer_init(&r);
    while (in.len > 0 && result == 0) {
        size_t room = ftp_answer_room(&r);
        INVARIANT(room > 0);
        struct bytes part = bytes_first(in, chunk < room ? chunk : room);
        INVARIANT(ftp_answer_feed(&r, part) == 0);
        in = bytes_skip(in, part.len);
        while ((result = ftp_answer_next(&r, &a)) > 0) {
            hash = note(hash, &a);
            if (drops)
                ftp_answer_drop(&r);
        }
        INVARIANT(r.lines.len <= FTP_REPLY_MAX + 1);
        INVARIANT(result < 0 || r.in.in.len > 0 || r.in.in.data == NULL);
    }
    ftp_answer_done(&r);
    return hash ^ (unsigned)-result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len == 0)
        return 0;
    struct bytes in = bytes_of(data + 1, len - 1);
    INVARIANT(read_all(in, 1, false) == read_all(in, 2 + data[0] * (size_t)23, true));
    check_arguments(in);
    return 0;
}
