#include "bench/study/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/peers/peer_program.h"
#include "task/sys.h"

#define TOOL_US      (10 * USEC_PER_S)
#define ARGS_MAX     24
#define WORD_MAX     64
#define OWN_SPACE    "/proc/thread-self/ns/net"
#define NEAR         "10.77.0.1" /* the servers' end; the name spaces hold nothing else */
#define FAR          "10.77.0.2"
#define SEGMENT      1448 /* of 1500 bytes: less IP, TCP and its time stamps */
#define FRAME        1514 /* as the bucket counts it */
#define BIG_SEGMENTS 45   /* in what the kernel handles as one */
#define SMOOTH_MAX                                                                             \
    UINT64_C(40000000) /* bytes per second; above, single frames cost too much                 \
                        */
#define BLOCK_BYTES    65536
#define TEST_BYTES_MIN UINT64_C(65536)

/* -- ip(8) and tc(8) -- */

/* Words between blanks; the first is found in /usr/sbin or /usr/bin. */
static int run_tool(struct buf *said, const char *line)
{
    char words[512], path[WORD_MAX];
    const char *argv[ARGS_MAX + 1];
    unsigned count = 0;
    snprintf(words, sizeof(words), "%s", line);
    for (char *at = words; *at != '\0' && count < ARGS_MAX;) {
        argv[count++] = at;
        at += strcspn(at, " ");
        if (*at == ' ')
            *at++ = '\0';
    }
    argv[count] = NULL;
    static const char *const folders[] = {"/usr/sbin/", "/usr/bin/", "/sbin/"};
    int r = -ENOENT;
    for (unsigned i = 0; r == -ENOENT && i < ARRAY_LEN(folders); i++) {
        snprintf(path, sizeof(path), "%s%.40s", folders[i], words);
        argv[0] = path;
        r = peer_program_run(argv, NULL, TOOL_US, said);
    }
    return r;
}

static int open_own_space(void)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
    return sys_openat2(AT_FDCWD, OWN_SPACE, &how);
}

static int make_space(int *ret)
{
    int r = sys_unshare(CLONE_NEWNET);
    if (r == 0)
        r = *ret = open_own_space();
    return r < 0 ? r : 0;
}

int link_enter(const struct link *link, bool as_client)
{
    if (link->clients < 0)
        return as_client ? -ENOENT : 0;
    return sys_setns(as_client ? link->clients : link->servers, CLONE_NEWNET);
}

/* Addresses of loopback are let through the pair, so that a server need not know of it. */
static int set_up_end(const char *card, const char *address, struct buf *said)
{
    char line[256];
    snprintf(line, sizeof(line), "ip addr add %s/30 dev %s", address, card);
    int r = run_tool(said, line);
    snprintf(line, sizeof(line), "ip link set %s up", card);
    if (r == 0)
        r = run_tool(said, line);
    snprintf(line, sizeof(line), "/proc/sys/net/ipv4/conf/%s/route_localnet", card);
    struct open_how how = {.flags = O_WRONLY | O_CLOEXEC};
    int fd = r == 0 ? sys_openat2(AT_FDCWD, line, &how) : r;
    ssize_t n = fd < 0 ? fd : sys_write(fd, "1\n", 2);
    sys_close(fd);
    return n < 0 ? (int)n : 0;
}

static int join(struct link *link, struct buf *said)
{
    char line[128];
    int r = run_tool(said, "ip link set lo up");
    if (r == 0)
        r = run_tool(said, "ip link add near0 type veth peer name far0");
    snprintf(line, sizeof(line), "ip link set far0 netns /proc/%d/fd/%d", (int)getpid(),
             link->clients);
    if (r == 0)
        r = run_tool(said, line);
    if (r == 0)
        r = set_up_end("near0", NEAR, said);
    if (r == 0)
        r = link_enter(link, true);
    if (r < 0)
        return r;
    r = set_up_end("far0", FAR, said);
    if (r == 0)
        r = run_tool(said, "ip route add 127.0.0.0/8 via " NEAR);
    int back = link_enter(link, false);
    return r == 0 ? back : r;
}

int link_open(struct link *link, struct buf *said)
{
    *link = (struct link){.servers = -1, .clients = -1};
    int before = open_own_space();
    int r = before < 0 ? before : make_space(&link->clients);
    if (r == 0)
        r = make_space(&link->servers);
    if (r == 0)
        r = join(link, said);
    if (r < 0 && before >= 0) {
        link_close(link);
        if (sys_setns(before, CLONE_NEWNET) < 0)
            r = -ENETDOWN; /* not even loopback is left */
    }
    sys_close(before);
    return r;
}

void link_close(struct link *link)
{
    sys_fd_close(&link->servers);
    sys_fd_close(&link->clients);
}

/* -- the rate -- */

/* The bucket counts frames, we count what is in them. It holds 2 ms, and the queue before it
 * 50, but never less than a few frames. */
static int shape(const char *card, uint64_t bytes_per_s, struct buf *said)
{
    char line[256];
    uint64_t rate = bytes_per_s * FRAME / SEGMENT;
    bool is_smooth = bytes_per_s <= SMOOTH_MAX;
    uint64_t burst = rate / 500, least = is_smooth ? 2 * FRAME : BIG_SEGMENTS * FRAME * 2;
    uint64_t queue = rate / 20;
    snprintf(line, sizeof(line), "ip link set %s gso_max_segs %u", card,
             is_smooth ? 1u : BIG_SEGMENTS);
    int r = run_tool(said, line);
    burst = burst < least ? least : burst;
    queue = queue < 20 * FRAME ? 20 * FRAME : queue;
    snprintf(line, sizeof(line),
             "tc qdisc replace dev %s root tbf rate %" PRIu64 "bit burst %" PRIu64
             " limit %" PRIu64,
             card, rate * 8, burst, queue < burst ? burst : queue);
    return r == 0 ? run_tool(said, line) : r;
}

int link_set_rate(struct link *link, uint64_t bytes_per_s, struct buf *said)
{
    if (link->rate == bytes_per_s)
        return 0;
    int r = shape("near0", bytes_per_s, said);
    if (r == 0)
        r = link_enter(link, true);
    if (r < 0)
        return r;
    r = shape("far0", bytes_per_s, said);
    int back = link_enter(link, false);
    link->rate = r == 0 ? bytes_per_s : 0;
    return r == 0 ? back : r;
}

/* -- the test: one stream from the client's side -- */

static int wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    int r = sys_poll(&p, 1, 20000);
    return r > 0 ? 0 : r < 0 ? r : -ETIMEDOUT;
}

static struct sockaddr_in any_port(void)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000009)};
}

static int listen_here(struct sockaddr_in *at, int *ret)
{
    socklen_t len = sizeof(*at);
    *at = any_port();
    int fd = sys_socket(AF_INET, SOCK_STREAM, 0);
    int r = fd < 0 ? fd : sys_bind(fd, (const struct sockaddr *)at, sizeof(*at));
    if (r == 0)
        r = sys_listen(fd, 1);
    if (r == 0)
        r = sys_getsockname(fd, (struct sockaddr *)at, &len);
    *ret = fd;
    return r;
}

static int connect_to(const struct link *link, const struct sockaddr_in *at, int *ret)
{
    int r = link_enter(link, true);
    if (r < 0)
        return r;
    int fd = sys_socket(AF_INET, SOCK_STREAM, 0);
    int back = link_enter(link, false);
    *ret = fd;
    if (fd < 0 || back < 0)
        return fd < 0 ? fd : back;
    r = sys_connect(fd, (const struct sockaddr *)at, sizeof(*at));
    return r == -EINPROGRESS ? wait_for(fd, POLLOUT) : r;
}

struct pump {
    int out, in;
    uint8_t *block; /* BLOCK_BYTES */
    uint64_t total, sent, came;
};

/* What goes without waiting, in both directions. */
static ssize_t pump_once(struct pump *p)
{
    struct pollfd ends[] = {{.fd = p->in, .events = POLLIN},
                            {.fd = p->out, .events = p->sent < p->total ? POLLOUT : 0}};
    ssize_t n = sys_poll(ends, 2, 20000);
    if (n <= 0)
        return n == 0 ? -ETIMEDOUT : n;
    uint64_t left = p->total - p->sent;
    size_t len = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
    n = len > 0 ? sys_send(p->out, p->block, len, 0) : 0;
    p->sent += n > 0 ? (uint64_t)n : 0;
    n = sys_recv(p->in, p->block, BLOCK_BYTES, 0);
    p->came += n > 0 ? (uint64_t)n : 0;
    return n == -EAGAIN ? 0 : n;
}

/* Sends whenever there is room, and counts what arrives: from the first quarter on, so that
 * neither the bucket's first fill nor TCP's start is in it. */
static int pump(int out, int in, uint64_t total, double *ret)
{
    struct pump p = {.out = out, .in = in, .block = mem_new(BLOCK_BYTES), .total = total};
    uint64_t first = 0;
    usec_t began = 0;
    ssize_t n = p.block != NULL ? 0 : -ENOMEM;
    while (n >= 0 && p.came < total) {
        n = pump_once(&p);
        if (began == 0 && p.came >= total / 4) {
            began = clock_now();
            first = p.came;
        }
    }
    usec_t took = clock_now() - began;
    mem_free(p.block);
    if (n >= 0 && p.came > first && took > 0)
        *ret = (double)(p.came - first) * (double)USEC_PER_S / (double)took;
    return n < 0 ? (int)n : 0;
}

int link_test(struct link *link, double *ret)
{
    int listener = -1, out = -1, in = -1;
    struct sockaddr_in at;
    uint64_t total = link->rate * 2;
    int r = listen_here(&at, &listener);
    if (r == 0)
        r = connect_to(link, &at, &out);
    if (r == 0)
        r = wait_for(listener, POLLIN);
    if (r == 0)
        r = in = sys_accept(listener, NULL, NULL);
    if (r >= 0)
        r = pump(out, in, total < TEST_BYTES_MIN ? TEST_BYTES_MIN : total, ret);
    sys_close(in);
    sys_close(out);
    sys_close(listener);
    return r < 0 ? r : 0;
}
