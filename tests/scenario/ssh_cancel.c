/* A session that is cancelled wherever it waits: for an ident, keys, a job, a login, a window,
 * new keys, an empty queue, input. Nothing leaks, nothing hangs, and the client hears of it.
 *
 * The server's task runs once in a turn of the loop, until it waits; so a task that gives way n
 * times comes behind its n-th wait. */
#include "ssh_dialogue.h"
#include "ssh_session_link.h"

struct cancelling {
    struct scope *victims;
    unsigned turns; /* after which they are cancelled */
    bool is_over;   /* the whole connection */
    bool is_too_late;
};

static void cancel_main(void *arg)
{
    struct cancelling *c = arg;
    for (unsigned i = 0; i < c->turns; i++)
        task_yield();
    c->is_too_late = c->is_over;
    scope_cancel(c->victims);
}

/* After the last of those that are tried one by one. */
static unsigned next_turn(unsigned turns)
{
    return turns < 80 ? turns + 1 : turns + 7;
}

/* -- in memory, where windows and the queue are full soon -- */

/* Up and down through new keys; then more comes than the client reads. */
static int dialogue(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "echo", &ch);
    if (r == 0) {
        r = echo_pattern(ch, 40 * 1000);
        (void)ssh_channel_close(ch);
    }
    if (r == 0)
        r = open_exec(l, "source 3000000", &ch);
    if (r < 0)
        return r;
    uint8_t data[1000];
    ssize_t n = stream_read(ssh_channel_stream(ch), data, sizeof(data));
    for (unsigned i = 0; i < 200 && n > 0; i++)
        task_yield(); /* what stops is the server */
    (void)ssh_channel_close(ch);
    return n > 0 ? 0 : -EIO;
}

struct walk {
    struct link link;
    struct cancelling cancelling;
};

static void walk_main(void *arg)
{
    struct walk *w = arg;
    struct scope scope;
    scope_init(&scope);
    scope_init(&w->link.servers); /* it may be asked before the link has begun */
    TASK_ASSERT(scope_start(&scope, "cancel", TASK_NORMAL, cancel_main, &w->cancelling, NULL) ==
                0);
    link_main(&w->link);
    w->cancelling.is_over = true;
    scope_leave(&scope);
    TASK_ASSERT(*ssh_transport_worker_output() == 0);
}

static void a_server_can_be_cancelled_wherever_it_waits(void **state)
{
    (void)state;
    static struct walk w;
    unsigned cancelled = 0;
    for (unsigned turns = 1; !w.cancelling.is_too_late; turns = next_turn(turns)) {
        w.link = link_of(dialogue);
        w.link.client_rekey_bytes = 15000;
        w.link.server_rekey_bytes = turns % 2 == 0 ? 9000 : 0;
        w.cancelling = (struct cancelling){.victims = &w.link.servers, .turns = turns};
        run_deterministic(turns, walk_main, &w);
        bool is_ended = w.link.server.result == -ECANCELED;
        cancelled += is_ended;
        if (!is_ended && !w.cancelling.is_too_late && w.link.server.result != -FERRY_ECLOSED)
            fail_msg("turn %u: server %d (%s)", turns, w.link.server.result, w.link.server.why);
        if (w.link.took_us > 5 * USEC_PER_S)
            fail_msg("turn %u: it took %lu us; client %d, server %d (%s)", turns,
                     (unsigned long)w.link.took_us, w.link.result, w.link.server.result,
                     w.link.server.why);
        assert_true(turns < 5000);
    }
    print_message("%u places\n", cancelled);
    assert_true(cancelled > 50);
    assert_int_equal(w.link.result, 0); /* the last was not cancelled */
}

/* -- the real server, with its jobs -- */

struct session_walk {
    struct session_link link;
    struct cancelling cancelling;
};

static void session_walk_main(void *arg)
{
    struct session_walk *w = arg;
    struct scope scope;
    scope_init(&scope);
    scope_init(&w->link.sessions);
    TASK_ASSERT(scope_start(&scope, "cancel", TASK_NORMAL, cancel_main, &w->cancelling, NULL) ==
                0);
    session_link_main(&w->link);
    w->cancelling.is_over = true;
    scope_leave(&scope);
    TASK_ASSERT(*ssh_transport_worker_output() == 0);
}

/* Key exchange, login, a service that is asked and answers, and the end. */
static int client_is_served(struct by_hand *h)
{
    int r = hand_ready(h, "echo", 100000, 32768);
    if (r == 0)
        r = hand_data(h, 0, 3000);
    if (r == 0)
        r = hand_until(h, SSH_MSG_CHANNEL_DATA);
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_EOF, 0);
    return r == 0 ? hand_until(h, SSH_MSG_CHANNEL_CLOSE) : r;
}

static void a_session_can_be_cancelled_wherever_it_waits(void **state)
{
    (void)state;
    static struct session_walk w;
    unsigned failed = 0;
    for (unsigned turns = 1; !w.cancelling.is_too_late; turns = next_turn(turns)) {
        w.link = (struct session_link){.client = client_is_served};
        w.cancelling = (struct cancelling){.victims = &w.link.sessions, .turns = turns};
        run_deterministic(turns, session_walk_main, &w);
        failed += w.link.result < 0;
        assert_true(w.link.result != -ETIMEDOUT);
        assert_true(turns < 5000);
    }
    print_message("%u places\n", failed);
    assert_true(failed > 5);
    assert_int_equal(w.link.result, 0);
}

static int client_with_a_key_is_served(struct by_hand *h)
{
    h->key = test_key(CRYPTO_ED25519);
    return client_is_served(h);
}

/* Here keys, signatures and passwords are computed by other threads, and the session waits. */
static void a_session_can_be_cancelled_while_its_jobs_run(void **state)
{
    (void)state;
    static struct session_walk w;
    unsigned failed = 0, rounds = 0;
    w.cancelling.is_too_late = false;
    for (unsigned turns = 1; !w.cancelling.is_too_late; turns += 1 + turns / 10) {
        w.link = (struct session_link){
            .client = rounds++ % 2 == 0 ? client_is_served : client_with_a_key_is_served};
        w.cancelling = (struct cancelling){.victims = &w.link.sessions, .turns = turns};
        run_threaded(1, session_walk_main, &w);
        failed += w.link.result < 0;
        assert_true(w.link.result != -ETIMEDOUT);
        assert_true(turns < 10 * 1000 * 1000);
    }
    print_message("%u places\n", failed);
    assert_true(failed > 3);
    assert_int_equal(w.link.result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_can_be_cancelled_wherever_it_waits),
        cmocka_unit_test(a_session_can_be_cancelled_wherever_it_waits),
        cmocka_unit_test(a_session_can_be_cancelled_while_its_jobs_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
