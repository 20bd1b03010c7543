#include "base/wire.h"

#include "base/attr.h"
#include "base/err.h"
#include "check_bytes.h"

/* -- reading -- */

static void fields_are_read_in_their_order(void **state)
{
    (void)state;
    struct wire_reader r = wire_reader_of(
        BYTES_LIT("\x01\x00\x02\x12\x34\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10"
                  "abc\0\0\0\2de\0\0\0\0rest"));
    assert_int_equal(wire_get_u8(&r), 1);
    assert_false(wire_get_bool(&r));
    assert_true(wire_get_bool(&r)); /* 2 is true, too */
    assert_int_equal(wire_get_u16(&r), 0x1234);
    assert_int_equal(wire_get_u32(&r), 0x89abcdef);
    assert_true(wire_get_u64(&r) == UINT64_C(0xfedcba9876543210));
    assert_bytes_equal(wire_get_bytes(&r, 3), "abc");
    assert_bytes_equal(wire_get_string(&r, 2), "de");
    assert_bytes_equal(wire_get_string(&r, 0), "");
    assert_int_equal(wire_read_end(&r), -FERRY_EPROTO); /* something is left */
    assert_bytes_equal(wire_get_rest(&r), "rest");
    assert_int_equal(wire_read_end(&r), 0);
    assert_bytes_equal(wire_get_rest(&r), ""); /* an empty rest is no failure */
    assert_int_equal(wire_read_end(&r), 0);
}

static uint64_t get_u8(struct wire_reader *r)
{
    return wire_get_u8(r);
}

static uint64_t get_bool(struct wire_reader *r)
{
    return wire_get_bool(r);
}

static uint64_t get_u16(struct wire_reader *r)
{
    return wire_get_u16(r);
}

static uint64_t get_u32(struct wire_reader *r)
{
    return wire_get_u32(r);
}

static uint64_t get_three(struct wire_reader *r)
{
    return wire_get_bytes(r, 3).len;
}

static uint64_t get_string(struct wire_reader *r)
{
    return wire_get_string(r, 8).len;
}

struct getter {
    uint64_t (*get)(struct wire_reader *);
    size_t len; /* what it needs of the source below */
};

static const struct getter getters[] = {
    {get_u8, 1},       {get_bool, 1},  {get_u16, 2},    {get_u32, 4},
    {wire_get_u64, 8}, {get_three, 3}, {get_string, 7},
};

/* Nothing comes of a part of a field, and nothing of what stands behind it. */
static void a_reader_that_ran_out_stays_so(void **state)
{
    (void)state;
    static const uint8_t source[] = "\0\0\0\3abcdef";
    for (size_t i = 0; i < ARRAY_LEN(getters); i++) {
        for (size_t len = 0; len <= getters[i].len; len++) {
            struct wire_reader r = wire_reader_of(bytes_of(source, len));
            uint64_t value = getters[i].get(&r);
            if (len == getters[i].len) {
                assert_int_equal(wire_read_end(&r), 0);
                continue;
            }
            assert_int_equal(value, 0);
            assert_int_equal(wire_read_end(&r), -FERRY_EPROTO);
            for (size_t j = 0; j < ARRAY_LEN(getters); j++)
                assert_int_equal(getters[j].get(&r), 0);
            assert_bytes_equal(wire_get_bytes(&r, 0), "");
            assert_bytes_equal(wire_get_rest(&r), "");
            assert_int_equal(wire_read_end(&r), -FERRY_EPROTO);
        }
    }
}

static void a_string_has_a_bound_of_its_own(void **state)
{
    (void)state;
    struct wire_reader r = wire_reader_of(BYTES_LIT("\0\0\0\3abc\0\0\0\1d"));
    assert_bytes_equal(wire_get_string(&r, 3), "abc");
    assert_int_equal(r.left, 5);

    r = wire_reader_of(BYTES_LIT("\0\0\0\3abc\0\0\0\1d"));
    assert_bytes_equal(wire_get_string(&r, 2), "");
    assert_bytes_equal(wire_get_string(&r, 8), ""); /* not the next one, either */
    assert_int_equal(wire_read_end(&r), -FERRY_EPROTO);
}

static void a_length_from_a_peer_overflows_nothing(void **state)
{
    (void)state;
    struct wire_reader r = wire_reader_of(BYTES_LIT("\xff\xff\xff\xff"
                                                    "abc"));
    assert_bytes_equal(wire_get_string(&r, SIZE_MAX), "");
    assert_int_equal(wire_read_end(&r), -FERRY_EPROTO);
    r = wire_reader_of(BYTES_LIT("abc"));
    assert_bytes_equal(wire_get_bytes(&r, SIZE_MAX), "");
    assert_int_equal(wire_read_end(&r), -FERRY_EPROTO);
}

static void an_empty_message_is_a_message(void **state)
{
    (void)state;
    struct wire_reader r = wire_reader_of(BYTES_NONE);
    assert_int_equal(wire_read_end(&r), 0);
    assert_bytes_equal(wire_get_bytes(&r, 0), "");
    assert_bytes_equal(wire_get_rest(&r), "");
    assert_int_equal(wire_read_end(&r), 0);
    assert_int_equal(wire_get_u8(&r), 0);
    assert_int_equal(wire_read_end(&r), -FERRY_EPROTO);
}

/* -- writing -- */

#define assert_written(w, literal) assert_bytes_equal(bytes_of((w)->data, (w)->len), literal)

static void fields_are_written_in_their_order(void **state)
{
    (void)state;
    uint8_t room[64];
    struct wire_writer w = wire_writer_of(room, sizeof(room));
    wire_put_u8(&w, 1);
    wire_put_bool(&w, false);
    wire_put_bool(&w, true);
    wire_put_u16(&w, 0x1234);
    wire_put_u32(&w, 0x89abcdef);
    wire_put_u64(&w, UINT64_C(0xfedcba9876543210));
    wire_put_bytes(&w, BYTES_LIT("abc"));
    wire_put_bytes(&w, BYTES_NONE);
    wire_put_string(&w, BYTES_LIT("de"));
    wire_put_string(&w, BYTES_NONE);
    assert_int_equal(wire_write_end(&w), 0);
    assert_written(&w, "\x01\x00\x01\x12\x34\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10"
                       "abc\0\0\0\2de\0\0\0\0");
}

struct number {
    struct bytes magnitude, mpint;
};

/* RFC 4251 section 5: its examples without sign, and the edges. */
static void an_mpint_has_no_zeros_but_the_one_it_needs(void **state)
{
    (void)state;
    const struct number numbers[] = {
        {BYTES_NONE, BYTES_LIT("\0\0\0\0")},
        {BYTES_LIT("\0"), BYTES_LIT("\0\0\0\0")},
        {BYTES_LIT("\0\0\0"), BYTES_LIT("\0\0\0\0")},
        {BYTES_LIT("\x09\xa3\x78\xf9\xb2\xe3\x32\xa7"),
         BYTES_LIT("\0\0\0\x08\x09\xa3\x78\xf9\xb2\xe3\x32\xa7")},
        {BYTES_LIT("\x80"), BYTES_LIT("\0\0\0\x02\0\x80")},
        {BYTES_LIT("\x7f"), BYTES_LIT("\0\0\0\x01\x7f")},
        {BYTES_LIT("\0\0\x7f"), BYTES_LIT("\0\0\0\x01\x7f")},
        {BYTES_LIT("\0\xff\0"), BYTES_LIT("\0\0\0\x03\0\xff\0")},
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        for (size_t cap = 0; cap <= 16; cap++) {
            uint8_t room[16];
            struct wire_writer w = wire_writer_of(room, cap);
            wire_put_mpint(&w, numbers[i].magnitude);
            bool fits = cap >= numbers[i].mpint.len;
            assert_int_equal(wire_write_end(&w), fits ? 0 : -FERRY_ELIMIT);
            assert_true(
                bytes_equal(bytes_of(room, w.len), fits ? numbers[i].mpint : BYTES_NONE));
        }
    }
}

static void put_one(struct wire_writer *w)
{
    wire_put_u8(w, 1);
}

static void put_true(struct wire_writer *w)
{
    wire_put_bool(w, true);
}

static void put_two(struct wire_writer *w)
{
    wire_put_u16(w, 1);
}

static void put_four(struct wire_writer *w)
{
    wire_put_u32(w, 1);
}

static void put_eight(struct wire_writer *w)
{
    wire_put_u64(w, 1);
}

static void put_bytes(struct wire_writer *w)
{
    wire_put_bytes(w, BYTES_LIT("abc"));
}

static void put_string(struct wire_writer *w)
{
    wire_put_string(w, BYTES_LIT("abc"));
}

static void put_mpint(struct wire_writer *w)
{
    wire_put_mpint(w, BYTES_LIT("\x80"));
}

struct putter {
    void (*put)(struct wire_writer *);
    size_t len;
};

static const struct putter putters[] = {
    {put_one, 1},   {put_true, 1},  {put_two, 2},    {put_four, 4},
    {put_eight, 8}, {put_bytes, 3}, {put_string, 7}, {put_mpint, 6},
};

/* What does not fit is left out whole, and so is what would fit behind it. */
static void a_writer_that_is_full_stays_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(putters); i++) {
        for (size_t cap = 0; cap <= putters[i].len; cap++) {
            uint8_t room[16];
            memset(room, 0xee, sizeof(room));
            struct wire_writer w = wire_writer_of(room, cap);
            putters[i].put(&w);
            bool fits = cap == putters[i].len;
            assert_int_equal(wire_write_end(&w), fits ? 0 : -FERRY_ELIMIT);
            assert_int_equal(w.len, fits ? cap : 0);
            for (size_t j = 0; j < ARRAY_LEN(putters); j++)
                putters[j].put(&w);
            assert_int_equal(w.len, fits ? cap : 0);
            assert_int_equal(wire_write_end(&w), -FERRY_ELIMIT);
            for (size_t at = w.len; at < sizeof(room); at++)
                assert_int_equal(room[at], 0xee);
        }
    }
}

static void what_no_writer_can_hold_is_refused(void **state)
{
    (void)state;
    uint8_t room[16];
    struct wire_writer w = wire_writer_of(room, sizeof(room));
    wire_put_string(&w, bytes_of(room, (size_t)UINT32_MAX + 1)); /* looked at by its length */
    assert_int_equal(wire_write_end(&w), -FERRY_ELIMIT);
    w = wire_writer_of(room, sizeof(room));
    wire_put_bytes(&w, bytes_of(room, SIZE_MAX));
    assert_int_equal(wire_write_end(&w), -FERRY_ELIMIT);
    assert_int_equal(w.len, 0);
    w = wire_writer_of(NULL, 0);
    wire_put_bytes(&w, BYTES_NONE);
    assert_int_equal(wire_write_end(&w), 0);
    wire_put_string(&w, BYTES_NONE);
    assert_int_equal(wire_write_end(&w), -FERRY_ELIMIT);
}

static void what_is_written_reads_the_same(void **state)
{
    (void)state;
    uint8_t room[64];
    struct wire_writer w = wire_writer_of(room, sizeof(room));
    wire_put_u16(&w, 0xfffe);
    wire_put_u32(&w, 0xfffffffd);
    wire_put_u64(&w, UINT64_C(0xfffffffffffffffc));
    wire_put_string(&w, BYTES_LIT("a\0b"));
    struct wire_reader r = wire_reader_of(bytes_of(w.data, w.len));
    assert_int_equal(wire_get_u16(&r), 0xfffe);
    assert_int_equal(wire_get_u32(&r), 0xfffffffd);
    assert_true(wire_get_u64(&r) == UINT64_C(0xfffffffffffffffc));
    assert_bytes_equal(wire_get_string(&r, 3), "a\0b");
    assert_int_equal(wire_read_end(&r), 0);
}

static void a_number_stands_alone(void **state)
{
    (void)state;
    uint8_t at[4];
    wire_set_u32(at, 0x80c0ff01);
    assert_bytes_equal(bytes_of(at, 4), "\x80\xc0\xff\x01");
    assert_int_equal(wire_u32(at), 0x80c0ff01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_in_their_order),
        cmocka_unit_test(a_reader_that_ran_out_stays_so),
        cmocka_unit_test(a_string_has_a_bound_of_its_own),
        cmocka_unit_test(a_length_from_a_peer_overflows_nothing),
        cmocka_unit_test(an_empty_message_is_a_message),
        cmocka_unit_test(fields_are_written_in_their_order),
        cmocka_unit_test(an_mpint_has_no_zeros_but_the_one_it_needs),
        cmocka_unit_test(a_writer_that_is_full_stays_so),
        cmocka_unit_test(what_no_writer_can_hold_is_refused),
        cmocka_unit_test(what_is_written_reads_the_same),
        cmocka_unit_test(a_number_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
