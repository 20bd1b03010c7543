#include "crypto/key.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/secret.h"
#include "hex.h"
#include "key_samples.h"

#define RSA_E "010001"

/* A place for each value of a key. */
static uint8_t room[8][HEX_MAX];

static struct crypto_key_parts ed25519_of(const char *point, const char *seed)
{
    return (struct crypto_key_parts){.kind = CRYPTO_ED25519,
                                     .point = hex_bytes(point, room[0]),
                                     .secret = hex_bytes(seed, room[1])};
}

static struct crypto_key_parts p256_of(const char *point, const char *scalar)
{
    struct crypto_key_parts p = ed25519_of(point, scalar);
    p.kind = CRYPTO_ECDSA_P256;
    return p;
}

static struct crypto_key_parts rsa_public_of(const char *n)
{
    return (struct crypto_key_parts){
        .kind = CRYPTO_RSA, .e = hex_bytes(RSA_E, room[2]), .n = hex_bytes(n, room[3])};
}

static struct crypto_key_parts rsa_private(void)
{
    struct crypto_key_parts p = rsa_public_of(RSA_N);
    p.d = hex_bytes(RSA_D, room[4]);
    p.p = hex_bytes(RSA_P, room[5]);
    p.q = hex_bytes(RSA_Q, room[6]);
    p.iqmp = hex_bytes(RSA_IQMP, room[7]);
    return p;
}

static struct crypto_key_parts private_of(enum crypto_key_kind kind)
{
    return kind == CRYPTO_ED25519      ? ed25519_of(ED25519_POINT, ED25519_SEED)
           : kind == CRYPTO_ECDSA_P256 ? p256_of(P256_POINT, P256_SCALAR)
                                       : rsa_private();
}

static const enum crypto_key_kind kinds[] = {CRYPTO_ED25519, CRYPTO_ECDSA_P256, CRYPTO_RSA};

static struct crypto_key *key_of(struct crypto_key_parts p)
{
    struct crypto_key *k = NULL;
    assert_int_equal(crypto_key_from_parts(&p, &k), 0);
    return k;
}

static void assert_no_key(struct crypto_key_parts p)
{
    struct crypto_key *k = NULL;
    assert_int_equal(crypto_key_from_parts(&p, &k), -FERRY_EPROTO);
    assert_null(k);
}

/* -- known answers -- */

struct signed_text {
    const char *point, *seed, *text, *signature;
};

/* RFC 8032 7.1, tests 1 to 3. */
static const struct signed_text ed25519_answers[] = {
    {"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
     "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
     "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
    {"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
     "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
     "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
     "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
     "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
};

static void ed25519_signs_and_checks_as_the_standard_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ed25519_answers); i++) {
        const struct signed_text *a = &ed25519_answers[i];
        struct crypto_key *own = key_of(ed25519_of(a->point, a->seed));
        struct crypto_key *public = key_of(ed25519_of(a->point, ""));
        static uint8_t text_room[HEX_MAX];
        struct bytes text = hex_bytes(a->text, text_room);
        uint8_t signature[CRYPTO_SIGNATURE_MAX];
        size_t len = 0;
        assert_int_equal(crypto_key_sign(own, CRYPTO_SIGN_ED25519, text, signature, &len), 0);
        assert_hex_equal(signature, len, a->signature);
        assert_int_equal(
            crypto_key_verify(public, CRYPTO_SIGN_ED25519, text, bytes_of(signature, len)), 0);
        assert_true(crypto_key_is_private(own) && !crypto_key_is_private(public));
        assert_true(crypto_key_equal(own, public));
        crypto_key_unref(own);
        crypto_key_unref(public);
    }
}

/* RSA's PKCS#1 v1.5 has one signature for each text. */
static void rsa_signs_as_the_standard_says(void **state)
{
    (void)state;

    static const struct {
        enum crypto_scheme scheme;
        const char *signature;
    } answers[] = {{CRYPTO_SIGN_RSA_SHA256, RSA_SHA256_FERRY},
                   {CRYPTO_SIGN_RSA_SHA512, RSA_SHA512_FERRY},
                   {CRYPTO_SIGN_RSA_SHA1, RSA_SHA1_FERRY}};
    struct crypto_key *k = key_of(rsa_private());
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        uint8_t signature[CRYPTO_SIGNATURE_MAX];
        size_t len = 0;
        assert_int_equal(
            crypto_key_sign(k, answers[i].scheme, BYTES_LIT("ferry"), signature, &len), 0);
        assert_hex_equal(signature, len, answers[i].signature);
    }
    crypto_key_unref(k);
}

struct foreign {
    struct crypto_key_parts (*key)(void);
    enum crypto_scheme scheme;
    const char *text; /* in hex */
    const char *signature;
};

static struct crypto_key_parts rfc6979_key(void)
{
    return p256_of("04"
                   "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
                   "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
                   "");
}

static struct crypto_key_parts rsa_key(void)
{
    return rsa_public_of(RSA_N);
}

static struct crypto_key_parts sshsig_ed25519_key(void)
{
    return ed25519_of(SSHSIG_ED25519_POINT, "");
}

static struct crypto_key_parts sshsig_p256_key(void)
{
    return p256_of(SSHSIG_P256_POINT, "");
}

static struct crypto_key_parts sshsig_rsa_key(void)
{
    return rsa_public_of(SSHSIG_RSA_N);
}

#define FERRY_HEX "6665727279"

/* RFC 6979 A.2.5 ("sample", "test"), plain numbers, and ssh-keygen. */
static const struct foreign foreigners[] = {
    {rfc6979_key, CRYPTO_SIGN_ECDSA_SHA256, "73616d706c65",
     "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
     "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"},
    {rfc6979_key, CRYPTO_SIGN_ECDSA_SHA256, "74657374",
     "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
     "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"},
    {rsa_key, CRYPTO_SIGN_RSA_SHA256, FERRY_HEX, RSA_SHA256_FERRY},
    {rsa_key, CRYPTO_SIGN_RSA_SHA512, FERRY_HEX, RSA_SHA512_FERRY},
    {rsa_key, CRYPTO_SIGN_RSA_SHA1, FERRY_HEX, RSA_SHA1_FERRY},
    {sshsig_ed25519_key, CRYPTO_SIGN_ED25519, SSHSIG_SIGNED, SSHSIG_ED25519_SIGNATURE},
    {sshsig_p256_key, CRYPTO_SIGN_ECDSA_SHA256, SSHSIG_SIGNED, SSHSIG_P256_SIGNATURE},
    {sshsig_rsa_key, CRYPTO_SIGN_RSA_SHA512, SSHSIG_SIGNED, SSHSIG_RSA_SIGNATURE},
};

/* Of text and signature; and every length but the right one. */
static void refuse_all_else(const struct crypto_key *k, enum crypto_scheme scheme,
                            struct bytes text, uint8_t *text_bytes, struct bytes signature)
{
    static uint8_t wrong[HEX_MAX];
    assert_int_equal(crypto_key_verify(k, scheme, text, signature), 0);
    for (size_t bit = 0; bit < 8 * signature.len; bit++) {
        memcpy(wrong, signature.data, signature.len);
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(crypto_key_verify(k, scheme, text, bytes_of(wrong, signature.len)),
                         -FERRY_EAUTH);
    }
    for (size_t bit = 0; bit < 8 * text.len; bit++) {
        text_bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(crypto_key_verify(k, scheme, text, signature), -FERRY_EAUTH);
        text_bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    memset(wrong, 0, sizeof(wrong));
    assert_int_equal(crypto_key_verify(k, scheme, text, bytes_of(wrong, signature.len)),
                     -FERRY_EAUTH);
    memcpy(wrong, signature.data, signature.len);
    for (size_t len = 0; len <= signature.len + 2; len++)
        if (len != signature.len)
            assert_int_equal(crypto_key_verify(k, scheme, text, bytes_of(wrong, len)),
                             -FERRY_EAUTH);
    assert_int_equal(crypto_key_verify(k, scheme, text, signature), 0);
}

static void foreign_signatures_are_taken_and_each_wrong_bit_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(foreigners); i++) {
        const struct foreign *f = &foreigners[i];
        static uint8_t text_room[HEX_MAX], signature_room[HEX_MAX];
        struct bytes text = hex_bytes(f->text, text_room);
        struct crypto_key *k = key_of(f->key());
        refuse_all_else(k, f->scheme, text, text_room, hex_bytes(f->signature, signature_room));
        crypto_key_unref(k);
    }
}

static void rsa_takes_a_signature_whose_zeros_were_left_out(void **state)
{
    (void)state;
    static uint8_t signature[HEX_MAX];
    struct crypto_key *k = key_of(rsa_public_of(RSA_N));
    struct bytes text = BYTES_LIT(RSA_SHORT_TEXT);
    struct bytes whole = hex_bytes("00" RSA_SHORT_SIGNATURE, signature);
    assert_int_equal(whole.len, 256);
    assert_int_equal(crypto_key_verify(k, CRYPTO_SIGN_RSA_SHA256, text, whole), 0);
    assert_int_equal(crypto_key_verify(k, CRYPTO_SIGN_RSA_SHA256, text, bytes_skip(whole, 1)),
                     0);
    crypto_key_unref(k);
}

static void no_other_scheme_is_taken(void **state)
{
    (void)state;

    static const enum crypto_key_kind of[] = {
        [CRYPTO_SIGN_ED25519] = CRYPTO_ED25519, [CRYPTO_SIGN_ECDSA_SHA256] = CRYPTO_ECDSA_P256,
        [CRYPTO_SIGN_RSA_SHA256] = CRYPTO_RSA,  [CRYPTO_SIGN_RSA_SHA512] = CRYPTO_RSA,
        [CRYPTO_SIGN_RSA_SHA1] = CRYPTO_RSA,
    };

    static uint8_t signature[CRYPTO_SIGNATURE_MAX], sha1[HEX_MAX];
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct crypto_key *k = key_of(private_of(kinds[i]));
        for (unsigned s = 0; s < ARRAY_LEN(of); s++) {
            size_t len = 0;
            int expected = of[s] == kinds[i] ? 0 : -EINVAL;
            struct bytes text = BYTES_LIT("ferry");
            assert_int_equal(crypto_key_sign(k, (enum crypto_scheme)s, text, signature, &len),
                             expected);
            assert_int_equal(
                crypto_key_verify(k, (enum crypto_scheme)s, text, bytes_of(signature, len)),
                expected);
        }
        crypto_key_unref(k);
    }
    /* A signature over SHA-1 by the right key, and one over the other of the two. */
    struct crypto_key *k = key_of(rsa_private());
    assert_int_equal(crypto_key_verify(k, CRYPTO_SIGN_RSA_SHA256, BYTES_LIT("ferry"),
                                       hex_bytes(RSA_SHA1_FERRY, sha1)),
                     -FERRY_EAUTH);
    assert_int_equal(crypto_key_verify(k, CRYPTO_SIGN_RSA_SHA256, BYTES_LIT("ferry"),
                                       hex_bytes(RSA_SHA512_FERRY, sha1)),
                     -FERRY_EAUTH);
    crypto_key_unref(k);
}

static void a_public_key_signs_nothing(void **state)
{
    (void)state;
    struct crypto_key *k = key_of(ed25519_of(ED25519_POINT, ""));
    uint8_t signature[CRYPTO_SIGNATURE_MAX];
    size_t len;
    struct buf memory;
    struct crypto_key_parts parts;
    buf_init(&memory, 4096);
    assert_int_equal(
        crypto_key_sign(k, CRYPTO_SIGN_ED25519, BYTES_LIT("ferry"), signature, &len), -EINVAL);
    assert_int_equal(crypto_key_private(k, &memory, &parts), -EINVAL);
    buf_wipe(&memory);
    crypto_key_unref(k);
}

/* -- parts -- */

static void assert_parts_equal(struct crypto_key_parts a, struct crypto_key_parts b)
{
    assert_int_equal(a.kind, b.kind);
    assert_true(bytes_equal(a.point, b.point) && bytes_equal(a.secret, b.secret));
    assert_true(bytes_equal(a.e, b.e) && bytes_equal(a.n, b.n));
    assert_true(bytes_equal(a.d, b.d) && bytes_equal(a.p, b.p));
    assert_true(bytes_equal(a.q, b.q) && bytes_equal(a.iqmp, b.iqmp));
}

static void a_key_gives_back_the_parts_it_was_made_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct crypto_key *k = key_of(private_of(kinds[i]));
        struct crypto_key_parts public = private_of(kinds[i]);
        struct crypto_key_parts parts;
        struct buf memory;
        buf_init(&memory, 4096);
        assert_int_equal(buf_append_str(&memory, "before"), 0);
        assert_int_equal(crypto_key_private(k, &memory, &parts), 0);
        assert_parts_equal(parts, private_of(kinds[i]));
        assert_memory_equal(memory.data, "before", 6);
        buf_wipe(&memory);
        public.secret = public.d = public.p = public.q = public.iqmp = BYTES_NONE;
        assert_parts_equal(crypto_key_public(k), public);
        buf_init(&memory, 60); /* a cap that is too low is no crash */
        assert_int_equal(crypto_key_private(k, &memory, &parts), -FERRY_ELIMIT);
        buf_wipe(&memory);
        crypto_key_unref(k);
    }
}

static void leading_zeros_of_numbers_change_nothing(void **state)
{
    (void)state;
    struct crypto_key_parts p = rsa_private();
    struct crypto_key *plain = key_of(p);
    static uint8_t padded[6][HEX_MAX];
    struct bytes *const numbers[] = {&p.e, &p.n, &p.d, &p.p, &p.q, &p.iqmp};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        memcpy(padded[i] + 3, numbers[i]->data, numbers[i]->len);
        *numbers[i] = bytes_of(padded[i], numbers[i]->len + 3);
    }
    struct crypto_key *k = key_of(p);
    assert_true(crypto_key_equal(k, plain));
    assert_int_equal(crypto_key_public(k).n.len, 256);
    crypto_key_unref(k);
    crypto_key_unref(plain);
}

static void a_secret_must_belong_to_its_public_part(void **state)
{
    (void)state;
    static const char other_point[] =
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    assert_no_key(ed25519_of(other_point, ED25519_SEED));
    assert_no_key(p256_of(SSHSIG_P256_POINT, P256_SCALAR));
    for (size_t part = 0; part < 4; part++) { /* each number of RSA, wrong by a bit */
        for (size_t bit = 0; bit < 2; bit++) {
            struct crypto_key_parts p = rsa_private();
            const struct bytes numbers[] = {p.d, p.p, p.q, p.iqmp};
            room[4 + part][numbers[part].len - 1] ^= (uint8_t)(1 << bit);
            assert_no_key(p);
        }
    }
    struct crypto_key_parts p = rsa_private();
    p.n = hex_bytes(SSHSIG_RSA_N, room[3]);
    assert_no_key(p);
    p = rsa_private();
    room[2][2] = 3; /* e is 65539 */
    assert_no_key(p);
    p = rsa_private();
    p.d = hex_bytes(RSA_D_OF_P_ALONE, room[4]);
    assert_no_key(p);
    p = rsa_private();
    p.d = hex_bytes(RSA_D_OF_Q_ALONE, room[4]);
    assert_no_key(p);
    p = rsa_private();
    p.p = BYTES_NONE;
    assert_no_key(p);
    p = rsa_private();
    p.iqmp = BYTES_NONE;
    assert_no_key(p);
}

#define P256_ORDER "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
#define ZEROS_32   "0000000000000000000000000000000000000000000000000000000000000000"

static void values_that_no_key_can_have_are_refused(void **state)
{
    (void)state;
    static uint8_t bytes[HEX_MAX];
    assert_no_key(ed25519_of("", ""));
    assert_no_key(ed25519_of(ED25519_POINT "00", ""));
    assert_no_key(ed25519_of(ED25519_POINT, ED25519_SEED "00"));
    assert_no_key(p256_of("", ""));
    assert_no_key(p256_of("00", "")); /* infinity */
    assert_no_key(p256_of("04" ZEROS_32 ZEROS_32, ""));
    assert_no_key(p256_of(P256_POINT "00", ""));
    assert_no_key(p256_of(P256_POINT, ZEROS_32));
    assert_no_key(p256_of(P256_POINT, P256_ORDER));
    assert_no_key(p256_of(P256_POINT, "01" ZEROS_32));
    struct bytes point = hex_bytes(P256_POINT, bytes);
    for (size_t bit = 0; bit < 8 * point.len; bit++) {
        struct crypto_key_parts p = {.kind = CRYPTO_ECDSA_P256, .point = point};
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_no_key(p);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void rsa_has_bounds(void **state)
{
    (void)state;

    static const struct {
        size_t n_len;
        uint8_t first, last;
        const char *e;
        bool is_taken;
    } cases[] = {
        {256, 0x80, 1, RSA_E, true},
        {256, 0x7f, 1, RSA_E, false}, /* 2047 bits */
        {1024, 0x80, 1, RSA_E, true},
        {1025, 0x01, 1, RSA_E, false}, /* 8193 bits */
        {0, 0, 0, RSA_E, false},
        {256, 0x80, 2, RSA_E, false}, /* even */
        {256, 0x80, 1, "03", true},
        {256, 0x80, 1, "", false},
        {256, 0x80, 1, "00", false},
        {256, 0x80, 1, "01", false},
        {256, 0x80, 1, "010000", false},
        {256, 0x80, 1, "ffffffffffffffff", true},
        {256, 0x80, 1, "01ffffffffffffffff", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        memset(room[3], 0, sizeof(room[3]));
        if (cases[i].n_len > 0) {
            room[3][0] = cases[i].first;
            room[3][cases[i].n_len - 1] |= cases[i].last;
        }
        struct crypto_key_parts p = {.kind = CRYPTO_RSA,
                                     .e = hex_bytes(cases[i].e, room[2]),
                                     .n = bytes_of(room[3], cases[i].n_len)};
        struct crypto_key *k = NULL;
        assert_int_equal(crypto_key_from_parts(&p, &k), cases[i].is_taken ? 0 : -FERRY_EPROTO);
        crypto_key_unref(k);
    }
}

static void keys_are_equal_by_their_public_part(void **state)
{
    (void)state;

    struct {
        unsigned identity;
        struct crypto_key *key;
    } keys[] = {
        {0, key_of(private_of(CRYPTO_ED25519))},
        {0, key_of(ed25519_of(ED25519_POINT, ""))},
        {1, key_of(private_of(CRYPTO_ECDSA_P256))},
        {1, key_of(p256_of(P256_POINT, ""))},
        {2, key_of(private_of(CRYPTO_RSA))},
        {2, key_of(rsa_public_of(RSA_N))},
        {3, key_of(sshsig_ed25519_key())},
        {4, key_of(sshsig_p256_key())},
        {5, key_of(sshsig_rsa_key())},
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        for (size_t j = 0; j < ARRAY_LEN(keys); j++)
            assert_int_equal(crypto_key_equal(keys[i].key, keys[j].key),
                             keys[i].identity == keys[j].identity);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        crypto_key_unref(keys[i].key);
}

/* -- own keys -- */

static void generated_keys_sign_and_live_as_long_as_a_reference(void **state)
{
    (void)state;

    static const enum crypto_scheme schemes[] = {CRYPTO_SIGN_ED25519, CRYPTO_SIGN_ECDSA_SHA256,
                                                 CRYPTO_SIGN_RSA_SHA512};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct crypto_key *k = NULL;
        uint8_t signature[CRYPTO_SIGNATURE_MAX];
        size_t len = 0;
        assert_int_equal(crypto_key_generate(kinds[i], &k), 0);
        struct crypto_key *same = crypto_key_ref(k);
        crypto_key_unref(k);
        struct crypto_key_parts public = crypto_key_public(same);
        assert_int_equal(crypto_key_sign(same, schemes[i], BYTES_LIT("x"), signature, &len), 0);
        assert_int_equal(len, kinds[i] == CRYPTO_RSA ? CRYPTO_RSA_BITS_OWN / 8 : 64);
        struct crypto_key *checker = key_of(public); /* borrows from a key that goes first */
        crypto_key_unref(same);
        assert_int_equal(
            crypto_key_verify(checker, schemes[i], BYTES_LIT("x"), bytes_of(signature, len)),
            0);
        crypto_key_unref(checker);
    }
    crypto_key_unref(NULL);
}

/* -- files -- */

static int read_pem(const char *pem, const char *passphrase, struct crypto_key **ret)
{
    return crypto_key_from_pem(bytes_str(pem), bytes_str(passphrase), ret);
}

struct file {
    const char *pem, *passphrase;
    enum crypto_key_kind kind;
};

static const struct file files[] = {
    {PEM_ED25519, "", CRYPTO_ED25519},
    {PEM_ED25519, "not asked for", CRYPTO_ED25519},
    {PEM_ED25519_ENCRYPTED, "sesame", CRYPTO_ED25519},
    {PEM_P256, "", CRYPTO_ECDSA_P256},
    {PEM_P256_SEC1, "", CRYPTO_ECDSA_P256},
    {PEM_P256_COMPRESSED, "", CRYPTO_ECDSA_P256},
    {PEM_P256_ENCRYPTED, "sesame", CRYPTO_ECDSA_P256},
    {PEM_RSA, "", CRYPTO_RSA},
};

static void keys_are_read_from_every_kind_of_pem(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct crypto_key *k = NULL;
        struct buf memory;
        struct crypto_key_parts parts;
        assert_int_equal(read_pem(files[i].pem, files[i].passphrase, &k), 0);
        assert_true(crypto_key_is_private(k));
        buf_init(&memory, 4096);
        assert_int_equal(crypto_key_private(k, &memory, &parts), 0);
        assert_parts_equal(parts, private_of(files[i].kind));
        buf_wipe(&memory);
        crypto_key_unref(k);
    }
}

static void a_passphrase_that_is_wrong_or_missing_is_told(void **state)
{
    (void)state;
    static const char *const encrypted[] = {PEM_ED25519_ENCRYPTED, PEM_P256_ENCRYPTED};
    static char endless[2000];
    memset(endless, 'x', sizeof(endless) - 1);
    for (size_t i = 0; i < ARRAY_LEN(encrypted); i++) {
        struct crypto_key *k = NULL;
        assert_int_equal(read_pem(encrypted[i], "", &k), -FERRY_EAUTH);
        assert_int_equal(read_pem(encrypted[i], "Sesame", &k), -FERRY_EAUTH);
        assert_int_equal(read_pem(encrypted[i], "sesame ", &k), -FERRY_EAUTH);
        assert_int_equal(read_pem(encrypted[i], endless, &k), -FERRY_EAUTH);
        assert_null(k);
    }
}

static void what_is_no_key_of_ours_is_refused(void **state)
{
    (void)state;
    static const char *const others[] = {
        "",
        "ferry",
        "-----BEGIN PUBLIC KEY-----\n",
        (PEM("PRIVATE KEY", "AAAA\n")),
        (PEM("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEA\n")),
        PEM_P384,
        PEM_X25519,
        PEM_RSA1024,
        PEM_PUBLIC,
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct crypto_key *k = NULL;
        assert_int_equal(read_pem(others[i], "", &k), -FERRY_EPROTO);
        assert_null(k);
    }
    static char large[70000] = PEM_ED25519;
    struct crypto_key *k = NULL;
    assert_int_equal(crypto_key_from_pem(bytes_of(large, sizeof(large)), BYTES_NONE, &k),
                     -FERRY_EPROTO);
}

/* A cut or a changed byte makes another key, or none; never a crash. */
static void a_damaged_file_gives_no_such_key(void **state)
{
    (void)state;
    static char text[4096];
    struct crypto_key *right = key_of(ed25519_of(ED25519_POINT, ""));
    size_t len = strlen(PEM_ED25519);
    for (size_t at = 0; at < 2 * len; at++) {
        struct crypto_key *k = NULL;
        memcpy(text, PEM_ED25519, len + 1);
        text[at % len] = at < len ? '\0' : (char)(text[at % len] ^ 1);
        int r = crypto_key_from_pem(bytes_of(text, at < len ? at : len), BYTES_NONE, &k);
        assert_true(r == 0 || r == -FERRY_EPROTO);
        if (at < len - 1) /* the last newline is dispensable */
            assert_int_equal(r, -FERRY_EPROTO);
        crypto_key_unref(k);
    }
    crypto_key_unref(right);
}

#ifdef FERRY_FAULTS
/* Of our own allocations; OpenSSL's: no_memory.c. */
static void no_memory_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct crypto_key *none = NULL;
        struct crypto_key_parts parts = private_of(kinds[i]);
        fault_arm(FAULT_ALLOC, 1);
        assert_int_equal(crypto_key_from_parts(&parts, &none), -ENOMEM);
        fault_arm(FAULT_ALLOC, 0);
        assert_null(none);
    }
    for (unsigned nth = 1; nth <= 3; nth++) { /* two keys and the memory between */
        struct crypto_key *none = NULL;
        fault_arm(FAULT_ALLOC, nth);
        assert_int_equal(read_pem(PEM_P256, "", &none), -ENOMEM);
        fault_arm(FAULT_ALLOC, 0);
        assert_null(none);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ed25519_signs_and_checks_as_the_standard_says),
        cmocka_unit_test(rsa_signs_as_the_standard_says),
        cmocka_unit_test(foreign_signatures_are_taken_and_each_wrong_bit_refused),
        cmocka_unit_test(rsa_takes_a_signature_whose_zeros_were_left_out),
        cmocka_unit_test(no_other_scheme_is_taken),
        cmocka_unit_test(a_public_key_signs_nothing),
        cmocka_unit_test(a_key_gives_back_the_parts_it_was_made_of),
        cmocka_unit_test(leading_zeros_of_numbers_change_nothing),
        cmocka_unit_test(a_secret_must_belong_to_its_public_part),
        cmocka_unit_test(values_that_no_key_can_have_are_refused),
        cmocka_unit_test(rsa_has_bounds),
        cmocka_unit_test(keys_are_equal_by_their_public_part),
        cmocka_unit_test(generated_keys_sign_and_live_as_long_as_a_reference),
        cmocka_unit_test(keys_are_read_from_every_kind_of_pem),
        cmocka_unit_test(a_passphrase_that_is_wrong_or_missing_is_told),
        cmocka_unit_test(what_is_no_key_of_ours_is_refused),
        cmocka_unit_test(a_damaged_file_gives_no_such_key),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_memory_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
