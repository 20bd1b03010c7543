#include "ftp/data.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "crypto/random.h"
#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/wire/address.h"
#include "io/tcp.h"

/* RFC 2577 section 3: below are the services that a bounced command could be aimed at. */
#define LOWEST_ACTIVE_PORT 1024

#define RANGE_TRIES    5
#define RANGE_RETRY_US (20 * USEC_PER_MS)
#define HINT_TRIES     32 /* ports of the range, then the kernel searches */

void ftp_data_drop(struct ftp_data *data)
{
    data->listener = listener_free(data->listener);
    data->active_port = 0;
}

bool ftp_data_is_prepared(const struct ftp_data *data)
{
    return data->listener != NULL || data->active_port != 0;
}

/* -- addresses of the system and of the protocol -- */

static struct ftp_address address_of(const struct addr *addr)
{
    struct ftp_address a = {.family = FTP_FAMILY_NONE, .port = addr_port(addr)};
    if (addr_family(addr) == AF_INET) {
        a.family = FTP_FAMILY_IPV4;
        memcpy(a.host, &addr->u.v4.sin_addr, 4);
    } else if (addr_family(addr) == AF_INET6) {
        a.family = FTP_FAMILY_IPV6;
        memcpy(a.host, &addr->u.v6.sin6_addr, 16);
    }
    return a;
}

static bool is_host_of(const struct ftp_address *a, const struct addr *addr)
{
    struct ftp_address other = address_of(addr);
    return a->family == other.family && memcmp(a->host, other.host, sizeof(a->host)) == 0;
}

/* -- passive -- */

static unsigned common_factor(unsigned a, unsigned b)
{
    while (b != 0) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A listener on the first free port of the range, tried in an order nobody can guess: from a
 * random start in random strides, which visit every port because they share no factor with
 * their number. */
static int listen_in_range(const struct ftp_service *service, struct addr *local, int *ret_fd)
{
    unsigned step = service->passive_step != 0 ? service->passive_step : 1;
    unsigned count = (unsigned)(service->passive_last - service->passive_first) / step + 1;
    uint32_t random[2];
    int r = crypto_random(random, sizeof(random));
    if (r < 0)
        return r;
    unsigned at = random[0] % count;
    unsigned stride = random[1] % count + 1;
    while (common_factor(stride, count) != 1)
        stride = stride % count + 1;
    unsigned tries = service->passive_is_hint && count > HINT_TRIES ? HINT_TRIES : count;
    r = -EADDRINUSE;
    for (unsigned i = 0; i < tries && r == -EADDRINUSE; i++) {
        addr_set_port(local, (uint16_t)(service->passive_first + at * step));
        r = tcp_listen(local, 1, ret_fd);
        at = (at + stride) % count;
        if (task_turn_is_over())
            task_yield();
    }
    return r;
}

/* In a small range all ports may be taken for a moment: a listener that was given up a moment
 * ago, like the one this session had, is closed only after the loop's turn. */
static int listen_in_range_with_patience(const struct ftp_service *service, struct addr *local,
                                         int *ret_fd)
{
    int r = listen_in_range(service, local, ret_fd);
    for (unsigned i = 1; i < RANGE_TRIES && r == -EADDRINUSE; i++) {
        r = task_sleep_until(clock_after(RANGE_RETRY_US));
        if (r == 0)
            r = listen_in_range(service, local, ret_fd);
    }
    return r;
}

/* The kernel looks at port after port until it meets one on which no closed connection lingers.
 * After thousands of transfers that takes milliseconds, so a guess of our own comes first where
 * we know what ports it may be. Whatever refuses the guess (EACCES: a sandbox that knows
 * nothing of it), the search is still there. */
static int listen_anywhere(const struct ftp_service *service, struct addr *local, int *ret_fd)
{
    int r = service->passive_first != 0 ? listen_in_range(service, local, ret_fd) : -EADDRINUSE;
    if (r != -EADDRINUSE && r != -EACCES)
        return r;
    addr_set_port(local, 0);
    return tcp_listen(local, 1, ret_fd);
}

/* Replaces what was prepared by a listener on the address the client reached us by. */
static int listen_for_peer(struct ftp_session *s, uint16_t *ret_port)
{
    const struct ftp_service *service = s->service;
    ftp_data_drop(&s->data);
    struct addr local = s->base.local;
    int fd, r;
    if (service->passive_first != 0 && !service->passive_is_hint)
        r = listen_in_range_with_patience(service, &local, &fd);
    else
        r = listen_anywhere(service, &local, &fd);
    if (r == 0)
        r = listener_new_quiet(fd, &s->data.listener);
    if (r < 0)
        return r;
    s->data.expires_at = clock_after(session_timeouts(s->base.shared)->connect_us);
    *ret_port = addr_port(&local);
    return 0;
}

static int say_cannot_listen(struct ftp_session *s, int result)
{
    struct log_record record;
    session_log_begin(&s->base, &record, LOG_WARNING, "no-passive-port");
    log_err(&record, result);
    log_end(&record);
    return ftp_say(s, 425, "No port is free for a data connection; try again.");
}

int ftp_cmd_pasv(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    if (s->is_epsv_only)
        return ftp_say(s, 503, "PASV is not allowed after EPSV ALL.");
    const struct addr *told = &s->base.local;
    if (s->service->masquerade.len != 0)
        told = &s->service->masquerade;
    struct ftp_address address = address_of(told);
    if (addr_family(&s->base.local) != AF_INET || address.family != FTP_FAMILY_IPV4)
        return ftp_say(s, 425, "PASV cannot tell an IPv6 address; use EPSV.");
    int r = listen_for_peer(s, &address.port);
    if (r < 0)
        return say_cannot_listen(s, r);
    char text[FTP_ADDRESS_TEXT_MAX];
    return ftp_say(s, 227, "Entering Passive Mode %s.", ftp_pasv_format(&address, text));
}

static int say_other_family(struct ftp_session *s)
{
    return ftp_say(s, 522,
                   "Only the network protocol of this connection is supported, use (%d).",
                   address_of(&s->base.local).family);
}

int ftp_cmd_epsv(struct ftp_session *s, const struct ftp_args *args)
{
    enum ftp_epsv wanted;
    int r = ftp_epsv_parse(args->text, &wanted);
    if (r == -EPROTONOSUPPORT)
        return say_other_family(s);
    if (r < 0)
        return ftp_say(s, 501, "Use EPSV, EPSV 1, EPSV 2 or EPSV ALL.");
    if (wanted == FTP_EPSV_ALL) {
        s->is_epsv_only = true;
        return ftp_say(s, 200, "From now on only EPSV.");
    }
    enum ftp_family family = address_of(&s->base.local).family;
    if ((wanted == FTP_EPSV_IPV4 && family != FTP_FAMILY_IPV4) ||
        (wanted == FTP_EPSV_IPV6 && family != FTP_FAMILY_IPV6))
        return say_other_family(s);
    uint16_t port;
    r = listen_for_peer(s, &port);
    if (r < 0)
        return say_cannot_listen(s, r);
    char text[FTP_ADDRESS_TEXT_MAX];
    return ftp_say(s, 229, "Entering Extended Passive Mode %s.", ftp_epsv_format(port, text));
}

/* -- active -- */

/* All zeros: lftp over IPv6 sends it, and means itself. */
static bool is_any_host(const struct ftp_address *a)
{
    static const uint8_t any[sizeof(a->host)];
    return memcmp(a->host, any, sizeof(any)) == 0;
}

/* The bounce attack (RFC 2577): a client that names a third host or a service's port. */
static int prepare_active(struct ftp_session *s, const struct ftp_address *address)
{
    if ((!is_host_of(address, &s->base.peer) && !is_any_host(address)) ||
        address->port < LOWEST_ACTIVE_PORT) {
        struct log_record record;
        session_log_begin(&s->base, &record, LOG_WARNING, "bounce-refused");
        log_u64(&record, "port", address->port);
        log_end(&record);
        return ftp_say(s, 504, "Data connections go to your own address, port %d and above.",
                       LOWEST_ACTIVE_PORT);
    }
    ftp_data_drop(&s->data);
    s->data.active_port = address->port;
    return ftp_say(s, 200, "The data connection will be made to port %u.", address->port);
}

int ftp_cmd_port(struct ftp_session *s, const struct ftp_args *args)
{
    if (s->is_epsv_only)
        return ftp_say(s, 503, "PORT is not allowed after EPSV ALL.");
    struct ftp_address address;
    if (ftp_port_parse(args->text, &address) < 0)
        return ftp_say(s, 501, "Use PORT h1,h2,h3,h4,p1,p2.");
    return prepare_active(s, &address);
}

int ftp_cmd_eprt(struct ftp_session *s, const struct ftp_args *args)
{
    if (s->is_epsv_only)
        return ftp_say(s, 503, "EPRT is not allowed after EPSV ALL.");
    struct ftp_address address;
    int r = ftp_eprt_parse(args->text, &address);
    if (r == -EPROTONOSUPPORT)
        return say_other_family(s);
    if (r < 0)
        return ftp_say(s, 501, "Use EPRT |1|IPv4 address|port| or |2|IPv6 address|port|.");
    if (address.family != address_of(&s->base.peer).family)
        return say_other_family(s);
    return prepare_active(s, &address);
}

/* -- making the connection -- */

static int accept_peer(const struct ftp_session *s, struct listener *listener, usec_t deadline,
                       struct io_fd **ret)
{
    int fd;
    struct addr peer;
    int r = listener_accept(listener, BYTES_NONE, deadline, &fd, &peer);
    if (r < 0)
        return r;
    struct io_fd *io;
    r = io_fd_new(fd, &io);
    if (r < 0)
        return r;
    if (!addr_same_host(&peer, &s->base.peer)) {
        struct log_record record;
        char text[ADDR_TEXT_MAX];
        session_log_begin(&s->base, &record, LOG_WARNING, "data-connection-from-elsewhere");
        log_text(&record, "from", addr_format(&peer, text));
        log_end(&record);
        io_fd_close(io);
        return -EACCES;
    }
    *ret = io;
    return 0;
}

int ftp_data_connect(const struct ftp_session *s, struct ftp_data *data, struct stream **ret)
{
    const struct session_timeouts *timeouts = session_timeouts(s->base.shared);
    usec_t deadline = clock_after(timeouts->connect_us);
    struct io_fd *io;
    int r;
    if (data->listener != NULL) {
        r = accept_peer(s, data->listener, deadline, &io);
    } else {
        struct addr to = s->base.peer, from = s->base.local;
        addr_set_port(&to, data->active_port);
        addr_set_port(&from, 0);
        r = tcp_connect(&to, &from, deadline, &io);
    }
    ftp_data_drop(data);
    if (r < 0)
        return r;
    return tcp_stream_new(io, timeouts->stall_us, ret);
}
