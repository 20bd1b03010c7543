/* A host whose jobs fill its share of the pool waits, and no other does. */
#include <stdatomic.h>

#include "session/shared.h"
#include "ssh_session_link.h"

#define POOL_THREADS 2 /* of which a host has one */
#define CALLS_MAX    10000

struct gate_job {
    struct job job;
    int fd;
};

static _Atomic bool gate_is_shut;
static int gate[2];

static void gate_run(struct job *job)
{
    uint8_t key;
    atomic_store(&gate_is_shut, true);
    TASK_ASSERT(read(((struct gate_job *)(void *)job)->fd, &key, 1) == 1);
}

static void gate_free(struct job *job)
{
    mem_free(job);
}

/* A job of this host that runs until it is let go. */
static PARKS struct job *shut_gate(const struct session_world *w, const char *peer)
{
    struct addr addr;
    struct gate_job *j = mem_new(sizeof(*j));
    TASK_ASSERT(j != NULL && pipe(gate) == 0);
    *j = (struct gate_job){.job = {.run = gate_run, .free = gate_free}, .fd = gate[0]};
    TASK_ASSERT(addr_parse(bytes_str(peer), &addr) == 0);
    const struct host host = host_of(&addr.u.any);
    struct pool_shares shares = {.session = limits_share(&w->shared->limits, &host)};
    atomic_store(&gate_is_shut, false);
    TASK_ASSERT(job_start(w->settings.files_pool, &j->job, &shares) == 0);
    pool_share_unref(shares.session);
    for (unsigned i = 0; i < CALLS_MAX && !atomic_load(&gate_is_shut); i++)
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
    TASK_ASSERT(atomic_load(&gate_is_shut));
    return &j->job;
}

static PARKS void open_gate(const struct session_world *w, struct job *job)
{
    TASK_ASSERT(write(gate[1], "", 1) == 1);
    TASK_ASSERT(job_wait(w->settings.files_pool, job, USEC_NEVER) == 0);
    gate_free(job);
    (void)close(gate[0]);
    (void)close(gate[1]);
}

/* -- clients -- */

struct guest {
    struct by_hand hand;
    bool has_keys, is_in;
};

/* The server believes that it comes from peer. */
static PARKS struct guest *guest_new(struct scope *sessions, const struct session_world *w,
                                     const char *peer_text)
{
    struct guest *g = mem_new(sizeof(*g));
    struct addr local, real, peer;
    struct listener *listener;
    struct io_fd *io;
    int fd;
    TASK_ASSERT(g != NULL);
    hand_init(&g->hand);
    g->hand.key = test_key(CRYPTO_ED25519);
    TASK_ASSERT(addr_parse(bytes_str(peer_text), &peer) == 0);
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:0"), &local) == 0);
    TASK_ASSERT(tcp_listen(&local, 1, &fd) == 0 && listener_new(fd, &listener) == 0);
    TASK_ASSERT(tcp_connect(&local, NULL, USEC_NEVER, &io) == 0);
    TASK_ASSERT(tcp_stream_new(io, STALL_US, &g->hand.stream) == 0);
    TASK_ASSERT(listener_accept(listener, BYTES_NONE, USEC_NEVER, &fd, &real) == 0);
    listener_free(listener);
    TASK_ASSERT(ssh_session_start(&w->server, sessions, fd, &peer, &local) == 0);
    return g;
}

static PARKS void get_keys(struct guest *g)
{
    TASK_ASSERT(hand_ident(&g->hand) == 0 && hand_exchange(&g->hand, &hand_usual) == 0);
    g->has_keys = true;
}

static void guest_main(void *arg)
{
    struct guest *g = arg;
    if (!g->has_keys)
        get_keys(g);
    TASK_ASSERT(hand_log_in(&g->hand) == 0);
    g->is_in = true;
}

static void guest_free(struct guest *g)
{
    hand_done(&g->hand);
    mem_free(g);
}

/* -- both -- */

static void share_main(void *arg)
{
    const bool has_keys = *(const bool *)arg;
    const struct session_link l = {
        .timeouts = {.login_us = 60 * USEC_PER_S, .idle_us = 600 * USEC_PER_S}};
    struct session_world w = {.root = NULL};
    struct scope sessions, clients;
    scope_init(&sessions);
    scope_init(&clients);
    session_world_init(&w, &l);
    struct guest *waits = guest_new(&sessions, &w, "192.0.2.1:1");
    if (has_keys)
        get_keys(waits);
    struct job *job = shut_gate(&w, "192.0.2.1:1");
    TASK_ASSERT(scope_start(&clients, "waits", TASK_NORMAL, guest_main, waits, NULL) == 0);
    for (unsigned i = 0; i < 3; i++) { /* jobs run in the order they came in */
        struct guest *other = guest_new(&sessions, &w, "192.0.2.2:1");
        guest_main(other);
        guest_free(other);
    }
    TASK_ASSERT(waits->has_keys == has_keys && !waits->is_in);
    open_gate(&w, job);
    TASK_ASSERT(scope_wait(&clients, USEC_NEVER) == 0);
    TASK_ASSERT(waits->is_in);
    guest_free(waits);
    for (unsigned i = 0; i < CALLS_MAX && session_count_here() > 0; i++)
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
    TASK_ASSERT(session_count_here() == 0);
    TASK_ASSERT(scope_wait(&sessions, USEC_NEVER) == 0);
    scope_leave(&clients);
    scope_leave(&sessions);
    session_world_done(&w);
}

static void run_shares(bool has_keys)
{
    const struct runtime_settings settings = {.workers = 1, .pool_threads = POOL_THREADS};
    run_in_runtime(&settings, share_main, &has_keys);
}

static void key_exchanges_of_one_host_leave_threads_to_others(void **state)
{
    (void)state;
    run_shares(false);
}

static void signatures_of_one_host_leave_threads_to_others(void **state)
{
    (void)state;
    run_shares(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_exchanges_of_one_host_leave_threads_to_others),
        cmocka_unit_test(signatures_of_one_host_leave_threads_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
