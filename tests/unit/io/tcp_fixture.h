/* A connection over loopback, both ends of it in the calling task's worker. */
#pragma once
#include <string.h>

#include "io/tcp.h"
#include "runtime_fixture.h"

static inline struct addr loopback(void)
{
    struct addr a;
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), &a) == 0);
    return a;
}

struct tcp_pair {
    struct stream *client, *server;
};

static inline void tcp_pair_open(struct tcp_pair *p, usec_t stall_us)
{
    struct addr at = loopback(), peer;
    struct listener *l;
    struct io_fd *client, *server;
    int fd;
    TASK_ASSERT(tcp_listen(&at, 5, &fd) == 0 && listener_new(fd, &l) == 0);
    TASK_ASSERT(tcp_connect(&at, NULL, USEC_NEVER, &client) == 0);
    TASK_ASSERT(listener_accept(l, BYTES_NONE, USEC_NEVER, &fd, &peer) == 0);
    TASK_ASSERT(io_fd_new(fd, &server) == 0);
    TASK_ASSERT(tcp_stream_new(client, stall_us, &p->client) == 0);
    TASK_ASSERT(tcp_stream_new(server, stall_us, &p->server) == 0);
    (void)listener_free(l);
}

static inline void tcp_pair_close(struct tcp_pair *p)
{
    p->client = stream_free(p->client);
    p->server = stream_free(p->server);
}
