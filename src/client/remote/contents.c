#include "client/remote/contents.h"

#include "base/limits.h"

static uint64_t sum_of(const struct iovec *pieces, unsigned count)
{
    uint64_t len = 0;
    for (unsigned i = 0; i < count; i++)
        len += pieces[i].iov_len;
    return len;
}

/* -- from a server -- */

void contents_get_init(struct contents_get *c, const struct endpoint_get *get)
{
    *c = (struct contents_get){.get = get,
                               .local = {.upload = get->upload, .stall_us = DEFAULT_STALL_US}};
    if (get->upload != NULL)
        c->local.file = vupload_file(get->upload);
    meter_init(&c->meter, get->bucket, get->progress);
}

int contents_take(struct contents_get *c, uint64_t offset, struct chunk *chunk,
                  const struct iovec *pieces, unsigned count, uint64_t *ret_len)
{
    const struct endpoint_get *get = c->get;
    *ret_len = sum_of(pieces, count);
    int r = meter_wait(&c->meter, *ret_len);
    if (r == 0)
        r = get->upload != NULL ? sftp_local_sink(&c->local, offset, chunk, pieces, count)
                                : get->take(get->arg, offset, chunk, pieces, count);
    if (r < 0)
        return r;
    meter_moved(&c->meter, *ret_len);
    return 0;
}

/* -- to a server -- */

void contents_put_init(struct contents_put *c, const struct endpoint_put *put)
{
    *c = (struct contents_put){.put = put,
                               .local = {.file = put->file, .stall_us = DEFAULT_STALL_US}};
    meter_init(&c->meter, put->bucket, put->progress);
}

/* The first len bytes of the pieces. */
static unsigned cut_pieces(const struct iovec *pieces, uint64_t len, struct iovec *ret)
{
    unsigned n = 0;
    while (len > 0) {
        ret[n] = pieces[n];
        if (ret[n].iov_len > len)
            ret[n].iov_len = (size_t)len;
        len -= ret[n++].iov_len;
    }
    return n;
}

ssize_t contents_fill(void *arg, uint64_t offset, struct chunk *chunk,
                      const struct iovec *pieces, unsigned count)
{
    struct contents_put *c = arg;
    const struct endpoint_put *put = c->put;
    uint64_t all = sum_of(pieces, count), budget;
    int r = meter_budget(&c->meter, all, &budget);
    if (r < 0)
        return r;
    if (budget < all) {
        count = cut_pieces(pieces, budget, c->cut);
        pieces = c->cut;
    }
    ssize_t n = put->file != NULL ? sftp_local_source(&c->local, offset, chunk, pieces, count)
                                  : put->fill(put->arg, offset, chunk, pieces, count);
    meter_give_back(&c->meter, n > 0 ? budget - (uint64_t)n : budget);
    if (n > 0)
        meter_moved(&c->meter, (uint64_t)n);
    return n;
}
