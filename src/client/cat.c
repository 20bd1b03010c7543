/* ferry cat: contents of files to standard output. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "client/command.h"
#include "client/places.h"
#include "io/fd_stream.h"

static const struct remote_flag flags[] = {{0, NULL, NULL}};

static const struct remote_usage usage = {.line = "cat [OPTION]... PLACE...",
                                          .what = "Writes files to standard output.",
                                          .flags = flags,
                                          .least = 1};

/* Writes what comes in order. */
struct output {
    struct stream *out;
    uint64_t next;
    bool has_gap;
};

static PARKS int take(void *arg, uint64_t offset, struct chunk *chunk,
                      const struct iovec *pieces, unsigned count)
{
    struct output *o = arg;
    (void)chunk;
    o->has_gap = offset != o->next;
    if (o->has_gap)
        return -EAGAIN;
    for (unsigned i = 0; i < count; i++) {
        int r = stream_write_bytes(o->out, bytes_of(pieces[i].iov_base, pieces[i].iov_len));
        if (r < 0)
            return r == -FERRY_ECLOSED ? -EPIPE : r;
        o->next += pieces[i].iov_len;
    }
    return 0;
}

/* A server that answers out of order is asked again from where the order broke. */
static PARKS int cat_file(struct places *p, const char *path, struct stream *out)
{
    struct output o = {.out = out};
    struct endpoint *e = p->endpoint;
    for (;;) {
        const struct endpoint_get get = {.offset = o.next, .take = take, .arg = &o};
        struct endpoint_got got;
        uint64_t before = o.next;
        o.has_gap = false;
        int r = e->ops->get(e, bytes_str(path), &get, &got);
        if (r != -EAGAIN || !o.has_gap)
            return r;
        if (o.next == before)
            return -FERRY_EPROTO;
    }
}

static PARKS int cat_path(struct places *p, const char *path)
{
    return cat_file(p, path, p->out);
}

/* Its end is nobody's failure but of the next command in the pipe. */
static PARKS void cat_main(struct places *p)
{
    int r = fd_stream_new(STDOUT_FILENO, STDOUT_FILENO, 0, &p->out);
    if (r < 0) {
        fprintf(stderr, "ferry cat: standard output: %s\n", err_text(r));
        p->code = EXIT_FAILED;
        return;
    }
    places_each(p, cat_path);
    p->out = stream_free(p->out);
}

int command_cat(int argc, char **argv)
{
    return places_run(argc, argv, &usage, cat_main);
}
