/* Windows: credit that is given, kept, broken and shared. */
#include "ssh_hand_channels.h"

static int client_overruns_the_window(struct by_hand *h)
{
    int r = hand_ready(h, "echo", 0, 32768); /* it waits for a window, and is read */
    for (unsigned i = 0; i < SSH_WINDOW_FIRST / SSH_DATA_MAX && r == 0; i++)
        r = hand_data(h, 0, SSH_DATA_MAX);
    if (r == 0)
        r = hand_data(h, 0, 1);
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_sends_too_much_at_once(struct by_hand *h)
{
    int r = hand_ready(h, "sink 1", 1000, 32768);
    if (r == 0)
        r = hand_data(h, 0, SSH_DATA_MAX + 1);
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_overflows_our_window(struct by_hand *h)
{
    int r = hand_ready(h, "sink 1", UINT32_MAX - 5, 32768);
    if (r == 0)
        r = hand_adjust(h, 0, 5);
    if (r == 0)
        r = hand_adjust(h, 0, 1);
    return r == 0 ? hand_to_the_end(h) : r;
}

/* While it waits for new keys the server holds a room of a thousand bytes, which it may yet
 * give back: they count. */
static int client_overflows_what_is_lent(struct by_hand *h)
{
    int r = hand_ready(h, "echo", UINT32_MAX - 5, 32768);
    if (r == 0)
        r = hand_data(h, 0, 1000);
    if (r == 0)
        r = task_sleep_until(clock_after(USEC_PER_S));
    if (r == 0)
        r = hand_adjust(h, 0, 5);
    if (r == 0)
        r = hand_adjust(h, 0, 1);
    return r == 0 ? hand_to_the_end(h) : r;
}

static void a_broken_window_ends_the_connection(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_overruns_the_window, 0);
    assert_string_equal(l.server.why, "data beyond the window");
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    l = hand_run(client_sends_too_much_at_once, 0);
    assert_string_equal(l.server.why, "malformed CHANNEL_DATA");
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    l = hand_run(client_overflows_our_window, 0);
    assert_string_equal(l.server.why, "a window beyond 2^32");
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    l = hand_run(client_overflows_what_is_lent, 700);
    assert_string_equal(l.server.why, "a window beyond 2^32");
    assert_int_equal(l.server.result, -FERRY_EPROTO);
}

/* The server may send no byte more than what it was given, and none in larger pieces. */
static int client_gives_little(struct by_hand *h)
{
    uint64_t got = 0, given = 100, want = 20000;
    int r = hand_ready(h, "source 20000", 100, 64);
    while (r == 0 && got < want) {
        r = hand_hear(h);
        if (r != SSH_MSG_CHANNEL_DATA)
            return r < 0 ? r : -EIO;
        struct ssh_channel_data m;
        TASK_ASSERT(ssh_channel_data_parse(h->heard, &m) == 0);
        TASK_ASSERT(m.recipient == 7 && m.data.len <= 64);
        TASK_ASSERT(is_pattern(m.data.data, m.data.len, got));
        got += m.data.len;
        TASK_ASSERT(got <= given);
        uint32_t more = got % 3 == 0 ? 1 : 333;
        r = got == given || got % 7 == 0 ? hand_adjust(h, 0, more) : 0;
        given += r == 0 && (got == given || got % 7 == 0) ? more : 0;
    }
    if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_EOF)
        return -EIO;
    if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_REQUEST)
        return -EIO;
    if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_CLOSE)
        return -EIO;
    return r;
}

/* A byte at a time, each before the stall time is over: a text of errors is given up all the
 * same, and the channel ends without the rest. Returns how many bytes came. */
static int client_takes_errors_slowly(struct by_hand *h)
{
    int r = hand_ready(h, "complain", 0, 1000);
    for (int heard = 0; r == 0 && heard < 10; heard++) {
        r = task_sleep_until(clock_after(STALL_US - USEC_PER_S));
        if (r == 0)
            r = hand_adjust(h, 0, 1);
        int message = r == 0 ? hand_hear(h) : r;
        if (message != SSH_MSG_CHANNEL_EXTENDED_DATA)
            return message < 0 ? message : heard;
    }
    return r == 0 ? -E2BIG : r;
}

static void a_text_of_errors_waits_for_one_stall_in_all(void **state)
{
    (void)state;
    assert_int_equal(hand_run(client_takes_errors_slowly, 0).result, 1);
}

/* All that is taken is given back, in steps of no less than 64 KB. */
static int client_sends_much(struct by_hand *h)
{
    uint64_t sent = 0, window = SSH_WINDOW_FIRST, adjusts = 0;
    int r = hand_ready(h, "sink 1", 1000, 32768);
    while (r == 0 && sent < 10 * 1000 * 1000) {
        if (window >= 32768) {
            r = hand_data_at(h, 0, 32768, sent);
            sent += 32768;
            window -= 32768;
            continue;
        }
        uint32_t recipient, bytes;
        r = hand_hear(h);
        if (r != SSH_MSG_CHANNEL_WINDOW_ADJUST)
            return r < 0 ? r : -EIO;
        TASK_ASSERT(ssh_channel_adjust_parse(h->heard, &recipient, &bytes) == 0);
        TASK_ASSERT(recipient == 7 && bytes >= 64 * 1024);
        window += bytes;
        adjusts++;
        TASK_ASSERT(window <= SSH_WINDOW_MAX);
        r = 0;
    }
    return r == 0 && adjusts < 8 ? -EIO : r;
}

/* Uses a window up in each round trip of ten milliseconds; *ret: what it has grown to. */
static int use_up_windows(struct by_hand *h, uint32_t channel, uint32_t *ret)
{
    uint64_t sent = 0, given = 0, most = 0;
    int r = 0;
    for (unsigned i = 0; i < 100 && r == 0; i++) {
        uint32_t recipient, bytes;
        if (SSH_WINDOW_FIRST + given - sent > most)
            most = SSH_WINDOW_FIRST + given - sent;
        for (; SSH_WINDOW_FIRST + given - sent >= 32768 && r == 0; sent += 32768)
            r = hand_data_at(h, channel, 32768, sent);
        if (r == 0)
            r = task_sleep_until(clock_after(10 * USEC_PER_MS));
        while (r == 0 && SSH_WINDOW_FIRST + given - sent < most - most / 4) {
            r = hand_until(h, SSH_MSG_CHANNEL_WINDOW_ADJUST);
            if (r < 0)
                return r;
            TASK_ASSERT(ssh_channel_adjust_parse(h->heard, &recipient, &bytes) == 0);
            given += bytes;
            r = 0;
        }
        TASK_ASSERT(SSH_WINDOW_FIRST + given - sent <= SSH_WINDOW_MAX);
    }
    *ret = (uint32_t)most;
    return r;
}

static int client_is_fast(struct by_hand *h)
{
    uint32_t window = 0;
    int r = hand_ready(h, "sink 1", 1000, 32768);
    if (r == 0)
        r = use_up_windows(h, 0, &window);
    return r == 0 && window < SSH_WINDOW_MAX / 2 ? -EIO : r;
}

static void a_window_grows_while_one_channel_uses_it_up(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_is_fast, 0);
    assert_int_equal(l.result, 0);
}

/* Credit that a path brings so late that an eighth of the window comes at a time. */
#define EVEN_TRIP_US (20 * USEC_PER_MS)
#define EVEN_PIECES  64
#define EVEN_LONGER  6 /* trips, and then they take 1.4 times as long: an end is busy */

struct even {
    uint64_t sent, credit, given;

    struct {
        usec_t due;
        uint32_t bytes;
    } late[EVEN_PIECES];

    unsigned first, count, trips;
};

static void even_give(struct even *e, usec_t due, uint32_t bytes)
{
    TASK_ASSERT(e->count < EVEN_PIECES);
    unsigned at = (e->first + e->count++) % EVEN_PIECES;
    e->late[at].due = due;
    e->late[at].bytes = bytes;
    e->given += bytes;
}

static int even_send(struct even *e, struct by_hand *h)
{
    int r = 0;
    while (e->count > 0 && e->late[e->first].due <= clock_now()) {
        e->credit += e->late[e->first].bytes;
        e->first = (e->first + 1) % EVEN_PIECES;
        e->count--;
    }
    for (; r == 0 && e->credit - e->sent >= 32768; e->sent += 32768)
        r = hand_data_at(h, 0, 32768, e->sent);
    return r;
}

static usec_t even_trip(struct even *e, bool gets_longer)
{
    return gets_longer && ++e->trips > EVEN_LONGER ? EVEN_TRIP_US * 7 / 5 : EVEN_TRIP_US;
}

/* Never silent for long, and never with credit that it does not use at once. */
static int held_evenly(struct by_hand *h, bool gets_longer)
{
    struct even e = {.sent = 0};
    int r = hand_ready(h, "sink 1", 1000, 32768);
    usec_t began = clock_now(), until = began + 20 * USEC_PER_S;
    for (unsigned i = 1; i <= 8; i++)
        even_give(&e, began + i * EVEN_TRIP_US / 8, SSH_WINDOW_FIRST / 8);
    while (r == 0 && e.given - e.sent < SSH_WINDOW_MAX / 2) {
        uint32_t recipient, bytes;
        TASK_ASSERT(clock_now() < until);
        r = even_send(&e, h);
        int heard = r == 0 ? hand_hear_for(h, USEC_PER_MS) : r;
        if (heard == -ETIMEDOUT)
            continue;
        if (heard != SSH_MSG_CHANNEL_WINDOW_ADJUST)
            return heard < 0 ? heard : -EIO;
        TASK_ASSERT(ssh_channel_adjust_parse(h->heard, &recipient, &bytes) == 0);
        even_give(&e, clock_now() + even_trip(&e, gets_longer), bytes);
    }
    return r;
}

static int client_is_held_evenly(struct by_hand *h)
{
    return held_evenly(h, false);
}

static int client_is_held_by_a_path_that_gets_longer(struct by_hand *h)
{
    return held_evenly(h, true);
}

static void a_window_grows_for_one_whom_it_holds_back_evenly(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_is_held_evenly, 0);
    assert_int_equal(l.result, 0);
    l = hand_run(client_is_held_by_a_path_that_gets_longer, 0);
    assert_int_equal(l.result, 0);
}

/* Opens one more; *ret: its first window. */
static int open_another(struct by_hand *h, uint32_t *ret)
{
    struct ssh_channel_confirmation m;
    int r = hand_open(h, 1000, 32768);
    if (r == 0)
        r = hand_until(h, SSH_MSG_CHANNEL_OPEN_CONFIRMATION);
    if (r < 0)
        return r;
    TASK_ASSERT(ssh_channel_confirmation_parse(h->heard, &m) == 0);
    *ret = m.window;
    return 0;
}

/* All that came for this long, as adjusts of one channel. */
static int hear_adjusts(struct by_hand *h, uint32_t *window)
{
    for (;;) {
        uint32_t recipient, bytes;
        int r = hand_hear_for(h, USEC_PER_S);
        if (r != SSH_MSG_CHANNEL_WINDOW_ADJUST)
            return r == -ETIMEDOUT ? 0 : -EIO;
        TASK_ASSERT(ssh_channel_adjust_parse(h->heard, &recipient, &bytes) == 0);
        *window += bytes;
    }
}

/* The first channel's window was given while it was alone; it is used up many times. */
static int client_is_fast_among_others(struct by_hand *h)
{
    uint32_t window = SSH_WINDOW_FIRST;
    uint64_t sent = 0;
    int r = hand_ready(h, "sink 1", 1000, 32768);
    for (unsigned open = 2; open <= SSH_CHANNELS_SESSION && r == 0; open++) {
        uint32_t first;
        r = open_another(h, &first);
        TASK_ASSERT(r < 0 || first == SSH_INPUT_CAP / open);
    }
    for (unsigned round = 0; round < 30 && r == 0; round++) {
        TASK_ASSERT(window > 0);
        uint32_t piece = window < 32768 ? window : 32768;
        r = hand_data_at(h, 0, piece, sent);
        sent += piece;
        window -= piece;
        if (window > 0)
            round--;
        else if (r == 0)
            r = hear_adjusts(h, &window);
        TASK_ASSERT(sent < SSH_WINDOW_FIRST || window <= SSH_INPUT_CAP / SSH_CHANNELS_SESSION);
    }
    return r;
}

static int client_opens_one_after_another(struct by_hand *h)
{
    uint32_t window;
    int r = hand_ready(h, NULL, 1000, 32768);
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_CLOSE, 0);
    if (r == 0)
        r = hand_until(h, SSH_MSG_CHANNEL_CLOSE);
    if (r == 0)
        r = open_another(h, &window);
    return r == 0 && window != SSH_WINDOW_FIRST ? -EIO : r;
}

static void several_channels_share_the_cap(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_is_fast_among_others, 0);
    assert_int_equal(l.result, 0);
    l = hand_run(client_opens_one_after_another, 0);
    assert_int_equal(l.result, 0);
}

static void windows_are_kept(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_gives_little, 0);
    assert_int_equal(l.result, 0);
    l = hand_run(client_sends_much, 0);
    assert_int_equal(l.result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_window_ends_the_connection),
        cmocka_unit_test(a_text_of_errors_waits_for_one_stall_in_all),
        cmocka_unit_test(a_window_grows_while_one_channel_uses_it_up),
        cmocka_unit_test(a_window_grows_for_one_whom_it_holds_back_evenly),
        cmocka_unit_test(several_channels_share_the_cap),
        cmocka_unit_test(windows_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
