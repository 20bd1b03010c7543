/* The server that tests of our FTP client play: a task for the control connection and one for
 * the data connection, on loopback; and the client's side of a dialogue with it. */
#pragma once
#include "base/err.h"
#include "check.h"
#include "ftp/client.h"
#include "io/tcp.h"
#include "runtime_fixture.h"

struct ftp_peer {
    struct listener *control, *data;
    struct addr control_addr, data_addr;
    struct scope scope;
};

static inline void ftp_peer_listen(struct listener **ret, struct addr *ret_addr)
{
    int fd;
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), ret_addr) == 0);
    TASK_ASSERT(tcp_listen(ret_addr, 4, &fd) == 0 && listener_new(fd, ret) == 0);
}

/* serve_data: NULL: nobody listens, so that a connection is refused. */
static inline void ftp_peer_start(struct ftp_peer *p, task_fn *serve_control,
                                  task_fn *serve_data, void *arg)
{
    scope_init(&p->scope);
    ftp_peer_listen(&p->control, &p->control_addr);
    ftp_peer_listen(&p->data, &p->data_addr);
    TASK_ASSERT(scope_start(&p->scope, "control", TASK_NORMAL, serve_control, arg, NULL) == 0);
    if (serve_data != NULL) {
        TASK_ASSERT(scope_start(&p->scope, "data", TASK_NORMAL, serve_data, arg, NULL) == 0);
        return;
    }
    p->data = listener_free(p->data);
    TASK_ASSERT(task_sleep_until(clock_after(1)) == 0); /* it closes after the loop's turn */
}

static inline void ftp_peer_stop(struct ftp_peer *p)
{
    TASK_ASSERT(task_sleep_until(clock_after(1)) == 0); /* until it has seen the client go */
    scope_leave(&p->scope);
    listener_free(p->data);
    listener_free(p->control);
}

/* NULL: nobody came before the end. */
static inline struct stream *ftp_peer_accept(struct listener *l)
{
    struct addr peer;
    struct io_fd *f;
    struct stream *s = NULL;
    int fd;
    int r = listener_accept(l, BYTES_NONE, USEC_NEVER, &fd, &peer);
    if (r == 0)
        r = io_fd_new(fd, &f);
    if (r == 0)
        r = tcp_set_nodelay(f);
    if (r == 0)
        r = tcp_stream_new(f, 0, &s);
    TASK_ASSERT(r == 0 || r == -ECANCELED);
    return s;
}

/* -- the client -- */

/* What a server did to a client, as it is known afterwards. */
struct ftp_peer_outcome {
    int result;
    unsigned code;
    bool is_open;
};

static inline int ftp_peer_connect_only(struct ftp_client *c)
{
    (void)c;
    return 0;
}

static inline int ftp_peer_log_in(struct ftp_client *c)
{
    return ftp_client_login(c, BYTES_LIT("ann"), BYTES_LIT("right"));
}

/* Connects, acts, and leaves. */
static inline void ftp_peer_meet(const struct ftp_peer *p,
                                 const struct ftp_client_settings *settings,
                                 int (*act)(struct ftp_client *), struct ftp_peer_outcome *ret)
{
    struct ftp_client c;
    ftp_client_init(&c, settings);
    int r = ftp_client_connect(&c, &p->control_addr, NULL);
    if (r == 0)
        r = act(&c);
    TASK_ASSERT(c.data == NULL);
    *ret = (struct ftp_peer_outcome){r, c.code, ftp_client_is_open(&c)};
    ftp_client_close(&c);
}

static inline void ftp_peer_check(const char *name, const struct ftp_peer_outcome *is,
                                  const struct ftp_peer_outcome *wanted)
{
    if (is->result != wanted->result || is->code != wanted->code ||
        is->is_open != wanted->is_open)
        fail_msg("a server that %s: %s, code %u, %s", name, err_name(is->result), is->code,
                 is->is_open ? "open" : "closed");
}
