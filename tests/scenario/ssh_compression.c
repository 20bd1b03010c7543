/* zlib@openssh.com, server and client of ours back to back: each level with each, bytes cut
 * anywhere, steps on the spot and in jobs, new keys in mid-transfer, whoever is cancelled. */
#include "io/compress.h"
#include "ssh_dialogue.h"

/* What the server sends back as it came, and how much of it. */
struct talk {
    const char *line; /* of it, over and over; NULL: noise, which nothing makes smaller */
    uint64_t count;
};

/* The pattern of other tests is regular enough for deflate. */
static uint8_t noise_at(uint64_t at)
{
    uint64_t x = (at + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    return (uint8_t)((x ^ x >> 27) * 0x94d049bb133111eb >> 40);
}

static uint8_t talk_at(const struct talk *t, uint64_t at)
{
    return t->line != NULL ? (uint8_t)t->line[at % strlen(t->line)] : noise_at(at);
}

struct talking {
    const struct talk *talk;
    struct stream *stream;
    int result;
};

static void talk_main(void *arg)
{
    struct talking *w = arg;
    uint64_t at = 0;
    int r = 0;
    while (r == 0 && at < w->talk->count) {
        uint8_t data[7000];
        size_t len = pattern_at(at) % 4 == 0 ? 300 : sizeof(data); /* one message, or a room */
        if (len > w->talk->count - at)
            len = (size_t)(w->talk->count - at);
        for (size_t i = 0; i < len; i++)
            data[i] = talk_at(w->talk, at + i);
        r = stream_write_bytes(w->stream, bytes_of(data, len));
        at += len;
    }
    int ended = stream_end(w->stream, 0);
    w->result = r == 0 ? ended : r;
}

static int hear_back(const struct talk *t, struct stream *stream, uint64_t *ret_at)
{
    uint64_t at = 0;
    for (;;) {
        struct slices in;
        int r = stream_take(stream, 30 * 1000, &in);
        *ret_at = at;
        if (r < 0 || in.len == 0)
            return r;
        for (unsigned i = 0; i < in.count; i++)
            for (size_t k = 0; k < in.pieces[i].iov_len; k++)
                TASK_ASSERT(((uint8_t *)in.pieces[i].iov_base)[k] == talk_at(t, at++));
        slices_drop(&in);
    }
}

static int talk_on(struct ssh_channel *ch, const struct talk *t)
{
    struct scope scope;
    struct talking w = {t, ssh_channel_stream(ch), -EIO};
    uint64_t heard = 0;
    scope_init(&scope);
    int r = scope_start(&scope, "talks", TASK_NORMAL, talk_main, &w, NULL);
    if (r == 0)
        r = hear_back(t, w.stream, &heard);
    scope_leave(&scope);
    if (r == 0)
        r = w.result;
    if (r == 0 && heard != t->count)
        r = -EIO;
    return r == 0 ? ssh_channel_status(ch, clock_after(STALL_US)) : r;
}

static int echo_dialogue(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "echo", &ch);
    if (r < 0)
        return r;
    r = talk_on(ch, l->state);
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : r;
}

static void run_whole(struct link *l, uint64_t seed)
{
    l->seed = seed;
    link_run(l, seed + 1);
    /* the server may have had something to say yet, or new keys to ask for */
    if (l->connected != 0 || l->result != 0 || l->server.result != -FERRY_ECLOSED)
        fail_msg("seed %lu: connected %d, dialogue %d (%s), server %d (%s)",
                 (unsigned long)seed, l->connected, l->result, l->why, l->server.result,
                 l->server.why);
}

static const struct talk short_talk = {"I must not talk in class. ", 60 * 1000};
static const struct talk long_talk = {"I must not talk in class. ", 700 * 1000};
static const struct talk noise = {NULL, 200 * 1000};

static struct link link_with(const struct talk *t, int client, int server, bool in_jobs)
{
    struct link l = link_of(echo_dialogue);
    l.state = (void *)(uintptr_t)t;
    l.client_compression = client;
    l.server_compression = server;
    l.packs_in_jobs = in_jobs;
    return l;
}

/* -- whole dialogues -- */

static const int levels[] = {1, 6, 9, COMPRESS_AUTO};

static void each_level_talks_to_each(void **state)
{
    (void)state;
    uint64_t seed = 0;
    for (unsigned i = 0; i < ARRAY_LEN(levels); i++) {
        for (unsigned k = 0; k < ARRAY_LEN(levels); k++) {
            for (unsigned jobs = 0; jobs < 2; jobs++) {
                struct link l = link_with(&long_talk, levels[i], levels[k], jobs != 0);
                run_whole(&l, seed++);
                assert_int_equal(l.chosen.compression[SSH_TO_SERVER],
                                 SSH_COMPRESSION_ZLIB_DELAYED);
                assert_int_equal(l.chosen.compression[SSH_TO_CLIENT],
                                 SSH_COMPRESSION_ZLIB_DELAYED);
                assert_in_range(l.traffic.sent_bytes, 1, long_talk.count / 5);
                assert_in_range(l.traffic.received_bytes, 1, long_talk.count / 5);
            }
        }
    }
}

/* Stored, then compressed again: the peer reads both, and one of them is short. */
static int stored_dialogue(struct link *l)
{
    struct ssh_transport *t = ssh_client_transport(l->client);
    uint64_t before = ssh_transport_traffic(t).sent_bytes;
    ssh_transport_store(t, true);
    int r = echo_dialogue(l);
    uint64_t stored = ssh_transport_traffic(t).sent_bytes - before;
    ssh_transport_store(t, false);
    if (r == 0)
        r = echo_dialogue(l);
    uint64_t packed = ssh_transport_traffic(t).sent_bytes - before - stored;
    return r < 0 || (stored > long_talk.count && packed < long_talk.count / 5) ? r : -EIO;
}

static void what_is_compressed_already_is_stored(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * ARRAY_LEN(levels); i++) {
        struct link l = link_with(&long_talk, levels[i / 2], 6, i % 2 != 0);
        l.dialogue = stored_dialogue;
        run_whole(&l, i);
    }
}

static void who_does_not_want_it_does_without(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct link l = link_with(&short_talk, i == 1 ? 6 : 0, i == 2 ? 6 : 0, true);
        run_whole(&l, i);
        assert_int_equal(l.chosen.compression[SSH_TO_SERVER], SSH_COMPRESSION_NONE);
        assert_int_equal(l.chosen.compression[SSH_TO_CLIENT], SSH_COMPRESSION_NONE);
        assert_true(l.traffic.sent_bytes > short_talk.count);
    }
}

static void serves_wherever_the_bytes_are_cut(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct link l = link_with(seed % 3 == 0 ? &noise : &short_talk, levels[seed % 4],
                                  levels[seed / 4 % 4], seed % 2 == 0);
        run_whole(&l, seed);
    }
}

static void each_cipher_carries_it(void **state)
{
    (void)state;
    static const char *const ciphers[] = {"aes128-gcm@openssh.com",
                                          "aes256-gcm@openssh.com",
                                          "chacha20-poly1305@openssh.com",
                                          "aes128-ctr",
                                          "aes192-ctr",
                                          "aes256-ctr"};
    for (unsigned i = 0; i < ARRAY_LEN(ciphers) * 2; i++) {
        struct link l = link_with(&short_talk, 6, 6, i % 2 == 0);
        l.client_offers.only_ciphers = ciphers[i / 2];
        l.client_offers.only_macs =
            i % 2 == 0 ? "hmac-sha2-256" : "hmac-sha2-512-etm@openssh.com";
        run_whole(&l, i);
    }
}

/* -- new keys -- */

static void keys_change_in_the_middle_of_it(void **state)
{
    (void)state;
    static const uint64_t limits[][2] = {{1000, 0},         {0, 1000},        {1000, 1000},
                                         {4000, 0},         {0, 4000},        {700, 900},
                                         {16 * 1024, 3000}, {3000, 16 * 1024}};
    unsigned all = 0;
    for (unsigned i = 0; i < ARRAY_LEN(limits) * 8; i++) {
        struct link l = link_with(i % 4 < 2 ? &long_talk : &noise, levels[i % 4],
                                  levels[(i + 1) % 4], i / 4 % 2 == 0);
        l.client_rekey_bytes = limits[i / 8][0];
        l.server_rekey_bytes = limits[i / 8][1];
        run_whole(&l, i % 3 == 0 ? 0 : i);
        assert_true(l.traffic.exchanges > 1);
        all += l.traffic.exchanges;
    }
    assert_true(all > 1000); /* in the middle, not at the end */
}

/* -- several channels: each waits for the others' rooms -- */

#define CHANNELS 4

struct many {
    struct link *link;
    const struct talk *talk;
    int result;
};

static void one_of_many_main(void *arg)
{
    struct many *m = arg;
    struct ssh_channel *ch;
    m->result = open_exec(m->link, "echo", &ch);
    if (m->result < 0)
        return;
    m->result = talk_on(ch, m->talk);
    (void)ssh_channel_close(ch);
}

static int many_dialogue(struct link *l)
{
    static const struct talk talks[CHANNELS] = {
        {"one", 150 * 1000}, {NULL, 90 * 1000}, {"three, ", 30 * 1000}, {NULL, 200 * 1000}};
    struct many all[CHANNELS];
    struct scope scope;
    scope_init(&scope);
    int r = 0;
    for (unsigned i = 0; i < CHANNELS; i++) {
        all[i] = (struct many){l, &talks[i], -EIO};
        if (r == 0)
            r = scope_start(&scope, "talks", TASK_NORMAL, one_of_many_main, &all[i], NULL);
    }
    for (unsigned i = 0; i < 20 && r == 0; i++) { /* new keys, whatever is being packed */
        r = ssh_transport_rekey(ssh_client_transport(l->client));
        task_yield();
    }
    (void)(scope_wait(&scope, USEC_NEVER) < 0);
    scope_leave(&scope);
    for (unsigned i = 0; i < CHANNELS && r == 0; i++)
        r = all[i].result;
    return r == 0 ? wait_forgotten(l) : r;
}

static void channels_share_one_stream_of_packets(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        struct link l = link_with(NULL, levels[seed % 4], levels[seed / 4 % 4], seed % 3 != 0);
        l.dialogue = many_dialogue;
        l.server_rekey_bytes = seed % 2 == 0 ? 20 * 1000 : 0;
        run_whole(&l, seed);
        assert_true(l.traffic.exchanges > 1);
    }
}

/* -- a sender that is cancelled while its room is compressed -- */

static int cancelled_dialogue(struct link *l)
{
    const unsigned turns = *(const unsigned *)l->state;
    struct ssh_channel *ch;
    struct scope scope;
    int r = open_exec(l, "echo", &ch);
    if (r < 0)
        return r;
    struct talking w = {&long_talk, ssh_channel_stream(ch), -EIO};
    scope_init(&scope);
    r = scope_start(&scope, "talks", TASK_NORMAL, talk_main, &w, NULL);
    for (unsigned i = 0; i < turns; i++)
        task_yield();
    scope_leave(&scope);
    (void)ssh_channel_close(ch);
    if (r == 0)
        r = open_exec(l, "echo", &ch);
    if (r < 0)
        return r;
    r = talk_on(ch, &short_talk);
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : r;
}

static void a_cancelled_sender_leaves_the_connection_whole(void **state)
{
    (void)state;
    for (unsigned turns = 0; turns < 60; turns++) {
        struct link l = link_with(NULL, 6, 6, true);
        l.dialogue = cancelled_dialogue;
        l.state = &turns;
        l.client_rekey_bytes = turns % 2 == 0 ? 2000 : 0;
        run_whole(&l, turns % 5);
    }
}

/* -- a connection that breaks -- */

static void no_truncation_goes_unnoticed(void **state)
{
    (void)state;
    for (uint64_t at = 2500; at < 100 * 1000; at += 1931) {
        struct link l = link_with(&noise, 6, 6, at % 2 == 0);
        l.has_relay = true;
        (at % 3 == 0 ? &l.to_server : &l.to_client)->cut_at = at;
        link_run(&l, at);
        assert_true(l.server.result < 0);
        assert_true(l.connected < 0 || l.result < 0);
        assert_true(l.took_us < STALL_US / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_talks_to_each),
        cmocka_unit_test(what_is_compressed_already_is_stored),
        cmocka_unit_test(who_does_not_want_it_does_without),
        cmocka_unit_test(serves_wherever_the_bytes_are_cut),
        cmocka_unit_test(each_cipher_carries_it),
        cmocka_unit_test(keys_change_in_the_middle_of_it),
        cmocka_unit_test(channels_share_one_stream_of_packets),
        cmocka_unit_test(a_cancelled_sender_leaves_the_connection_whole),
        cmocka_unit_test(no_truncation_goes_unnoticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
