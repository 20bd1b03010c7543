#include "bench/ssh/relay.h"

#include <errno.h>
#include <netinet/tcp.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/tcp.h"
#include "task/sys.h"

#define PIECE_BYTES (64 * 1024)
#define PIECE_MIN   512
#define SOCKET_MIN  4096
#define PIECE_US    (5 * USEC_PER_MS) /* of a rate, in one piece at most */
#define BACKLOG     64
#define CONNECT_US  (10 * USEC_PER_S)

/* What came at once; len 0: the end. */
struct piece {
    struct list node;
    usec_t due;
    size_t len;
    uint8_t data[];
};

struct direction {
    struct io_fd *from, *to;
    usec_t delay_us;
    uint64_t bytes_per_s; /* 0: no limit */
    size_t piece_bytes, held_max;
    usec_t idle_at; /* with a rate: when the wire has sent what it was given */
    struct list pieces;
    size_t held;
    struct event came, went;
    bool is_dead; /* nobody hands on what comes */
};

struct passage {
    struct relay *relay;
    struct io_fd *near, *far;
    struct direction there, back;
};

struct relay {
    struct addr addr, to;
    usec_t delay_us; /* one way */
    uint64_t bytes_per_s;
    struct listener *listener;
    struct scope scope;
};

/* -- one direction -- */

static ssize_t receive(struct io_fd *f, void *data, size_t len)
{
    for (;;) {
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_recv(io_fd_number(f), data, len, 0);
        if (n != -EAGAIN)
            return n;
        io_fd_not_ready(f, IO_READ, edges);
        int r = io_fd_wait(f, IO_READ, USEC_NEVER);
        if (r < 0)
            return r;
    }
}

static int send_all(struct io_fd *f, const uint8_t *data, size_t len)
{
    while (len > 0) {
        unsigned edges = io_fd_edges(f, IO_WRITE);
        ssize_t n = sys_send(io_fd_number(f), data, len, 0);
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_WRITE, edges);
            n = io_fd_wait(f, IO_WRITE, USEC_NEVER);
        }
        if (n < 0)
            return (int)n;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* When the last byte of so many that came now is through. */
static usec_t time_of(struct direction *d, size_t len)
{
    usec_t now = clock_now();
    if (d->bytes_per_s > 0) {
        usec_t begins = d->idle_at > now ? d->idle_at : now;
        now = d->idle_at = begins + len * USEC_PER_S / d->bytes_per_s;
    }
    return now + d->delay_us;
}

/* Takes what comes; a failure is an end, too. */
static void take_main(void *arg)
{
    struct direction *d = arg;
    ssize_t n = 1;
    while (n > 0) {
        while (d->held >= d->held_max && !d->is_dead) {
            event_clear(&d->went);
            if (event_wait(&d->went, USEC_NEVER) < 0)
                return;
        }
        if (d->is_dead)
            return;
        struct piece *p = mem_raw(sizeof(*p) + d->piece_bytes);
        if (p == NULL)
            return;
        n = receive(d->from, p->data, d->piece_bytes);
        if (n == -ECANCELED) {
            mem_free(p);
            return;
        }
        p->len = n > 0 ? (size_t)n : 0;
        p->due = time_of(d, p->len);
        d->held += p->len;
        list_append(&d->pieces, &p->node);
        event_set(&d->came);
    }
}

static int hand_on(struct direction *d, const struct piece *p)
{
    int r = task_sleep_until(p->due);
    return r == 0 ? send_all(d->to, p->data, p->len) : r;
}

static void give_main(void *arg)
{
    struct direction *d = arg;
    int r = 0;
    bool is_over = false;
    while (r == 0 && !is_over) {
        while (r == 0 && list_empty(&d->pieces)) {
            event_clear(&d->came);
            r = event_wait(&d->came, USEC_NEVER);
        }
        if (r < 0)
            return;
        struct piece *p = LIST_ENTRY(d->pieces.next, struct piece, node);
        is_over = p->len == 0;
        r = hand_on(d, p);
        list_remove(&p->node);
        d->held -= p->len;
        mem_free(p);
        event_set(&d->went);
    }
    sys_shutdown(io_fd_number(d->to), SHUT_WR);
    if (r == 0)
        return;
    d->is_dead = true; /* what still comes is for nothing */
    event_set(&d->went);
    sys_shutdown(io_fd_number(d->from), SHUT_RD);
}

static size_t part_of(uint64_t bytes_per_s, usec_t us, size_t least, size_t most)
{
    uint64_t bytes = bytes_per_s * us / USEC_PER_S;
    return bytes_per_s == 0 || bytes > most ? most : bytes < least ? least : (size_t)bytes;
}

static void direction_init(struct direction *d, struct io_fd *from, struct io_fd *to,
                           const struct relay *relay)
{
    uint64_t rate = relay->bytes_per_s;
    *d = (struct direction){
        .from = from,
        .to = to,
        .delay_us = relay->delay_us,
        .bytes_per_s = rate,
        .piece_bytes = part_of(rate, PIECE_US, PIECE_MIN, PIECE_BYTES),
        .held_max =
            part_of(rate, relay->delay_us + RELAY_QUEUE_US, 2 * PIECE_MIN, RELAY_HELD_MAX),
    };
    list_init(&d->pieces);
    event_init(&d->came);
    event_init(&d->went);
}

static void direction_done(struct direction *d)
{
    while (!list_empty(&d->pieces)) {
        struct piece *p = LIST_ENTRY(d->pieces.next, struct piece, node);
        list_remove(&p->node);
        mem_free(p);
    }
}

/* -- one connection -- */

static int set_number(int fd, int level, int name, int value)
{
    return sys_setsockopt(fd, level, name, &value, sizeof(value));
}

static int size_buffers(int fd, uint64_t rate)
{
    int bytes = (int)part_of(rate, RELAY_QUEUE_US, SOCKET_MIN, RELAY_SOCKET_BYTES);
    int r = set_number(fd, SOL_SOCKET, SO_RCVBUF, bytes / 2); /* Linux doubles */
    if (r == 0)
        r = set_number(fd, SOL_SOCKET, SO_SNDBUF, bytes / 2);
    return r == 0 ? set_number(fd, IPPROTO_TCP, TCP_NODELAY, 1) : r;
}

static int move(struct passage *p)
{
    static task_fn *const mains[] = {take_main, give_main};
    struct direction *const directions[] = {&p->there, &p->back};
    struct scope scope;
    int r = 0;
    scope_init(&scope);
    for (unsigned i = 0; r == 0 && i < 4; i++)
        r = scope_start(&scope, "relay", TASK_NORMAL, mains[i % 2], directions[i / 2], NULL);
    if (r == 0)
        r = scope_wait(&scope, USEC_NEVER);
    scope_leave(&scope);
    return r;
}

static void passage_main(void *arg)
{
    struct passage *p = arg;
    int r = tcp_connect(&p->relay->to, NULL, clock_after(CONNECT_US), &p->far);
    if (r == 0)
        r = size_buffers(io_fd_number(p->far), p->relay->bytes_per_s);
    if (r == 0) {
        direction_init(&p->there, p->near, p->far, p->relay);
        direction_init(&p->back, p->far, p->near, p->relay);
        (void)!move(p);
        direction_done(&p->there);
        direction_done(&p->back);
    }
    io_fd_close(p->near);
    io_fd_close(p->far);
    mem_free(p);
}

static int begin_passage(struct relay *relay, int fd)
{
    struct passage *p = mem_new(sizeof(*p));
    if (p == NULL) {
        sys_close(fd);
        return -ENOMEM;
    }
    p->relay = relay;
    int r = io_fd_new(fd, &p->near);
    if (r == 0)
        r = scope_start(&relay->scope, "relay", TASK_NORMAL, passage_main, p, NULL);
    if (r < 0) {
        io_fd_close(p->near);
        mem_free(p);
    }
    return r;
}

/* -- the relay -- */

static void accept_main(void *arg)
{
    struct relay *relay = arg;
    struct addr peer;
    int fd;
    while (listener_accept(relay->listener, BYTES_NONE, USEC_NEVER, &fd, &peer) == 0)
        if (begin_passage(relay, fd) < 0)
            return;
}

/* What is accepted takes over the listener's buffers, and with them its window's scale. */
static int listen_here(struct addr *addr, uint64_t rate, struct listener **ret)
{
    int fd, r = addr_parse(BYTES_LIT("127.0.0.1:0"), addr);
    if (r == 0)
        r = tcp_listen(addr, BACKLOG, &fd);
    if (r < 0)
        return r;
    r = size_buffers(fd, rate);
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    return listener_new(fd, ret);
}

int relay_new(const struct addr *to, usec_t round_trip_us, struct relay **ret)
{
    const struct relay_path path = {.round_trip_us = round_trip_us};
    return relay_new_shaped(to, &path, ret);
}

int relay_new_shaped(const struct addr *to, const struct relay_path *path, struct relay **ret)
{
    struct relay *relay = mem_new(sizeof(*relay));
    if (relay == NULL)
        return -ENOMEM;
    relay->to = *to;
    relay->delay_us = path->round_trip_us / 2;
    relay->bytes_per_s = path->bytes_per_s;
    scope_init(&relay->scope);
    int r = listen_here(&relay->addr, path->bytes_per_s, &relay->listener);
    if (r == 0)
        r = scope_start(&relay->scope, "relay", TASK_NORMAL, accept_main, relay, NULL);
    if (r < 0) {
        listener_free(relay->listener);
        mem_free(relay);
        return r;
    }
    *ret = relay;
    return 0;
}

struct relay *relay_free(struct relay *relay)
{
    if (relay == NULL)
        return NULL;
    scope_leave(&relay->scope);
    listener_free(relay->listener);
    mem_free(relay);
    return NULL;
}

const struct addr *relay_addr(const struct relay *relay)
{
    return &relay->addr;
}
