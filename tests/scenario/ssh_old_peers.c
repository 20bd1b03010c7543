/* What is there for old peers, by setting: it works back to back, and its weak places are
 * covered as far as they can be. */
#include "ssh_dialogue.h"
#include "ssh_hand_link.h"

static const char *const ciphers[] = {"aes128-cbc", "aes256-cbc", "3des-cbc", "aes128-ctr"};
static const char *const macs[] = {"hmac-sha1", "hmac-sha2-256",
                                   "hmac-sha2-512-etm@openssh.com"};

static int dialogue(struct link *l)
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

static struct link legacy_link(const char *kex, const char *cipher, const char *mac)
{
    struct link l = link_of(dialogue);
    l.client_offers = (struct ssh_offer_settings){.legacy = true,
                                                  .only_kex = kex,
                                                  .only_host_keys = "ssh-rsa",
                                                  .only_ciphers = cipher,
                                                  .only_macs = mac};
    l.server_offers = (struct ssh_offer_settings){.legacy = true};
    return l;
}

/* -- two that know nothing better -- */

static void run_whole(struct link *l, uint64_t seed)
{
    l->seed = seed;
    link_run(l, seed + 1);
    if (l->connected != 0 || l->result != 0)
        fail_msg("%s, %s: connected %d, dialogue %d (%s), server %d (%s)",
                 l->client_offers.only_ciphers, l->client_offers.only_macs, l->connected,
                 l->result, l->why, l->server.result, l->server.why);
}

static void each_cipher_works_with_each_mac_and_new_keys(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(ciphers) * ARRAY_LEN(macs); i++) {
        const char *cipher = ciphers[i / ARRAY_LEN(macs)], *mac = macs[i % ARRAY_LEN(macs)];
        const char *kex =
            i % 2 == 0 ? "diffie-hellman-group14-sha1" : "diffie-hellman-group14-sha256";
        for (unsigned storm = 0; storm < 2; storm++) {
            struct link l = legacy_link(kex, cipher, mac);
            l.client_rekey_bytes = storm != 0 ? 50 * 1000 : 0;
            run_whole(&l, storm == 0 ? i : 0);
            assert_string_equal(l.chosen.kex_name, kex);
            assert_string_equal(l.chosen.host_key_name, "ssh-rsa");
            assert_string_equal(ssh_cipher_name(l.chosen.cipher[SSH_TO_CLIENT]), cipher);
            assert_string_equal(ssh_mac_name(l.chosen.mac[SSH_TO_SERVER]), mac);
            assert_true(storm == 0 ? l.traffic.exchanges == 1 : l.traffic.exchanges > 2);
        }
    }
}

/* -- a server without the setting -- */

static void who_has_nothing_else_is_refused_without_the_setting(void **state)
{
    (void)state;

    static const struct {
        struct ssh_offer_settings client;
        const char *why;
    } rows[] = {
        {{.only_kex = "diffie-hellman-group14-sha1"}, "nothing in common: key exchange"},
        {{.only_kex = "diffie-hellman-group14-sha256"}, "nothing in common: key exchange"},
        {{.only_ciphers = "aes128-cbc,3des-cbc"}, "nothing in common: cipher to the server"},
        {{.only_ciphers = "aes128-ctr", .only_macs = "hmac-sha1"},
         "nothing in common: MAC to the server"},
    };

    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        struct link l = link_of(dialogue);
        l.client_offers = rows[i].client;
        l.client_offers.legacy = true;
        link_run(&l, i);
        assert_true(l.connected < 0);
        assert_int_equal(l.server.result, -FERRY_EREFUSED);
        assert_string_equal(l.server.why, rows[i].why);
    }
}

/* -- who changes what passes -- */

static const struct attack {
    const char *cipher;
    bool is_logged_in;
    bool is_large;     /* the packet that is changed: nearly as long as one may be */
    size_t at, behind; /* the byte that is changed, counted from the begin or the end */
} attacks[] = {
    {"aes128-cbc", false, false, 0, 0}, /* the length becomes an impossible one */
    {"aes128-cbc", false, true, 0, 0},
    {"aes128-cbc", false, false, 0, 1}, /* the MAC of a short packet */
    {"aes128-cbc", false, true, 0, 1},  /* and of a long one */
    {"aes128-cbc", true, false, 0, 0},
    {"aes128-cbc", true, false, 0, 1},
    {"aes128-cbc", true, true, 0, 1},
    {"3des-cbc", false, false, 0, 0},
    {"3des-cbc", false, false, 0, 1},
    {"3des-cbc", true, true, 0, 1},
};
static const struct attack *attack;
static int heard_before, heard_after;

/* A packet that was changed, as the beginning of so many bytes. */
static int send_changed(struct by_hand *h, size_t count)
{
    static uint8_t wire[SSH_PACKET_MAX + 100];
    size_t max = attack->is_logged_in ? SSH_PACKET_MAX : SSH_PACKET_MAX_EARLY;
    size_t payload_len = attack->is_large ? max - 300 : 5, len;
    memset(wire, 0, sizeof(wire));
    wire[SSH_PACKET_HEAD] = SSH_MSG_IGNORE;
    wire_set_u32(wire + SSH_PACKET_HEAD + 1, (uint32_t)payload_len - 5);
    TASK_ASSERT(ssh_packet_seal(h->sealing, h->sent++, wire, payload_len, &len) == 0);
    TASK_ASSERT(len <= count && count <= sizeof(wire));
    size_t at = attack->behind != 0 ? len - attack->behind : attack->at;
    wire[at] ^= 1;
    return hand_write(h, bytes_of(wire, count));
}

static int client_attacks(struct by_hand *h)
{
    struct hand_exchange e = hand_usual;
    size_t max = attack->is_logged_in ? SSH_PACKET_MAX : SSH_PACKET_MAX_EARLY;
    e.cipher = attack->cipher;
    e.mac = "hmac-sha1";
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &e);
    if (r == 0 && attack->is_logged_in)
        r = hand_log_in(h);
    while (r >= 0) /* EXT_INFO and the like */
        r = hand_hear_for(h, 10 * USEC_PER_MS);
    if (r != -ETIMEDOUT)
        return r;
    r = send_changed(h, 4 + max + 20 - 1); /* one byte less than the longest packet has */
    if (r < 0)
        return r;
    heard_before = hand_hear_for(h, 10 * USEC_PER_MS);
    r = hand_write(h, BYTES_LIT("x"));
    heard_after = hand_hear_for(h, 10 * USEC_PER_MS);
    return r;
}

static struct hand_link run_by_hand(int (*client)(struct by_hand *))
{
    struct hand_link l = {.client = client, .offers = {.legacy = true}};
    run_deterministic(1, hand_main, &l);
    return l;
}

static void where_a_packet_of_cbc_fails_cannot_be_seen(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(attacks); i++) {
        attack = &attacks[i];
        heard_before = heard_after = 0;
        struct hand_link l = run_by_hand(client_attacks);
        if (l.result != 0 || heard_before != -ETIMEDOUT || heard_after == -ETIMEDOUT)
            fail_msg("attack %u: %d, heard %d, then %d; server %d (%s)", i, l.result,
                     heard_before, heard_after, l.server.result, l.server.why);
        assert_int_equal(l.server.result, -FERRY_EPROTO);
    }
}

static int client_without_strict(struct by_hand *h)
{
    struct hand_exchange e = hand_usual;
    e.kex = "curve25519-sha256";
    e.cipher = "aes128-cbc";
    int r = hand_ident(h);
    return r == 0 ? hand_exchange(h, &e) : r;
}

static int client_without_strict_and_etm(struct by_hand *h)
{
    struct hand_exchange e = hand_usual;
    e.kex = "curve25519-sha256";
    e.cipher = "aes128-cbc";
    e.mac = "hmac-sha1";
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &e);
    return r == 0 ? hand_log_in(h) : r;
}

/* CVE-2023-48795: there packets could be taken out unseen. */
static void cbc_with_an_etm_mac_is_refused_without_the_strict_exchange(void **state)
{
    (void)state;
    struct hand_link l = run_by_hand(client_without_strict);
    assert_true(l.result != 0);
    assert_int_equal(l.server.result, -FERRY_EREFUSED);
    l = run_by_hand(client_without_strict_and_etm);
    assert_int_equal(l.result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cipher_works_with_each_mac_and_new_keys),
        cmocka_unit_test(who_has_nothing_else_is_refused_without_the_setting),
        cmocka_unit_test(where_a_packet_of_cbc_fails_cannot_be_seen),
        cmocka_unit_test(cbc_with_an_etm_mac_is_refused_without_the_strict_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
