/* What is offered in a KEXINIT, and to whom. */
#include "ssh/offer.h"

#include <errno.h>

#include "check.h"
#include "crypto/agree.h"
#include "crypto/cipher.h"

static const struct ssh_offer_settings everything = {.nistp256 = true};

static struct ssh_kexinit lists_of(enum ssh_role role,
                                   const struct ssh_offer_settings *settings, bool is_first,
                                   const struct ssh_kexinit *peer, struct ssh_offer **ret_offer)
{
    struct ssh_kexinit m = {0};
    assert_int_equal(ssh_offer_new(role, settings, ret_offer), 0);
    ssh_offer_lists(*ret_offer, is_first, peer, NULL, &m);
    return m;
}

static void nothing_is_guessed(void **state)
{
    (void)state;
    for (int role = SSH_CLIENT; role <= SSH_SERVER; role++) {
        struct ssh_offer *offer;
        struct ssh_kexinit m = lists_of((enum ssh_role)role, &everything, true, NULL, &offer);
        assert_false(m.first_kex_packet_follows);
        ssh_offer_free(offer);
    }
}

static void only_the_first_message_has_markers(void **state)
{
    (void)state;
    struct ssh_offer *offer;
    struct ssh_kexinit m = lists_of(SSH_SERVER, &everything, true, NULL, &offer);
    assert_true(ssh_list_has(m.lists[SSH_LIST_KEX], BYTES_LIT(SSH_STRICT_SERVER)));
    assert_true(ssh_list_has(m.lists[SSH_LIST_KEX], BYTES_LIT(SSH_EXT_INFO_SERVER)));
    ssh_offer_lists(offer, false, NULL, "ssh-ed25519", &m);
    assert_false(ssh_list_has(m.lists[SSH_LIST_KEX], BYTES_LIT(SSH_STRICT_SERVER)));
    assert_false(ssh_list_has(m.lists[SSH_LIST_KEX], BYTES_LIT(SSH_EXT_INFO_SERVER)));
    assert_true(bytes_equal(m.lists[SSH_LIST_HOST_KEY], BYTES_LIT("ssh-ed25519")));
    ssh_offer_free(offer);
}

/* The client's order decides: what is slower is not offered to who has the faster one. */
static void a_client_that_has_gcm_is_offered_nothing_else(void **state)
{
    (void)state;
    static const struct ssh_offer_settings gcm_first = {
        .only_ciphers = "aes128-gcm@openssh.com,aes128-ctr"};
    struct ssh_offer *offer;
    struct ssh_kexinit peer = {0};
    peer.lists[SSH_LIST_CIPHER_TO_SERVER] = peer.lists[SSH_LIST_CIPHER_TO_CLIENT] =
        BYTES_LIT("aes128-ctr,aes128-gcm@openssh.com");
    struct ssh_kexinit m = lists_of(SSH_SERVER, &gcm_first, true, &peer, &offer);
    assert_true(
        bytes_equal(m.lists[SSH_LIST_CIPHER_TO_CLIENT], BYTES_LIT("aes128-gcm@openssh.com")));
    peer.lists[SSH_LIST_CIPHER_TO_CLIENT] = BYTES_LIT("aes128-ctr"); /* one way only */
    ssh_offer_lists(offer, true, &peer, NULL, &m);
    assert_true(bytes_equal(m.lists[SSH_LIST_CIPHER_TO_CLIENT],
                            BYTES_LIT("aes128-gcm@openssh.com,aes128-ctr")));
    ssh_offer_free(offer);
}

static void macs_of_packets_in_clear_are_offered_last(void **state)
{
    (void)state;
    static const struct ssh_offer_settings alone = {.only_macs = "hmac-sha2-512,hmac-sha2-256"};
    for (int role = SSH_CLIENT; role <= SSH_SERVER; role++) {
        struct ssh_offer *offer;
        struct ssh_kexinit m = lists_of((enum ssh_role)role, &everything, true, NULL, &offer);
        for (int d = 0; d < SSH_DIRECTION_COUNT; d++)
            assert_true(bytes_equal(m.lists[SSH_LIST_MAC_TO_SERVER + d],
                                    BYTES_LIT("hmac-sha2-256-etm@openssh.com,"
                                              "hmac-sha2-512-etm@openssh.com,hmac-sha2-256,"
                                              "hmac-sha2-512")));
        ssh_offer_free(offer);
        m = lists_of((enum ssh_role)role, &alone, true, NULL, &offer);
        assert_true(bytes_equal(m.lists[SSH_LIST_MAC_TO_CLIENT],
                                BYTES_LIT("hmac-sha2-512,hmac-sha2-256")));
        ssh_offer_free(offer);
    }
}

static void names_that_nobody_knows_are_refused(void **state)
{
    (void)state;
    static const struct ssh_offer_settings wrong[] = {
        {.only_ciphers = "aes128-cbc"},
        {.only_ciphers = "aes256-cbc", .nistp256 = true},
        {.only_ciphers = "aes128-ctr,3des-cbc"},
        {.only_ciphers = "arcfour", .legacy = true},
        {.only_ciphers = ""},
        {.only_macs = "hmac-sha1"},
        {.only_kex = "diffie-hellman-group14-sha1"},
        {.only_host_keys = "ssh-rsa"},
        {.only_macs = "hmac-md5"},
        {.only_kex = "curve25519-sha256,diffie-hellman-group1-sha1"},
        {.only_host_keys = "ssh-dss"},
    };
    for (unsigned i = 0; i < ARRAY_LEN(wrong); i++) {
        struct ssh_offer *offer = NULL;
        assert_int_equal(ssh_offer_new(SSH_CLIENT, &wrong[i], &offer), -EINVAL);
        assert_null(offer);
    }
}

static void what_is_for_old_peers_is_offered_by_setting_and_last(void **state)
{
    (void)state;
    static const struct ssh_offer_settings plain = {0}, legacy = {.legacy = true};

    static const struct {
        enum ssh_list list;
        struct bytes names;
    } last[] = {
        {SSH_LIST_KEX, BYTES_LIT(",diffie-hellman-group14-sha256,diffie-hellman-group14-sha1")},
        {SSH_LIST_HOST_KEY, BYTES_LIT(",ssh-rsa")},
        {SSH_LIST_CIPHER_TO_SERVER, BYTES_LIT(",aes128-cbc,aes256-cbc,3des-cbc")},
        {SSH_LIST_CIPHER_TO_CLIENT, BYTES_LIT(",aes128-cbc,aes256-cbc,3des-cbc")},
        {SSH_LIST_MAC_TO_SERVER, BYTES_LIT(",hmac-sha1")},
        {SSH_LIST_MAC_TO_CLIENT, BYTES_LIT(",hmac-sha1")},
    };

    for (int role = SSH_CLIENT; role <= SSH_SERVER; role++) {
        struct ssh_offer *offer[2];
        struct ssh_kexinit without =
            lists_of((enum ssh_role)role, &plain, false, NULL, &offer[0]);
        struct ssh_kexinit with =
            lists_of((enum ssh_role)role, &legacy, false, NULL, &offer[1]);
        for (size_t i = 0; i < ARRAY_LEN(last); i++) {
            struct bytes before = without.lists[last[i].list], all = with.lists[last[i].list];
            assert_true(bytes_start_with(all, before));
            assert_true(bytes_equal(bytes_skip(all, before.len), last[i].names));
        }
        ssh_offer_free(offer[0]);
        ssh_offer_free(offer[1]);
    }
}

static void all_of_it_fits_and_a_list_that_does_not_is_refused(void **state)
{
    (void)state;
    static const struct ssh_offer_settings all = {.nistp256 = true, .legacy = true};
    struct ssh_offer *offer = NULL;
    struct ssh_kexinit m = lists_of(SSH_CLIENT, &all, true, NULL, &offer);
    assert_true(ssh_list_has(m.lists[SSH_LIST_KEX], BYTES_LIT(SSH_STRICT_CLIENT)));
    ssh_offer_free(offer);
    char much[1024] = "3des-cbc";
    for (size_t len = strlen(much); len < 1000; len += 9)
        memcpy(much + len, ",3des-cbc", 10);
    struct ssh_offer_settings named = {.legacy = true, .only_ciphers = much};
    assert_int_equal(ssh_offer_new(SSH_CLIENT, &named, &offer), -EINVAL);
}

static void ml_kem_is_offered_first_where_the_library_has_it(void **state)
{
    (void)state;
    static const struct ssh_offer_settings plain = {0},
                                           named = {.only_kex = "mlkem768x25519-sha256"};
    bool is_there = crypto_agree_is_known(CRYPTO_AGREE_MLKEM768_X25519);
    struct bytes name = BYTES_LIT("mlkem768x25519-sha256");
    for (int role = SSH_CLIENT; role <= SSH_SERVER; role++) {
        struct ssh_offer *offer;
        struct ssh_kexinit m = lists_of((enum ssh_role)role, &plain, true, NULL, &offer);
        assert_int_equal(bytes_start_with(m.lists[SSH_LIST_KEX], name), is_there);
        assert_int_equal(ssh_list_has(m.lists[SSH_LIST_KEX], name), is_there);
        ssh_offer_free(offer);
        offer = NULL;
        assert_int_equal(ssh_offer_new((enum ssh_role)role, &named, &offer),
                         is_there ? 0 : -EINVAL);
        ssh_offer_free(offer);
    }
}

static void nist_curves_are_offered_by_setting(void **state)
{
    (void)state;
    static const struct ssh_offer_settings plain = {0};
    struct ssh_offer *offer;
    struct ssh_kexinit m = lists_of(SSH_SERVER, &plain, true, NULL, &offer);
    assert_false(ssh_list_has(m.lists[SSH_LIST_KEX], BYTES_LIT("ecdh-sha2-nistp256")));
    ssh_offer_free(offer);
    m = lists_of(SSH_SERVER, &everything, true, NULL, &offer);
    assert_true(ssh_list_has(m.lists[SSH_LIST_KEX], BYTES_LIT("ecdh-sha2-nistp256")));
    ssh_offer_free(offer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_guessed),
        cmocka_unit_test(only_the_first_message_has_markers),
        cmocka_unit_test(a_client_that_has_gcm_is_offered_nothing_else),
        cmocka_unit_test(macs_of_packets_in_clear_are_offered_last),
        cmocka_unit_test(names_that_nobody_knows_are_refused),
        cmocka_unit_test(what_is_for_old_peers_is_offered_by_setting_and_last),
        cmocka_unit_test(all_of_it_fits_and_a_list_that_does_not_is_refused),
        cmocka_unit_test(ml_kem_is_offered_first_where_the_library_has_it),
        cmocka_unit_test(nist_curves_are_offered_by_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
