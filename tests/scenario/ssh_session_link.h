/* A session of the real server in the deterministic runtime, and a client by hand, both on one
 * worker and joined by a socket. The clock stands while there is something to do. */
#pragma once
#include <crypt.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/tcp.h"
#include "session/session.h"
#include "ssh/server.h"
#include "ssh_hand_channels.h"
#include "task/runtime.h"

#define TURNS_TO_HEAR 100000 /* that the client has gone */

struct session_link {
    int (*client)(struct by_hand *);
    uint64_t rekey_bytes;
    struct session_timeouts timeouts;

    struct scope sessions;
    int result;
};

struct session_world {
    char root_path[64];
    struct vroot *root;
    struct auth *auth;
    struct session_settings settings;
    struct session_shared *shared;
    struct ssh_offer *offer;
    struct ssh_server server;
};

static inline void session_world_init(struct session_world *w, const struct session_link *l)
{
    struct account *a = NULL;
    (void)snprintf(w->root_path, sizeof(w->root_path), "/tmp/ferry-session-%d", getpid());
    TASK_ASSERT(mkdir(w->root_path, 0700) == 0);
    TASK_ASSERT(vroot_open(w->root_path, VROOT_BENEATH, &w->root) == 0);
    TASK_ASSERT(auth_new(runtime_hash_pool(runtime_self()), &w->auth) == 0);
    TASK_ASSERT(account_new(bytes_str("ann"), &a) == 0);
    a->hash = mem_strdup(crypt("right", "$5$rounds=1000$ferry")); /* not the subject */
    uint8_t blob[128];
    struct wire_writer out = wire_writer_of(blob, sizeof(blob));
    ssh_key_write(&out, test_key(CRYPTO_ED25519));
    const struct account_key key = {.blob = blob, .blob_len = out.len, .expires_s = INT64_MAX};
    TASK_ASSERT(account_add_key(a, &key) == 0);
    TASK_ASSERT(auth_add(w->auth, a) == 0);
    w->settings = (struct session_settings){
        .roots = &w->root,
        .auth = w->auth,
        .files_pool = runtime_files_pool(runtime_self()),
        .timeouts = l->timeouts,
    };
    TASK_ASSERT(session_shared_new(&w->settings, &w->shared) == 0);
    static const struct ssh_offer_settings offers;
    TASK_ASSERT(ssh_offer_new(SSH_SERVER, &offers, &w->offer) == 0);
    w->server = (struct ssh_server){
        .shared = w->shared,
        .auth = w->auth,
        .transport = {.role = SSH_SERVER,
                      .offer = w->offer,
                      .host_keys = test_host_keys(),
                      .pool = w->settings.files_pool,
                      .rekey_bytes = l->rekey_bytes},
        .services = test_services,
    };
}

static inline void session_world_done(struct session_world *w)
{
    ssh_offer_free(w->offer);
    session_shared_free(w->shared);
    auth_free(w->auth);
    vroot_unref(w->root);
    TASK_ASSERT(rmdir(w->root_path) == 0);
}

/* Both ends of a connection over loopback. */
static inline void session_connect(struct session_link *l, const struct session_world *w,
                                   struct stream **ret_client)
{
    struct addr local, peer;
    struct listener *listener;
    struct io_fd *io;
    int fd;
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), &local) == 0);
    TASK_ASSERT(tcp_listen(&local, 1, &fd) == 0 && listener_new(fd, &listener) == 0);
    TASK_ASSERT(listener_for_dialogues(listener) == 0);
    TASK_ASSERT(tcp_connect(&local, NULL, USEC_NEVER, &io) == 0);
    TASK_ASSERT(tcp_set_nodelay(io) == 0);
    TASK_ASSERT(tcp_stream_new(io, STALL_US, ret_client) == 0);
    TASK_ASSERT(listener_accept(listener, BYTES_NONE, USEC_NEVER, &fd, &peer) == 0);
    listener_free(listener);
    TASK_ASSERT(ssh_session_start(&w->server, &l->sessions, fd, &peer, &local) == 0);
}

static inline void session_link_main(void *arg)
{
    struct session_link *l = arg;
    static struct by_hand h;
    struct session_world w = {.root = NULL};
    hand_init(&h);
    scope_init(&l->sessions);
    session_world_init(&w, l);
    session_connect(l, &w, &h.stream);
    l->result = l->client(&h);
    hand_done(&h);
    for (unsigned i = 0; i < TURNS_TO_HEAR && session_count_here() > 0; i++)
        task_yield(); /* no time passes */
    TASK_ASSERT(session_count_here() == 0);
    TASK_ASSERT(scope_wait(&l->sessions, USEC_NEVER) == 0);
    scope_leave(&l->sessions);
    session_world_done(&w);
}
