#include "crypto/cipher.h"

#include <errno.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/fault.h"
#include "hex.h"

static void assert_all_zero(const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        assert_int_equal(data[i], 0);
}

static void fill(uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)(7 * i + 1);
}

/* -- AES-GCM -- */

struct gcm_answer {
    const char *key, *nonce, *plain, *extra, *sealed, *tag;
};

/* NIST CAVP gcmEncryptExtIV128 and 256; the last of each length are cases 4 and 16 of the
 * algorithm's proposal. */
static const struct gcm_answer gcm_answers[] = {
    {"11754cd72aec309bf52f7687212e8957", "3c819d9a9bed087615030b65", "", "", "",
     "250327c674aaf477aef2675748cf6971"},
    {"7fddb57453c241d03efbed3ac44e371c", "ee283a3fc75575e33efd4887",
     "d5de42b461646c255c87bd2962d3b9a2", "", "2ccda4a5415cb91e135c2a0f78c9b2fd",
     "b36d1df9b9d5e596f83e8b7f52971cb3"},
    {"c939cc13397c1d37de6ae0e1cb7c423c", "b3d8cc017cbb89b39e0f67e2",
     "c3b3c41f113a31b73d9a5cd432103069", "24825602bd12a984e0092d3e448eda5f",
     "93fe7d9e9bfd10348a5606e5cafa7354", "0032a1dc85f1c9786925a2e71d8272dd"},
    {"feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
     "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"92e11dcdaa866f5ce790fd24501f92509aacf4cb8b1339d50c9c1240935dd08b",
     "ac93a1a6145299bde902f21a", "2d71bcfa914e4ac045b2aa60955fad24",
     "1e0889016f67601c8ebea4943bc23ad6", "8995ae2e6df3dbf96fac7b7137bae67f",
     "eca5aa77d51d4a0a14d9c51e1da474ab"},
    {"feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     "cafebabefacedbaddecaf888",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
     "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
     "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
};

static void gcm_meets_known_answers_in_both_directions(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(gcm_answers); i++) {
        const struct gcm_answer *a = &gcm_answers[i];
        static uint8_t key_room[HEX_MAX], nonce[HEX_MAX], data[HEX_MAX], extra_room[HEX_MAX];
        struct bytes key = hex_bytes(a->key, key_room);
        struct bytes extra = hex_bytes(a->extra, extra_room);
        size_t len = hex_bytes(a->plain, data).len;
        hex_bytes(a->nonce, nonce);
        struct crypto_gcm *sealer = NULL;
        struct crypto_gcm *opener = NULL;
        uint8_t tag[CRYPTO_TAG_BYTES];
        assert_int_equal(crypto_gcm_new(key, true, &sealer), 0);
        assert_int_equal(crypto_gcm_new(key, false, &opener), 0);
        for (unsigned count = 0; count < 3; count++) { /* a context serves again */
            assert_int_equal(crypto_gcm_seal(sealer, nonce, extra, data, len, tag), 0);
            assert_hex_equal(data, len, a->sealed);
            assert_hex_equal(tag, sizeof(tag), a->tag);
            assert_int_equal(crypto_gcm_open(opener, nonce, extra, data, len, tag), 0);
            assert_hex_equal(data, len, a->plain);
        }
        assert_null(crypto_gcm_free(sealer));
        assert_null(crypto_gcm_free(opener));
    }
    assert_null(crypto_gcm_free(NULL));
}

#define GCM_LEN 37

struct gcm_message {
    uint8_t nonce[CRYPTO_NONCE_BYTES], extra[4], data[GCM_LEN], tag[CRYPTO_TAG_BYTES];
};

static int gcm_open(struct crypto_gcm *opener, struct gcm_message *m)
{
    return crypto_gcm_open(opener, m->nonce, bytes_of(m->extra, sizeof(m->extra)), m->data,
                           sizeof(m->data), m->tag);
}

static void gcm_refuses_each_wrong_bit_and_wipes(void **state)
{
    (void)state;
    static const uint8_t key[16] = "0123456789abcdef";
    struct crypto_gcm *sealer = NULL;
    struct crypto_gcm *opener = NULL;
    struct gcm_message right = {.nonce = {1}, .extra = {0, 0, 0, GCM_LEN}};
    fill(right.data, sizeof(right.data));
    assert_int_equal(crypto_gcm_new(bytes_of(key, sizeof(key)), true, &sealer), 0);
    assert_int_equal(crypto_gcm_new(bytes_of(key, sizeof(key)), false, &opener), 0);
    assert_int_equal(crypto_gcm_seal(sealer, right.nonce, bytes_of(right.extra, 4), right.data,
                                     GCM_LEN, right.tag),
                     0);
    for (size_t bit = 0; bit < 8 * sizeof(right); bit++) {
        struct gcm_message wrong = right;
        ((uint8_t *)&wrong)[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(gcm_open(opener, &wrong), -FERRY_EPROTO);
        assert_all_zero(wrong.data, sizeof(wrong.data));
        wrong = right; /* and the failure spoils nothing */
        assert_int_equal(gcm_open(opener, &wrong), 0);
        assert_int_equal(wrong.data[1], 8);
    }
    crypto_gcm_free(sealer);
    crypto_gcm_free(opener);
}

static void gcm_refuses_what_is_cut_or_grown(void **state)
{
    (void)state;
    static const uint8_t key[32] = "0123456789abcdef0123456789abcdef";
    static const uint8_t nonce[CRYPTO_NONCE_BYTES];
    struct crypto_gcm *sealer = NULL;
    struct crypto_gcm *opener = NULL;
    uint8_t sealed[GCM_LEN + 1] = {0};
    uint8_t tag[CRYPTO_TAG_BYTES];
    fill(sealed, GCM_LEN);
    assert_int_equal(crypto_gcm_new(bytes_of(key, sizeof(key)), true, &sealer), 0);
    assert_int_equal(crypto_gcm_new(bytes_of(key, sizeof(key)), false, &opener), 0);
    assert_int_equal(crypto_gcm_seal(sealer, nonce, BYTES_NONE, sealed, GCM_LEN, tag), 0);
    for (size_t len = 0; len <= GCM_LEN + 1; len++) {
        uint8_t data[sizeof(sealed)];
        memcpy(data, sealed, sizeof(data));
        assert_int_equal(crypto_gcm_open(opener, nonce, BYTES_NONE, data, len, tag),
                         len == GCM_LEN ? 0 : -FERRY_EPROTO);
    }
    crypto_gcm_free(sealer);
    crypto_gcm_free(opener);
}

/* -- chacha20-poly1305@openssh.com -- */

static const uint8_t chacha_key[CRYPTO_CHACHA_KEY_BYTES] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

struct chacha_answer {
    uint64_t number;
    size_t len;
    const char *sealed, *tag;
};

/* Over length and contents as packet_fill() makes them; composed with another implementation of
 * ChaCha20 and Poly1305, after PROTOCOL.chacha20poly1305. */
static const struct chacha_answer chacha_answers[] = {
    {0, 5, "94450e5819", "991f9b1d42464521f3b329f433d97e26"},
    {3, 44,
     "fb1a92a2814d13ad2f6e8f43b10fbb44eebbf52916a433414d49c4e5a2bab1d6"
     "64795218983554d2fe6704fd",
     "c17389c251cc1a6dc06d40ff801e4896"},
    {0x0102030405060708, 300, NULL, "746412a213de01c106b0db2b8295588e"},
};

static void packet_fill(uint8_t *data, size_t len)
{
    memset(data, 0, 4);
    data[2] = (uint8_t)((len - 4) >> 8);
    data[3] = (uint8_t)(len - 4);
    fill(data + 4, len - 4);
}

static void chacha_meets_known_answers_in_both_directions(void **state)
{
    (void)state;
    struct crypto_chacha *c = NULL;
    assert_int_equal(crypto_chacha_new(bytes_of(chacha_key, sizeof(chacha_key)), &c), 0);
    for (size_t i = 0; i < 2 * ARRAY_LEN(chacha_answers); i++) { /* the context serves again */
        const struct chacha_answer *a = &chacha_answers[i % ARRAY_LEN(chacha_answers)];
        uint8_t plain[300], data[300], length[4], tag[CRYPTO_TAG_BYTES];
        packet_fill(plain, a->len);
        memcpy(data, plain, a->len);
        assert_int_equal(crypto_chacha_seal(c, a->number, data, a->len, tag), 0);
        if (a->sealed != NULL)
            assert_hex_equal(data, a->len, a->sealed);
        assert_hex_equal(tag, sizeof(tag), a->tag); /* which covers all that was sealed */
        assert_int_equal(crypto_chacha_length(c, a->number, data, length), 0);
        assert_memory_equal(length, plain, 4);
        memcpy(length, data, 4);
        assert_int_equal(crypto_chacha_open(c, a->number, data, a->len, tag), 0);
        assert_memory_equal(data, length, 4); /* the length stays as it came */
        assert_memory_equal(data + 4, plain + 4, a->len - 4);
    }
    assert_null(crypto_chacha_free(c));
    assert_null(crypto_chacha_free(NULL));
}

static void chacha_refuses_each_wrong_bit_and_wipes(void **state)
{
    (void)state;

    struct message {
        uint8_t number[8], data[41], tag[CRYPTO_TAG_BYTES];
    } right = {.number = {7}};
    struct crypto_chacha *c = NULL;
    uint64_t number;
    memcpy(&number, right.number, sizeof(number));
    packet_fill(right.data, sizeof(right.data));
    assert_int_equal(crypto_chacha_new(bytes_of(chacha_key, sizeof(chacha_key)), &c), 0);
    assert_int_equal(crypto_chacha_seal(c, number, right.data, sizeof(right.data), right.tag),
                     0);
    for (size_t bit = 0; bit < 8 * sizeof(right); bit++) {
        struct message m = right;
        ((uint8_t *)&m)[bit / 8] ^= (uint8_t)(1 << bit % 8);
        memcpy(&number, m.number, sizeof(number));
        assert_int_equal(crypto_chacha_open(c, number, m.data, sizeof(m.data), m.tag),
                         -FERRY_EPROTO);
        assert_all_zero(m.data, sizeof(m.data));
    }
    for (size_t len = 5; len <= sizeof(right.data); len++) {
        struct message m = right;
        memcpy(&number, m.number, sizeof(number));
        assert_int_equal(crypto_chacha_open(c, number, m.data, len, m.tag),
                         len == sizeof(right.data) ? 0 : -FERRY_EPROTO);
    }
    crypto_chacha_free(c);
}

static void both_halves_of_a_chacha_key_count(void **state)
{
    (void)state;
    uint8_t right[41], right_tag[CRYPTO_TAG_BYTES];
    struct crypto_chacha *c = NULL;
    packet_fill(right, sizeof(right));
    assert_int_equal(crypto_chacha_new(bytes_of(chacha_key, sizeof(chacha_key)), &c), 0);
    assert_int_equal(crypto_chacha_seal(c, 1, right, sizeof(right), right_tag), 0);
    crypto_chacha_free(c);
    for (size_t at = 0; at < sizeof(chacha_key); at++) {
        uint8_t key[sizeof(chacha_key)], data[41], tag[CRYPTO_TAG_BYTES];
        memcpy(key, chacha_key, sizeof(key));
        key[at] ^= 1;
        packet_fill(data, sizeof(data));
        assert_int_equal(crypto_chacha_new(bytes_of(key, sizeof(key)), &c), 0);
        assert_int_equal(crypto_chacha_seal(c, 1, data, sizeof(data), tag), 0);
        assert_int_equal(memcmp(data, right, 4) == 0, at < 32);
        assert_int_equal(memcmp(data + 4, right + 4, 37) == 0, at >= 32);
        assert_memory_not_equal(tag, right_tag, sizeof(tag));
        crypto_chacha_free(c);
    }
}

/* -- AES-CTR -- */

struct ctr_answer {
    const char *key, *counter, *plain, *sealed;
};

#define SP800_38A_COUNTER "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
#define SP800_38A_PLAIN                                                                        \
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"                         \
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"

/* NIST SP 800-38A F.5, RFC 3686 section 6. */
static const struct ctr_answer ctr_answers[] = {
    {"2b7e151628aed2a6abf7158809cf4f3c", SP800_38A_COUNTER, SP800_38A_PLAIN,
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
     "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"},
    {"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", SP800_38A_COUNTER, SP800_38A_PLAIN,
     "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
     "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"},
    {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", SP800_38A_COUNTER,
     SP800_38A_PLAIN,
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"},
    {"ae6852f8121067cc4bf7a5765577f39e", "00000030000000000000000000000001",
     "53696e676c6520626c6f636b206d7367", "e4095d4fb7a7b3792d6175a3261311b8"},
    {"f6d66d6bd52d59bb0796365879eff886c66dd51a5b6a99744b50590c87a23884",
     "00faac24c1585ef15a43d87500000001",
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "f05e231b3894612c49ee000b804eb2a9b8306b508f839d6a5530831d9344af1c"},
};

static void ctr_meets_known_answers_wherever_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ctr_answers); i++) {
        const struct ctr_answer *a = &ctr_answers[i];
        static uint8_t key_room[HEX_MAX], counter[HEX_MAX], data[HEX_MAX];
        struct bytes key = hex_bytes(a->key, key_room);
        hex_bytes(a->counter, counter);
        size_t len = hex_bytes(a->plain, data).len;
        for (size_t cut = 0; cut <= len; cut++) {
            struct crypto_ctr *c = NULL;
            hex_bytes(a->plain, data);
            assert_int_equal(crypto_ctr_new(key, counter, &c), 0);
            assert_int_equal(crypto_ctr_apply(c, data, cut), 0);
            assert_int_equal(crypto_ctr_apply(c, data + cut, len - cut), 0);
            assert_hex_equal(data, len, a->sealed);
            assert_null(crypto_ctr_free(c));
        }
    }
    assert_null(crypto_ctr_free(NULL));
}

/* The counter is one number of 128 bits: what follows ff..ff is 0. */
static void ctr_counts_over_all_bits(void **state)
{
    (void)state;
    static const uint8_t key[16] = "0123456789abcdef";
    uint8_t last[16], zero[16] = {0}, far[32] = {0}, near[16] = {0};
    struct crypto_ctr *c = NULL;
    memset(last, 0xff, sizeof(last));
    assert_int_equal(crypto_ctr_new(bytes_of(key, sizeof(key)), last, &c), 0);
    assert_int_equal(crypto_ctr_apply(c, far, sizeof(far)), 0);
    crypto_ctr_free(c);
    assert_int_equal(crypto_ctr_new(bytes_of(key, sizeof(key)), zero, &c), 0);
    assert_int_equal(crypto_ctr_apply(c, near, sizeof(near)), 0);
    crypto_ctr_free(c);
    assert_memory_equal(far + 16, near, 16);
}

/* -- CBC -- */

/* NIST SP 800-38A F.2; FIPS 81's text with three keys, as OpenSSL's tests have it. */
static const struct {
    enum crypto_cbc_kind kind;
    size_t block;
    const char *key, *iv, *plain, *sealed;
} cbc_answers[] = {
    {CRYPTO_CBC_AES128, 16, "2b7e151628aed2a6abf7158809cf4f3c",
     "000102030405060708090a0b0c0d0e0f", SP800_38A_PLAIN,
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
     "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"},
    {CRYPTO_CBC_AES256, 16, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "000102030405060708090a0b0c0d0e0f", SP800_38A_PLAIN,
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"},
    {CRYPTO_CBC_3DES, 8, "0123456789abcdeff1e0d3c2b5a49786fedcba9876543210", "fedcba9876543210",
     "37363534333231204e6f77206973207468652074696d6520666f722000000000",
     "3fe301c962ac01d02213763c1cbd4cdc799657c064ecf5d41c673812cfde9675"},
};

static void cbc_meets_known_answers_wherever_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cbc_answers); i++) {
        static uint8_t key_room[HEX_MAX], iv[HEX_MAX], data[HEX_MAX];
        struct bytes key = hex_bytes(cbc_answers[i].key, key_room);
        hex_bytes(cbc_answers[i].iv, iv);
        size_t len = hex_bytes(cbc_answers[i].plain, data).len;
        for (size_t cut = 0; cut <= len; cut += cbc_answers[i].block) {
            struct crypto_cbc *seal = NULL, *open = NULL;
            assert_int_equal(crypto_cbc_new(cbc_answers[i].kind, key, iv, true, &seal), 0);
            assert_int_equal(crypto_cbc_new(cbc_answers[i].kind, key, iv, false, &open), 0);
            assert_int_equal(crypto_cbc_apply(seal, data, cut), 0);
            assert_int_equal(crypto_cbc_apply(seal, data + cut, len - cut), 0);
            assert_hex_equal(data, len, cbc_answers[i].sealed);
            assert_int_equal(crypto_cbc_apply(open, data, cut), 0);
            assert_int_equal(crypto_cbc_apply(open, data + cut, len - cut), 0);
            assert_hex_equal(data, len, cbc_answers[i].plain);
            assert_null(crypto_cbc_free(seal));
            assert_null(crypto_cbc_free(open));
        }
    }
    assert_null(crypto_cbc_free(NULL));
}

static void cbc_takes_whole_blocks_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cbc_answers); i++) {
        static uint8_t key_room[HEX_MAX], iv[16], data[64];
        struct bytes key = hex_bytes(cbc_answers[i].key, key_room);
        for (size_t len = 1; len < sizeof(data); len++) {
            struct crypto_cbc *c = NULL;
            assert_int_equal(crypto_cbc_new(cbc_answers[i].kind, key, iv, false, &c), 0);
            assert_int_equal(crypto_cbc_apply(c, data, len),
                             len % cbc_answers[i].block == 0 ? 0 : -EIO);
            crypto_cbc_free(c);
        }
    }
}

/* -- all -- */

static void keys_of_other_lengths_are_refused(void **state)
{
    (void)state;
    static const uint8_t key[65];
    struct crypto_gcm *gcm = NULL;
    struct crypto_chacha *chacha = NULL;
    struct crypto_ctr *ctr = NULL;
    struct crypto_cbc *cbc = NULL;
    for (size_t len = 0; len <= sizeof(key); len++) {
        for (size_t i = 0; i < ARRAY_LEN(cbc_answers); i++)
            if (len != strlen(cbc_answers[i].key) / 2)
                assert_int_equal(
                    crypto_cbc_new(cbc_answers[i].kind, bytes_of(key, len), key, true, &cbc),
                    -EIO);
        if (len != 16 && len != 32)
            assert_int_equal(crypto_gcm_new(bytes_of(key, len), true, &gcm), -EIO);
        if (len != 16 && len != 24 && len != 32)
            assert_int_equal(crypto_ctr_new(bytes_of(key, len), key, &ctr), -EIO);
        if (len != CRYPTO_CHACHA_KEY_BYTES)
            assert_int_equal(crypto_chacha_new(bytes_of(key, len), &chacha), -EIO);
    }
}

static void speeds_are_measured_once(void **state)
{
    (void)state;
    struct crypto_speeds first = crypto_speeds();
    struct crypto_speeds again = crypto_speeds();
    assert_true(first.gcm128 > 0 && first.gcm256 > 0 && first.chacha > 0 && first.ctr_hmac > 0);
    assert_memory_equal(&first, &again, sizeof(first));
}

#ifdef FERRY_FAULTS
/* Of our own allocations; OpenSSL's: no_memory.c. */
static void no_memory_is_reported(void **state)
{
    (void)state;
    struct crypto_gcm *gcm = NULL;
    struct crypto_chacha *chacha = NULL;
    struct crypto_ctr *ctr = NULL;
    struct crypto_cbc *cbc = NULL;
    struct bytes key = bytes_of(chacha_key, 16);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(crypto_cbc_new(CRYPTO_CBC_AES128, key, chacha_key, true, &cbc), -ENOMEM);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(crypto_gcm_new(key, true, &gcm), -ENOMEM);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(crypto_ctr_new(key, chacha_key, &ctr), -ENOMEM);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(crypto_chacha_new(bytes_of(chacha_key, sizeof(chacha_key)), &chacha),
                     -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    assert_true(gcm == NULL && chacha == NULL && ctr == NULL && cbc == NULL);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcm_meets_known_answers_in_both_directions),
        cmocka_unit_test(gcm_refuses_each_wrong_bit_and_wipes),
        cmocka_unit_test(gcm_refuses_what_is_cut_or_grown),
        cmocka_unit_test(chacha_meets_known_answers_in_both_directions),
        cmocka_unit_test(chacha_refuses_each_wrong_bit_and_wipes),
        cmocka_unit_test(both_halves_of_a_chacha_key_count),
        cmocka_unit_test(ctr_meets_known_answers_wherever_it_is_cut),
        cmocka_unit_test(ctr_counts_over_all_bits),
        cmocka_unit_test(cbc_meets_known_answers_wherever_it_is_cut),
        cmocka_unit_test(cbc_takes_whole_blocks_alone),
        cmocka_unit_test(keys_of_other_lengths_are_refused),
        cmocka_unit_test(speeds_are_measured_once),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_memory_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
