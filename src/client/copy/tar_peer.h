/* The tar of the other end: whether there is one, the channel that it runs in, and how it
 * ended. */
#pragma once
#include "client/place/login.h"
#include "tar/filter.h"

#define COPY_TAR_WORDS_MAX 256

/* What --compress asked for. */
struct copy_packing {
    enum codec codec;
    int level;        /* or COMPRESS_AUTO */
    bool is_any_fine; /* "auto": the codec is ours to choose, too */
};

/* Looks for a tar, and for what it can decompress: zstd, and gzip where ssh does not compress
 * already; what is sent is compressed once at most. Each costs a command. 0; -EOPNOTSUPP: the
 * server has no tar, or none with zstd, and that alone was asked for; ret_why: in words, or "".
 * Or how the connection was lost. */
PARKS MUST_CHECK int copy_tar_find(const struct ssh_link *, const struct copy_packing *,
                                   enum tar_filter *ret, const char **ret_why);

struct copy_tar_found {
    enum tar_filter filter;
    const char *why; /* as above */
    struct ssh_channel *channel;
};

/* The same, and `tar x` in a directory that is there; the archive goes into
 * ssh_channel_stream(). Who succeeds closes the channel. -EOPNOTSUPP: the server runs no
 * command, too. */
PARKS MUST_CHECK int copy_tar_find_and_start(const struct ssh_link *,
                                             const struct copy_packing *, bool keeps_modes,
                                             const char *directory, struct copy_tar_found *ret);
/* `tar c` of all that is in a directory; the archive comes out of the channel's stream. Who
 * succeeds closes it. -EOPNOTSUPP: the server runs no command. */
PARKS MUST_CHECK int copy_tar_start_packing(const struct ssh_link *, struct bytes directory,
                                            struct ssh_channel **ret);
/* Its exit status, waited for until the deadline, as long as its machine answers at all; ret:
 * what it said, printable. -FERRY_ESTALLED: there was none. */
PARKS MUST_CHECK int copy_tar_status(const struct ssh_link *, struct ssh_channel *,
                                     usec_t deadline, char ret[COPY_TAR_WORDS_MAX]);
