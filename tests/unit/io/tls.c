#include "io/tls.h"

#include <errno.h>

#include "base/fault.h"
#include "base/limits.h"
#include "base/mem.h"
#include "check.h"
#include "io/tcp_bulk.h"
#include "tls_peer.h"
#include "unit/io/tcp_fixture.h"

#define LIMIT_US   (5 * USEC_PER_S)
#define BULK_BYTES (1024 * 1024 + 7)

/* One connection: the client in the calling task, the server in another. */
struct scene {
    struct tls_context *context;
    SSL_CTX *server;
    void (*serve)(struct scene *, struct tls_peer *); /* when hands are shaken */
    struct tcp_pair pair;
    struct scope scope;
    int saw; /* by the server */
};

static void scene_open(struct scene *s, int max_version)
{
    TASK_ASSERT(tls_context_new(&s->context) == 0);
    s->server = tls_peer_context(max_version);
}

static void scene_close(struct scene *s)
{
    s->context = tls_context_free(s->context);
    SSL_CTX_free(s->server);
}

static void server_main(void *arg)
{
    struct scene *s = arg;
    struct tls_peer peer;
    tls_peer_init(&peer, s->server, s->pair.server);
    s->saw = tls_peer_accept(&peer);
    if (s->saw == 0)
        s->serve(s, &peer);
    tls_peer_done(&peer);
    s->pair.server = stream_free(s->pair.server);
}

static void begin_with(struct scene *s, task_fn *server)
{
    scope_init(&s->scope);
    tcp_pair_open(&s->pair, LIMIT_US);
    s->pair.server->stall_us = 0;
    TASK_ASSERT(tcp_set_nodelay(stream_fd(s->pair.client)) == 0); /* Nagle waits in real time */
    TASK_ASSERT(tcp_set_nodelay(stream_fd(s->pair.server)) == 0);
    TASK_ASSERT(scope_start(&s->scope, "server", TASK_NORMAL, server, s, NULL) == 0);
}

static int try_connect(struct scene *s, const struct stream *resume, struct stream **ret)
{
    int r = tls_connect(s->context, s->pair.client, resume, clock_after(LIMIT_US), ret);
    s->pair.client = NULL;
    return r;
}

/* The server's task is over, or is cancelled. */
static void finish(struct scene *s)
{
    scope_leave(&s->scope);
    s->pair.server = stream_free(s->pair.server);
}

static struct stream *open_stream(struct scene *s,
                                  void (*serve)(struct scene *, struct tls_peer *),
                                  const struct stream *resume)
{
    struct stream *stream;
    s->serve = serve;
    begin_with(s, server_main);
    TASK_ASSERT(try_connect(s, resume, &stream) == 0);
    return stream;
}

/* -- bytes -- */

static uint8_t byte_at(size_t off)
{
    return (uint8_t)(off * 7 + off / 251);
}

static void echo(struct scene *s, struct tls_peer *peer)
{
    uint8_t data[700];
    ssize_t n;
    while ((n = tls_peer_read(peer, data, sizeof(data))) > 0)
        TASK_ASSERT(tls_peer_write(peer, bytes_of(data, (size_t)n)) == 0);
    s->saw = (int)n;
    TASK_ASSERT(tls_peer_close_notify(peer) == 0);
}

static void send_bulk(void *arg)
{
    struct stream *s = arg;
    size_t off = 0;
    while (off < BULK_BYTES) {
        struct room room;
        TASK_ASSERT(
            stream_room(s, BULK_BYTES - off < 50000 ? BULK_BYTES - off : 50000, &room) == 0);
        for (size_t i = 0; i < room.len; i++)
            ((uint8_t *)room.pieces[0].iov_base)[i] = byte_at(off + i);
        off += room.len;
        TASK_ASSERT(stream_send(s, &room, room.len) == 0);
    }
}

static void bulk(void *arg)
{
    struct scene s = {0};
    scene_open(&s, *(int *)arg);
    struct stream *c = open_stream(&s, echo, NULL);
    struct stream_info info;
    size_t got = 0;
    for (size_t off = 0; off < BULK_BYTES; off += 3 * 5000) {
        uint8_t data[5000], back[500];
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = byte_at(off + i);
        struct iovec pieces[3] = {{data, 1}, {data + 1, 0}, {data + 1, sizeof(data) - 1}};
        TASK_ASSERT(stream_write(c, pieces, 3) == 0);
        for (size_t have = 0; have < sizeof(data);) {
            ssize_t n = stream_read(c, back, sizeof(back));
            TASK_ASSERT(n > 0 && memcmp(back, data + have, (size_t)n) == 0);
            have += (size_t)n;
            got += (size_t)n;
        }
    }
    TASK_ASSERT(stream_end(c, 0) == 0);
    struct slices slices;
    TASK_ASSERT(stream_take(c, 1000, &slices) == 0 && slices.len == 0);
    stream_info(c, &info);
    TASK_ASSERT(info.sent_bytes == got && info.received_bytes == got);
    TASK_ASSERT(stream_fd(c) == NULL && tls_socket(c) != NULL && !tls_is_resumed(c));
    stream_free(c);
    finish(&s);
    TASK_ASSERT(s.saw == 0); /* close_notify */
    scene_close(&s);
}

static void bytes_go_both_ways(void **state)
{
    (void)state;
    int versions[] = {TLS1_3_VERSION, TLS1_2_VERSION};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        run_deterministic(i + 1, bulk, &versions[i]);
}

/* What a fast sender writes is taken as it comes; and the other way round. */
static void count_all(struct scene *s, struct tls_peer *peer)
{
    uint8_t data[1000];
    ssize_t n;
    size_t off = 0;
    while ((n = tls_peer_read(peer, data, sizeof(data))) > 0)
        for (ssize_t i = 0; i < n; i++)
            TASK_ASSERT(data[i] == byte_at(off++));
    s->saw = n == 0 && off == BULK_BYTES;
}

static void pour_out(struct scene *s, struct tls_peer *peer)
{
    (void)s;
    uint8_t data[3000];
    for (size_t off = 0; off < BULK_BYTES; off += sizeof(data)) {
        size_t len = BULK_BYTES - off < sizeof(data) ? BULK_BYTES - off : sizeof(data);
        for (size_t i = 0; i < len; i++)
            data[i] = byte_at(off + i);
        TASK_ASSERT(tls_peer_write(peer, bytes_of(data, len)) == 0);
    }
    TASK_ASSERT(tls_peer_close_notify(peer) == 0);
}

static void one_way(void *arg)
{
    (void)arg;
    struct scene s = {0};
    scene_open(&s, 0);
    struct stream *c = open_stream(&s, count_all, NULL);
    send_bulk(c);
    TASK_ASSERT(stream_end(c, clock_after(LIMIT_US)) == 0);
    stream_free(c);
    finish(&s);
    TASK_ASSERT(s.saw == 1);

    c = open_stream(&s, pour_out, NULL);
    size_t off = 0;
    for (;;) {
        struct slices slices;
        TASK_ASSERT(stream_take(c, 200000, &slices) == 0);
        if (slices.len == 0)
            break;
        for (size_t i = 0; i < slices.len; i++)
            TASK_ASSERT(((uint8_t *)slices.pieces[0].iov_base)[i] == byte_at(off++));
        slices_drop(&slices);
    }
    TASK_ASSERT(off == BULK_BYTES);
    stream_free(c);
    finish(&s);
    scene_close(&s);
}

static void rooms_and_slices_carry_bulk(void **state)
{
    (void)state;
    run_threaded(1, one_way, NULL); /* the kernel's timers know no other clock */
}

/* -- sessions -- */

static void say_hello(struct scene *s, struct tls_peer *peer)
{
    uint8_t data[10];
    TASK_ASSERT(tls_peer_write(peer, BYTES_LIT("hello")) == 0);
    s->saw = (int)tls_peer_read(peer, data, sizeof(data));
}

static void hear_hello(struct stream *s)
{
    char data[5];
    TASK_ASSERT(stream_read(s, data, sizeof(data)) == 5 && memcmp(data, "hello", 5) == 0);
}

static void resume(void *arg)
{
    struct scene first = {0};
    scene_open(&first, *(int *)arg);
    struct stream *control = open_stream(&first, say_hello, NULL);
    hear_hello(control); /* a ticket of 1.3 comes with the first bytes */
    for (unsigned i = 0; i < 3; i++) {
        struct scene data = {.context = first.context, .server = first.server};
        struct stream *c = open_stream(&data, say_hello, control);
        TASK_ASSERT(tls_is_resumed(c));
        hear_hello(c);
        if (i == 1)
            tcp_reset_on_close(tls_socket(c)); /* one that breaks spoils nothing */
        else
            TASK_ASSERT(stream_end(c, 0) == 0);
        stream_free(c);
        finish(&data);
    }
    struct scene other = {.context = first.context, .server = tls_peer_context(*(int *)arg)};
    struct stream *c = open_stream(&other, say_hello, control);
    TASK_ASSERT(!tls_is_resumed(c)); /* it does not know the session */
    stream_free(c);
    finish(&other);
    SSL_CTX_free(other.server);
    stream_free(control);
    finish(&first);
    scene_close(&first);
}

static void the_session_of_another_stream_is_offered(void **state)
{
    (void)state;
    int versions[] = {TLS1_3_VERSION, TLS1_2_VERSION};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        run_deterministic(i + 1, resume, &versions[i]);
}

/* -- ends -- */

static void cut(struct scene *s, struct tls_peer *peer)
{
    (void)s;
    TASK_ASSERT(tls_peer_write(peer, BYTES_LIT("hello")) == 0);
}

static void close_in_order(struct scene *s, struct tls_peer *peer)
{
    cut(s, peer);
    TASK_ASSERT(tls_peer_close_notify(peer) == 0);
}

static void reset(struct scene *s, struct tls_peer *peer)
{
    cut(s, peer);
    tcp_reset_on_close(stream_fd(peer->s));
}

/* An alert of its own making would end it too; this is a record that is none. */
static void talk_nonsense(struct scene *s, struct tls_peer *peer)
{
    cut(s, peer);
    TASK_ASSERT(stream_write_bytes(peer->s, BYTES_LIT("226 done, in clear\r\n")) == 0);
}

static int how_it_ends(void (*serve)(struct scene *, struct tls_peer *))
{
    char byte;
    struct scene s = {0};
    scene_open(&s, 0);
    struct stream *c = open_stream(&s, serve, NULL);
    TASK_ASSERT(scope_wait(&s.scope, USEC_NEVER) == 0);
    if (serve != reset) /* which may overtake the bytes */
        hear_hello(c);
    ssize_t n;
    do
        n = stream_read(c, &byte, 1);
    while (n > 0);
    if (n < 0) {
        TASK_ASSERT(stream_read(c, &byte, 1) == -FERRY_ECLOSED);
        TASK_ASSERT(stream_write_bytes(c, BYTES_LIT("x")) == -FERRY_ECLOSED);
        TASK_ASSERT(stream_wait(c, NULL, USEC_NEVER) == -FERRY_ECLOSED);
        TASK_ASSERT(stream_end(c, 0) == -FERRY_ECLOSED);
    } else {
        TASK_ASSERT(stream_read(c, &byte, 1) == 0 && stream_wait(c, NULL, USEC_NEVER) == 0);
    }
    stream_free(c);
    finish(&s);
    scene_close(&s);
    return (int)n;
}

static void ends(void *arg)
{
    (void)arg;
    TASK_ASSERT(how_it_ends(close_in_order) == 0);
    TASK_ASSERT(how_it_ends(cut) == -FERRY_ETRUNCATED);
    TASK_ASSERT(how_it_ends(reset) == -FERRY_ECLOSED);
    TASK_ASSERT(how_it_ends(talk_nonsense) == -FERRY_EPROTO);
}

static void an_end_without_close_notify_is_a_truncation(void **state)
{
    (void)state;
    run_deterministic(1, ends, NULL);
}

static void see_end(struct scene *s, struct tls_peer *peer)
{
    char byte;
    s->saw = (int)tls_peer_read(peer, &byte, 1);
}

static void our_ends(void *arg)
{
    (void)arg;
    struct scene s = {0};
    scene_open(&s, 0);
    struct stream *c = open_stream(&s, see_end, NULL);
    TASK_ASSERT(stream_end(c, 0) == 0 && stream_end(c, 0) == 0);
    TASK_ASSERT(scope_wait(&s.scope, USEC_NEVER) == 0);
    TASK_ASSERT(s.saw == 0);
    stream_free(c);
    finish(&s);

    c = open_stream(&s, see_end, NULL);
    stream_free(c);
    TASK_ASSERT(scope_wait(&s.scope, USEC_NEVER) == 0);
    TASK_ASSERT(s.saw == -FERRY_ETRUNCATED || s.saw == -FERRY_ECLOSED);
    finish(&s);
    scene_close(&s);
}

static void only_an_orderly_end_tells_the_peer_so(void **state)
{
    (void)state;
    run_deterministic(1, our_ends, NULL);
}

/* -- waits -- */

static void stay_silent(struct scene *s, struct tls_peer *peer)
{
    (void)peer;
    s->saw = task_sleep_until(USEC_NEVER);
}

/* Records that hold no payload, one a second. */
static void send_tickets(struct scene *s, struct tls_peer *peer)
{
    s->saw = 0;
    while (s->saw == 0 && task_sleep_until(clock_after(USEC_PER_S)) == 0) {
        TASK_ASSERT(SSL_new_session_ticket(peer->ssl) == 1);
        (void)SSL_do_handshake(peer->ssl);
        s->saw = tls_peer_flush(peer);
    }
}

static void stalls(void *arg)
{
    (void)arg;
    char byte;
    struct slices slices;
    struct scene s = {0};
    scene_open(&s, TLS1_3_VERSION);
    struct stream *c = open_stream(&s, stay_silent, NULL);
    TASK_ASSERT(stream_read(c, &byte, 1) == -FERRY_ESTALLED);
    TASK_ASSERT(stream_take(c, 1, &slices) == -FERRY_ESTALLED);
    TASK_ASSERT(stream_wait(c, NULL, clock_after(LIMIT_US)) == -ETIMEDOUT);
    TASK_ASSERT(stream_end(c, clock_after(LIMIT_US)) == -ETIMEDOUT);
    stream_free(c);
    finish(&s);

    c = open_stream(&s, send_tickets, NULL);
    TASK_ASSERT(stream_read(c, &byte, 1) == -FERRY_ESTALLED);
    TASK_ASSERT(stream_take(c, 1, &slices) == -FERRY_ESTALLED);
    TASK_ASSERT(stream_wait(c, NULL, clock_after(LIMIT_US)) == -ETIMEDOUT);
    stream_free(c);
    finish(&s);
    scene_close(&s);
}

static void a_peer_without_payload_stalls(void **state)
{
    (void)state;
    run_deterministic(1, stalls, NULL);
}

static void set_event(void *arg)
{
    event_set(arg);
}

static void waits(void *arg)
{
    (void)arg;
    char byte;
    struct event event;
    struct scene s = {0};
    scene_open(&s, 0);
    event_init(&event);
    struct stream *c = open_stream(&s, say_hello, NULL);
    for (unsigned i = 0; i < 5; i++) { /* all of one record, which is off the socket at once */
        TASK_ASSERT(stream_wait(c, &event, clock_after(LIMIT_US)) == 0);
        TASK_ASSERT(stream_read(c, &byte, 1) == 1 && byte == "hello"[i]);
    }
    TASK_ASSERT(scope_start(&s.scope, "event", TASK_NORMAL, set_event, &event, NULL) == 0);
    TASK_ASSERT(stream_wait(c, &event, USEC_NEVER) == 1);
    stream_free(c);
    finish(&s);
    scene_close(&s);
}

static void waiting_knows_what_was_read_ahead(void **state)
{
    (void)state;
    run_deterministic(1, waits, NULL);
}

static void read_for_ever(void *arg)
{
    char byte;
    TASK_ASSERT(stream_read(arg, &byte, 1) == -ECANCELED);
}

static void connect_for_ever(void *arg)
{
    struct stream *stream;
    TASK_ASSERT(try_connect(arg, NULL, &stream) == -ECANCELED);
}

static void nobody(void *arg)
{
    ((struct scene *)arg)->saw = task_sleep_until(USEC_NEVER);
}

static void cancels(void *arg)
{
    (void)arg;
    struct scope scope;
    struct scene s = {0};
    scene_open(&s, 0);
    scope_init(&scope);
    struct stream *c = open_stream(&s, stay_silent, NULL);
    c->stall_us = 0;
    TASK_ASSERT(scope_start(&scope, "reader", TASK_NORMAL, read_for_ever, c, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_S)) == 0);
    scope_leave(&scope);
    stream_free(c);
    finish(&s);

    scope_init(&scope);
    begin_with(&s, nobody);
    TASK_ASSERT(scope_start(&scope, "client", TASK_NORMAL, connect_for_ever, &s, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_S)) == 0);
    scope_leave(&scope);
    finish(&s);
    scene_close(&s);
}

static void a_cancelled_task_leaves_at_once(void **state)
{
    (void)state;
    run_deterministic(1, cancels, NULL);
}

/* -- handshakes that fail -- */

static void hang_up(void *arg)
{
    struct scene *s = arg;
    char data[2000];
    s->saw = (int)stream_read(s->pair.server, data, sizeof(data));
    s->pair.server = stream_free(s->pair.server);
}

static void answer(struct scene *s, struct bytes data)
{
    char hello[2000];
    TASK_ASSERT(stream_read(s->pair.server, hello, sizeof(hello)) > 0);
    TASK_ASSERT(stream_write_bytes(s->pair.server, data) == 0);
    s->saw = task_sleep_until(USEC_NEVER);
}

static void speak_plain_text(void *arg)
{
    answer(arg, BYTES_LIT("530 Please login with USER and PASS.\r\n"));
}

/* ServerHello of TLS 1.2 with a cipher that is offered, then a certificate of five bytes. */
static void show_a_broken_certificate(void *arg)
{
    static const uint8_t data[] = {
        0x16, 3,    3,    0,   49,                          /* record */
        2,    0,    0,    45,  3,   3,                      /* ServerHello */
        1,    2,    3,    4,   5,   6,  7,  8,  9,  10, 11, /* random */
        12,   13,   14,   15,  16,  17, 18, 19, 20, 21, 22, /* and on */
        23,   24,   25,   26,  27,  28, 29, 30, 31, 32,     /* to here */
        0,    0xc0, 0x2f, 0,                                /* no session, cipher */
        0,    5,    0xff, 1,   0,   1,  0,                  /* renegotiation_info */
        0x16, 3,    3,    0,   15,                          /* record */
        11,   0,    0,    11,  0,   0,  8,  0,  0,  5,      /* Certificate */
        'w',  'r',  'o',  'n', 'g',
    };
    answer(arg, bytes_of(data, sizeof(data)));
}

static void send_an_alert(void *arg)
{
    static const uint8_t handshake_failure[] = {0x15, 3, 3, 0, 2, 2, 40};
    answer(arg, bytes_of(handshake_failure, sizeof(handshake_failure)));
}

/* A record a second, each of them allowed, and never a ServerHello's end. */
static void trickle(void *arg)
{
    struct scene *s = arg;
    static const uint8_t begin[] = {0x16, 3, 3, 0x3f, 0xff, 2, 0, 0x3f, 0xfb};
    s->saw = stream_write_bytes(s->pair.server, bytes_of(begin, sizeof(begin)));
    while (s->saw == 0 && task_sleep_until(clock_after(USEC_PER_S)) == 0)
        s->saw = stream_write_bytes(s->pair.server, BYTES_LIT("x"));
}

static const struct {
    task_fn *server;
    int result;
} refusals[] = {
    {nobody, -ETIMEDOUT},           {trickle, -ETIMEDOUT},
    {hang_up, -FERRY_ECLOSED},      {speak_plain_text, -FERRY_EPROTO},
    {send_an_alert, -FERRY_EPROTO}, {show_a_broken_certificate, -FERRY_EPROTO},
};

static void shake_no_hands(void *arg)
{
    int *results = arg;
    struct scene s = {0};
    scene_open(&s, 0);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct stream *stream;
        begin_with(&s, refusals[i].server);
        results[i] = try_connect(&s, NULL, &stream);
        finish(&s);
    }
    scene_close(&s);
}

static void each_failed_handshake_has_its_reason(void **state)
{
    (void)state;
    int results[ARRAY_LEN(refusals)];
    run_deterministic(1, shake_no_hands, results);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (results[i] != refusals[i].result)
            fail_msg("row %zu: %s", i, err_name(results[i]));
}

/* The server would speak 1.1, at any level of security. */
static void meet_an_old_server(void *arg)
{
    struct scene s = {0};
    scene_open(&s, TLS1_1_VERSION);
    SSL_CTX_set_min_proto_version(s.server, TLS1_VERSION);
    SSL_CTX_set_security_level(s.server, 0);
    TASK_ASSERT(SSL_CTX_set_cipher_list(s.server, "ALL:@SECLEVEL=0") == 1);
    struct stream *stream;
    s.serve = say_hello;
    begin_with(&s, server_main);
    *(int *)arg = try_connect(&s, NULL, &stream);
    finish(&s);
    scene_close(&s);
}

static void tls_before_1_2_is_refused(void **state)
{
    (void)state;
    int result = 0;
    run_deterministic(1, meet_an_old_server, &result);
    assert_int_equal(result, -FERRY_EPROTO);
}

/* -- faults -- */

struct fault {
    enum fault_kind kind;
    uint64_t nth, counted;
    int result;
};

static void serve_a_fault(void *arg)
{
    struct scene *s = arg;
    struct tls_peer peer;
    uint8_t data[100];
    tls_peer_init(&peer, s->server, s->pair.server);
    ssize_t r = tls_peer_accept(&peer);
    while (r >= 0 && (r = tls_peer_read(&peer, data, sizeof(data))) > 0)
        r = tls_peer_write(&peer, bytes_of(data, (size_t)r));
    if (r == 0)
        r = tls_peer_close_notify(&peer);
    s->saw = (int)r;
    tls_peer_done(&peer);
    s->pair.server = stream_free(s->pair.server);
}

static int talk(struct stream *c)
{
    uint8_t data[100];
    struct slices slices;
    int r = stream_write_bytes(c, BYTES_LIT("hello"));
    ssize_t n = r == 0 ? stream_read(c, data, sizeof(data)) : r;
    if (n > 0)
        r = stream_end(c, clock_after(LIMIT_US));
    if (n <= 0)
        return n < 0 ? (int)n : -FERRY_ECLOSED;
    if (r == 0)
        r = stream_take(c, 10, &slices);
    if (r == 0)
        slices_drop(&slices);
    return r;
}

static void dialogue_with_a_fault(void *arg)
{
    struct fault *f = arg;
    struct scene s = {.server = tls_peer_context(0)};
    struct stream *c;
    begin_with(&s, serve_a_fault);
    fault_arm(f->kind, f->nth);
    int r = tls_context_new(&s.context);
    if (r == 0) {
        r = try_connect(&s, NULL, &c);
        if (r == 0) {
            r = talk(c);
            stream_free(c);
        }
    }
    f->counted = fault_count(f->kind);
    fault_arm(f->kind, 0);
    s.pair.client = stream_free(s.pair.client);
    finish(&s);
    f->result = r;
    scene_close(&s);
}

static void each_fault_ends_it_without_a_leak(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        struct fault f = {.kind = (enum fault_kind)kind};
        unsigned failures = 0;
        do {
            f.nth++;
            run_deterministic(f.nth, dialogue_with_a_fault, &f);
            failures += f.result < 0;
        } while (f.counted >= f.nth);
        assert_int_equal(f.result, 0); /* none was hit */
        assert_true(failures >= 2);
    }
}

/* -- stacks -- */

static void handshake_only(void *arg)
{
    (void)arg;
    struct scene s = {0};
    scene_open(&s, 0);
    struct stream *c = open_stream(&s, say_hello, NULL);
    hear_hello(c);
    TASK_ASSERT(stream_end(c, 0) == 0);
    stream_free(c);
    finish(&s);
    scene_close(&s);
}

static void a_handshake_fits_a_task_s_stack_twice(void **state)
{
    (void)state;
    const struct runtime_settings settings = {.workers = 1, .measure_stacks = true};
    struct runtime *rt;
    assert_int_equal(runtime_new(&settings, &rt), 0);
    assert_int_equal(runtime_run(rt, handshake_only, NULL), 0);
    const struct stack_depth *depths;
    unsigned count = runtime_stack_depths(rt, &depths);
    assert_true(count > 0);
    for (unsigned i = 0; i < count; i++)
        assert_in_range(depths[i].bytes, 1, depths[i].of_bytes / 2);
    (void)runtime_free(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_both_ways),
        cmocka_unit_test(rooms_and_slices_carry_bulk),
        cmocka_unit_test(the_session_of_another_stream_is_offered),
        cmocka_unit_test(an_end_without_close_notify_is_a_truncation),
        cmocka_unit_test(only_an_orderly_end_tells_the_peer_so),
        cmocka_unit_test(a_peer_without_payload_stalls),
        cmocka_unit_test(waiting_knows_what_was_read_ahead),
        cmocka_unit_test(a_cancelled_task_leaves_at_once),
        cmocka_unit_test(each_failed_handshake_has_its_reason),
        cmocka_unit_test(tls_before_1_2_is_refused),
        cmocka_unit_test(each_fault_ends_it_without_a_leak),
        cmocka_unit_test(a_handshake_fits_a_task_s_stack_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
