/* A client by hand that compresses: when it begins, in one direction alone, what comes between
 * the rooms that a server compresses in jobs; and packets that are compressed as none should
 * be. */
#include "base/limits.h"
#include "ssh_hand_channels.h"

static struct hand_exchange asking(const char *to_server, const char *to_client)
{
    struct hand_exchange e = hand_usual;
    e.compression[SSH_TO_SERVER] = to_server;
    e.compression[SSH_TO_CLIENT] = to_client;
    return e;
}

#define ZLIB "zlib@openssh.com"

/* Logged in, and compressing from the next packet on: what was said and heard until then was
 * plain, or it would not have been understood. */
static int log_in_for(struct by_hand *h, const struct hand_exchange *e)
{
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, e);
    if (r == 0)
        r = hand_log_in(h);
    if (r == 0)
        hand_compress(h, 6);
    return r;
}

static int begin(struct by_hand *h, const char *command)
{
    int r = hand_open(h, 100 * 1000 * 1000, 32 * 1024);
    if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_OPEN_CONFIRMATION)
        return -EIO;
    if (r == 0)
        r = hand_exec(h, 0, command);
    if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_SUCCESS)
        return -EIO;
    return r;
}

static struct hand_link run_with(int (*client)(struct by_hand *), int compression, bool in_jobs)
{
    static struct hand_link l;
    l = (struct hand_link){
        .client = client, .compression = compression, .packs_in_jobs = in_jobs};
    run_deterministic(1, hand_main, &l);
    return l;
}

/* -- what is right -- */

static int echo_once(struct by_hand *h)
{
    struct ssh_channel_data m;
    int r = begin(h, "echo");
    if (r == 0)
        r = hand_data(h, 0, 5000);
    if (r == 0)
        r = hand_hear(h);
    if (r != SSH_MSG_CHANNEL_DATA || ssh_channel_data_parse(h->heard, &m) < 0)
        return r < 0 ? r : -EIO;
    return m.data.len == 5000 && is_pattern(m.data.data, 5000, 0) ? 0 : -EIO;
}

static int client_compresses_both_ways(struct by_hand *h)
{
    const struct hand_exchange e = asking(ZLIB, ZLIB);
    int r = log_in_for(h, &e);
    return r == 0 ? echo_once(h) : r;
}

static int client_compresses_what_it_sends(struct by_hand *h)
{
    const struct hand_exchange e = asking(ZLIB, NULL);
    int r = log_in_for(h, &e);
    h->decoder = decoder_free(h->decoder);
    return r == 0 ? echo_once(h) : r;
}

static int client_wants_it_from_the_server(struct by_hand *h)
{
    const struct hand_exchange e = asking(NULL, ZLIB);
    int r = log_in_for(h, &e);
    h->coder = coder_free(h->coder);
    return r == 0 ? echo_once(h) : r;
}

static void it_begins_behind_the_login_in_each_direction(void **state)
{
    (void)state;
    for (unsigned jobs = 0; jobs < 2; jobs++) {
        assert_int_equal(run_with(client_compresses_both_ways, 6, jobs != 0).result, 0);
        assert_int_equal(run_with(client_compresses_what_it_sends, 6, jobs != 0).result, 0);
        assert_int_equal(run_with(client_wants_it_from_the_server, 6, jobs != 0).result, 0);
    }
}

/* What was agreed on changes with the keys. */
static int client_changes_its_mind(struct by_hand *h)
{
    const struct hand_exchange with = asking(ZLIB, ZLIB), without = asking(NULL, NULL);
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &without);
    if (r == 0)
        r = hand_log_in(h);
    if (r == 0)
        r = begin(h, "doze");
    for (unsigned i = 0; i < 6 && r == 0; i++) {
        r = hand_exchange(h, i % 2 == 0 ? &with : &without);
        if (r != 0)
            return r;
        h->coder = coder_free(h->coder);
        h->decoder = decoder_free(h->decoder);
        if (i % 2 == 0)
            hand_compress(h, 9);
        r = hand_data(h, 0, 100);
        if (r == 0 && hand_hear(h) != SSH_MSG_CHANNEL_DATA)
            r = -EIO;
    }
    return r;
}

static void keys_begin_and_end_it(void **state)
{
    (void)state;
    for (unsigned jobs = 0; jobs < 2; jobs++) {
        struct hand_link l = run_with(client_changes_its_mind, 1, jobs != 0);
        if (l.result != 0)
            fail_msg("%d, server %d (%s)", l.result, l.server.result, l.server.why);
    }
}

/* -- between rooms -- */

#define SOURCE_BYTES (3 * 1000 * 1000)
#define QUESTIONS    200

/* Whatever the server is compressing, it answers: pings, messages that it does not know, new
 * keys; and no byte of the data is out of place. */
static int client_asks_all_the_time(struct by_hand *h)
{
    static const uint8_t ping[] = {SSH_MSG_PING, 0, 0, 0, 2, 'h', 'i'};
    const struct hand_exchange e = asking(ZLIB, ZLIB);
    uint64_t at = 0;
    unsigned pongs = 0, unknown = 0, said = 0;
    int r = log_in_for(h, &e);
    if (r == 0)
        r = begin(h, "source 3000000");
    while (r == 0 && (at < SOURCE_BYTES || pongs < QUESTIONS || unknown < QUESTIONS)) {
        if (said < QUESTIONS) {
            said++;
            r = hand_say(h, bytes_of(ping, sizeof(ping)));
            if (r == 0)
                r = hand_say_u8(h, 199);
        }
        struct ssh_channel_data m;
        int message = r == 0 ? hand_hear(h) : r;
        if (message < 0)
            return message;
        pongs += message == SSH_MSG_PONG;
        unknown += message == SSH_MSG_UNIMPLEMENTED;
        if (message != SSH_MSG_CHANNEL_DATA)
            continue;
        TASK_ASSERT(ssh_channel_data_parse(h->heard, &m) == 0);
        TASK_ASSERT(is_pattern(m.data.data, m.data.len, at));
        at += m.data.len;
    }
    return r;
}

static void what_comes_between_rooms_is_answered(void **state)
{
    (void)state;
    struct hand_link l = run_with(client_asks_all_the_time, 6, true);
    if (l.result != 0)
        fail_msg("%d, server %d (%s)", l.result, l.server.result, l.server.why);
}

/* The client asks for new keys while a room is compressed: data that was under way comes before
 * the server's KEXINIT, and none behind it. */
static int client_changes_keys_all_the_time(struct by_hand *h)
{
    const struct hand_exchange e = asking(ZLIB, ZLIB);
    int r = log_in_for(h, &e);
    if (r == 0)
        r = begin(h, "source 100000000");
    for (unsigned i = 0; i < 30 && r == 0; i++) {
        if (hand_hear(h) != SSH_MSG_CHANNEL_DATA)
            return -EIO;
        r = hand_exchange(h, &e);
    }
    return r;
}

static void keys_change_between_rooms(void **state)
{
    (void)state;
    struct hand_link l = run_with(client_changes_keys_all_the_time, 6, true);
    if (l.result != 0)
        fail_msg("%d, server %d (%s)", l.result, l.server.result, l.server.why);
}

/* -- what is wrong -- */

static uint8_t zeros[2 * SSH_PACKET_MAX];

static int log_in_and_compress(struct by_hand *h)
{
    const struct hand_exchange e = asking(ZLIB, ZLIB);
    int r = log_in_for(h, &e);
    return r == 0 ? begin(h, "sink 0") : r;
}

static int say_packed(struct by_hand *h, size_t count)
{
    buf_clear(&h->packed);
    hand_pack(h, bytes_of(zeros, count));
    return hand_say_raw(h, buf_bytes(&h->packed));
}

static int client_sends_a_bomb(struct by_hand *h)
{
    int r = log_in_and_compress(h);
    zeros[0] = SSH_MSG_IGNORE;
    if (r == 0)
        r = say_packed(h, sizeof(zeros));
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_sends_a_byte_too_much(struct by_hand *h)
{
    int r = log_in_and_compress(h);
    zeros[0] = SSH_MSG_IGNORE;
    if (r == 0)
        r = say_packed(h, SSH_PACKET_MAX);
    return r == 0 ? hand_to_the_end(h) : r;
}

/* The largest, and then a word that must still be understood. */
static int client_sends_the_most(struct by_hand *h)
{
    static const uint8_t ping[] = {SSH_MSG_PING, 0, 0, 0, 0};
    int r = log_in_and_compress(h);
    zeros[0] = SSH_MSG_DEBUG;
    for (unsigned i = 0; i < 3 && r == 0; i++)
        r = say_packed(h, SSH_PACKET_MAX - 1);
    if (r == 0)
        r = hand_say(h, bytes_of(ping, sizeof(ping)));
    return r == 0 && hand_hear(h) == SSH_MSG_PONG ? 0 : -EIO;
}

/* A file of zeros is no crime, and no packet is too large; but all of it together is, whatever
 * the keys. */
static int client_sends_a_bomb_in_parts(struct by_hand *h)
{
    const struct hand_exchange e = asking(ZLIB, ZLIB);
    unsigned packets = 0;
    int r = log_in_and_compress(h);
    zeros[0] = SSH_MSG_DEBUG;
    for (uint64_t sent = 0; sent <= EXPAND_FREE_BYTES && r == 0; sent += SSH_PACKET_MAX - 1) {
        r = say_packed(h, SSH_PACKET_MAX - 1);
        if (r == 0 && ++packets % 400 == 0)
            r = hand_exchange(h, &e);
    }
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_sends_garbage(struct by_hand *h)
{
    uint8_t garbage[500];
    int r = log_in_and_compress(h);
    pattern_fill(garbage, sizeof(garbage), 0);
    if (r == 0)
        r = hand_say_raw(h, bytes_of(garbage, sizeof(garbage)));
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_forgets_to_compress(struct by_hand *h)
{
    int r = log_in_and_compress(h);
    h->coder = coder_free(h->coder);
    if (r == 0)
        r = hand_data(h, 0, 100);
    return r == 0 ? hand_to_the_end(h) : r;
}

/* Not flushed: all of it is still in the compressor. */
static int client_holds_back(struct by_hand *h)
{
    int r = log_in_and_compress(h);
    buf_clear(&h->packed);
    if (r == 0)
        TASK_ASSERT(coder_step(h->coder, bytes_of(zeros, 50), CODER_MORE, &h->packed) == 0);
    TASK_ASSERT(buf_append_byte(&h->packed, 0) == 0); /* of a block that is not whole */
    if (r == 0)
        r = hand_say_raw(h, buf_bytes(&h->packed));
    return r == 0 ? hand_to_the_end(h) : r;
}

static int client_ends_the_stream(struct by_hand *h)
{
    static const uint8_t ignore[] = {SSH_MSG_IGNORE, 0, 0, 0, 0};
    int r = log_in_and_compress(h);
    buf_clear(&h->packed);
    TASK_ASSERT(coder_step(h->coder, bytes_of(ignore, 5), CODER_END, &h->packed) == 0);
    if (r == 0)
        r = hand_say_raw(h, buf_bytes(&h->packed));
    return r == 0 ? hand_to_the_end(h) : r;
}

/* The next packet has the middle of a stream that the server did not see begin. */
static int client_loses_a_packet(struct by_hand *h)
{
    int r = log_in_and_compress(h);
    buf_clear(&h->packed);
    hand_pack(h, bytes_of(zeros, 1000));
    h->coder = coder_free(h->coder);
    TASK_ASSERT(coder_new(CODEC_ZLIB, 6, &h->coder) == 0);
    if (r == 0)
        r = hand_data(h, 0, 1000); /* with the head of a new stream */
    return r == 0 ? hand_to_the_end(h) : r;
}

static void what_is_compressed_wrong_ends_the_connection(void **state)
{
    (void)state;

    static const struct {
        int (*client)(struct by_hand *);
        const char *why;
    } cases[] = {
        {client_sends_a_bomb, "a packet that decompresses to too much"},
        {client_sends_a_byte_too_much, "a packet that decompresses to too much"},
        {client_sends_a_bomb_in_parts, "packets that decompress to too much"},
        {client_sends_garbage, "a packet that is not compressed as agreed"},
        {client_forgets_to_compress, "a packet that is not compressed as agreed"},
        {client_holds_back, "a packet that decompresses to nothing"},
        {client_ends_the_stream, "a packet that is not compressed as agreed"},
        {client_loses_a_packet, "a packet that is not compressed as agreed"},
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        struct hand_link l = run_with(cases[i].client, 6, i % 2 == 0);
        if (strcmp(l.server.why, cases[i].why) != 0)
            fail_msg("case %u: %d, server %d (%s)", i, l.result, l.server.result, l.server.why);
        assert_int_equal(l.server.result, -FERRY_EPROTO);
        assert_int_equal(l.result, 0); /* it was told */
    }
    assert_int_equal(run_with(client_sends_the_most, 6, true).result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_behind_the_login_in_each_direction),
        cmocka_unit_test(keys_begin_and_end_it),
        cmocka_unit_test(what_comes_between_rooms_is_answered),
        cmocka_unit_test(keys_change_between_rooms),
        cmocka_unit_test(what_is_compressed_wrong_ends_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
