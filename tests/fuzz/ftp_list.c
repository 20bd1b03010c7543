/* Listings and replies: whatever is in a name, each line is one line, has no control character
 * and says what was meant. Input: numbers for the facts (HEAD bytes), then the name. */
#include <assert.h>

#include "ftp/wire/facts.h"
#include "ftp/wire/reply.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define HEAD 48

/* The buffer is one line: CRLF at its end, and no control character before. */
static void expect_one_line(const struct buf *b)
{
    INVARIANT(b->len >= 2 && memcmp(b->data + b->len - 2, "\r\n", 2) == 0);
    for (size_t i = 0; i < b->len - 2; i++)
        INVARIANT(b->data[i] >= 0x20 && b->data[i] != 0x7f);
}

/* The same in a buffer with too little room: nothing, or the line. */
static void expect_all_or_nothing(int (*append)(struct buf *, const struct ftp_entry *,
                                                unsigned),
                                  const struct ftp_entry *e, unsigned number)
{
    struct buf b;
    buf_init(&b, 64 + 3 * (e->name.len + e->link_target.len) + 256);
    INVARIANT(append(&b, e, number) == 0);
    expect_one_line(&b);
    size_t len = b.len;
    buf_done(&b);

    buf_init(&b, len);
    INVARIANT(append(&b, e, number) == 0 && b.len == len);
    buf_done(&b);
    buf_init(&b, number % len);
    INVARIANT(append(&b, e, number) < 0 && b.len == 0);
    buf_done(&b);
}

static int append_list(struct buf *b, const struct ftp_entry *e, unsigned number)
{
    return ftp_list_line(b, e, e->mtime_us ^ (int64_t)((uint64_t)number << 20));
}

static int append_nlst(struct buf *b, const struct ftp_entry *e, unsigned number)
{
    return ftp_nlst_line(b, bytes_first(e->name, number % 32), e->name);
}

static int append_middle(struct buf *b, const struct ftp_entry *e, unsigned number)
{
    (void)number;
    int result = ftp_reply_line(b, "%.*s", (int)e->name.len, (const char *)e->name.data);
    INVARIANT(result < 0 || b->data[0] < '0' || b->data[0] > '9');
    return result;
}

static int append_reply(struct buf *b, const struct ftp_entry *e, unsigned number)
{
    int len = (int)e->name.len;
    const char *name = (const char *)e->name.data;
    if (number & 1)
        return ftp_reply_open(b, 211, "%.*s", len, name);
    return ftp_reply(b, 550, "%.*s: no such file", len, name);
}

static int append_path(struct buf *b, const struct ftp_entry *e, unsigned number)
{
    (void)number;
    return ftp_reply_path(b, 257, e->name, "created");
}

/* What a client reads out of 257's quotes is the path, but for what cannot be shown. */
static void expect_path_comes_back(struct bytes path)
{
    struct buf b;
    buf_init(&b, 2 * path.len + 64);
    INVARIANT(ftp_reply_path(&b, 257, path, "created") == 0);
    size_t at = strlen("257 \"");
    for (size_t i = 0; i < path.len; i++) {
        uint8_t c = path.data[i], seen = b.data[at++];
        INVARIANT(seen == (c < 0x20 || c == 0x7f ? '?' : c));
        if (c == '"' || c == 0xff)
            INVARIANT(b.data[at++] == c);
    }
    INVARIANT(bytes_equal(bytes_skip(buf_bytes(&b), at), BYTES_LIT("\" created\r\n")));
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint64_t n[6];
    static_assert(sizeof(n) == HEAD, "the head is six numbers");

    if (len < HEAD || len > HEAD + 8192)
        return 0;
    memcpy(n, data, HEAD);
    struct bytes name = bytes_of(data + HEAD, len - HEAD);
    struct ftp_entry e = {
        .name = name,
        .link_target = bytes_skip(name, name.len / 2),
        .kind = (enum ftp_entry_kind)(n[0] % (FTP_ENTRY_PARENT + 1)),
        .mode = (uint32_t)(n[0] >> 32),
        .links = (uint32_t)n[1],
        .size_bytes = n[2],
        .inode = n[3],
        .device = n[4],
        .mtime_us = (int64_t)n[5],
        .perm = (unsigned)(n[1] >> 32),
    };
    unsigned number = (unsigned)(n[0] >> 8);
    expect_all_or_nothing(append_list, &e, number);
    expect_all_or_nothing(append_nlst, &e, number);
    expect_all_or_nothing(ftp_mlsd_line, &e, number);
    expect_all_or_nothing(ftp_mlst_line, &e, number);
    expect_all_or_nothing(append_middle, &e, number);
    expect_all_or_nothing(append_reply, &e, number);
    expect_all_or_nothing(append_path, &e, number);
    expect_path_comes_back(name);
    return 0;
}
