/* Channels: our client is served, limits, orders of the end, services that doze. */
#include "ssh_dialogue.h"
#include "ssh_hand_channels.h"

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

/* Whatever the number: it is told without waiting for an EOF. */
static int dialogue_fails(struct link *l)
{
    for (int error = 1; error < 4; error++) {
        struct ssh_channel *ch;
        char command[16];
        (void)snprintf(command, sizeof(command), "fail %d", error);
        int r = open_exec(l, command, &ch);
        if (r < 0)
            return r;
        r = ssh_channel_status(ch, clock_after(STALL_US));
        (void)ssh_channel_close(ch);
        if (r != 255)
            return r < 0 ? r : -EIO;
    }
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
        {"statuses", dialogue_statuses},
        {"fails", dialogue_fails},
        {"complains", dialogue_complains},
        {"source", dialogue_source},
        {"dozes", dialogue_dozes},
        {"unread", dialogue_unread},
        {"closes early", dialogue_closes_early},
        {"deadline", dialogue_deadline},
        {"many", dialogue_many},
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
        cmocka_unit_test(channels_end_in_each_order),
        cmocka_unit_test(what_no_channel_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
