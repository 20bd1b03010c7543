/* What is owed to a peer that asks much: it is bounded, and nothing of it is lost. */
#include "ssh_hand_channels.h"

/* -- who asks and reads nothing -- */

static int client_opens_and_reads_nothing(struct by_hand *h)
{
    int r = hand_ready(h, NULL, 1000, 32768);
    for (unsigned i = 0; i < 300 * 1000 && r == 0; i++)
        r = hand_open(h, 0, 1); /* each is refused */
    return r;
}

static int client_asks_and_reads_nothing(struct by_hand *h)
{
    int r = hand_ready(h, NULL, 1000, 32768);
    for (unsigned i = 0; i < 300 * 1000 && r == 0; i++)
        r = hand_exec(h, 0, "nothing");
    return r;
}

static int client_pings_and_reads_nothing(struct by_hand *h)
{
    static uint8_t ping[5 + SSH_PING_MAX] = {SSH_MSG_PING, 0, 0, SSH_PING_MAX >> 8};
    int r = hand_ready(h, NULL, 1000, 32768);
    for (unsigned i = 0; i < 20 * 1000 && r == 0; i++)
        r = hand_say(h, bytes_of(ping, sizeof(ping)));
    return r;
}

static void who_asks_and_reads_nothing_is_not_read(void **state)
{
    (void)state;
    static int (*const clients[])(struct by_hand *) = {client_opens_and_reads_nothing,
                                                       client_asks_and_reads_nothing,
                                                       client_pings_and_reads_nothing};
    for (unsigned i = 0; i < ARRAY_LEN(clients); i++) {
        struct hand_link l = hand_run(clients[i], 0);
        assert_true(l.result < 0);
        assert_int_equal(l.server.result, -ETIMEDOUT);
        /* and one batch of input: each of its messages may have had an answer */
        assert_true(l.server.unsent_most <
                    SSH_OUTPUT_CAP + SSH_CONTROL_OUTPUT_MAX + 512 * 1024);
    }
}

#define MANY_QUESTIONS 60000

static void ask_much(void *arg)
{
    struct by_hand *h = arg;
    for (unsigned i = 0; i < MANY_QUESTIONS; i++)
        TASK_ASSERT(hand_exec(h, 0, "nothing") == 0);
}

/* It reads late: the server had stopped, and goes on. */
static int client_reads_late(struct by_hand *h)
{
    struct scope scope;
    int r = hand_ready(h, NULL, 1000, 32768);
    scope_init(&scope);
    if (r == 0)
        r = scope_start(&scope, "ask", TASK_NORMAL, ask_much, h, NULL);
    if (r == 0)
        r = task_sleep_until(clock_after(STALL_US / 2));
    for (unsigned i = 0; i < MANY_QUESTIONS && r == 0; i++)
        r = hand_hear(h) == SSH_MSG_CHANNEL_FAILURE ? 0 : -EIO;
    if (r == 0)
        r = scope_wait(&scope, USEC_NEVER);
    scope_leave(&scope);
    return r;
}

static void who_reads_late_gets_every_answer(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_reads_late, 0);
    assert_int_equal(l.result, 0);
    assert_true(l.server.unsent_most > SSH_OUTPUT_CAP);
}

#define CROSSING 500

static int hand_global_request(struct by_hand *h)
{
    uint8_t payload[64];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_global_request_write(&w, BYTES_LIT("keepalive@openssh.com"), true);
    return hand_say(h, bytes_of(payload, w.len));
}

/* The server has asked for new keys, and the client has not seen it yet. */
static int hand_cross_kexinit(struct by_hand *h)
{
    int r = hand_ready(h, "sink 1", 1000, 32768);
    return r == 0 ? hand_data(h, 0, 1000) : r;
}

/* In an exchange the answers wait, and are counted: first come those of the connection. */
static int client_asks_during_an_exchange(struct by_hand *h)
{
    int r = hand_cross_kexinit(h);
    for (unsigned i = 0; i < CROSSING && r == 0; i++) {
        r = hand_open_as(h, 100 + i + (i >= CROSSING / 2), 0, 1);
        if (r == 0)
            r = hand_global_request(h);
    }
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    for (unsigned i = 0; i < CROSSING && r == 0; i++)
        r = hand_hear(h) == SSH_MSG_REQUEST_FAILURE ? 0 : -EIO;
    for (unsigned i = 0; i < CROSSING && r == 0; i++) {
        uint32_t recipient, reason;
        struct bytes text;
        r = hand_hear(h) == SSH_MSG_CHANNEL_OPEN_FAILURE ? 0 : -EIO;
        if (r < 0)
            return r;
        TASK_ASSERT(ssh_channel_open_failure_parse(h->heard, &recipient, &reason, &text) == 0);
        TASK_ASSERT(recipient == 100 + i + (i >= CROSSING / 2));
        TASK_ASSERT(reason == SSH_OPEN_RESOURCE_SHORTAGE);
    }
    return r;
}

/* No client that counts. */
static int client_opens_at_random_during_an_exchange(struct by_hand *h)
{
    int r = hand_cross_kexinit(h);
    for (unsigned i = 0; i < SSH_PENDING_MAX + 1 && r == 0; i++)
        r = hand_open_as(h, i * 1000, 0, 1);
    return r == 0 ? hand_to_the_end(h) : r;
}

static void answers_that_an_exchange_delays_are_given_after_it(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_asks_during_an_exchange, 700);
    if (l.result != 0)
        fail_msg("client %d, server %d (%s)", l.result, l.server.result, l.server.why);
}

static void owed_answers_have_a_bound(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_opens_at_random_during_an_exchange, 700);
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    assert_string_equal(l.server.why, "too many channel opens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_and_reads_nothing_is_not_read),
        cmocka_unit_test(who_reads_late_gets_every_answer),
        cmocka_unit_test(answers_that_an_exchange_delays_are_given_after_it),
        cmocka_unit_test(owed_answers_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
