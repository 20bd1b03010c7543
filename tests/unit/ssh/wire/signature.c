#include "ssh/wire/signature.h"

#include <errno.h>

#include "base/err.h"
#include "base/wire.h"
#include "check.h"
#include "ssh/wire/kexinit.h"
#include "ssh/wire/key.h"

static void each_is_found_by_its_name_alone(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SSH_SIGNATURE_COUNT; i++)
        assert_ptr_equal(ssh_signature_find(bytes_str(ssh_signatures[i].name)),
                         &ssh_signatures[i]);
    assert_null(ssh_signature_find(BYTES_LIT("ssh-dss")));
    assert_null(ssh_signature_find(BYTES_LIT("ssh-rs")));
    assert_null(ssh_signature_find(BYTES_LIT("ssh-rsa,")));
    assert_null(ssh_signature_find(BYTES_NONE));
}

static void names_are_those_of_the_kinds_and_of_the_setting(void **state)
{
    (void)state;

    static const struct {
        unsigned kinds;
        bool legacy;
        const char *names;
    } cases[] = {
        {SSH_SIGNATURE_ALL_KINDS, false,
         "ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256"},
        {SSH_SIGNATURE_ALL_KINDS, true,
         "ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256,ssh-rsa"},
        {1u << CRYPTO_RSA, false, "rsa-sha2-512,rsa-sha2-256"},
        {1u << CRYPTO_RSA, true, "rsa-sha2-512,rsa-sha2-256,ssh-rsa"},
        {1u << CRYPTO_ED25519 | 1u << CRYPTO_RSA, false,
         "ssh-ed25519,rsa-sha2-512,rsa-sha2-256"},
        {1u << CRYPTO_ECDSA_P256, true, "ecdsa-sha2-nistp256"},
        {0, true, ""},
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        char names[SSH_SIGNATURE_NAMES];
        assert_int_equal(
            ssh_signature_names(cases[i].kinds, cases[i].legacy, sizeof(names), names),
            strlen(cases[i].names));
        assert_string_equal(names, cases[i].names);
    }
    char few[8];
    assert_int_equal(ssh_signature_names(SSH_SIGNATURE_ALL_KINDS, true, sizeof(few), few), 7);
    assert_string_equal(few, "ssh-ed2");
}

/* Each is one that a key of its kind signs with, that its check takes, and no other's does. */
static void each_signs_with_keys_of_its_kind(void **state)
{
    (void)state;

    static const enum crypto_key_kind kinds[] = {CRYPTO_ED25519, CRYPTO_ECDSA_P256, CRYPTO_RSA};

    for (unsigned k = 0; k < ARRAY_LEN(kinds); k++) {
        struct crypto_key *key;
        assert_int_equal(crypto_key_generate(kinds[k], &key), 0);
        for (unsigned i = 0; i < SSH_SIGNATURE_COUNT; i++) {
            uint8_t blob[SSH_SIGNATURE_BLOB_MAX];
            struct wire_writer w = wire_writer_of(blob, sizeof(blob));
            struct bytes name = bytes_str(ssh_signatures[i].name), data = BYTES_LIT("what");
            int r = ssh_sign(key, name, data, &w);
            assert_int_equal(r, ssh_signatures[i].kind == kinds[k] ? 0 : -EINVAL);
            for (unsigned other = 0; other < SSH_SIGNATURE_COUNT && r == 0; other++)
                assert_int_equal(ssh_signature_verify(key,
                                                      bytes_str(ssh_signatures[other].name),
                                                      data, bytes_of(blob, w.len)),
                                 other == i ? 0 : -FERRY_EPROTO);
        }
        crypto_key_unref(key);
    }
}

/* What one side offers and the other has is agreed on: nothing else knows the names. */
static void each_can_be_agreed_on_for_a_host_key(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SSH_SIGNATURE_COUNT; i++) {
        struct ssh_kexinit m = {0};
        struct ssh_chosen chosen;
        enum ssh_list missing;
        for (unsigned l = 0; l < SSH_LIST_COUNT; l++)
            m.lists[l] = BYTES_LIT("none");
        m.lists[SSH_LIST_KEX] = BYTES_LIT("curve25519-sha256");
        m.lists[SSH_LIST_HOST_KEY] = bytes_str(ssh_signatures[i].name);
        m.lists[SSH_LIST_CIPHER_TO_SERVER] = m.lists[SSH_LIST_CIPHER_TO_CLIENT] =
            BYTES_LIT("aes128-gcm@openssh.com");
        assert_int_equal(ssh_choose(&m, &m, SSH_SERVER, &chosen, &missing), 0);
        assert_ptr_equal(chosen.host_key_name, ssh_signatures[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_found_by_its_name_alone),
        cmocka_unit_test(names_are_those_of_the_kinds_and_of_the_setting),
        cmocka_unit_test(each_signs_with_keys_of_its_kind),
        cmocka_unit_test(each_can_be_agreed_on_for_a_host_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
