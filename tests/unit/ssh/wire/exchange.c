#include "ssh/wire/exchange.h"

#include "crypto/agree.h"
#include "ssh/wire/packet.h"
#include "ssh_bytes.h"

/* A pattern behind zeros, which len counts. */
struct run {
    uint8_t start;
    size_t zeros, len;
};

/* Hashes and keys computed from the RFCs' definitions with another library. */
static const struct row {
    enum ssh_kex_kind kind;
    struct run secret, client, server;
    const char *hash;
    const char *keys[6]; /* 'A' to 'F' */
} rows[] = {
    /* a secret that wants a zero */
    {SSH_KEX_CURVE25519,
     {240, 0, 32},
     {11, 0, 32},
     {12, 0, 32},
     "ecec07f373c8eb71e18ba48c52f049c9a33b8d5e43694fd58dc4014643c9da28",
     {"99c2bfd341663fde1522fa83", "accfaa0869a77d6cb06d098a05ba2ba3",
      "c10f4f9ed421761a6498fae05058c2f8b0a20a9b58f9353f63fc850e83d64c12",
      "5a74ecb3bcff6c18ad5dd0ebcd09e73c02c1b01fba116186f2fde3987cb2aaa5bd",
      "4825c1ef523038c50975a3724bb3260453bc7aab2b4cc0942bfa134c7546d485ebe2f5c445a4"
      "6cc11b95145b458e59be1c9e7b7ec54c70e09b57ae9bfc95a000",
      "3f219ccd1a11f98a0bbe303e3e5f686e7c30f5b16eea4d91c28364e333e82af5ec439e0beded"
      "81967fcc065ec60c7312101f3aba6a7885f9aa583d6ca88664e0"}},
    /* a secret with leading zeros */
    {SSH_KEX_CURVE25519,
     {48, 2, 32},
     {11, 0, 32},
     {12, 0, 32},
     "a608d4d60ca2468ff78fa85e037282d9a522a25bed7056f74434904073806120",
     {"91d3ac9e7dfdd451b0cd8a06", "76e2f9240ce96ca1ff0b76cca4f722aa",
      "0e529c88e4d4213d0ecca7d289c92eaadafa21f04ddc2a8f8b05241e6d2a7ea7",
      "9c0e87b70ac93a92ab6b45bcb783b0d6a7d128703004dca901822621ce4321f716",
      "885ce2fb750f02494c11120c48be4f41a0ae3ac68f892cb887c4e092d46705c5d27409d7801f"
      "dc3432bb328c9c234297a051d5ee192c542a8be5cbae697ce71f",
      "f50ad9b42efbcddb4d651c1b861899e1da0cbc1c667acb71c6ba4c69a83454de077a8e5aeba0"
      "59bf1709f7e5ae09e6099ea850f2968719e6b0b70238694aa7c3"}},
    /* zeros before a high bit */
    {SSH_KEX_CURVE25519,
     {128, 1, 32},
     {11, 0, 32},
     {12, 0, 32},
     "96bf52a419515f94c0568945a8150b8994b8d6c8f97935434da2a89903474e59",
     {"fb6dc59cea06961245dce31d", "2bee7c00280b816a495cea5a04c9fc5f",
      "6ffd4f45820bb803952bb23dbcab88fa4720a5668737a8c104d49aff15d4a9c2",
      "ce7c677a10620eb9863b8fda417298b250ff1ab5761fd8873b4cb72ad42f0bf237",
      "4c4beffdc2102c4f0e031a31e2e5ed6b0e025bda80ee380b337a49e9e10ba72aa658a032af98"
      "d01e80471b4af875b5a8b0594a275356e4e2ac9d553faf7032e9",
      "5c24d5b1b2ea82109098830dcda555ec05e5121c98c78ed28ef17c6dbf9c82871225e43e9094"
      "f995e37da5a4446f1b6fcdb8138b7add613cfd5055b3e35d5434"}},
    /* points */
    {SSH_KEX_P256,
     {16, 0, 32},
     {11, 0, 65},
     {12, 0, 65},
     "6fdd9e50520603070b8dff6e7c499613d84bf227ac51d07c5cbfcff99c143a68",
     {"b79b1f874c0998c747d6b3cd", "79884ddfe01f1b88981905e00c65ad74",
      "7d6d040e66cc9f88c5b670d976104f13c92dd111a547ca7809b2c634df0d5b58",
      "e13c4981b4ec3d7f2325702074117e9c19677e095bdc4a3dac199e4fa4f51e4068",
      "b5c84086eb60b84925ba827703db421634ddbeeda2da6c2a65011afe044cff78e2cb46655bcd"
      "41e863d629a9efbb0b354d3ae1129dc2dfcc672ba4780d0440a6",
      "d87e6c10c946caf1a66f02fb95206defb90e786790a521d270e8d299be0a1cea48f4b2106926"
      "e7831022eb944f142bec6225d909bd1e7dc4af981afbdcf9477b"}},
    /* numbers */
    {SSH_KEX_DH14,
     {145, 1, 256},
     {129, 0, 256},
     {33, 3, 256},
     "1d70ba9742e922b7edf8b14dba4add4cf95d8e2c064896ee57a59c66a380dee8",
     {"317dfa2ab3135d1462622ab3", "7e02ba1aef2a8d73d55b2541b8d9e5d7",
      "7d8811e142bf399f9e3760cd76b29195d271fcb9fa9d58ca73a2b48bb124c197",
      "209e5e7458f91c1a38ab36ff88af5e922ea7018c6913099f12d1ff99de08738515",
      "6791ed7ddbf95b2c8018b7f18d2d0e8050e8a05a5fed0699e5e6e8acf0f86a76a90374ef6463"
      "0c004fd412ed30c7c2120247079a389f05e39d136a0d5f5aa757",
      "02b88bb9a8dc269440b219b94e425062a7332bb836ee098b34d62439617fc2866e91624cb4af"
      "85b4d5e3375cacff1239e778d6105518cfbcd9415f02a896da5c"}},
    /* long numbers */
    {SSH_KEX_DH16,
     {145, 0, 512},
     {17, 0, 512},
     {128, 0, 512},
     "00dc134a92137dd9269f7c64c4c7acc48e08e3d7e2527c6d88545527ea8cb79df3153da5c4e4"
     "2a683aef0974e17ef35ecb6fc31c26bf1d29dedfaf78dded6f1c",
     {"81d91ee8f928b367bb7bf0ec", "a85f5571c4c7b1135a30bd4eaa8487e6",
      "d25e66ff4fad073a3dbcd7445d84ec356c7c12f09769f8faf7387f81fc3b09d9",
      "7b870e059f42df77129760da3dc04b6613ae6bb8f3816139422a2b3c96131c4acd",
      "5fb1fe4e3fad46fcd5c107d77d4ebaab70e06ce7ed0f6a1c17a3016346ce0b8207eed4e32308"
      "c62f7a6855324104977042e12b48ac8b52d688501b9dc120ee88",
      "cf0c53b43071e8717272730b1791b565e7b7b9ec17c8790ba5e63ae69507ec97bdd7fe86624b"
      "e1e1da69057f4765ebae0e7144c106c896e4e5040f64fbdc18d3"}},
    /* short digests: a key is made of many */
    {SSH_KEX_DH14_SHA1,
     {145, 1, 256},
     {129, 0, 256},
     {33, 3, 256},
     "902c9f38a9bbb7aa548c16cc8b45a02eaf343051",
     {"639dc7fb3e68e94eda892fae", "8654dac3e63fcda30f4d64f5117e455f",
      "ad9661416ebef49209941fc08a4003ef1eafdf50d3a4b9a8323cb8f4137259cb",
      "77bc9308a4e5c5f8adcdfdf5888b63cfcf480032a0daa302a7c715ac71ef326705",
      "206d50b9dfbc9b79f72cd24701b3d95fbcd21f505fe74be9aa1342abd98dde1f3dfc84d3d0"
      "e2503f2a85985ce7c6aadcd02c729c642cd298b125680b923d8e61",
      "4125bae5fa4c656a5c8f3c6d0f9b5aba33239ff9bdf1a44b6609e75971540aeb651083ab8e"
      "73caa95122a0436640a8f08d0e347d40daa33680ee1cbbeb2513a1"}},
    /* a digest: no number, though it looks negative */
    {SSH_KEX_MLKEM768_X25519,
     {240, 0, 32},
     {11, 0, 1216},
     {12, 0, 1120},
     "ea0b7cb9910a95fed5e78141adf398f9ff3f6d5d961bf9011da15d66e9f3f14a",
     {"92308cf5af6ea22e737757a6", "1fe297da4917f383a7c7935ad50d3473",
      "4a86753a5b4b094f1cfbc24418b3a59fb8f39fc3e9673d0f8d93d47f4dc44319",
      "9e496f88f31e589e3ab972a2f907cc70105b529307a9d824615dc5af9f26dbc475",
      "65cd023ace23a89ead96b9a72f2714d38a4f7923f0d66e6e029356d54d2d040dc5dcb8452d"
      "f92dfcd25717acde5fd6f72fd84a83986a207f36788757515bed76",
      "6147f9ae50000c38f2afe95110fe9a7e894c0af4217610c96284cd87dd980bb7276d60c0ad"
      "e3d44b56be9a5d0c8ec50aa4b1d402f5aea1e4d64cb689c0f44f10"}},
    /* and one with zeros in front, which stay */
    {SSH_KEX_MLKEM768_X25519,
     {48, 2, 32},
     {11, 0, 1216},
     {12, 0, 1120},
     "967f02943399f43b7c006586b969397c2427cbcef3f60877e1bbdc5d67a82fb2",
     {"7dc31c1a0c6aac58a5553b4e", "387e0a7a84a42dd78395a5fa3ec63b38",
      "39831a23b1467e958ee2a676e8d58cf4c164e114cc4d87480db7a373426cfcc6",
      "7b139f95ab37cc38383e7d895b021f557e461ce66fc62b073aa14915aee6144093",
      "3762cfa17a87b068b76eef7ab2eb7dd645657d9f62ccb50617f29b3488ffe597b4000207bd"
      "b29d2c6c4c89e0b42835ae1cc11fc839e1eacc1a7dde2cc4fd8dc2",
      "43d88e7ecc9fb09dede62b7d57687d9f9a1155e7802494c2e383e0a62a3c3392491d201075"
      "d92a9ffcf4c357b88dc76f16bc28dbfec75efed0be7b83b8c857ff"}},
};

/* An exchange and what its runs of bytes point to. */
struct setting {
    struct ssh_exchange x;
    uint8_t kexinits[2][512], host_key[64], publics[2][CRYPTO_AGREE_PUBLIC_MAX], secret[512];
};

static struct bytes fill_run(uint8_t *dst, struct run run)
{
    memset(dst, 0, run.zeros);
    fill_pattern(dst + run.zeros, run.start, run.len - run.zeros);
    return bytes_of(dst, run.len);
}

static void set_up(struct setting *s, const struct row *row)
{
    static const char key_head[] = "\0\0\0\13ssh-ed25519\0\0\0\40";
    size_t head_len = sizeof(key_head) - 1;
    s->x = (struct ssh_exchange){
        .client_ident = BYTES_LIT("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3"),
        .server_ident = BYTES_LIT("SSH-2.0-ferry"),
        .client_kexinit = bytes_of(s->kexinits[0], 301),
        .server_kexinit = bytes_of(s->kexinits[1], 201),
        .host_key = bytes_of(s->host_key, head_len + 32),
        .secret = fill_run(s->secret, row->secret),
        .client_public = fill_run(s->publics[0], row->client),
        .server_public = fill_run(s->publics[1], row->server),
    };
    s->kexinits[0][0] = s->kexinits[1][0] = 20;
    fill_pattern(s->kexinits[0] + 1, 3, 300);
    fill_pattern(s->kexinits[1] + 1, 77, 200);
    memcpy(s->host_key, key_head, head_len);
    fill_pattern(s->host_key + head_len, 5, 32);
    if (row->kind == SSH_KEX_P256) /* points begin with how they are written */
        for (int i = 0; i < 2; i++) {
            memmove(s->publics[i] + 1, s->publics[i], row->client.len - 1);
            s->publics[i][0] = 4;
        }
}

static void hashes_are_those_of_another_implementation(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct setting s;
        struct ssh_hash h;
        uint8_t wanted[CRYPTO_DIGEST_MAX];
        set_up(&s, &rows[i]);
        assert_int_equal(ssh_exchange_hash(rows[i].kind, &s.x, &h), 0);
        assert_int_equal(h.len, unhex(rows[i].hash, wanted));
        assert_memory_equal(h.bytes, wanted, h.len);
    }
}

static void keys_are_those_of_another_implementation(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct setting s;
        struct ssh_hash h;
        uint8_t session_id[CRYPTO_DIGEST_MAX];
        set_up(&s, &rows[i]);
        h.len = unhex(rows[i].hash, h.bytes);
        fill_pattern(session_id, 33, h.len);
        for (int k = 0; k < 6; k++) {
            uint8_t key[SSH_KEY_MAX + 1], wanted[SSH_KEY_MAX];
            size_t len = unhex(rows[i].keys[k], wanted);
            memset(key, 0xee, sizeof(key));
            assert_int_equal(ssh_derive_key(rows[i].kind, s.x.secret, &h,
                                            bytes_of(session_id, h.len), (char)('A' + k), key,
                                            len),
                             0);
            assert_memory_equal(key, wanted, len);
            assert_int_equal(key[len], 0xee);
        }
    }
}

static void each_part_of_an_exchange_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct setting s;
        struct ssh_hash before, after;
        set_up(&s, &rows[i]);
        struct bytes *const parts[] = {
            &s.x.client_ident, &s.x.server_ident,  &s.x.client_kexinit, &s.x.server_kexinit,
            &s.x.host_key,     &s.x.client_public, &s.x.server_public,  &s.x.secret};
        assert_int_equal(ssh_exchange_hash(rows[i].kind, &s.x, &before), 0);
        for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
            parts[p]->len--;
            assert_int_equal(ssh_exchange_hash(rows[i].kind, &s.x, &after), 0);
            assert_memory_not_equal(before.bytes, after.bytes, before.len);
            parts[p]->len++;
        }
    }
}

static void an_exchange_without_a_secret_still_has_a_hash(void **state)
{
    (void)state;
    struct ssh_exchange x = {0};
    struct ssh_hash h;
    uint8_t wanted[CRYPTO_DIGEST_MAX];
    size_t len = unhex("66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925",
                       wanted); /* of 32 zeros: eight empty strings */
    assert_int_equal(ssh_exchange_hash(SSH_KEX_DH14, &x, &h), 0);
    assert_int_equal(h.len, len);
    assert_memory_equal(h.bytes, wanted, len);
}

static void kinds_have_their_digest(void **state)
{
    (void)state;
    assert_int_equal(ssh_kex_digest(SSH_KEX_CURVE25519), CRYPTO_SHA256);
    assert_int_equal(ssh_kex_digest(SSH_KEX_P256), CRYPTO_SHA256);
    assert_int_equal(ssh_kex_digest(SSH_KEX_DH14), CRYPTO_SHA256);
    assert_int_equal(ssh_kex_digest(SSH_KEX_DH16), CRYPTO_SHA512);
    assert_int_equal(ssh_kex_digest(SSH_KEX_DH14_SHA1), CRYPTO_SHA1);
    assert_int_equal(ssh_kex_digest(SSH_KEX_MLKEM768_X25519), CRYPTO_SHA256);
    assert_false(ssh_kex_is_group(SSH_KEX_MLKEM768_X25519));
    assert_false(ssh_kex_is_group(SSH_KEX_CURVE25519));
    assert_false(ssh_kex_is_group(SSH_KEX_P256));
    assert_true(ssh_kex_is_group(SSH_KEX_DH14));
    assert_true(ssh_kex_is_group(SSH_KEX_DH16));
    assert_true(ssh_kex_is_group(SSH_KEX_DH14_SHA1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_another_implementation),
        cmocka_unit_test(keys_are_those_of_another_implementation),
        cmocka_unit_test(each_part_of_an_exchange_counts),
        cmocka_unit_test(an_exchange_without_a_secret_still_has_a_hash),
        cmocka_unit_test(kinds_have_their_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
