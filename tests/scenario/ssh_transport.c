/* The transport, server and client of ours back to back: every algorithm, bytes cut anywhere,
 * rekeying in mid-transfer, each bit of a dialogue flipped and each truncation. */
#include "crypto/agree.h"
#include "ssh_dialogue.h"

/* -- a small dialogue -- */

static int small_dialogue(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "echo", &ch);
    if (r < 0)
        return r;
    r = echo_pattern(ch, 300);
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : r;
}

/* The server has heard the client's goodbye, which is the last of all packets. */
static bool was_whole(const struct link *l)
{
    return l->server.result == -FERRY_ECLOSED &&
           strcmp(l->server.why, "the peer ended it (11): done") == 0;
}

static void run_whole(struct link *l, uint64_t seed)
{
    l->seed = seed;
    link_run(l, seed + 1);
    if (l->connected != 0 || l->result != 0 || !was_whole(l))
        fail_msg("seed %lu: connected %d, dialogue %d (%s), server %d (%s)",
                 (unsigned long)seed, l->connected, l->result, l->why, l->server.result,
                 l->server.why);
}

static void serves_wherever_the_bytes_are_cut(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct link l = link_of(small_dialogue);
        run_whole(&l, seed);
    }
}

/* -- algorithms -- */

static const char *const kexes[] = {"curve25519-sha256",
                                    "curve25519-sha256@libssh.org",
                                    "ecdh-sha2-nistp256",
                                    "diffie-hellman-group14-sha256",
                                    "diffie-hellman-group16-sha512",
                                    "mlkem768x25519-sha256"};
static const char *const host_keys[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512",
                                        "rsa-sha2-256"};
static const char *const ciphers[] = {"aes128-gcm@openssh.com",
                                      "aes256-gcm@openssh.com",
                                      "chacha20-poly1305@openssh.com",
                                      "aes128-ctr",
                                      "aes192-ctr",
                                      "aes256-ctr"};
static const char *const macs[] = {"hmac-sha2-256-etm@openssh.com",
                                   "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256",
                                   "hmac-sha2-512"};

static int long_dialogue(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "echo", &ch);
    if (r < 0)
        return r;
    r = echo_pattern(ch, 200 * 1000);
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : r;
}

static void every_algorithm_works_with_every_other(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned i = 0; i < ARRAY_LEN(kexes) * ARRAY_LEN(host_keys); i++) {
        for (unsigned k = 0; k < ARRAY_LEN(ciphers) * ARRAY_LEN(macs); k++) {
            struct link l = link_of(small_dialogue);
            l.client_offers = (struct ssh_offer_settings){
                .nistp256 = true,
                .only_kex = kexes[i / ARRAY_LEN(host_keys)],
                .only_host_keys = host_keys[i % ARRAY_LEN(host_keys)],
                .only_ciphers = ciphers[k / ARRAY_LEN(macs)],
                .only_macs = macs[k % ARRAY_LEN(macs)],
            };
            l.server_offers = (struct ssh_offer_settings){.nistp256 = true,
                                                          .only_kex = l.client_offers.only_kex};
            if (strcmp(l.client_offers.only_kex, "mlkem768x25519-sha256") == 0 &&
                !crypto_agree_is_known(CRYPTO_AGREE_MLKEM768_X25519))
                continue; /* ssh_hybrid.c says that it was skipped */
            /* group 16 is slow: its rows are thinned out */
            if (i / ARRAY_LEN(host_keys) == 4 && k % 4 != i % 4)
                continue;
            run_whole(&l, seed++);
            assert_string_equal(l.chosen.kex_name, l.client_offers.only_kex);
            assert_string_equal(l.chosen.host_key_name, l.client_offers.only_host_keys);
            assert_string_equal(ssh_cipher_name(l.chosen.cipher[SSH_TO_SERVER]),
                                l.client_offers.only_ciphers);
            assert_string_equal(ssh_cipher_name(l.chosen.cipher[SSH_TO_CLIENT]),
                                l.client_offers.only_ciphers);
            if (k / ARRAY_LEN(macs) >= 3)
                assert_string_equal(ssh_mac_name(l.chosen.mac[SSH_TO_SERVER]),
                                    l.client_offers.only_macs);
        }
    }
}

static void much_data_passes_in_each_cipher(void **state)
{
    (void)state;
    for (unsigned k = 0; k < ARRAY_LEN(ciphers) * ARRAY_LEN(macs); k++) {
        struct link l = link_of(long_dialogue);
        l.client_offers.only_ciphers = ciphers[k / ARRAY_LEN(macs)];
        l.client_offers.only_macs = macs[k % ARRAY_LEN(macs)];
        run_whole(&l, k % 3);
    }
}

static void nothing_in_common_says_in_which_list(void **state)
{
    (void)state;

    static const struct {
        struct ssh_offer_settings client, server;
        const char *list;
    } cases[] = {
        {{.only_kex = "diffie-hellman-group14-sha256"},
         {.only_kex = "curve25519-sha256"},
         "nothing in common: key exchange"},
        {{.only_ciphers = "aes128-ctr"},
         {.only_ciphers = "aes256-ctr"},
         "nothing in common: cipher to the server"},
        {{.only_ciphers = "aes128-ctr", .only_macs = "hmac-sha2-256-etm@openssh.com"},
         {.only_macs = "hmac-sha2-512-etm@openssh.com"},
         "nothing in common: MAC to the server"},
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        struct link l = link_of(small_dialogue);
        l.client_offers = cases[i].client;
        l.server_offers = cases[i].server;
        link_run(&l, i);
        assert_int_equal(l.server.result, -FERRY_EREFUSED);
        assert_string_equal(l.server.why, cases[i].list);
        assert_true(l.connected < 0);
    }
}

static void a_client_reads_other_lines_before_the_ident(void **state)
{
    (void)state;
    static char lines[SSH_IDENT_BEFORE_MAX + 1000];
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct link l = link_of(small_dialogue);
        l.before_ident = BYTES_LIT("Welcome!\r\n\r\nNo ssh here yet\r\n");
        run_whole(&l, seed);
        memset(lines, 'a', sizeof(lines));
        lines[sizeof(lines) - 1] = '\n';
        l = link_of(small_dialogue);
        l.before_ident = bytes_of(lines, sizeof(lines)); /* too long */
        l.seed = seed;
        link_run(&l, seed);
        assert_int_equal(l.connected, -FERRY_EPROTO);
        for (size_t i = 99; i < sizeof(lines); i += 100)
            lines[i] = '\n'; /* too many */
        l = link_of(small_dialogue);
        l.before_ident = bytes_of(lines, sizeof(lines));
        l.seed = seed;
        link_run(&l, seed);
        assert_int_equal(l.connected, -FERRY_EPROTO);
    }
}

/* -- new keys -- */

#define STORM_BYTES (3 * 1000 * 1000)

static int storm_dialogue(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "echo", &ch);
    if (r < 0)
        return r;
    r = echo_pattern(ch, *(const uint64_t *)l->state);
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : r;
}

static int storm_up_dialogue(struct link *l)
{
    struct ssh_channel *ch;
    char command[32];
    (void)snprintf(command, sizeof(command), "sink %d", STORM_BYTES);
    int r = open_exec(l, command, &ch);
    if (r < 0)
        return r;
    r = send_pattern(ssh_channel_stream(ch), STORM_BYTES);
    if (r == 0)
        r = stream_end(ssh_channel_stream(ch), 0);
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    return r == 0 ? wait_forgotten(l) : r;
}

static void keys_change_in_the_middle_of_a_transfer(void **state)
{
    (void)state;
    static const uint64_t limits[][3] = {
        /* client, server, bytes */
        {1000, 0, 150 * 1000},
        {0, 1000, 150 * 1000},
        {1000, 1000, 150 * 1000},
        {4000, 0, 500 * 1000},
        {0, 4000, 500 * 1000},
        {16 * 1024, 16 * 1024, STORM_BYTES},
        {64 * 1024, 0, STORM_BYTES},
        {0, 64 * 1024, STORM_BYTES},
        {64 * 1024, 64 * 1024, STORM_BYTES},
    };
    unsigned all = 0;
    for (unsigned i = 0; i < ARRAY_LEN(limits); i++) {
        for (unsigned k = 0; k < 4; k++) { /* GCM, ChaCha20, CTR with both kinds of MAC */
            uint64_t bytes = limits[i][2];
            struct link l = link_of(storm_dialogue);
            l.state = &bytes;
            l.client_rekey_bytes = limits[i][0];
            l.server_rekey_bytes = limits[i][1];
            l.client_offers.only_ciphers = ciphers[k == 0 ? 0 : k == 1 ? 2 : 3];
            l.client_offers.only_macs = k == 3 ? macs[2] : macs[0];
            run_whole(&l, (i + k) % 2 == 0 ? 0 : i * 4 + k);
            assert_true(l.traffic.exchanges > 1);
            all += l.traffic.exchanges;
            assert_true(l.traffic.exchanges == l.server.traffic.exchanges ||
                        l.traffic.exchanges + 1 == l.server.traffic.exchanges ||
                        l.traffic.exchanges == l.server.traffic.exchanges + 1);
        }
    }
    assert_true(all > 300); /* in the middle, not at the end */
}

static void keys_change_during_an_upload(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct link l = link_of(storm_up_dialogue);
        l.client_rekey_bytes = i & 1 ? 32 * 1024 : 0;
        l.server_rekey_bytes = i & 2 ? 20 * 1024 : 100 * 1000;
        run_whole(&l, i & 4 ? i : 0);
        assert_true(l.traffic.exchanges > 1);
    }
}

/* However small they are, and whoever sends them. */
static void keys_change_after_as_many_packets(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const bool is_up = i >= 2, is_client = i % 2 == 0;
        uint64_t bytes = STORM_BYTES;
        struct link l = link_of(is_up ? storm_up_dialogue : storm_dialogue);
        l.state = &bytes;
        l.client_rekey_packets = is_client ? 20 : 0;
        l.server_rekey_packets = is_client ? 0 : 20;
        run_whole(&l, i);
        assert_in_range(l.traffic.exchanges, 3, 1000);
    }
}

/* -- what passes is changed -- */

/* Bits of the record that nobody checks: padding of packets before there are keys. */
static bool is_free(const struct buf *record, uint64_t bit)
{
    size_t at = 0, byte = (size_t)(bit / 8);
    while (record->data[at++] != '\n')
        ;
    for (;;) {
        size_t len = wire_u32(record->data + at) + 4;
        size_t padding = record->data[at + 4];
        uint8_t message = record->data[at + 5];
        if (byte < at + len)
            return byte >= at + len - padding;
        at += len;
        if (message == SSH_MSG_NEWKEYS)
            return false; /* all behind it is sealed */
    }
}

static struct ssh_offer_settings offers_of(const char *cipher, const char *mac)
{
    return (struct ssh_offer_settings){.only_kex = "curve25519-sha256",
                                       .only_host_keys = "ssh-ed25519",
                                       .only_ciphers = cipher,
                                       .only_macs = mac,
                                       .legacy = true};
}

static void record_ways(const struct ssh_offer_settings *offers, struct buf *to_server,
                        struct buf *to_client)
{
    struct link l = link_of(small_dialogue);
    l.client_offers = *offers;
    l.server_offers = l.client_offers;
    l.has_relay = true;
    buf_init(to_server, 1024 * 1024);
    buf_init(to_client, 1024 * 1024);
    l.to_server.record = to_server;
    l.to_client.record = to_client;
    run_whole(&l, 0);
}

/* Flips each `step`th bit; counts what nobody minded. */
static unsigned flip_each(const struct ssh_offer_settings *offers, const struct buf *record,
                          bool is_to_server, unsigned first, unsigned step)
{
    unsigned wrong = 0;
    for (uint64_t bit = first; bit < record->len * 8; bit += step) {
        struct link l = link_of(small_dialogue);
        l.client_offers = *offers;
        l.server_offers = l.client_offers;
        l.has_relay = true;
        struct relay_way *way = is_to_server ? &l.to_server : &l.to_client;
        way->flip_bit = bit;
        link_run(&l, bit);
        bool is_whole = is_to_server ? was_whole(&l) : l.connected == 0 && l.result == 0;
        if (is_whole != is_free(record, bit)) {
            print_message("%s, %s, %s, bit %lu of byte %lu of %zu: %s; client %d %d (%s), "
                          "server %d (%s)\n",
                          offers->only_ciphers, offers->only_macs,
                          is_to_server ? "to server" : "to client", (unsigned long)(bit % 8),
                          (unsigned long)(bit / 8), record->len,
                          is_whole ? "nobody minded" : "it broke", l.connected, l.result, l.why,
                          l.server.result, l.server.why);
            wrong++;
        }
    }
    return wrong;
}

/* All bits with one cipher, and with the others those bits that a step of 11 meets: each byte
 * but few, and in the end each position of a bit. */
static void no_flipped_bit_goes_unnoticed(void **state)
{
    (void)state;
    const struct ssh_offer_settings some[] = {
        offers_of("aes128-gcm@openssh.com", macs[0]),
        offers_of("chacha20-poly1305@openssh.com", macs[0]),
        offers_of("aes128-ctr", "hmac-sha2-256-etm@openssh.com"),
        offers_of("aes128-ctr", "hmac-sha2-256"),
        offers_of("aes128-cbc", "hmac-sha1"),
        offers_of("3des-cbc", "hmac-sha2-256-etm@openssh.com"),
    };
    for (unsigned i = 0; i < ARRAY_LEN(some); i++) {
        struct buf to_server, to_client;
        record_ways(&some[i], &to_server, &to_client);
        unsigned step = i == 0 && getenv("FERRY_EVERY_BIT") != NULL ? 1 : 11;
        assert_int_equal(flip_each(&some[i], &to_server, true, i, step), 0);
        assert_int_equal(flip_each(&some[i], &to_client, false, i, step), 0);
        buf_done(&to_server);
        buf_done(&to_client);
    }
}

static void no_truncation_goes_unnoticed(void **state)
{
    (void)state;
    const struct ssh_offer_settings some[] = {
        offers_of("aes128-gcm@openssh.com", macs[0]),
        offers_of("aes256-cbc", "hmac-sha1"),
    };
    for (unsigned i = 0; i < ARRAY_LEN(some) * 2; i++) {
        struct buf to_server, to_client;
        bool is_to_server = i % 2 == 0;
        record_ways(&some[i / 2], &to_server, &to_client);
        for (size_t at = 0; at < (is_to_server ? to_server : to_client).len; at += 3) {
            struct link l = link_of(small_dialogue);
            l.client_offers = l.server_offers = some[i / 2];
            l.has_relay = true;
            (is_to_server ? &l.to_server : &l.to_client)->cut_at = at;
            link_run(&l, at);
            assert_true(l.server.result < 0);
            assert_false(is_to_server ? was_whole(&l) : l.connected == 0 && l.result == 0);
        }
        buf_done(&to_server);
        buf_done(&to_client);
    }
}

static int rekeyed_dialogue(struct link *l)
{
    struct ssh_channel *ch;
    int r = open_exec(l, "echo", &ch);
    if (r < 0)
        return r;
    r = echo_pattern(ch, 30 * 1000);
    (void)ssh_channel_close(ch);
    return r;
}

/* Who waits for new keys that do not come any more is told at once. */
static void nobody_waits_for_a_peer_that_is_gone(void **state)
{
    (void)state;
    for (uint64_t at = 1500; at < 30 * 1000; at += 97) {
        struct link l = link_of(rekeyed_dialogue);
        l.client_offers.only_host_keys = "ssh-ed25519";
        l.client_rekey_bytes = at % 2 == 0 ? 3000 : 0;
        l.server_rekey_bytes = at % 3 != 0 ? 3000 : 0;
        l.has_relay = true;
        (at % 4 < 2 ? &l.to_server : &l.to_client)->cut_at = at;
        link_run(&l, at);
        assert_true(l.connected < 0 || l.result < 0);
        if (l.took_us >= STALL_US / 2)
            fail_msg("cut at %lu: it took %lu us; client %d %d (%s), server %d (%s)",
                     (unsigned long)at, (unsigned long)l.took_us, l.connected, l.result, l.why,
                     l.server.result, l.server.why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serves_wherever_the_bytes_are_cut),
        cmocka_unit_test(every_algorithm_works_with_every_other),
        cmocka_unit_test(much_data_passes_in_each_cipher),
        cmocka_unit_test(nothing_in_common_says_in_which_list),
        cmocka_unit_test(a_client_reads_other_lines_before_the_ident),
        cmocka_unit_test(keys_change_in_the_middle_of_a_transfer),
        cmocka_unit_test(keys_change_during_an_upload),
        cmocka_unit_test(keys_change_after_as_many_packets),
        cmocka_unit_test(no_flipped_bit_goes_unnoticed),
        cmocka_unit_test(no_truncation_goes_unnoticed),
        cmocka_unit_test(nobody_waits_for_a_peer_that_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
