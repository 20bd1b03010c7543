/* What a connected socket is asked and told. linux/tcp.h, not netinet/tcp.h: the C library's
 * struct tcp_info ends before the fields that matter here. */
#include <errno.h>
#include <limits.h>
#include <linux/tcp.h>

#include "base/err.h"
#include "io/tcp_internal.h"
#include "task/sys.h"

#define LOWAT_PER_SECOND   4 /* a quarter of a second's worth */
#define LOWAT_MIN_BYTES    (16 * 1024)
#define LOWAT_MAX_BYTES    (512 * 1024)
#define LOWAT_USEFUL_BYTES (4 * 1024 * 1024) /* the largest send buffer: tcp_wmem's default */
#define LOWAT_OFF          0                 /* back to the system's setting, which is none */
/* Where many are sent to, there is always one with room, and what waits in the others' buffers
 * would only be memory, sent by their acknowledgements and not by who has the time for it. */
#define LOWAT_MANY_BYTES (128 * 1024)

int tcp_result(ssize_t r)
{
    switch (r) {
    case -EPIPE:
    case -ECONNRESET:
    case -ECONNABORTED:
    case -ENOTCONN:
    case -ESHUTDOWN:
    case -ETIMEDOUT: /* retransmissions or keep-alive probes gave up */
    case -EHOSTUNREACH:
    case -EHOSTDOWN:
    case -ENETUNREACH:
    case -ENETDOWN:
        return -FERRY_ECLOSED;
    default:
        return (int)r;
    }
}

int tcp_set_nodelay(struct io_fd *f)
{
    int on = 1;
    return sys_setsockopt(io_fd_number(f), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool tcp_has_ended(const struct io_fd *f)
{
    uint8_t first;
    ssize_t n = sys_recv(io_fd_number(f), &first, 1, MSG_PEEK);
    return n <= 0 && n != -EAGAIN;
}

static bool get_info(const struct io_fd *f, struct tcp_info *ret)
{
    socklen_t len = sizeof(*ret);
    memset(ret, 0, sizeof(*ret)); /* an older kernel fills less */
    return sys_getsockopt(io_fd_number(f), IPPROTO_TCP, TCP_INFO, ret, &len) == 0;
}

void tcp_info_into(const struct io_fd *f, struct stream_info *ret)
{
    struct tcp_info info;
    if (!get_info(f, &info))
        return;
    ret->acked_bytes = info.tcpi_bytes_acked;
    ret->rate_bytes_per_s = info.tcpi_delivery_rate;
    ret->rtt_us = info.tcpi_rtt;
    ret->unsent_bytes = info.tcpi_notsent_bytes;
    ret->busy_us = info.tcpi_busy_time;
    ret->peer_full_us = info.tcpi_rwnd_limited;
    ret->buffer_full_us = info.tcpi_sndbuf_limited;
}

/* Past LOWAT_USEFUL_BYTES the send buffer itself holds less than a quarter of a second, and the
 * option only makes more and smaller wake-ups: at 2 GB/s over loopback it doubled the CPU time
 * per byte. */
static int lowat_for(uint64_t rate_bytes_per_s)
{
    uint64_t bytes = rate_bytes_per_s / LOWAT_PER_SECOND;
    if (bytes > LOWAT_USEFUL_BYTES)
        return LOWAT_OFF;
    /* before the first measurement the link may be anything: do not choke it */
    if (bytes > LOWAT_MAX_BYTES || rate_bytes_per_s == 0)
        return LOWAT_MAX_BYTES;
    return bytes < LOWAT_MIN_BYTES ? LOWAT_MIN_BYTES : (int)bytes;
}

static void set_lowat(struct io_fd *f, int bytes)
{
    (void)(sys_setsockopt(io_fd_number(f), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes,
                          sizeof(bytes)) < 0); /* then more is unsent, and nothing is wrong */
}

void tcp_bound_unsent(struct io_fd *f, size_t bytes)
{
    set_lowat(f, bytes < INT_MAX ? (int)bytes : INT_MAX);
}

void tcp_refresh_lowat(struct io_fd *f, bool among_many)
{
    struct tcp_info info;
    if (!get_info(f, &info))
        return;
    int lowat = lowat_for(info.tcpi_delivery_rate);
    if (among_many && (lowat == LOWAT_OFF || lowat > LOWAT_MANY_BYTES))
        lowat = LOWAT_MANY_BYTES;
    set_lowat(f, lowat);
}

static uint64_t acked_bytes(const struct io_fd *f)
{
    struct tcp_info info;
    return get_info(f, &info) ? info.tcpi_bytes_acked : 0;
}

int tcp_wait_ready(struct io_fd *f, enum io_dir dir, usec_t stall_us)
{
    if (stall_us == 0)
        return io_fd_wait(f, dir, USEC_NEVER);
    usec_t deadline = clock_after(stall_us);
    /* Nearly every wait ends in this part, without the price of asking for the counter. */
    int r = io_fd_wait(f, dir, clock_after(stall_us / 8 + 1));
    while (r == -ETIMEDOUT) {
        uint64_t acked = acked_bytes(f);
        r = io_fd_wait(f, dir, deadline);
        if (r != -ETIMEDOUT)
            break;
        bool shield_ended_it = clock_now() < deadline;
        if (shield_ended_it || dir == IO_READ || acked_bytes(f) == acked)
            return -FERRY_ESTALLED;
        deadline = clock_after(stall_us);
    }
    return r;
}
