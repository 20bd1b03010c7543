/* Channels: windows, limits, orders of the end, services that doze, and peers that read nothing
 * or break the rules. */
#include "ssh_by_hand.h"

/* -- our client -- */

static int exec_status(struct link *l, const char *command)
{
    struct ssh_channel *ch;
    int r = open_exec(l, command, &ch);
    if (r < 0)
        return r;
    r = stream_end(ssh_channel_stream(ch), 0);
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    return r;
}

static int dialogue_statuses(struct link *l)
{
    if (exec_status(l, "status 0") != 0 || exec_status(l, "status 42") != 42 ||
        exec_status(l, "status 255") != 255 || exec_status(l, "status 1000") != 255)
        return -EIO;
    if (exec_status(l, "nothing of that name") != -FERRY_EREFUSED)
        return -EPERM;
    return wait_forgotten(l);
}

static int dialogue_complains(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "complain", &ch);
    if (r < 0)
        return r;
    r = ssh_channel_status(ch, clock_after(STALL_US));
    if (r == 7 && bytes_equal(ssh_channel_errors(ch), BYTES_LIT("no such thing\n")))
        r = 0;
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : -EIO;
}

static int dialogue_source(struct link *l)
{
    struct ssh_channel *ch;
    uint64_t at = 0;
    int r = open_exec(l, "source 5000000", &ch);
    while (r == 0) {
        uint8_t data[4096];
        ssize_t n = stream_read(ssh_channel_stream(ch), data, 1 + at % sizeof(data));
        if (n <= 0) {
            r = (int)n;
            break;
        }
        TASK_ASSERT(is_pattern(data, (size_t)n, at));
        at += (uint64_t)n;
    }
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    return r == 0 && at == 5000000 ? wait_forgotten(l) : -EIO;
}

/* A service dozes between any two writes, and counts on. */
static int dialogue_dozes(struct link *l)
{
    struct ssh_channel *ch;
    uint64_t at = 0;
    int r = open_exec(l, "doze", &ch);
    for (unsigned i = 0; i < 50 && r == 0; i++) {
        uint8_t data[4000], back[4000];
        size_t len = 1 + i * 79, got = 0;
        pattern_fill(data, len, at);
        r = stream_write_bytes(ssh_channel_stream(ch), bytes_of(data, len));
        while (r == 0 && got < len) {
            ssize_t n = stream_read(ssh_channel_stream(ch), back + got, len - got);
            if (n <= 0)
                r = n < 0 ? (int)n : -EIO;
            else
                got += (size_t)n;
        }
        if (r == 0 && memcmp(data, back, len) != 0)
            r = -EIO;
        at += len;
        if (r == 0)
            r = task_sleep_until(clock_after(USEC_PER_S));
        if (r == 0 && !ssh_connection_is_idle(l->server.connection))
            r = -EBUSY; /* no task, nothing owed */
    }
    if (r == 0)
        r = stream_end(ssh_channel_stream(ch), 0);
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US)) == (int)(at % 251) ? 0 : -EPERM;
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : r;
}

/* More than the input cap is sent to a service that reads nothing and ends. */
static int dialogue_unread(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "late 3", &ch);
    if (r < 0)
        return r;
    r = send_pattern(ssh_channel_stream(ch), 4 * SSH_INPUT_CAP);
    if (r != -FERRY_ECLOSED)
        return -EIO;
    r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    if (r != 3)
        return -EPERM;
    r = wait_forgotten(l);
    return r == 0 ? exec_status(l, "status 0") : r;
}

/* The client goes in the middle, with much under way. */
static int dialogue_closes_early(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "source 50000000", &ch);
    if (r < 0)
        return r;
    uint8_t data[1000];
    ssize_t n = stream_read(ssh_channel_stream(ch), data, sizeof(data));
    (void)ssh_channel_close(ch);
    if (n <= 0)
        return -EIO;
    r = wait_forgotten(l);
    return r == 0 ? exec_status(l, "status 0") : r;
}

static int dialogue_deadline(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "sink 1", &ch);
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(USEC_PER_S));
    if (r != -ETIMEDOUT)
        return -EIO;
    (void)ssh_channel_close(ch);
    return wait_forgotten(l);
}

struct one_of_many {
    struct link *link;
    unsigned index;
    int result;
};

static void one_of_many_main(void *arg)
{
    struct one_of_many *o = arg;
    struct ssh_channel *ch;
    o->result = open_exec(o->link, "echo", &ch);
    if (o->result < 0)
        return;
    o->result = echo_pattern(ch, 20 * 1000 + o->index * 30 * 1000);
    if (o->result == 0)
        o->result = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
}

static int many_at_once(struct link *l, unsigned count, unsigned *ret_refused)
{
    struct one_of_many all[SSH_CHANNELS_SESSION + 5];
    struct scope scope;
    scope_init(&scope);
    int r = 0;
    for (unsigned i = 0; i < count && r == 0; i++) {
        all[i] = (struct one_of_many){l, i, -EIO};
        r = scope_start(&scope, "one", TASK_NORMAL, one_of_many_main, &all[i], NULL);
    }
    int waited = scope_wait(&scope, USEC_NEVER);
    scope_leave(&scope);
    *ret_refused = 0;
    for (unsigned i = 0; i < count && r == 0; i++) {
        *ret_refused += all[i].result == -FERRY_EREFUSED;
        r = all[i].result == -FERRY_EREFUSED ? 0 : all[i].result;
    }
    if (r == 0)
        r = waited;
    return r == 0 ? wait_forgotten(l) : r;
}

static int dialogue_many(struct link *l)
{
    unsigned refused;
    int r = many_at_once(l, SSH_CHANNELS_SESSION, &refused);
    return r == 0 && (refused != 0 || l->server.channels_most != SSH_CHANNELS_SESSION) ? -EIO
                                                                                       : r;
}

static int dialogue_too_many(struct link *l)
{
    unsigned refused;
    int r = many_at_once(l, SSH_CHANNELS_SESSION + 5, &refused);
    if (r == 0 && (refused == 0 || l->server.channels_most != SSH_CHANNELS_SESSION))
        r = -EIO;
    return r == 0 ? exec_status(l, "status 0") : r;
}

static void our_client_is_served(void **state)
{
    (void)state;

    static const struct {
        const char *name;
        int (*dialogue)(struct link *);
    } all[] = {
        {"statuses", dialogue_statuses}, {"complains", dialogue_complains},
        {"source", dialogue_source},     {"dozes", dialogue_dozes},
        {"unread", dialogue_unread},     {"closes early", dialogue_closes_early},
        {"deadline", dialogue_deadline}, {"many", dialogue_many},
        {"too many", dialogue_too_many},
    };

    for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct link l = link_of(all[i].dialogue);
            l.seed = seed;
            link_run(&l, seed);
            if (l.result != 0 || l.server.result != -FERRY_ECLOSED)
                fail_msg("%s, seed %lu: connected %d, %d (%s), server %d (%s)", all[i].name,
                         (unsigned long)seed, l.connected, l.result, l.why, l.server.result,
                         l.server.why);
        }
    }
}

/* -- clients by hand -- */

static int hand_open_as(struct by_hand *h, uint32_t sender, uint32_t window,
                        uint32_t packet_max)
{
    uint8_t payload[64];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_channel_open open = {.type = BYTES_LIT("session"),
                                          .sender = sender,
                                          .window = window,
                                          .packet_max = packet_max};
    ssh_channel_open_write(&w, &open);
    return hand_say(h, bytes_of(payload, w.len));
}

static int hand_open(struct by_hand *h, uint32_t window, uint32_t packet_max)
{
    return hand_open_as(h, 7, window, packet_max);
}

static int hand_exec(struct by_hand *h, uint32_t channel, const char *command)
{
    uint8_t payload[128];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_channel_request m = {.recipient = channel,
                                          .kind = SSH_REQUEST_EXEC,
                                          .wants_reply = true,
                                          .text = bytes_str(command)};
    ssh_channel_request_write(&w, &m);
    return hand_say(h, bytes_of(payload, w.len));
}

static int hand_plain(struct by_hand *h, enum ssh_message message, uint32_t channel)
{
    uint8_t payload[8];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_channel_plain_write(&w, message, channel);
    return hand_say(h, bytes_of(payload, w.len));
}

static int hand_adjust(struct by_hand *h, uint32_t channel, uint32_t bytes)
{
    uint8_t payload[16];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_channel_adjust_write(&w, channel, bytes);
    return hand_say(h, bytes_of(payload, w.len));
}

/* at: of the pattern */
static int hand_data_at(struct by_hand *h, uint32_t channel, size_t len, uint64_t at)
{
    static uint8_t payload[SSH_DATA_HEAD + SSH_DATA_MAX + 1];
    ssh_channel_data_head(payload, channel, (uint32_t)len);
    pattern_fill(payload + SSH_DATA_HEAD, len, at);
    return hand_say(h, bytes_of(payload, SSH_DATA_HEAD + len));
}

static int hand_data(struct by_hand *h, uint32_t channel, size_t len)
{
    return hand_data_at(h, channel, len, 0);
}

/* Hears messages until one of this number; those between are dropped. */
static int hand_until(struct by_hand *h, int message)
{
    int r = hand_hear(h);
    while (r >= 0 && r != message)
        r = hand_hear(h);
    return r < 0 ? r : 0;
}

/* Logged in, a channel 0 of the server's with a command. */
static int hand_ready(struct by_hand *h, const char *command, uint32_t window,
                      uint32_t packet_max)
{
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    if (r == 0)
        r = hand_log_in(h);
    if (r == 0)
        r = hand_open(h, window, packet_max);
    if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_OPEN_CONFIRMATION)
        return -EIO;
    if (r == 0 && command != NULL)
        r = hand_exec(h, 0, command);
    if (r == 0 && command != NULL && hand_hear(h) != SSH_MSG_CHANNEL_SUCCESS)
        return -EIO;
    return r;
}

/* Until the server goes. */
static int hand_to_the_end(struct by_hand *h)
{
    int r;
    do {
        r = hand_hear(h);
    } while (r >= 0 && r != SSH_MSG_DISCONNECT);
    return r == SSH_MSG_DISCONNECT ? 0 : r;
}

/* -- windows -- */

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

/* Uses a window up in each round trip of a millisecond; *ret: what it has grown to. */
static int use_up_windows(struct by_hand *h, uint32_t channel, uint32_t *ret)
{
    uint64_t sent = 0, given = 0;
    int r = 0;
    for (unsigned i = 0; i < 12 && r == 0; i++) {
        uint64_t half = (SSH_WINDOW_FIRST + given - sent) / 2 + 32768;
        uint32_t recipient, bytes;
        for (uint64_t n = 0; n < half && r == 0; n += 32768, sent += 32768)
            r = hand_data_at(h, channel, 32768, sent);
        if (r == 0)
            r = hand_until(h, SSH_MSG_CHANNEL_WINDOW_ADJUST);
        if (r < 0)
            return r;
        TASK_ASSERT(ssh_channel_adjust_parse(h->heard, &recipient, &bytes) == 0);
        given += bytes;
        TASK_ASSERT(SSH_WINDOW_FIRST + given - sent <= SSH_WINDOW_MAX);
        r = task_sleep_until(clock_after(USEC_PER_MS));
    }
    *ret = (uint32_t)(SSH_WINDOW_FIRST + given - sent);
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

/* -- the end of a channel -- */

static int client_sends_after_eof(struct by_hand *h)
{
    struct ssh_channel_request m;
    int r = hand_ready(h, "sink 100", 1000, 32768);
    if (r == 0)
        r = hand_data(h, 0, 100);
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_EOF, 0);
    if (r == 0)
        r = hand_data(h, 0, 50); /* dropped */
    if (r == 0)
        r = hand_until(h, SSH_MSG_CHANNEL_REQUEST);
    if (r < 0 || ssh_channel_request_parse(h->heard, &m) < 0)
        return -EIO;
    if (m.kind != SSH_REQUEST_EXIT_STATUS || m.number != 0)
        return -EPERM;
    return hand_until(h, SSH_MSG_CHANNEL_CLOSE);
}

static int client_closes_at_once(struct by_hand *h)
{
    int r = hand_ready(h, "echo", 1000, 32768);
    if (r == 0)
        r = hand_data(h, 0, 5000);
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_CLOSE, 0);
    if (r == 0)
        r = hand_until(h, SSH_MSG_CHANNEL_CLOSE);
    if (r == 0)
        r = hand_open(h, 0, 100); /* its place is free again */
    return r == 0 && hand_hear(h) == SSH_MSG_CHANNEL_OPEN_CONFIRMATION ? 0 : -EIO;
}

static int client_closes_without_a_service(struct by_hand *h)
{
    int r = hand_ready(h, NULL, 1000, 32768);
    if (r == 0)
        r = hand_plain(h, SSH_MSG_CHANNEL_CLOSE, 0);
    return r == 0 && hand_hear(h) == SSH_MSG_CHANNEL_CLOSE ? 0 : -EIO;
}

static void channels_end_in_each_order(void **state)
{
    (void)state;
    assert_int_equal(hand_run(client_sends_after_eof, 0).result, 0);
    assert_int_equal(hand_run(client_closes_at_once, 0).result, 0);
    assert_int_equal(hand_run(client_closes_without_a_service, 0).result, 0);
}

static int client_speaks_to_no_channel(struct by_hand *h)
{
    int r = hand_ready(h, NULL, 1000, 32768);
    if (r == 0)
        r = hand_data(h, 1, 10);
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_speaks_to_a_far_channel(struct by_hand *h)
{
    int r = hand_ready(h, NULL, 1000, 32768);
    if (r == 0)
        r = hand_data(h, UINT32_MAX, 10);
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_takes_tiny_packets(struct by_hand *h)
{
    int r = hand_ready(h, NULL, 1000, 32768);
    if (r == 0)
        r = hand_open(h, 1000, SSH_PACKET_MIN_DATA - 1);
    return r == 0 && hand_hear(h) == SSH_MSG_CHANNEL_OPEN_FAILURE ? 0 : -EIO;
}

static void what_no_channel_has_is_refused(void **state)
{
    (void)state;
    assert_int_equal(hand_run(client_speaks_to_no_channel, 0).server.result, -FERRY_EPROTO);
    assert_int_equal(hand_run(client_speaks_to_a_far_channel, 0).server.result, -FERRY_EPROTO);
    assert_int_equal(hand_run(client_takes_tiny_packets, 0).result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_client_is_served),
        cmocka_unit_test(a_broken_window_ends_the_connection),
        cmocka_unit_test(a_window_grows_while_one_channel_uses_it_up),
        cmocka_unit_test(several_channels_share_the_cap),
        cmocka_unit_test(windows_are_kept),
        cmocka_unit_test(who_asks_and_reads_nothing_is_not_read),
        cmocka_unit_test(who_reads_late_gets_every_answer),
        cmocka_unit_test(answers_that_an_exchange_delays_are_given_after_it),
        cmocka_unit_test(owed_answers_have_a_bound),
        cmocka_unit_test(channels_end_in_each_order),
        cmocka_unit_test(what_no_channel_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
