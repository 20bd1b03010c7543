/* scp's client side for one file, over the stream of a command that the server runs
 * (scp_client_command()): a server's `scp -f` sends, its `scp -t` receives.
 *
 * What a server sends is taken under the name that was asked for or not at all: another one,
 * one with a '/', a directory, a second file, times nobody asked for: -FERRY_EBADNAME or
 * -FERRY_EPROTO, and nothing is written. What it complains of is -FERRY_EREFUSED, with its
 * words in why, printable. Waits end after the stream's stall time.
 */
#pragma once
#include "base/buf.h"
#include "io/stream.h"

#define SCP_CLIENT_WHY_MAX 256

struct scp_file {
    struct bytes name;   /* one component; of the path that was asked for */
    uint64_t size_bytes; /* get: as it was sent */
    uint32_t mode;
    bool has_times; /* get: they are asked for */
    int64_t mtime_us, atime_us;
};

/* Bytes of the file in their order; the pieces are memory of the chunk, and borrowed. */
typedef PARKS int scp_sink(void *arg, uint64_t offset, struct chunk *,
                           const struct iovec *pieces, unsigned count);
/* Fills the pieces; bytes, 0: the source has ended, which before size_bytes is a failure. */
typedef PARKS ssize_t scp_source(void *arg, uint64_t offset, struct chunk *,
                                 const struct iovec *pieces, unsigned count);

/* "scp -f -- 'PATH'": the path is quoted for a shell, so that no pattern and no command is in
 * it. -EINVAL: a path with a NUL; -FERRY_ELIMIT, -ENOMEM. */
MUST_CHECK int scp_client_command(bool receives, bool has_times, struct bytes path,
                                  struct buf *ret);

/* file->name is what the server may call it, file->has_times whether it is to tell times; the
 * others are written. sink: NULL: thrown away. max_bytes: a larger file is -EFBIG. */
PARKS MUST_CHECK int scp_client_get(struct stream *, struct scp_file *, uint64_t max_bytes,
                                    scp_sink *sink, void *arg,
                                    char ret_why[SCP_CLIENT_WHY_MAX]);
/* 0: the server has stored it. -FERRY_ETRUNCATED: the source has ended too early; end the
 * stream, and the server keeps no file. */
PARKS MUST_CHECK int scp_client_put(struct stream *, const struct scp_file *, scp_source *,
                                    void *arg, char ret_why[SCP_CLIENT_WHY_MAX]);
