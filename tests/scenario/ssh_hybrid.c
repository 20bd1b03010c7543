/* ML-KEM beside X25519, where the library has it: what a client may send that is none of it. */
#include "ssh_dialogue.h"
#include "ssh_hand_link.h"

static const struct row {
    size_t len;
    int key, point; /* each byte of it, or -1: a right one */
} rows[] = {
    {0, 0, 0},        {1, 0, 0},      {32, 0, 0},     {1184, -1, 0},
    {1185, -1, -1},   {1215, -1, -1}, {1217, -1, -1}, {1184 + 1184, -1, -1},
    {1216, 0xff, -1}, /* numbers beyond the modulus */
    {1216, -1, 0},    /* a point whose secret everybody knows */
};
static const struct row *row;
static bool has_failed;

static int client(struct by_hand *h)
{
    static uint8_t payload[4096], value[2 * 1216];
    struct hand_exchange e = hand_usual;
    struct ssh_kex *k = ssh_kex_new();
    struct crypto_agree *agree;
    TASK_ASSERT(k != NULL);
    TASK_ASSERT(crypto_agree_new(CRYPTO_AGREE_MLKEM768_X25519, &agree) == 0);
    memcpy(value, crypto_agree_public(agree).data, 1216);
    crypto_agree_free(agree);
    if (row->key >= 0)
        memset(value, row->key, 1184);
    if (row->point >= 0)
        memset(value + 1184, row->point, 32);
    e.kex = "mlkem768x25519-sha256," SSH_STRICT_CLIENT;
    int r = hand_ident(h);
    if (r == 0)
        r = hand_kexinit(h, &e, k);
    if (r == 0)
        r = hand_hear_kexinit(h, k);
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    wire_put_u8(&w, SSH_MSG_KEXDH_INIT);
    wire_put_string(&w, bytes_of(value, row->len));
    if (r == 0)
        r = hand_say(h, bytes_of(payload, w.len));
    if (r == 0)
        has_failed = hand_hear(h) != SSH_MSG_KEXDH_REPLY;
    ssh_kex_free(k);
    return r;
}

static void a_client_s_value_that_is_none_ends_the_connection(void **state)
{
    (void)state;
    if (!crypto_agree_is_known(CRYPTO_AGREE_MLKEM768_X25519)) {
        print_message("this libcrypto has no ML-KEM\n");
        skip();
    }
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        row = &rows[i];
        has_failed = false;
        struct hand_link l = hand_run(client, 0);
        if (l.result != 0 || !has_failed || l.server.result >= 0)
            fail_msg("row %u: %d, server %d (%s)", i, l.result, l.server.result, l.server.why);
    }
}

static void nobody_gets_it_where_the_library_has_it_not(void **state)
{
    (void)state;
    if (crypto_agree_is_known(CRYPTO_AGREE_MLKEM768_X25519))
        skip();
    struct link l = link_of(NULL);
    l.client_offers.only_kex = "mlkem768x25519-sha256";
    link_run(&l, 1);
    assert_true(l.connected < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_s_value_that_is_none_ends_the_connection),
        cmocka_unit_test(nobody_gets_it_where_the_library_has_it_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
