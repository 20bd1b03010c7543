#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/limits.h"
#include "base/log.h"
#include "io/tcp.h"
#include "server/banner.h"
#include "server/control.h"
#include "server/journal.h"
#include "server/notify.h"
#include "server/quota_count.h"
#include "server/server.h"
#include "task/sys.h"

#define DRAIN_US        (30 * USEC_PER_S) /* transfers may finish for so long */
#define DRAIN_LOOK_US   (100 * USEC_PER_MS)
#define ACCEPT_RETRY_US (100 * USEC_PER_MS)
#define COMPLAIN_AFTER  (1 * USEC_PER_S) /* refused peers are logged as one number a second */
#define REFUSAL         "421 Too busy, try again later.\r\n"

/* -- accepting -- */

static void complain(struct acceptor *a, int result)
{
    a->refused++;
    usec_t now = clock_now();
    if (a->complained_at != 0 && now - a->complained_at < COMPLAIN_AFTER)
        return;
    struct log_record r;
    log_begin(&r, LOG_WARNING, "connections_refused");
    log_u64(&r, "count", a->refused);
    log_err(&r, result);
    log_end(&r);
    a->complained_at = now;
    a->refused = 0;
}

static int start_session(struct acceptor *a, struct scope *sessions, int fd,
                         const struct addr *peer)
{
    struct addr local = a->server->settings->listeners[a->index].addr;
    if (addr_is_any(&local)) {
        local.len = sizeof(local.u);
        int r = sys_getsockname(fd, &local.u.any, &local.len);
        if (r < 0) {
            sys_close(fd);
            return r;
        }
    }
    if (settings_listener_is_ssh(&a->server->settings->listeners[a->index]))
        return ssh_session_start(&a->server->ssh, sessions, fd, peer, &local);
    return ftp_session_start(&a->server->services[a->index], sessions, fd, peer, &local);
}

static void accept_main(void *arg)
{
    struct acceptor *a = arg;
    struct worker_part *part = &a->server->parts[worker_index(worker_self())];
    bool is_ssh = settings_listener_is_ssh(&a->server->settings->listeners[a->index]);
    struct bytes refusal = is_ssh ? BYTES_NONE : BYTES_LIT(REFUSAL);
    int r = 0;
    while (!task_is_cancelled()) {
        int fd;
        struct addr peer;
        r = listener_accept(a->listener, refusal, USEC_NEVER, &fd, &peer);
        if (r == 0) {
            r = start_session(a, &part->sessions, fd, &peer);
            if (r < 0 && r != -ECANCELED)
                complain(a, r);
        } else if (r != -ECANCELED) {
            complain(a, r);
            (void)!task_sleep_until(clock_after(ACCEPT_RETRY_US));
        }
    }
    a->listener = listener_free(a->listener);
}

/* A worker without its listener would leave what the kernel gives it waiting for ever. */
static void start_accepting(struct server *server, struct worker_part *part, unsigned worker)
{
    for (unsigned i = 0; i < server->listeners.count; i++) {
        struct acceptor *a = &part->acceptors[i];
        *a = (struct acceptor){.server = server, .index = i};
        int r = listener_new(listeners_take(&server->listeners, i, worker), &a->listener);
        if (r == 0)
            r = listener_keep_spare(a->listener);
        if (r == 0)
            r = scope_start(&part->accepting, "accept", TASK_NORMAL, accept_main, a, NULL);
        if (r < 0) {
            struct log_record record;
            log_begin(&record, LOG_ERROR, "worker_cannot_listen");
            log_err(&record, r);
            log_end(&record);
            a->listener = listener_free(a->listener);
        }
    }
}

/* -- stopping -- */

static void on_stop_message(struct worker_message *message)
{
    struct stop_message *stop = LIST_ENTRY(message, struct stop_message, message);
    struct worker_part *part = stop->part;
    if (stop->how > part->how)
        part->how = stop->how;
    event_set(&part->stop);
    if (part->how == STOP_NOW)
        scope_cancel(&part->sessions);
}

static void tell_all_to_stop(struct server *server, enum stop_how how)
{
    notify_send(server->notify_fd, "STOPPING=1");
    for (unsigned i = 0; i < runtime_workers(server->runtime); i++) {
        struct stop_message *stop = &server->parts[i].stops[how];
        if (stop->part != NULL) /* told before */
            continue;
        *stop = (struct stop_message){{.fn = on_stop_message}, &server->parts[i], how};
        worker_post(runtime_worker(server->runtime, i), &stop->message);
    }
}

/* Idle sessions say 421 and leave at once; those that move a file leave after it. A session
 * that cannot get a stack to leave with is still counted, so it is not enough to join the
 * tasks. */
static void drain(struct worker_part *part)
{
    usec_t deadline = clock_after(DRAIN_US);
    session_end_all(SESSION_SHUTDOWN);
    while (session_count_here() > 0) {
        if (part->how == STOP_NOW || clock_now() >= deadline)
            scope_cancel(&part->sessions);
        int r = scope_wait(&part->sessions, clock_after(DRAIN_LOOK_US));
        if (r == 0 && session_count_here() > 0)
            (void)!task_sleep_until(clock_after(DRAIN_LOOK_US));
    }
    scope_leave(&part->sessions);
}

static void on_drained_message(struct worker_message *message)
{
    struct server *server = LIST_ENTRY(message, struct worker_part, drained_message)->server;
    server->drained++;
    event_set(&server->others);
}

static void tell_drained(struct worker_part *part)
{
    part->drained_message.fn = on_drained_message;
    worker_post(runtime_worker(part->server->runtime, 0), &part->drained_message);
}

/* A second signal, who and kick are wanted until the last session of any worker has gone. */
static void wait_for_others(struct server *server)
{
    while (server->drained < runtime_workers(server->runtime) - 1) {
        event_clear(&server->others);
        (void)!event_wait(&server->others, USEC_NEVER);
    }
}

/* -- worker 0's other duties -- */

/* Not parts[0].how: the message that sets it may still be under way. */
static bool was_told_to_stop(const struct server *server)
{
    return server->parts[0].stops[STOP_DRAIN].part != NULL;
}

static void on_signal(struct server *server, uint32_t signal)
{
    enum stop_how how = was_told_to_stop(server) ? STOP_NOW : STOP_DRAIN;
    switch (signal) {
    case SIGHUP:
        journal_reopen();
        break;
    case SIGTERM:
        log_event(LOG_INFO, "stopping", "how", how == STOP_DRAIN ? "drain" : "now");
        tell_all_to_stop(server, how);
        break;
    default: /* SIGINT, SIGQUIT: a person at the keyboard */
        log_event(LOG_INFO, "stopping", "how", "now");
        tell_all_to_stop(server, STOP_NOW);
        break;
    }
}

static void signals_main(void *arg)
{
    struct server *server = arg;
    struct io_fd *f;
    if (io_fd_new(server->signal_fd, &f) < 0)
        return;
    server->signal_fd = -1;
    for (;;) {
        struct signalfd_siginfo info;
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_read(io_fd_number(f), &info, sizeof(info));
        if (n == (ssize_t)sizeof(info)) {
            on_signal(server, info.ssi_signo);
            continue;
        }
        if (n != -EAGAIN)
            break;
        io_fd_not_ready(f, IO_READ, edges);
        if (io_fd_wait(f, IO_READ, USEC_NEVER) < 0)
            break;
    }
    (void)io_fd_close(f);
}

/* -- a worker's life -- */

static void on_go_message(struct worker_message *message)
{
    event_set(&LIST_ENTRY(message, struct worker_part, go_message)->go);
}

/* Accepting begins everywhere when worker 0 knows what quotas are used up: connections wait in
 * the sockets meanwhile. A stop may come first. */
static void get_ready(void *arg)
{
    struct server *server = arg;
    if (quota_count_is_needed(server))
        quota_count_all(server);
    for (unsigned i = 0; i < runtime_workers(server->runtime); i++) {
        server->parts[i].go_message.fn = on_go_message;
        worker_post(runtime_worker(server->runtime, i), &server->parts[i].go_message);
    }
    banner_ready(stdout);
    notify_send(server->notify_fd, "READY=1");
}

static void accept_when_ready(void *arg)
{
    struct worker_part *part = arg;
    if (event_wait(&part->go, USEC_NEVER) == 0)
        start_accepting(part->server, part, worker_index(worker_self()));
}

static void start_duties(struct server *server, struct scope *duties)
{
    if (scope_start(duties, "signals", TASK_NORMAL, signals_main, server, NULL) < 0 ||
        scope_start(duties, "control", TASK_NORMAL, control_main, server, NULL) < 0 ||
        scope_start(duties, "start", TASK_NORMAL, get_ready, server, NULL) < 0) {
        log_event(LOG_ERROR, "cannot_serve", "reason", "no memory for the tasks of worker 0");
        tell_all_to_stop(server, STOP_NOW); /* it would run on, deaf to signals */
    }
}

void worker_parts_init(struct server *server)
{
    event_init(&server->others);
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        struct worker_part *part = &server->parts[i];
        part->server = server;
        event_init(&part->go);
        event_init(&part->stop);
        scope_init(&part->accepting);
        scope_init(&part->sessions);
    }
}

void worker_main(void *arg)
{
    struct server *server = arg;
    unsigned index = worker_index(worker_self());
    struct worker_part *part = &server->parts[index];
    struct scope duties;
    scope_init(&duties);
    if (index == 0)
        start_duties(server, &duties);
    if (scope_start(&part->accepting, "ready", TASK_NORMAL, accept_when_ready, part, NULL) < 0)
        log_event(LOG_ERROR, "worker_cannot_listen", "reason", "no memory for a task");
    (void)!event_wait(&part->stop, USEC_NEVER);
    scope_leave(&part->accepting);
    drain(part);
    if (index == 0)
        wait_for_others(server);
    else
        tell_drained(part);
    scope_leave(&duties);
}
