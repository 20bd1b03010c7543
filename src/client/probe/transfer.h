/* One way of a link, measured: the temporary file is written, or what it has is read, for as
 * long as it takes to see the rate that a long transfer has.
 *
 * The bytes are noise, which nothing on the way can make less. No more of them are on their way
 * than the link takes in about half a second: neither does a slow link have to be waited for
 * afterwards, nor is a fast one held back. */
#pragma once
#include "client/probe/place.h"
#include "client/probe/steady.h"

struct probe_effort {
    usec_t time_us;      /* for each way; three times that while the rate still grows */
    uint64_t size_bytes; /* at most */
    usec_t rtt_us;       /* of a small request */
};

struct probe_way_seen {
    struct steady_rate rate; /* bytes_per_s 0: it moved too little to tell */
    uint64_t bytes;          /* moved in all */
    usec_t took_us;
    bool is_held_between; /* the server had the bytes much later than the kernel said */
    bool is_rough;        /* so little, or so fast, that its start is in the rate */
};

/* Writes place->temporary, which is then there. A failure leaves ret as far as it was seen, and
 * the server's words in place->why. -ECANCELED: the file is whole or broken off, and there. */
PARKS MUST_CHECK int probe_upload(struct probe_place *, const struct probe_effort *,
                                  struct probe_way_seen *ret);
/* Reads a file of the server, again from its beginning where it is too short. */
PARKS MUST_CHECK int probe_download(struct probe_place *, const char *path,
                                    const struct probe_effort *, struct probe_way_seen *ret);
