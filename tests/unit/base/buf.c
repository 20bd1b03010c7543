#include "base/buf.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "check_bytes.h"

#define CAP 10000

static void a_new_buffer_holds_no_memory(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, CAP);
    assert_null(b.data);
    assert_int_equal(b.room, 0);
    assert_int_equal(buf_append(&b, NULL, 0), 0);
    assert_int_equal(buf_printf(&b, "%s", ""), 0);
    assert_null(b.data);
    buf_done(&b);
    buf_wipe(&b);
}

static void appends_follow_each_other(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, CAP);
    assert_int_equal(buf_append(&b, "ab", 2), 0);
    assert_int_equal(buf_append_byte(&b, 0), 0);
    assert_int_equal(buf_append_str(&b, "cd"), 0);
    assert_int_equal(buf_append_bytes(&b, BYTES_LIT("e")), 0);
    assert_int_equal(buf_printf(&b, "%d-%s", 42, "x"), 0);
    assert_bytes_equal(buf_bytes(&b), "ab\0cde42-x");
    buf_done(&b);
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    assert_int_equal(b.cap, CAP);
}

static void growth_keeps_contents_and_stays_within_the_cap(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, CAP);
    for (unsigned i = 0; i < CAP; i++) {
        assert_int_equal(buf_append_byte(&b, (uint8_t)(i % 251)), 0);
        assert_in_range(b.room, b.len, CAP);
    }
    assert_int_equal(buf_append_byte(&b, 0), -FERRY_ELIMIT);
    assert_int_equal(b.len, CAP);
    for (unsigned i = 0; i < CAP; i++)
        assert_int_equal(b.data[i], i % 251);
    buf_done(&b);
}

static void printf_fills_to_the_cap_and_not_over(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 8);
    assert_int_equal(buf_printf(&b, "%s", "12345678"), 0);
    assert_bytes_equal(buf_bytes(&b), "12345678");
    buf_clear(&b);
    assert_int_equal(buf_append_str(&b, "abc"), 0);
    assert_int_equal(buf_printf(&b, "%s", "123456"), -FERRY_ELIMIT);
    assert_bytes_equal(buf_bytes(&b), "abc");
    assert_int_equal(buf_printf(&b, "%s", "12345"), 0);
    assert_bytes_equal(buf_bytes(&b), "abc12345");
    buf_done(&b);
}

static void a_refused_append_changes_nothing(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4);
    assert_int_equal(buf_append_str(&b, "abc"), 0);
    uint8_t *data = b.data;
    assert_in_range(b.room, 3, 4);
    assert_int_equal(buf_append_str(&b, "de"), -FERRY_ELIMIT);
    assert_int_equal(buf_reserve(&b, SIZE_MAX), -FERRY_ELIMIT);
    assert_int_equal(buf_reserve(&b, 2), -FERRY_ELIMIT);
    assert_ptr_equal(b.data, data);
    assert_bytes_equal(buf_bytes(&b), "abc");
    buf_done(&b);
}

static void an_absurd_cap_is_no_overflow(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, SIZE_MAX);
    assert_int_equal(buf_append_byte(&b, 'a'), 0);
    assert_int_equal(buf_reserve(&b, SIZE_MAX - 1), -ENOMEM);
    assert_int_equal(buf_reserve(&b, SIZE_MAX), -FERRY_ELIMIT);
    assert_bytes_equal(buf_bytes(&b), "a");
    buf_done(&b);
}

static void reserved_room_is_counted_when_it_is_filled(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, CAP);
    assert_int_equal(buf_append_str(&b, "ab"), 0);
    assert_int_equal(buf_reserve(&b, 1000), 0);
    assert_true(b.room - b.len >= 1000);
    memset(b.data + b.len, 'x', 1000);
    assert_bytes_equal(buf_bytes(&b), "ab");
    buf_added(&b, 2);
    assert_bytes_equal(buf_bytes(&b), "abxx");
    buf_done(&b);
}

static void consume_drops_from_the_front(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, CAP);
    assert_int_equal(buf_append_str(&b, "abcdef"), 0);
    buf_consume(&b, 0);
    buf_consume(&b, 2);
    assert_bytes_equal(buf_bytes(&b), "cdef");
    buf_consume(&b, 4);
    assert_bytes_equal(buf_bytes(&b), "");
    assert_int_equal(buf_append_str(&b, "gh"), 0);
    buf_consume(&b, SIZE_MAX);
    assert_int_equal(b.len, 0);
    buf_done(&b);
    buf_consume(&b, 1);
    assert_int_equal(b.len, 0);
}

static void clear_keeps_the_memory(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, CAP);
    assert_int_equal(buf_append_str(&b, "abc"), 0);
    uint8_t *data = b.data;
    buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_int_equal(buf_append_str(&b, "d"), 0);
    assert_ptr_equal(b.data, data);
    buf_wipe(&b);
    assert_null(b.data);
}

#ifdef FERRY_FAULTS
/* Until the first failure; *ret_len is what was appended before it. */
static int append_much(struct buf *b, size_t *ret_len)
{
    int r = 0;
    *ret_len = 0;
    for (unsigned i = 0; i < 300 && r == 0; i++) {
        r = i % 2 == 0 ? buf_append_str(b, "0123456789") : buf_printf(b, "%010u", i);
        if (r == 0)
            *ret_len += 10;
    }
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    unsigned failures = 0;
    for (unsigned nth = 1; nth < 100; nth++) {
        struct buf b;
        buf_init(&b, CAP);
        fault_arm(FAULT_ALLOC, nth);
        size_t len;
        int r = append_much(&b, &len);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(b.len, len);
        if (r != 0) {
            failures++;
            assert_int_equal(r, -ENOMEM);
            /* The buffer is whole and goes on. */
            assert_int_equal(buf_append_str(&b, "end"), 0);
            assert_memory_equal(b.data + b.len - 3, "end", 3);
        }
        buf_done(&b);
        if (r == 0)
            break;
    }
    assert_in_range(failures, 5, 20);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_buffer_holds_no_memory),
        cmocka_unit_test(appends_follow_each_other),
        cmocka_unit_test(growth_keeps_contents_and_stays_within_the_cap),
        cmocka_unit_test(printf_fills_to_the_cap_and_not_over),
        cmocka_unit_test(a_refused_append_changes_nothing),
        cmocka_unit_test(an_absurd_cap_is_no_overflow),
        cmocka_unit_test(reserved_room_is_counted_when_it_is_filled),
        cmocka_unit_test(consume_drops_from_the_front),
        cmocka_unit_test(clear_keeps_the_memory),
#ifdef FERRY_FAULTS
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
