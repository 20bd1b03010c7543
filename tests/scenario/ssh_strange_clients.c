/* Clients that no library of ours is: they wait, guess, break the rules of an exchange, ask for
 * what is unknown, or leave an exchange alone. */
#include "ssh_hand_link.h"

/* -- exchanges -- */

static int client_usual(struct by_hand *h)
{
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    return r == 0 ? hand_log_in(h) : r;
}

/* What comes first from the server behind NEWKEYS is EXT_INFO (RFC 8308 2.4). */
static int client_told_first(struct by_hand *h)
{
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    if (r == 0)
        r = hand_hear(h);
    return r == SSH_MSG_EXT_INFO ? 0 : -EIO;
}

static int client_waits(struct by_hand *h)
{
    struct hand_exchange e = hand_usual;
    e.waits = true;
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &e);
    return r == 0 ? hand_log_in(h) : r;
}

static int client_guesses_wrong(struct by_hand *h)
{
    struct hand_exchange e = hand_usual;
    e.kex = "ecdh-sha2-nistp521,curve25519-sha256," SSH_STRICT_CLIENT;
    e.guesses = true;
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &e);
    return r == 0 ? hand_log_in(h) : r;
}

static int client_ignored_in(struct by_hand *h, bool is_strict, bool is_before)
{
    static const uint8_t ignore[] = {SSH_MSG_IGNORE, 0, 0, 0, 0};
    struct hand_exchange e = hand_usual;
    e.kex = is_strict ? hand_usual.kex : "curve25519-sha256";
    *(is_before ? &e.before : &e.between) = bytes_of(ignore, sizeof(ignore));
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &e);
    return r == 0 ? hand_log_in(h) : r;
}

static int client_ignores_first_strict(struct by_hand *h)
{
    return client_ignored_in(h, true, true);
}

static int client_ignores_later_strict(struct by_hand *h)
{
    return client_ignored_in(h, true, false);
}

static int client_ignores_first(struct by_hand *h)
{
    return client_ignored_in(h, false, true);
}

static int client_ignores_later(struct by_hand *h)
{
    return client_ignored_in(h, false, false);
}

static int client_chacha(struct by_hand *h)
{
    struct hand_exchange e = hand_usual;
    e.kex = "curve25519-sha256"; /* the sequence numbers go on through the exchange */
    e.cipher = "chacha20-poly1305@openssh.com";
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &e);
    if (r == 0)
        r = hand_log_in(h);
    return r == 0 ? hand_exchange(h, &e) : r;
}

static void takes_the_exchanges_of_the_rfc(void **state)
{
    (void)state;
    static int (*const clients[])(struct by_hand *) = {
        client_usual,         client_waits,         client_guesses_wrong, client_told_first,
        client_ignores_first, client_ignores_later, client_chacha};
    for (unsigned i = 0; i < ARRAY_LEN(clients); i++) {
        struct hand_link l = hand_run(clients[i], 0);
        if (l.result != 0)
            fail_msg("client %u: %d, server %d (%s)", i, l.result, l.server.result,
                     l.server.why);
    }
}

static void refuses_what_a_strict_exchange_does_not_have(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_ignores_first_strict, 0);
    assert_true(l.result != 0);
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    assert_string_equal(l.server.why, "KEXINIT was not the first packet");
    l = hand_run(client_ignores_later_strict, 0);
    assert_true(l.result != 0);
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    assert_string_equal(l.server.why, "message 2 (IGNORE) during key exchange");
}

/* -- before it -- */

static int client_with_lines_first(struct by_hand *h)
{
    int r = hand_write(h, BYTES_LIT("hello\r\n"));
    return r == 0 ? client_usual(h) : r;
}

static int client_without_an_end(struct by_hand *h)
{
    for (unsigned i = 0; i < 2000; i++) {
        int r = hand_write(h, BYTES_LIT("aaaaaaaaaaaaaaaa"));
        if (r < 0)
            return r;
    }
    return 0;
}

static int client_that_only_ignores(struct by_hand *h)
{
    static const uint8_t ignore[] = {SSH_MSG_IGNORE, 0, 0, 0, 0};
    int r = hand_ident(h);
    for (unsigned i = 0; i < 1000 && r == 0; i++) {
        r = hand_say(h, bytes_of(ignore, sizeof(ignore)));
        if (r == 0)
            r = task_sleep_until(clock_after(99 * USEC_PER_MS));
    }
    return r;
}

static void a_client_without_an_ident_is_left(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_with_lines_first, 0);
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    l = hand_run(client_without_an_end, 0);
    assert_int_equal(l.server.result, -FERRY_EPROTO);
}

static void a_client_that_never_comes_to_the_point_meets_the_deadline(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_that_only_ignores, 0);
    assert_true(l.result < 0);
    assert_int_equal(l.server.result, -ETIMEDOUT);
}

/* Asks for unknown things and reads no answer. */
static int client_floods_before_the_login(struct by_hand *h)
{
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    for (unsigned i = 0; i < 100 * 1000 && r == 0; i++)
        r = hand_say_u8(h, 200);
    return r;
}

static void a_flood_before_the_login_is_not_read(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_floods_before_the_login, 0);
    assert_true(l.result < 0);
    assert_int_equal(l.server.result, -FERRY_ESTALLED);
}

/* -- after the login -- */

static int client_pings(struct by_hand *h)
{
    static const uint8_t ping[] = {SSH_MSG_PING, 0, 0, 0, 3, 'a', 'b', 'c'};
    int r = client_usual(h);
    if (r == 0)
        r = hand_say(h, bytes_of(ping, sizeof(ping)));
    if (r == 0)
        r = hand_hear(h);
    if (r != SSH_MSG_PONG || h->heard.len != sizeof(ping) ||
        memcmp(h->heard.data + 1, ping + 1, sizeof(ping) - 1) != 0)
        return -EIO;
    return 0;
}

static int client_says_the_unknown(struct by_hand *h)
{
    int r = client_usual(h);
    uint32_t number = h->sent;
    if (r == 0)
        r = hand_say_u8(h, 150);
    if (r == 0)
        r = hand_hear(h);
    if (r != SSH_MSG_UNIMPLEMENTED || h->heard.len != 5 ||
        wire_u32(h->heard.data + 1) != number)
        return -EIO;
    return 0;
}

static int client_says_goodbye(struct by_hand *h)
{
    uint8_t payload[64];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    int r = client_usual(h);
    ssh_disconnect_write(&w, SSH_DISCONNECT_BY_APPLICATION, BYTES_LIT("bye \x1b[2J"));
    if (r == 0)
        r = hand_say(h, bytes_of(payload, w.len));
    return r == 0 && hand_hear(h) == -FERRY_ECLOSED ? 0 : -EIO;
}

static void answers_pings_and_what_it_does_not_know(void **state)
{
    (void)state;
    assert_int_equal(hand_run(client_pings, 0).result, 0);
    assert_int_equal(hand_run(client_says_the_unknown, 0).result, 0);
    struct hand_link l = hand_run(client_says_goodbye, 0);
    assert_int_equal(l.result, 0);
    assert_int_equal(l.server.result, -FERRY_ECLOSED);
    assert_string_equal(l.server.why, "the peer ended it (11): bye ?[2J");
}

/* -- new keys -- */

static int client_asks_for_keys(struct by_hand *h)
{
    int r = client_usual(h);
    for (unsigned i = 0; i < 5 && r == 0; i++) {
        r = hand_exchange(h, &hand_usual);
        if (r == 0)
            r = hand_say_u8(h, 150);
        if (r == 0 && hand_hear(h) != SSH_MSG_UNIMPLEMENTED)
            r = -EIO;
    }
    return r;
}

/* The server asks, and gets no answer but the usual messages. */
static int client_never_changes_keys(struct by_hand *h)
{
    static const uint8_t ignore[] = {SSH_MSG_IGNORE, 0, 0, 0, 0};
    int r = client_usual(h);
    for (unsigned i = 0; i < 1000 && r == 0; i++) {
        r = hand_say(h, bytes_of(ignore, sizeof(ignore)));
        if (r == 0)
            r = task_sleep_until(clock_after(USEC_PER_S));
    }
    return r;
}

/* What it says when the server has asked for new keys, and it has not seen that yet. */
static int client_pings_before_its_kexinit(struct by_hand *h)
{
    static uint8_t ping[5 + SSH_PING_MAX] = {SSH_MSG_PING};
    static const size_t lens[] = {3, 0, 1000, SSH_PING_MAX}; /* the last is one too many */
    int r = client_usual(h);
    if (r == 0)
        r = hand_say_u8(h, 150); /* behind its answer comes KEXINIT */
    if (r == 0)
        r = hand_hear(h) == SSH_MSG_UNIMPLEMENTED ? 0 : -EIO;
    if (r == 0)
        r = task_sleep_until(clock_after(USEC_PER_S));
    for (unsigned i = 0; i < ARRAY_LEN(lens) && r == 0; i++) {
        wire_set_u32(ping + 1, (uint32_t)lens[i]);
        memset(ping + 5, 'a' + (int)i, lens[i]);
        r = hand_say(h, bytes_of(ping, 5 + lens[i]));
    }
    if (r == 0)
        r = task_sleep_until(clock_after(USEC_PER_S)); /* it is read before KEXINIT comes */
    if (r == 0)
        r = hand_exchange(h, &hand_usual);
    for (unsigned i = 0; i + 1 < ARRAY_LEN(lens) && r == 0; i++) {
        r = hand_hear(h) == SSH_MSG_PONG ? 0 : -EIO;
        TASK_ASSERT(r < 0 || h->heard.len == 5 + lens[i]);
        for (size_t at = 5; at < h->heard.len && r == 0; at++)
            TASK_ASSERT(h->heard.data[at] == 'a' + i);
    }
    if (r == 0)
        r = hand_say_u8(h, 150);
    return r == 0 && hand_hear(h) == SSH_MSG_PONG ? -EIO : r;
}

/* Its KEXINIT comes, and behind it what belongs behind NEWKEYS. */
static int client_talks_during_an_exchange(struct by_hand *h)
{
    static const uint8_t ping[] = {SSH_MSG_PING, 0, 0, 0, 0};
    struct hand_exchange e = hand_usual;
    e.between = bytes_of(ping, sizeof(ping));
    int r = client_usual(h);
    return r == 0 ? hand_exchange(h, &e) : r;
}

/* As stock OpenSSH: the cipher that we want most is its last. The server asks for new keys, so
 * its KEXINIT comes first then. */
static int client_likes_another_cipher(struct by_hand *h)
{
    struct hand_exchange e = hand_usual;
    e.cipher = "chacha20-poly1305@openssh.com,aes128-gcm@openssh.com";
    h->ident = BYTES_LIT("SSH-2.0-OpenSSH_9.2");
    int r = hand_ident(h);
    if (r == 0)
        r = hand_exchange(h, &e);
    if (r == 0)
        r = hand_log_in(h);
    TASK_ASSERT(r < 0 || ssh_cipher_kind(h->sealing) == SSH_CIPHER_AES128_GCM);
    e.waits = true;
    if (r == 0)
        r = hand_say_u8(h, 150); /* behind its answer comes KEXINIT */
    if (r == 0)
        r = hand_hear(h) == SSH_MSG_UNIMPLEMENTED ? 0 : -EIO;
    if (r == 0)
        r = hand_exchange(h, &e);
    TASK_ASSERT(r < 0 || ssh_cipher_kind(h->sealing) == SSH_CIPHER_AES128_GCM);
    return r;
}

static void new_keys_are_for_the_same_cipher(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_likes_another_cipher, 100);
    assert_int_equal(l.result, 0);
}

static void keys_are_changed_when_the_client_asks(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_asks_for_keys, 0);
    assert_int_equal(l.result, 0);
    assert_int_equal(l.server.traffic.exchanges, 6);
}

static void a_ping_that_crossed_our_kexinit_is_answered_after_the_exchange(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_pings_before_its_kexinit, 100);
    assert_int_equal(l.result, 0);
    assert_true(l.server.traffic.exchanges >= 2);
}

static void an_exchange_that_is_not_answered_ends_by_its_deadline(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_never_changes_keys, 100);
    assert_true(l.result < 0);
    assert_int_equal(l.server.result, -ETIMEDOUT);
}

static void nothing_else_passes_during_an_exchange(void **state)
{
    (void)state;
    struct hand_link l = hand_run(client_talks_during_an_exchange, 0);
    assert_true(l.result != 0);
    assert_int_equal(l.server.result, -FERRY_EPROTO);
    assert_string_equal(l.server.why, "message 192 (PING) during rekeying");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_exchanges_of_the_rfc),
        cmocka_unit_test(refuses_what_a_strict_exchange_does_not_have),
        cmocka_unit_test(a_client_without_an_ident_is_left),
        cmocka_unit_test(a_client_that_never_comes_to_the_point_meets_the_deadline),
        cmocka_unit_test(a_flood_before_the_login_is_not_read),
        cmocka_unit_test(answers_pings_and_what_it_does_not_know),
        cmocka_unit_test(new_keys_are_for_the_same_cipher),
        cmocka_unit_test(keys_are_changed_when_the_client_asks),
        cmocka_unit_test(a_ping_that_crossed_our_kexinit_is_answered_after_the_exchange),
        cmocka_unit_test(an_exchange_that_is_not_answered_ends_by_its_deadline),
        cmocka_unit_test(nothing_else_passes_during_an_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
