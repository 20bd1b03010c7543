#include "io/ascii.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"

#define TEXT_MAX 16

struct row {
    const char *local, *wire;
};

/* -- sending -- */

static const struct row sending[] = {
    {"", ""},
    {"a", "a"},
    {"\n", "\r\n"},
    {"\n\n", "\r\n\r\n"},
    {"a\nb\n", "a\r\nb\r\n"},
    {"a\r\nb", "a\r\nb"},
    {"\r", "\r"},
    {"\r\r\n", "\r\r\n"},
    {"\n\r\n\r", "\r\n\r\n\r"},
    {"a\rb\n", "a\rb\r\n"},
    {"\r\n\n", "\r\n\r\n"},
};

struct exchange {
    struct stream *filter, *plain;
    char got[2 * TEXT_MAX];
    size_t got_len;
};

static void open_exchange(struct exchange *x, uint64_t seed)
{
    struct stream *below;
    TASK_ASSERT(memory_pair_new(256, seed, &below, &x->plain) == 0);
    TASK_ASSERT(ascii_stream_new(below, &x->filter) == 0);
    x->got_len = 0;
}

static void close_exchange(struct exchange *x)
{
    x->filter = stream_free(x->filter);
    x->plain = stream_free(x->plain);
}

static void read_all(struct stream *s, struct exchange *x)
{
    ssize_t n;
    do {
        TASK_ASSERT(x->got_len < sizeof(x->got));
        n = stream_read(s, x->got + x->got_len, sizeof(x->got) - x->got_len);
        TASK_ASSERT(n >= 0);
        x->got_len += (size_t)n;
    } while (n > 0);
}

static void send_part(struct stream *s, const char *text, size_t len, bool by_room)
{
    if (!by_room) {
        TASK_ASSERT(stream_write_bytes(s, bytes_of(text, len)) == 0);
        return;
    }
    while (len > 0) {
        struct room room;
        TASK_ASSERT(stream_room(s, len, &room) == 0);
        TASK_ASSERT(room.count == 1 && room.len <= len);
        memcpy(room.pieces[0].iov_base, text, room.len);
        text += room.len;
        len -= room.len;
        TASK_ASSERT(stream_send(s, &room, room.len) == 0);
    }
}

/* Bit i of cuts: a new piece begins before byte i + 1. */
static void send_cut(struct stream *s, const char *text, unsigned cuts, bool by_room)
{
    size_t len = strlen(text), from = 0;
    for (size_t i = 1; i <= len; i++) {
        if (i == len || (cuts >> (i - 1) & 1)) {
            send_part(s, text + from, i - from, by_room);
            from = i;
        }
    }
}

static void send_rows(void *arg)
{
    (void)arg;
    struct exchange x;
    for (size_t i = 0; i < ARRAY_LEN(sending); i++) {
        size_t len = strlen(sending[i].local);
        unsigned ways = len > 1 ? 1u << (len - 1) : 1;
        for (unsigned cuts = 0; cuts < 2 * ways; cuts++) {
            for (uint64_t seed = 0; seed < 4; seed++) {
                open_exchange(&x, seed);
                send_cut(x.filter, sending[i].local, cuts >> 1, cuts & 1);
                TASK_ASSERT(stream_flush(x.filter) == 0 && stream_end(x.filter, 0) == 0);
                read_all(x.plain, &x);
                TASK_ASSERT(x.got_len == strlen(sending[i].wire));
                TASK_ASSERT(memcmp(x.got, sending[i].wire, x.got_len) == 0);
                close_exchange(&x);
            }
        }
    }
}

static void sending_makes_crlf_of_lf_across_every_cut(void **state)
{
    (void)state;
    run_deterministic(1, send_rows, NULL);
}

/* -- receiving -- */

static const struct row receiving[] = {
    {"", ""},
    {"a", "a"},
    {"\n", "\r\n"},
    {"\r", "\r"},
    {"a\nb\n", "a\r\nb\r\n"},
    {"a\rb", "a\rb"},
    {"\r\n", "\r\r\n"},
    {"\r\r\r", "\r\r\r"},
    {"\n\n", "\n\n"},
    {"a\rbcdefghij", "a\rbcdefghij"},
    {"a\n\r", "a\r\n\r"},
    {"\r\n\n\rx", "\r\r\n\n\rx"},
    {"ab\ncd\nef", "ab\r\ncd\r\nef"},
};

/* How a reader asks: by reads of this many bytes, or (0) by takes. */
static void receive_sized(struct exchange *x, size_t size, bool by_take)
{
    for (;;) {
        struct slices slices = {0};
        ssize_t n;
        TASK_ASSERT(x->got_len + size <= sizeof(x->got));
        if (by_take) {
            TASK_ASSERT(stream_take(x->filter, size, &slices) == 0);
            n = (ssize_t)slices.len;
            if (n > 0)
                memcpy(x->got + x->got_len, slices.pieces[0].iov_base, slices.len);
            slices_drop(&slices);
        } else {
            n = stream_read(x->filter, x->got + x->got_len, size);
        }
        TASK_ASSERT(n >= 0 && (size_t)n <= size);
        if (n == 0)
            return;
        x->got_len += (size_t)n;
    }
}

static void receive_rows(void *arg)
{
    (void)arg;
    struct exchange x;
    for (size_t i = 0; i < ARRAY_LEN(receiving); i++) {
        for (unsigned how = 0; how < 2 * 9 * 8; how++) {
            size_t size = 1 + how / 2 % 9;
            open_exchange(&x, how / 18); /* 0: in one piece */
            send_cut(x.plain, receiving[i].wire, 0, false);
            TASK_ASSERT(stream_end(x.plain, 0) == 0);
            receive_sized(&x, size, how & 1);
            TASK_ASSERT(x.got_len == strlen(receiving[i].local));
            TASK_ASSERT(memcmp(x.got, receiving[i].local, x.got_len) == 0);
            /* the end stays the end */
            TASK_ASSERT(stream_read(x.filter, x.got, 1) == 0);
            close_exchange(&x);
        }
    }
}

static void receiving_makes_lf_of_crlf_across_every_cut(void **state)
{
    (void)state;
    run_deterministic(1, receive_rows, NULL);
}

/* -- what surrounds it -- */

static void send_much(void *arg)
{
    struct exchange *x = arg;
    static char lines[300000]; /* more than one room, here and below */
    memset(lines, '\n', sizeof(lines));
    struct room room;
    TASK_ASSERT(stream_room(x->filter, sizeof(lines), &room) == 0);
    TASK_ASSERT(room.len == sizeof(lines));
    memcpy(room.pieces[0].iov_base, lines, sizeof(lines));
    TASK_ASSERT(stream_send(x->filter, &room, sizeof(lines)) == 0);
    TASK_ASSERT(stream_end(x->filter, 0) == 0);
}

static void receive_much(void *arg)
{
    struct exchange x;
    struct scope scope;
    (void)arg;
    scope_init(&scope);
    open_exchange(&x, 0);
    TASK_ASSERT(scope_start(&scope, "sender", TASK_NORMAL, send_much, &x, NULL) == 0);
    size_t len = 0;
    for (;;) {
        char c[100];
        ssize_t n = stream_read(x.plain, c, sizeof(c));
        TASK_ASSERT(n >= 0);
        if (n == 0)
            break;
        for (ssize_t i = 0; i < n; i++, len++)
            TASK_ASSERT(c[i] == (len % 2 == 0 ? '\r' : '\n'));
    }
    TASK_ASSERT(len == 600000);
    struct stream_info info;
    stream_info(x.filter, &info);
    TASK_ASSERT(info.sent_bytes == 600000);
    scope_leave(&scope);
    close_exchange(&x);
}

static void a_room_may_grow_into_several_below(void **state)
{
    (void)state;
    run_deterministic(1, receive_much, NULL);
}

static void lose_the_peer(void *arg)
{
    struct exchange x;
    struct room room;
    (void)arg;
    open_exchange(&x, 0);
    TASK_ASSERT(stream_fd(x.filter) == NULL);
    x.plain = stream_free(x.plain);
    TASK_ASSERT(stream_wait(x.filter, NULL, USEC_NEVER) == 0);
    TASK_ASSERT(stream_room(x.filter, 10, &room) == 0);
    memset(room.pieces[0].iov_base, '\n', 10);
    TASK_ASSERT(stream_send(x.filter, &room, 10) == -FERRY_ECLOSED);
    close_exchange(&x);
}

static void hold_a_byte(void *arg)
{
    struct exchange x;
    struct event event;
    char c;
    (void)arg;
    open_exchange(&x, 0);
    event_init(&event);
    TASK_ASSERT(stream_write_bytes(x.plain, BYTES_LIT("\rx")) == 0);
    TASK_ASSERT(stream_read(x.filter, &c, 1) == 1 && c == '\r');
    /* the x came up with it and has no byte of its own below any more */
    TASK_ASSERT(stream_wait(x.filter, &event, clock_now() + USEC_PER_S) == 0);
    event_set(&event);
    TASK_ASSERT(stream_wait(x.filter, &event, clock_now() + USEC_PER_S) == 1);
    TASK_ASSERT(stream_read(x.filter, &c, 1) == 1 && c == 'x');
    TASK_ASSERT(stream_wait(x.filter, NULL, clock_now() + USEC_PER_S) == -ETIMEDOUT);
    close_exchange(&x);
}

static void a_byte_that_is_held_can_be_read_without_a_wait(void **state)
{
    (void)state;
    run_deterministic(1, hold_a_byte, NULL);
}

static void failures_below_come_through(void **state)
{
    (void)state;
    run_deterministic(1, lose_the_peer, NULL);
}

#ifdef FERRY_FAULTS
static void fail_each_allocation(void *arg)
{
    (void)arg;
    for (unsigned n = 1; n < 12; n++) {
        struct exchange x;
        struct stream *below;
        TASK_ASSERT(memory_pair_new(256, 0, &below, &x.plain) == 0);
        TASK_ASSERT(stream_write_bytes(x.plain, BYTES_LIT("a\r\nb\r")) == 0);
        TASK_ASSERT(stream_end(x.plain, 0) == 0);
        fault_arm(FAULT_ALLOC, n);
        int r = ascii_stream_new(below, &x.filter);
        if (r == 0) {
            struct slices slices = {0};
            struct room room = {0};
            r = stream_take(x.filter, 100, &slices);
            slices_drop(&slices);
            if (r == 0)
                r = stream_room(x.filter, 10, &room);
            if (r == 0) {
                memset(room.pieces[0].iov_base, '\n', 10);
                r = stream_send(x.filter, &room, 10);
            }
            room_drop(&room);
            x.filter = stream_free(x.filter);
        }
        TASK_ASSERT(r == 0 || r == -ENOMEM);
        fault_arm(FAULT_ALLOC, 0);
        x.plain = stream_free(x.plain);
    }
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    run_deterministic(1, fail_each_allocation, NULL);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sending_makes_crlf_of_lf_across_every_cut),
        cmocka_unit_test(receiving_makes_lf_of_crlf_across_every_cut),
        cmocka_unit_test(a_room_may_grow_into_several_below),
        cmocka_unit_test(a_byte_that_is_held_can_be_read_without_a_wait),
        cmocka_unit_test(failures_below_come_through),
#ifdef FERRY_FAULTS
        cmocka_unit_test(no_failed_allocation_leaks),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
