#include <errno.h>
#include <netinet/tcp.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/tcp_internal.h"
#include "task/sys.h"

#define ACCEPTS_PER_TURN 32
#define RETRY_US         (100 * USEC_PER_MS)
#define PORT_TRIES       8 /* for port 0: another thread may be given the same one */

struct listener {
    int number;
    struct io_fd *fd; /* NULL: the loop does not know it yet, and number is ours */
    int spare_fd;     /* closed when there is no other to accept with; -1: none now */
    bool keeps_spare;
    unsigned accepted; /* in this turn */
};

/* -- sockets -- */

static int set_flag(int fd, int level, int name)
{
    int on = 1;
    return sys_setsockopt(fd, level, name, &on, sizeof(on));
}

int tcp_bound_socket(const struct addr *a, bool shares_port, int *ret_fd)
{
    int fd = sys_socket(addr_family(a), SOCK_STREAM, 0);
    if (fd < 0)
        return fd;
    int r = set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
    if (r == 0 && addr_family(a) == AF_INET6)
        r = set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY);
    if (r == 0 && shares_port)
        r = set_flag(fd, SOL_SOCKET, SO_REUSEPORT);
    if (r == 0)
        r = sys_bind(fd, &a->u.any, a->len);
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

static int resolve_port(int fd, struct addr *a)
{
    socklen_t len = sizeof(a->u);
    int r = sys_getsockname(fd, &a->u.any, &len);
    if (r == 0)
        a->len = len;
    return r;
}

static int set_for_dialogues(int fd)
{
    int r = set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
    return r < 0 ? r : set_flag(fd, SOL_SOCKET, SO_OOBINLINE);
}

enum listen_kind { LISTEN_ALONE, LISTEN_FIRST_OF_MANY, LISTEN_SHARED };

static int listen_on(struct addr *a, enum listen_kind kind, int backlog, int *ret_fd)
{
    struct addr bound = *a;
    int fd;
    int r = tcp_bound_socket(a, kind == LISTEN_SHARED, &fd);
    if (r < 0)
        return r;
    if (kind != LISTEN_ALONE) /* before anyone can connect */
        r = set_for_dialogues(fd);
    if (r == 0)
        r = sys_listen(fd, backlog);
    if (r == 0 && addr_port(a) == 0)
        r = resolve_port(fd, &bound);
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    *a = bound;
    *ret_fd = fd;
    return 0;
}

static int listen_first(struct addr *a, enum listen_kind kind, int backlog, int *ret_fd)
{
    unsigned tries = addr_port(a) == 0 ? PORT_TRIES : 1;
    int r;
    /* With SO_REUSEADDR two sockets can be bound to one port until the first of them listens.
     */
    do
        r = listen_on(a, kind, backlog, ret_fd);
    while (r == -EADDRINUSE && --tries > 0);
    return r;
}

int tcp_listen(struct addr *a, int backlog, int *ret_fd)
{
    return listen_first(a, LISTEN_ALONE, backlog, ret_fd);
}

/* SO_REUSEPORT would let a second server of the same user take half of the clients in silence.
 * So the first socket binds and listens without it: the kernel lets one such listener have the
 * port and refuses every other, in whatever order they come. Only then is the option set on it,
 * which opens the port to the sockets that follow; a second server still begins without the
 * option and is refused. The first socket goes on as one of the group. */
int tcp_listen_shared(struct addr *a, int backlog, unsigned n, int *ret_fds)
{
    unsigned made = 0;
    int r = listen_first(a, LISTEN_FIRST_OF_MANY, backlog, &ret_fds[0]);
    if (r < 0)
        return r;
    made++;
    if (n > 1)
        r = set_flag(ret_fds[0], SOL_SOCKET, SO_REUSEPORT);
    while (r == 0 && made < n) {
        r = listen_on(a, LISTEN_SHARED, backlog, &ret_fds[made]);
        if (r == 0)
            made++;
    }
    while (r < 0 && made > 0)
        sys_fd_close(&ret_fds[--made]);
    return r;
}

/* -- accepting -- */

int listener_new_quiet(int fd, struct listener **ret)
{
    struct listener *l = mem_new(sizeof(*l));
    if (l == NULL) {
        sys_close(fd);
        return -ENOMEM;
    }
    l->number = fd;
    l->spare_fd = -1;
    *ret = l;
    return 0;
}

static int tell_loop(struct listener *l)
{
    int r = io_fd_new(l->number, &l->fd);
    if (r < 0)
        l->number = -1; /* it was taken */
    return r;
}

int listener_new(int fd, struct listener **ret)
{
    struct listener *l;
    int r = listener_new_quiet(fd, &l);
    if (r < 0)
        return r;
    r = tell_loop(l);
    if (r < 0) {
        mem_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

int listener_keep_spare(struct listener *l)
{
    int fd = sys_eventfd(); /* any descriptor will do, and this one needs no path */
    if (fd < 0)
        return fd;
    l->spare_fd = fd;
    l->keeps_spare = true;
    return 0;
}

int listener_for_dialogues(struct listener *l)
{
    return set_for_dialogues(l->number);
}

struct listener *listener_free(struct listener *l)
{
    if (l == NULL)
        return NULL;
    if (l->fd != NULL) {
        /* the descriptor is closed only after the loop's turn; the port must not wait */
        sys_shutdown(l->number, SHUT_RDWR);
        (void)io_fd_close(l->fd);
    } else {
        sys_close(l->number);
    }
    sys_close(l->spare_fd);
    mem_free(l);
    return NULL;
}

static int accept_one(const struct listener *l, struct addr *ret_peer)
{
    socklen_t len = sizeof(ret_peer->u);
    int fd = sys_accept(l->number, &ret_peer->u.any, &len);
    if (fd >= 0)
        ret_peer->len = len;
    return fd;
}

/* Out of descriptors: a client that is told so is better than one that hangs in the backlog. */
static void refuse_one(struct listener *l, struct bytes refusal)
{
    struct addr peer;
    if (!l->keeps_spare)
        return;
    if (l->spare_fd >= 0) {
        sys_fd_close(&l->spare_fd);
        int fd = accept_one(l, &peer);
        if (fd >= 0 && refusal.len > 0)
            (void)(sys_send(fd, refusal.data, refusal.len, 0) < 0); /* it is refused anyway */
        sys_close(fd);
    }
    int spare = sys_eventfd();
    l->spare_fd = spare >= 0 ? spare : -1; /* else the next refusal tries again */
}

/* What accept(2) wants treated like "try again": the connection was gone before it was taken.
 */
static bool concerns_one_peer(int r)
{
    switch (r) {
    case -ECONNABORTED:
    case -EPROTO:
    case -EPERM: /* a firewall rule */
    case -ENETDOWN:
    case -ENETUNREACH:
    case -EHOSTDOWN:
    case -EHOSTUNREACH:
    case -ENOPROTOOPT:
    case -ENONET:
        return true;
    default:
        return false;
    }
}

static bool is_shortage(int r)
{
    return r == -EMFILE || r == -ENFILE || r == -ENOBUFS || r == -ENOMEM;
}

/* In vain an accept costs as much as one that takes a connection: the kernel makes the socket
 * first. So when one was taken it is asked whether another is there; where there is, many come
 * at once, and they are taken without asking. */
static bool is_last(const struct listener *l)
{
    struct pollfd poll = {.fd = l->number, .events = POLLIN};
    return l->accepted == 1 && sys_poll(&poll, 1, 0) == 0;
}

static int wait_for_next(struct listener *l, unsigned edges, usec_t deadline)
{
    l->accepted = 0;
    if (l->fd == NULL) /* who came meanwhile is found by the next try */
        return tell_loop(l);
    io_fd_not_ready(l->fd, IO_READ, edges);
    return io_fd_wait(l->fd, IO_READ, deadline);
}

/* There will be no edge for those who wait in the backlog: a timer stands in for it. */
static int sit_out_shortage(struct listener *l, struct bytes refusal, usec_t deadline)
{
    refuse_one(l, refusal);
    l->accepted = 0;
    usec_t retry_at = clock_after(RETRY_US);
    int r = task_sleep_until(retry_at < deadline ? retry_at : deadline);
    return r == 0 && clock_now() >= deadline ? -ETIMEDOUT : r;
}

int listener_accept(struct listener *l, struct bytes refusal, usec_t deadline, int *ret_fd,
                    struct addr *ret_peer)
{
    int r = 0;
    while (r == 0) {
        if (l->accepted >= ACCEPTS_PER_TURN) {
            l->accepted = 0;
            task_yield();
        }
        if (task_is_cancelled())
            return -ECANCELED;
        unsigned edges = l->fd != NULL ? io_fd_edges(l->fd, IO_READ) : 0;
        int fd = is_last(l) ? -EAGAIN : accept_one(l, ret_peer);
        if (fd >= 0) {
            l->accepted++;
            *ret_fd = fd;
            return 0;
        }
        if (fd == -EAGAIN)
            r = wait_for_next(l, edges, deadline);
        else if (is_shortage(fd))
            r = sit_out_shortage(l, refusal, deadline);
        else if (!concerns_one_peer(fd))
            r = fd;
    }
    return r;
}
