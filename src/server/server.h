/* The running server: what main() made, and what each worker keeps while it serves.
 *
 * Everything but the workers' own part is constant while workers run. A worker's part is
 * touched on its thread only; others reach it by messages.
 */
#pragma once
#include "base/list.h"
#include "ftp/server.h"
#include "server/listeners.h"
#include "server/roots.h"
#include "server/settings.h"
#include "ssh/server.h"
#include "task/runtime.h"

struct server;
struct listener;

enum stop_how { STOP_NOT, STOP_DRAIN, STOP_NOW };

struct acceptor { /* a listener of one worker */
    struct server *server;
    struct listener *listener;
    unsigned index; /* of the setting */
    usec_t complained_at;
    uint64_t refused; /* since then */
};

struct worker_part {
    struct server *server;
    struct event go; /* quotas are counted: accept */
    struct worker_message go_message;
    struct event stop;
    struct worker_message drained_message;
    enum stop_how how;
    struct scope accepting, sessions;
    struct acceptor acceptors[SETTINGS_LISTENERS_MAX];

    struct stop_message {
        struct worker_message message;
        struct worker_part *part;
        enum stop_how how;
    } stops[STOP_NOW + 1]; /* one of each kind is under way at most */
};

struct server {
    struct settings *settings;
    struct runtime *runtime;
    struct session_shared *shared;
    struct auth *auth;
    struct roots roots;
    struct listeners listeners;
    struct ftp_service services[SETTINGS_LISTENERS_MAX]; /* one a listener */
    struct ssh_server ssh;                               /* of every ssh listener */
    struct ssh_host_keys host_keys;
    struct ssh_offer *offer;
    int control_fd, signal_fd; /* worker 0 takes them */
    int notify_fd;             /* server/notify.h; -1: none */
    struct list asks;          /* control.c's, of worker 0 */
    unsigned drained;          /* of the other workers; worker 0's, as the event */
    struct event others;
    struct worker_part parts[WORKERS_MAX];
};

/* Before the runtime runs. */
void worker_parts_init(struct server *);

/* A worker's main task (arg: struct server *): accepts and serves until it is told to stop,
 * then drains. Worker 0 also watches signals and the control socket. */
PARKS void worker_main(void *arg);
