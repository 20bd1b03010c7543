/* A whole FTP server in the deterministic runtime, and a client that blocks on a thread of its
 * own.
 *
 * The client uses plain libc calls, so injected faults hit the server alone. All deadlines of
 * the server are off: its clock runs ahead whenever nothing happens, which also makes it doze
 * between any two commands. */
#pragma once
#include <arpa/inet.h>
#include <crypt.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/check.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "ftp/server.h"
#include "io/tcp.h"
#include "runtime_fixture.h"
#include "session/table.h"
#include "task/sys.h"

struct harness {
    char root_path[64];
    enum fault_kind kind;
    uint64_t nth;     /* 0: no fault */
    uint64_t counted; /* calls of that kind; the client's to read off */
    void (*client)(struct harness *);
    void *client_state;
    uint16_t passive_port; /* 0: the kernel's choice */
    bool passive_is_hint;

    struct worker *worker;
    uint16_t port;
    _Atomic bool client_done;
};

/* -- the client -- */

struct ftp_client {
    int fd;           /* -1: closed */
    char reply[4096]; /* the last one, all its lines */
    size_t held;
    char buffer[4096];
};

static inline int connect_port(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = 20};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline int client_line(struct ftp_client *c, char *line, size_t cap)
{
    for (;;) {
        char *end = memchr(c->buffer, '\n', c->held);
        if (end) {
            size_t len = (size_t)(end - c->buffer) + 1;
            TASK_ASSERT(len < cap && len >= 2 && end[-1] == '\r');
            memcpy(line, c->buffer, len);
            line[len] = '\0';
            memmove(c->buffer, end + 1, c->held - len);
            c->held -= len;
            return 0;
        }
        TASK_ASSERT(c->held < sizeof(c->buffer));
        ssize_t n =
            c->fd < 0 ? 0 : recv(c->fd, c->buffer + c->held, sizeof(c->buffer) - c->held, 0);
        TASK_ASSERT(n >= 0 ||
                    errno == ECONNRESET); /* EAGAIN: the server owes a reply and hangs */
        if (n <= 0)
            return -1;
        c->held += (size_t)n;
    }
}

/* The code of the next reply; 0: the connection is closed. */
static inline int client_reply(struct ftp_client *c)
{
    char line[4096];
    size_t len = 0;
    int code = 0;
    do {
        if (client_line(c, line, sizeof(line)) < 0)
            return 0;
        TASK_ASSERT(len + strlen(line) < sizeof(c->reply));
        memcpy(c->reply + len, line, strlen(line) + 1);
        len += strlen(line);
        if (!code) {
            code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + line[2] - '0';
            TASK_ASSERT(code >= 100 && code < 600 && (line[3] == ' ' || line[3] == '-'));
        }
    } while (!(line[0] == '0' + code / 100 && line[1] == '0' + code / 10 % 10 &&
               line[2] == '0' + code % 10 && line[3] == ' '));
    if (getenv("FERRY_TRACE"))
        (void)fputs(c->reply, stderr);
    return code;
}

static inline int client_say(struct ftp_client *c, const char *command)
{
    char line[600];
    int len = snprintf(line, sizeof(line), "%s\r\n", command);
    if (getenv("FERRY_TRACE"))
        (void)fputs(line, stderr);
    if (c->fd < 0 || send(c->fd, line, (size_t)len, MSG_NOSIGNAL) != len)
        return 0;
    return client_reply(c);
}

/* EPSV and the connection for the next transfer; -1. */
static inline int client_passive(struct ftp_client *c)
{
    if (client_say(c, "EPSV") != 229)
        return -1;
    const char *at = strstr(c->reply, "|||");
    TASK_ASSERT(at);
    return connect_port((uint16_t)strtoul(at + 3, NULL, 10));
}

static inline void client_close(struct ftp_client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* -- the server -- */

struct harness_server {
    struct vroot *root;
    struct auth *auth;
    struct session_settings settings;
    struct session_shared *shared;
    struct ftp_service service;
};

static inline void server_setup(struct harness *h, struct harness_server *s)
{
    struct account *a = NULL;
    TASK_ASSERT(vroot_open(h->root_path, VROOT_BENEATH, &s->root) == 0);
    TASK_ASSERT(auth_new(runtime_hash_pool(runtime_self()), &s->auth) == 0);
    TASK_ASSERT(account_new(bytes_str("ann"), &a) == 0);
    a->hash =
        mem_strdup(crypt("right", "$5$rounds=1000$ferry")); /* cheap: it is not the subject */
    TASK_ASSERT(auth_add(s->auth, a) == 0);
    s->settings = (struct session_settings){
        .roots = &s->root,
        .auth = s->auth,
        .files_pool = runtime_files_pool(runtime_self()),
        .vfs = {.atomic_upload = true,
                .keep_partial = true,
                .sendfile = true,
                .file_mode = 0644,
                .directory_mode = 0755},
    };
    TASK_ASSERT(session_shared_new(&s->settings, &s->shared) == 0);
    s->service.shared = s->shared;
    s->service.passive_first = s->service.passive_last = h->passive_port;
    s->service.passive_is_hint = h->passive_is_hint;
}

static inline void *client_thread(void *arg)
{
    struct harness *h = arg;
    h->client(h);
    atomic_store(&h->client_done, true);
    int fd = connect_port(h->port); /* ends the accept */
    if (fd >= 0)
        close(fd);
    return NULL;
}

static inline void harness_main(void *arg)
{
    struct harness *h = arg;
    struct harness_server s = {.root = NULL};
    server_setup(h, &s);
    struct addr local;
    int fd;
    struct listener *listener;
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), &local) == 0);
    TASK_ASSERT(tcp_listen(&local, 64, &fd) == 0 && listener_new(fd, &listener) == 0);
    TASK_ASSERT(listener_for_dialogues(listener) == 0);
    h->port = addr_port(&local);
    h->worker = worker_self();
    struct scope sessions;
    scope_init(&sessions);
    pthread_t thread;
    fault_arm(h->kind, h->nth);
    TASK_ASSERT(pthread_create(&thread, NULL, client_thread, h) == 0);
    while (!atomic_load(&h->client_done)) {
        struct addr peer;
        int r = listener_accept(listener, BYTES_NONE, USEC_NEVER, &fd, &peer);
        if (r == 0)
            r = ftp_session_start(&s.service, &sessions, fd, &peer, &local);
        (void)r; /* the client sees a closed connection */
    }
    (void)pthread_join(thread, NULL);
    fault_arm(h->kind, 0);
    session_end_all(SESSION_KICKED);
    TASK_ASSERT(scope_wait(&sessions, USEC_NEVER) == 0);
    scope_leave(&sessions);
    listener_free(listener);
    session_shared_free(s.shared);
    auth_free(s.auth);
    vroot_unref(s.root);
}

static inline void harness_run(struct harness *h, uint64_t seed)
{
    atomic_store(&h->client_done, false);
    run_deterministic(seed, harness_main, h);
}
