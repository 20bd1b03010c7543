/* Sessions of the real server: who is asked whether he lives, and what he must say. */
#include "ssh_session_link.h"

#define LONG_US (3600 * USEC_PER_S)

static int run(struct session_link *l, int (*client)(struct by_hand *))
{
    *l = (struct session_link){.client = client, .timeouts = {.idle_us = 600 * USEC_PER_S}};
    run_deterministic(1, session_link_main, l);
    return l->result;
}

/* It hears all, and says nothing. */
static int client_is_silent(struct by_hand *h)
{
    uint32_t reason;
    struct bytes text;
    unsigned asked = 0;
    int r = hand_ready(h, "sink 1", 1000, 32768);
    if (r < 0)
        return r;
    while ((r = hand_hear_for(h, LONG_US)) == SSH_MSG_GLOBAL_REQUEST)
        asked++;
    if (r != SSH_MSG_DISCONNECT || ssh_disconnect_parse(h->heard, &reason, &text) < 0)
        return r < 0 ? r : -EIO;
    TASK_ASSERT(bytes_equal(text, BYTES_LIT("Nothing was heard from you for too long.")));
    return asked == 3 ? 0 : -EPERM;
}

static int client_answers(struct by_hand *h)
{
    int r = hand_ready(h, "sink 0", 1000, 32768);
    for (unsigned i = 0; i < 20 && r == 0; i++) {
        struct bytes type;
        bool wants_reply = false;
        r = hand_hear_for(h, LONG_US) == SSH_MSG_GLOBAL_REQUEST ? 0 : -EIO;
        if (r == 0)
            TASK_ASSERT(ssh_global_request_parse(h->heard, &type, &wants_reply) == 0);
        TASK_ASSERT(r < 0 ||
                    (bytes_equal(type, BYTES_LIT("keepalive@openssh.com")) && wants_reply));
        if (r == 0)
            r = hand_say_u8(h, SSH_MSG_REQUEST_FAILURE);
    }
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_EOF, 0);
    return r == 0 ? hand_until(h, SSH_MSG_CHANNEL_CLOSE) : r;
}

/* What it says of its own will is enough. */
static int client_sends_now_and_then(struct by_hand *h)
{
    int r = hand_ready(h, "sink 20", 1000, 32768);
    for (unsigned i = 0; i < 20 && r == 0; i++) {
        r = task_sleep_until(clock_after(50 * USEC_PER_S));
        if (r == 0)
            r = hand_data_at(h, 0, 1, i);
    }
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_EOF, 0);
    return r == 0 && hand_hear(h) == SSH_MSG_CHANNEL_EOF ? 0 : -EIO; /* and before it nothing */
}

/* Without a service there is the idle timeout. */
static int client_idles(struct by_hand *h)
{
    int r = hand_ready(h, NULL, 1000, 32768);
    return r == 0 && hand_hear_for(h, LONG_US) == SSH_MSG_DISCONNECT ? 0 : -EIO;
}

static void a_client_is_asked_while_a_service_waits_for_it(void **state)
{
    (void)state;
    struct session_link l;
    assert_int_equal(run(&l, client_answers), 0);
    assert_int_equal(run(&l, client_sends_now_and_then), 0);
    assert_int_equal(run(&l, client_idles), 0);
}

static void a_client_that_leaves_three_questions_unanswered_is_left(void **state)
{
    (void)state;
    struct session_link l;
    assert_int_equal(run(&l, client_is_silent), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_asked_while_a_service_waits_for_it),
        cmocka_unit_test(a_client_that_leaves_three_questions_unanswered_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
