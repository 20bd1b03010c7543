#include "ssh/wire/kexinit.h"

#include "base/wire.h"
#include "ssh_bytes.h"

/* One offer with a list or two replaced. */
static struct ssh_kexinit offer(void)
{
    return (struct ssh_kexinit){
        .cookie = "0123456789abcde",
        .lists = {
            BYTES_LIT("curve25519-sha256,diffie-hellman-group16-sha512,ext-info-c"),
            BYTES_LIT("ssh-ed25519,rsa-sha2-512"),
            BYTES_LIT("aes128-gcm@openssh.com,aes128-ctr"),
            BYTES_LIT("aes256-ctr,chacha20-poly1305@openssh.com"),
            BYTES_LIT("hmac-sha2-256-etm@openssh.com"),
            BYTES_LIT("hmac-sha2-512-etm@openssh.com,hmac-sha2-256-etm@openssh.com"),
            BYTES_LIT("none,zlib@openssh.com"),
            BYTES_LIT("zlib@openssh.com,none"),
        }};
}

static struct bytes write_offer(const struct ssh_kexinit *k, uint8_t *dst, size_t cap)
{
    struct wire_writer w = wire_writer_of(dst, cap);
    ssh_kexinit_write(&w, k);
    assert_int_equal(wire_write_end(&w), 0);
    return bytes_of(dst, w.len);
}

/* -- messages -- */

static int parse(struct bytes payload)
{
    struct ssh_kexinit k;
    return ssh_kexinit_parse(payload, &k);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct ssh_kexinit k = offer(), got;
    uint8_t message[1024];
    k.first_kex_packet_follows = true;
    assert_int_equal(ssh_kexinit_parse(write_offer(&k, message, sizeof(message)), &got), 0);
    assert_memory_equal(got.cookie, k.cookie, SSH_COOKIE_BYTES);
    assert_true(got.first_kex_packet_follows);
    for (int i = 0; i < SSH_LIST_COUNT; i++)
        assert_true(bytes_equal(got.lists[i], k.lists[i]));
}

static void the_bytes_are_those_of_the_rfc(void **state)
{
    (void)state;
    struct ssh_kexinit k = {.cookie = "0123456789abcde"};
    uint8_t message[128];
    k.lists[SSH_LIST_KEX] = BYTES_LIT("a");
    struct bytes written = write_offer(&k, message, sizeof(message));
    static const char expected[] = "\x14"
                                   "0123456789abcde\0\0\0\0\1a"
                                   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_int_equal(written.len, sizeof(expected) - 1);
    assert_memory_equal(written.data, expected, written.len);
}

static void cuts_and_trailing_bytes_are_refused(void **state)
{
    (void)state;
    struct ssh_kexinit k = offer();
    uint8_t message[1024];
    check_shape(parse, write_offer(&k, message, sizeof(message)), false,
                (const uint8_t *)"\x14");
}

static void the_reserved_number_is_not_looked_at(void **state)
{
    (void)state;
    struct ssh_kexinit k = offer();
    uint8_t message[1024];
    struct bytes written = write_offer(&k, message, sizeof(message));
    memset(message + written.len - 4, 0xff, 4);
    assert_int_equal(parse(written), 0);
}

static void lists_have_one_shape(void **state)
{
    (void)state;
    static char name64[64], name65[65];
    memset(name64, 'n', sizeof(name64));
    memset(name65, 'n', sizeof(name65));

    const struct {
        struct bytes list;
        int result;
    } rows[] = {
        {BYTES_LIT(""), 0},
        {BYTES_LIT("a"), 0},
        {BYTES_LIT("a,b,c"), 0},
        {BYTES_LIT("a,a"), 0},
        {BYTES_LIT("!\"#~@x.y"), 0},
        {bytes_of(name64, sizeof(name64)), 0},
        {bytes_of(name65, sizeof(name65)), -FERRY_EPROTO},
        {BYTES_LIT(","), -FERRY_EPROTO},
        {BYTES_LIT(",a"), -FERRY_EPROTO},
        {BYTES_LIT("a,"), -FERRY_EPROTO},
        {BYTES_LIT("a,,b"), -FERRY_EPROTO},
        {BYTES_LIT("a b"), -FERRY_EPROTO},
        {BYTES_LIT("a, b"), -FERRY_EPROTO},
        {BYTES_LIT("a\0b"), -FERRY_EPROTO},
        {BYTES_LIT("a\n"), -FERRY_EPROTO},
        {BYTES_LIT("\x7f"), -FERRY_EPROTO},
        {BYTES_LIT("\xc3\xa4"), -FERRY_EPROTO},
    };

    for (int list = 0; list < SSH_LIST_COUNT; list++)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            struct ssh_kexinit k = offer();
            uint8_t message[1024];
            k.lists[list] = rows[i].list;
            struct bytes written = write_offer(&k, message, sizeof(message));
            assert_int_equal(parse_copy(parse, written), rows[i].result);
        }
}

static void languages_have_the_shape_of_lists(void **state)
{
    (void)state;
    struct ssh_kexinit k = offer();
    uint8_t message[1024], other[1024];
    struct bytes written = write_offer(&k, message, sizeof(message));
    for (size_t back = 9; back <= 13; back += 4) {
        size_t at = written.len - back; /* where the length of a language list stands */
        memcpy(other, message, at);
        memcpy(other + at, "\0\0\0\2de", 6);
        memcpy(other + at + 6, message + at + 4, back - 4);
        assert_int_equal(parse(bytes_of(other, written.len + 2)), 0);
        other[at + 5] = ',';
        assert_int_equal(parse(bytes_of(other, written.len + 2)), -FERRY_EPROTO);
    }
}

static void lists_and_messages_have_bounds(void **state)
{
    (void)state;
    static uint8_t list[SSH_NAME_LIST_MAX + 1], message[2 * SSH_KEXINIT_MAX];
    memset(list, 'n', sizeof(list));
    for (size_t i = 60; i < sizeof(list); i += 60)
        list[i] = ',';
    struct ssh_kexinit k = {0};
    k.lists[0] = bytes_of(list, SSH_NAME_LIST_MAX);
    assert_int_equal(parse(write_offer(&k, message, sizeof(message))), 0);
    k.lists[0] = bytes_of(list, SSH_NAME_LIST_MAX + 1);
    assert_int_equal(parse(write_offer(&k, message, sizeof(message))), -FERRY_EPROTO);
    size_t fixed = 1 + SSH_COOKIE_BYTES + 10 * 4 + 5;
    k.lists[0] = bytes_of(list, SSH_NAME_LIST_MAX);
    k.lists[1] = bytes_of(list, SSH_KEXINIT_MAX - fixed - SSH_NAME_LIST_MAX);
    struct bytes written = write_offer(&k, message, sizeof(message));
    assert_int_equal(written.len, SSH_KEXINIT_MAX);
    assert_int_equal(parse(written), 0);
    k.lists[1].len++;
    assert_int_equal(parse(write_offer(&k, message, sizeof(message))), -FERRY_EPROTO);
}

static void an_offer_that_does_not_fit_is_not_written(void **state)
{
    (void)state;
    struct ssh_kexinit k = offer();
    uint8_t message[1024];
    size_t len = write_offer(&k, message, sizeof(message)).len;
    struct wire_writer w = wire_writer_of(message, len - 1);
    ssh_kexinit_write(&w, &k);
    assert_int_equal(wire_write_end(&w), -FERRY_ELIMIT);
}

/* -- lists -- */

static void a_list_has_whole_names(void **state)
{
    (void)state;
    struct bytes list = BYTES_LIT("aes,aes-ctr,x");
    assert_true(ssh_list_has(list, BYTES_LIT("aes")));
    assert_true(ssh_list_has(list, BYTES_LIT("aes-ctr")));
    assert_true(ssh_list_has(list, BYTES_LIT("x")));
    assert_false(ssh_list_has(list, BYTES_LIT("ae")));
    assert_false(ssh_list_has(list, BYTES_LIT("ctr")));
    assert_false(ssh_list_has(list, BYTES_LIT("X")));
    assert_false(ssh_list_has(list, BYTES_LIT("aes,aes-ctr")));
    assert_false(ssh_list_has(list, BYTES_LIT("")));
    assert_false(ssh_list_has(BYTES_LIT(""), BYTES_LIT("")));
    assert_false(ssh_list_has(BYTES_LIT("a,,b"), BYTES_LIT("")));
}

static void the_clients_order_decides(void **state)
{
    (void)state;

    static const struct {
        struct bytes client, server, chosen;
    } rows[] = {
        {BYTES_LIT("a,b,c"), BYTES_LIT("c,b,a"), BYTES_LIT("a")},
        {BYTES_LIT("x,b,c"), BYTES_LIT("c,b"), BYTES_LIT("b")},
        {BYTES_LIT("a"), BYTES_LIT("b,c,a"), BYTES_LIT("a")},
        {BYTES_LIT("a,b"), BYTES_LIT("c,d"), BYTES_LIT("")},
        {BYTES_LIT("aa"), BYTES_LIT("a,aaa"), BYTES_LIT("")},
        {BYTES_LIT(""), BYTES_LIT("a"), BYTES_LIT("")},
        {BYTES_LIT("a"), BYTES_LIT(""), BYTES_LIT("")},
        {BYTES_LIT(""), BYTES_LIT(""), BYTES_LIT("")},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(
            bytes_equal(ssh_list_choose(rows[i].client, rows[i].server), rows[i].chosen));
}

/* -- choosing -- */

static void both_sides_come_to_one_choice(void **state)
{
    (void)state;
    struct ssh_kexinit client = offer(), server = offer();
    struct ssh_chosen c;
    enum ssh_list list = SSH_LIST_COUNT;
    server.lists[SSH_LIST_KEX] = BYTES_LIT("diffie-hellman-group16-sha512,ext-info-c");
    server.lists[SSH_LIST_HOST_KEY] = BYTES_LIT("rsa-sha2-512");
    server.lists[SSH_LIST_COMPRESSION_TO_CLIENT] = BYTES_LIT("none,zlib@openssh.com");
    assert_int_equal(ssh_choose(&client, &server, SSH_CLIENT, &c, &list), 0);
    assert_int_equal(c.kex, SSH_KEX_DH16);
    assert_string_equal(c.kex_name, "diffie-hellman-group16-sha512");
    assert_string_equal(c.host_key_name, "rsa-sha2-512");
    assert_int_equal(c.cipher[SSH_TO_SERVER], SSH_CIPHER_AES128_GCM);
    assert_int_equal(c.mac[SSH_TO_SERVER], SSH_MAC_NONE);
    assert_int_equal(c.cipher[SSH_TO_CLIENT], SSH_CIPHER_AES256_CTR);
    assert_int_equal(c.mac[SSH_TO_CLIENT], SSH_MAC_SHA512_ETM);
    assert_int_equal(c.compression[SSH_TO_SERVER], SSH_COMPRESSION_NONE);
    assert_int_equal(c.compression[SSH_TO_CLIENT], SSH_COMPRESSION_ZLIB_DELAYED);
    assert_false(c.is_guess_wrong);
    assert_int_equal(list, SSH_LIST_COUNT);
}

/* Who knows the others gets one of those, as long as it does not put these first itself. */
static void a_mac_of_the_packet_in_clear_is_the_last_resort(void **state)
{
    (void)state;

    static const struct {
        struct bytes client;
        enum ssh_mac_kind kind;
    } rows[] = {
        {BYTES_LIT("hmac-sha1,hmac-sha2-256"), SSH_MAC_SHA256},
        {BYTES_LIT("hmac-sha2-512,hmac-sha2-256"), SSH_MAC_SHA512},
        {BYTES_LIT("hmac-sha2-512-etm@openssh.com,hmac-sha2-256"), SSH_MAC_SHA512_ETM},
        {BYTES_LIT("hmac-sha2-256,hmac-sha2-256-etm@openssh.com"), SSH_MAC_SHA256},
        {BYTES_LIT("umac-64@openssh.com,hmac-sha2-256-etm@openssh.com,hmac-sha2-256"),
         SSH_MAC_SHA256_ETM},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_kexinit client = offer(), server = offer();
        struct ssh_chosen c;
        enum ssh_list list;
        client.lists[SSH_LIST_MAC_TO_CLIENT] = rows[i].client;
        server.lists[SSH_LIST_MAC_TO_CLIENT] =
            BYTES_LIT("hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,"
                      "hmac-sha2-256,hmac-sha2-512");
        assert_int_equal(ssh_choose(&client, &server, SSH_CLIENT, &c, &list), 0);
        assert_int_equal(c.mac[SSH_TO_CLIENT], rows[i].kind);
    }
}

static void a_list_with_nothing_in_common_is_named(void **state)
{
    (void)state;
    for (enum ssh_list at = 0; at < SSH_LIST_COUNT; at++)
        for (int on_client = 0; on_client < 2; on_client++) {
            struct ssh_kexinit client = offer(), server = offer();
            struct ssh_chosen c;
            enum ssh_list list = SSH_LIST_COUNT;
            (on_client ? &client : &server)->lists[at] = BYTES_LIT("other");
            /* aes128-gcm goes to the server: no MAC is missed */
            int expected = at == SSH_LIST_MAC_TO_SERVER ? 0 : -FERRY_EPROTO;
            assert_int_equal(ssh_choose(&client, &server, SSH_SERVER, &c, &list), expected);
            assert_int_equal(list, expected == 0 ? SSH_LIST_COUNT : at);
        }
}

static void a_cipher_without_a_mac_of_its_own_wants_one(void **state)
{
    (void)state;

    static const struct {
        struct bytes cipher;
        bool has_own;
    } rows[] = {
        {BYTES_LIT("aes128-gcm@openssh.com"), true},
        {BYTES_LIT("aes256-gcm@openssh.com"), true},
        {BYTES_LIT("chacha20-poly1305@openssh.com"), true},
        {BYTES_LIT("aes128-ctr"), false},
        {BYTES_LIT("aes192-ctr"), false},
        {BYTES_LIT("aes256-ctr"), false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int d = 0; d < SSH_DIRECTION_COUNT; d++) {
            struct ssh_kexinit client = offer(), server = offer();
            struct ssh_chosen c;
            enum ssh_list list = SSH_LIST_COUNT;
            client.lists[SSH_LIST_CIPHER_TO_SERVER + d] = rows[i].cipher;
            server.lists[SSH_LIST_CIPHER_TO_SERVER + d] = rows[i].cipher;
            server.lists[SSH_LIST_MAC_TO_SERVER + d] = BYTES_NONE;
            int rc = ssh_choose(&client, &server, SSH_SERVER, &c, &list);
            assert_int_equal(rc, rows[i].has_own ? 0 : -FERRY_EPROTO);
            if (rc == 0)
                assert_int_equal(c.mac[d], SSH_MAC_NONE);
            else
                assert_int_equal(list, SSH_LIST_MAC_TO_SERVER + d);
        }
}

/* The peer could offer a marker back, and "none" would be no encryption. */
static void what_is_no_algorithm_is_never_chosen(void **state)
{
    (void)state;

    static const struct {
        enum ssh_list list;
        struct bytes names;
    } rows[] = {
        {SSH_LIST_KEX, BYTES_LIT("ext-info-c,ext-info-s")},
        {SSH_LIST_KEX, BYTES_LIT("kex-strict-c-v00@openssh.com")},
        {SSH_LIST_KEX, BYTES_LIT("kex-strict-s-v00@openssh.com,none")},
        {SSH_LIST_HOST_KEY, BYTES_LIT("null,ssh-dss")},
        {SSH_LIST_CIPHER_TO_SERVER, BYTES_LIT("none,des-cbc,arcfour")},
        {SSH_LIST_CIPHER_TO_CLIENT, BYTES_LIT("none")},
        {SSH_LIST_MAC_TO_CLIENT, BYTES_LIT("none,hmac-md5")},
        {SSH_LIST_COMPRESSION_TO_CLIENT, BYTES_LIT("zlib")},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ssh_kexinit client = offer(), server = offer();
        struct ssh_chosen c;
        enum ssh_list list = SSH_LIST_COUNT;
        client.lists[rows[i].list] = rows[i].names;
        server.lists[rows[i].list] = rows[i].names;
        assert_int_equal(ssh_choose(&client, &server, SSH_CLIENT, &c, &list), -FERRY_EPROTO);
        assert_int_equal(list, rows[i].list);
    }
}

static void a_guess_is_right_when_the_first_names_agree(void **state)
{
    (void)state;

    static const struct {
        struct bytes kex, host_key; /* of the server; the client's are those of offer() */
        bool is_wrong;
    } rows[] = {
        {BYTES_LIT("curve25519-sha256"), BYTES_LIT("ssh-ed25519"), false},
        {BYTES_LIT("curve25519-sha256,x"), BYTES_LIT("ssh-ed25519,rsa-sha2-512"), false},
        {BYTES_LIT("x,curve25519-sha256"), BYTES_LIT("ssh-ed25519"), true},
        {BYTES_LIT("curve25519-sha256"), BYTES_LIT("rsa-sha2-512,ssh-ed25519"), true},
        {BYTES_LIT("diffie-hellman-group16-sha512"), BYTES_LIT("rsa-sha2-512"), true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (int who = 0; who < 4; who++) {
            struct ssh_kexinit client = offer(), server = offer();
            struct ssh_chosen c;
            enum ssh_list list;
            server.lists[SSH_LIST_KEX] = rows[i].kex;
            server.lists[SSH_LIST_HOST_KEY] = rows[i].host_key;
            client.first_kex_packet_follows = who & 1;
            server.first_kex_packet_follows = who & 2;
            assert_int_equal(ssh_choose(&client, &server, SSH_CLIENT, &c, &list), 0);
            assert_int_equal(c.is_guess_wrong, (who & 1) && rows[i].is_wrong);
            assert_int_equal(ssh_choose(&client, &server, SSH_SERVER, &c, &list), 0);
            assert_int_equal(c.is_guess_wrong, (who & 2) && rows[i].is_wrong);
        }
}

static void cbc_with_an_etm_mac_needs_the_strict_exchange(void **state)
{
    (void)state;
    for (enum ssh_cipher_kind cipher = SSH_CIPHER_NONE; cipher < SSH_CIPHER_COUNT; cipher++)
        for (enum ssh_mac_kind mac = SSH_MAC_NONE; mac < SSH_MAC_COUNT; mac++)
            for (int d = 0; d < SSH_DIRECTION_COUNT; d++) {
                struct ssh_chosen c = {0};
                c.cipher[d] = cipher;
                c.mac[d] = mac;
                assert_int_equal(ssh_chosen_needs_strict(&c),
                                 strstr(ssh_cipher_name(cipher), "-cbc") != NULL &&
                                     strstr(ssh_mac_name(mac), "-etm") != NULL);
            }
}

static void each_name_is_its_kind(void **state)
{
    (void)state;

    static const struct {
        const char *name;
        enum ssh_kex_kind kind;
    } kexes[] = {
        {"curve25519-sha256", SSH_KEX_CURVE25519},
        {"curve25519-sha256@libssh.org", SSH_KEX_CURVE25519},
        {"ecdh-sha2-nistp256", SSH_KEX_P256},
        {"diffie-hellman-group14-sha256", SSH_KEX_DH14},
        {"diffie-hellman-group16-sha512", SSH_KEX_DH16},
        {"diffie-hellman-group14-sha1", SSH_KEX_DH14_SHA1},
        {"mlkem768x25519-sha256", SSH_KEX_MLKEM768_X25519},
    };
    struct ssh_chosen c;
    enum ssh_list list;
    for (size_t i = 0; i < ARRAY_LEN(kexes); i++) {
        struct ssh_kexinit k = offer();
        k.lists[SSH_LIST_KEX] = bytes_str(kexes[i].name);
        assert_int_equal(ssh_choose(&k, &k, SSH_CLIENT, &c, &list), 0);
        assert_int_equal(c.kex, kexes[i].kind);
        assert_string_equal(c.kex_name, kexes[i].name);
    }
    for (enum ssh_cipher_kind kind = SSH_CIPHER_NONE + 1; kind < SSH_CIPHER_COUNT; kind++) {
        struct ssh_kexinit k = offer();
        k.lists[SSH_LIST_CIPHER_TO_SERVER] = bytes_str(ssh_cipher_name(kind));
        assert_int_equal(ssh_choose(&k, &k, SSH_CLIENT, &c, &list), 0);
        assert_int_equal(c.cipher[SSH_TO_SERVER], kind);
    }
    for (enum ssh_mac_kind kind = SSH_MAC_NONE + 1; kind < SSH_MAC_COUNT; kind++) {
        struct ssh_kexinit k = offer();
        k.lists[SSH_LIST_MAC_TO_CLIENT] = bytes_str(ssh_mac_name(kind));
        assert_int_equal(ssh_choose(&k, &k, SSH_CLIENT, &c, &list), 0);
        assert_int_equal(c.mac[SSH_TO_CLIENT], kind);
    }
    assert_string_equal(ssh_cipher_name(SSH_CIPHER_AES256_CTR), "aes256-ctr");
    assert_string_equal(ssh_cipher_name(SSH_CIPHER_NONE), "none");
    assert_string_equal(ssh_mac_name(SSH_MAC_SHA512), "hmac-sha2-512");
    assert_string_equal(ssh_mac_name(SSH_MAC_NONE), "none");
    assert_string_equal(ssh_list_text(SSH_LIST_KEX), "key exchange");
    assert_string_equal(ssh_list_text(SSH_LIST_COMPRESSION_TO_CLIENT),
                        "compression to the client");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_bytes_are_those_of_the_rfc),
        cmocka_unit_test(cuts_and_trailing_bytes_are_refused),
        cmocka_unit_test(the_reserved_number_is_not_looked_at),
        cmocka_unit_test(lists_have_one_shape),
        cmocka_unit_test(languages_have_the_shape_of_lists),
        cmocka_unit_test(lists_and_messages_have_bounds),
        cmocka_unit_test(an_offer_that_does_not_fit_is_not_written),
        cmocka_unit_test(a_list_has_whole_names),
        cmocka_unit_test(the_clients_order_decides),
        cmocka_unit_test(both_sides_come_to_one_choice),
        cmocka_unit_test(a_mac_of_the_packet_in_clear_is_the_last_resort),
        cmocka_unit_test(a_list_with_nothing_in_common_is_named),
        cmocka_unit_test(a_cipher_without_a_mac_of_its_own_wants_one),
        cmocka_unit_test(what_is_no_algorithm_is_never_chosen),
        cmocka_unit_test(a_guess_is_right_when_the_first_names_agree),
        cmocka_unit_test(cbc_with_an_etm_mac_needs_the_strict_exchange),
        cmocka_unit_test(each_name_is_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
