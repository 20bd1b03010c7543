/* ML-KEM-768 and X25519 side by side, where OpenSSL has ML-KEM, and how one answers in all
 * kinds of agreement. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/fault.h"
#include "crypto/agree.h"
#include "hex.h"

#define HYBRID  CRYPTO_AGREE_MLKEM768_X25519
#define KEY     1184
#define SEALED  1088
#define POINT   32
#define FAR_LEN 2500

static struct crypto_agree *begin(enum crypto_agree_kind kind)
{
    struct crypto_agree *a = NULL;
    assert_int_equal(crypto_agree_new(kind, &a), 0);
    return a;
}

static void skip_without(void)
{
    if (crypto_agree_is_known(HYBRID))
        return;
    print_message("this libcrypto has no ML-KEM\n");
    skip();
}

static bool is_same(const struct secret *a, const struct secret *b)
{
    return secret_equal(bytes_of(a->data, a->len), bytes_of(b->data, b->len));
}

static void who_answers_has_the_secret_of_who_began(void **state)
{
    (void)state;
    for (enum crypto_agree_kind kind = CRYPTO_AGREE_X25519; kind <= HYBRID; kind++) {
        if (!crypto_agree_is_known(kind))
            continue;
        struct crypto_agree *a = begin(kind), *b = NULL, *c = NULL;
        struct secret ours = {0}, theirs = {0}, other = {0};
        assert_int_equal(crypto_agree_answer(kind, crypto_agree_public(a), &b, &theirs), 0);
        assert_int_equal(crypto_agree_secret(a, crypto_agree_public(b), &ours), 0);
        assert_true(is_same(&ours, &theirs));
        assert_int_equal(crypto_agree_answer(kind, crypto_agree_public(a), &c, &other), 0);
        assert_false(is_same(&ours, &other));
        secret_done(&ours);
        secret_done(&theirs);
        secret_done(&other);
        crypto_agree_free(a);
        crypto_agree_free(b);
        crypto_agree_free(c);
    }
}

static void values_have_the_lengths_of_the_standard(void **state)
{
    (void)state;
    skip_without();
    struct crypto_agree *a = begin(HYBRID), *b = NULL;
    struct secret shared = {0};
    assert_int_equal(crypto_agree_public(a).len, KEY + POINT);
    assert_int_equal(crypto_agree_answer(HYBRID, crypto_agree_public(a), &b, &shared), 0);
    assert_int_equal(crypto_agree_public(b).len, SEALED + POINT);
    assert_int_equal(shared.len, 32);
    secret_done(&shared);
    crypto_agree_free(a);
    crypto_agree_free(b);
}

static void values_of_other_lengths_are_refused(void **state)
{
    (void)state;
    skip_without();
    struct crypto_agree *a = begin(HYBRID), *b = NULL;
    struct secret shared = {0};
    for (size_t len = 0; len < FAR_LEN; len++) {
        /* each as an exact copy, so that a sanitizer sees a step beyond its end */
        uint8_t *copy = malloc(len + 1);
        memset(copy, 1, len);
        memcpy(copy, crypto_agree_public(a).data, len < KEY + POINT ? len : KEY + POINT);
        if (len != KEY + POINT)
            assert_int_equal(crypto_agree_answer(HYBRID, bytes_of(copy, len), &b, &shared),
                             -FERRY_EPROTO);
        if (len != SEALED + POINT)
            assert_int_equal(crypto_agree_secret(a, bytes_of(copy, len), &shared),
                             -FERRY_EPROTO);
        assert_null(shared.data);
        assert_null(b);
        free(copy);
    }
    crypto_agree_free(a);
}

/* FIPS 203 7.2: each number of a key is below 3329. */
static void what_is_no_key_is_refused(void **state)
{
    (void)state;
    skip_without();
    struct crypto_agree *a = begin(HYBRID), *b = NULL;
    struct secret shared = {0};
    uint8_t value[KEY + POINT];
    for (size_t at = 0; at < KEY - 32; at += 3) { /* two numbers of 12 bits; the seed is last */
        memcpy(value, crypto_agree_public(a).data, sizeof(value));
        value[at] = 0xff;
        value[at + 1] |= 0x0f;
        assert_int_equal(
            crypto_agree_answer(HYBRID, bytes_of(value, sizeof(value)), &b, &shared),
            -FERRY_EPROTO);
        assert_null(b);
    }
    memcpy(value, crypto_agree_public(a).data, sizeof(value));
    memset(value + KEY, 0, POINT); /* a point whose secret everybody knows */
    assert_int_equal(crypto_agree_answer(HYBRID, bytes_of(value, sizeof(value)), &b, &shared),
                     -FERRY_EPROTO);
    assert_null(shared.data);
    crypto_agree_free(a);
}

/* Nothing says so: what follows fails, since the signature is over another hash. */
static void an_answer_that_was_changed_gives_another_secret(void **state)
{
    (void)state;
    skip_without();
    struct crypto_agree *a = begin(HYBRID), *b = NULL;
    struct secret right = {0}, wrong = {0};
    uint8_t value[SEALED + POINT];
    assert_int_equal(crypto_agree_answer(HYBRID, crypto_agree_public(a), &b, &right), 0);
    for (size_t at = 0; at < SEALED + POINT; at += 7) {
        memcpy(value, crypto_agree_public(b).data, sizeof(value));
        value[at] ^= 1;
        assert_int_equal(crypto_agree_secret(a, bytes_of(value, sizeof(value)), &wrong), 0);
        assert_false(is_same(&right, &wrong));
        secret_done(&wrong);
    }
    memset(value + SEALED, 0, POINT);
    assert_int_equal(crypto_agree_secret(a, bytes_of(value, sizeof(value)), &wrong),
                     -FERRY_EPROTO);
    /* and spoils nothing */
    assert_int_equal(crypto_agree_secret(a, crypto_agree_public(b), &wrong), 0);
    assert_true(is_same(&right, &wrong));
    secret_done(&wrong);
    secret_done(&right);
    crypto_agree_free(a);
    crypto_agree_free(b);
}

static void it_has_no_given_pair(void **state)
{
    (void)state;
    static const uint8_t value[32] = {1};
    struct crypto_agree *a = NULL;
    assert_int_equal(
        crypto_agree_from_pair(HYBRID, bytes_of(value, 32), bytes_of(value, 32), &a),
        -FERRY_EPROTO);
    assert_null(a);
}

#ifdef FERRY_FAULTS
static void no_memory_is_reported(void **state)
{
    (void)state;
    skip_without();
    struct crypto_agree *a = begin(HYBRID);
    int r = -ENOMEM;
    for (uint64_t n = 1; r != 0 && n < 20; n++) {
        struct crypto_agree *b = NULL, *c = NULL;
        struct secret ours = {0}, theirs = {0};
        fault_arm(FAULT_ALLOC, n);
        r = crypto_agree_new(HYBRID, &c);
        if (r == 0)
            r = crypto_agree_answer(HYBRID, crypto_agree_public(c), &b, &theirs);
        if (r == 0)
            r = crypto_agree_secret(c, crypto_agree_public(b), &ours);
        fault_arm(FAULT_ALLOC, 0);
        assert_true(r == 0 ? n > 1 : r == -ENOMEM);
        secret_done(&ours);
        secret_done(&theirs);
        crypto_agree_free(b);
        crypto_agree_free(c);
    }
    assert_int_equal(r, 0);
    crypto_agree_free(a);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_answers_has_the_secret_of_who_began),
        cmocka_unit_test(values_have_the_lengths_of_the_standard),
        cmocka_unit_test(values_of_other_lengths_are_refused),
        cmocka_unit_test(what_is_no_key_is_refused),
        cmocka_unit_test(an_answer_that_was_changed_gives_another_secret),
        cmocka_unit_test(it_has_no_given_pair),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_memory_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
