/* Our client in TLS (RFC 4217): a table of servers, what each says and does with its data
 * connection, and what the client must make of it. No row may hang: those that are silent end
 * by the client's deadlines. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "ftp_peer.h"
#include "io/compress.h"
#include "io/tls.h"
#include "tls_peer.h"

#define LIMIT_US    (10 * USEC_PER_S)
#define SAYS_MAX    12
#define COMMAND_MAX 512
#define UPLOAD      "0123456789abcdef"

/* What a server says first and after each command: text, or: */
#define SECURE  "secure"  /* takes AUTH TLS, and shakes hands */
#define PASSIVE "passive" /* 227 with the port of the data listener */
#define SILENCE "silence" /* and nothing more */

/* "12345", as zlib makes of it */
static const uint8_t packed_five[] = {0x78, 0x9c, 0x33, 0x34, 0x32, 0x36, 0x31,
                                      0x05, 0x00, 0x02, 0xf8, 0x01, 0x00};

enum data_action {
    DATA_NONE,       /* nobody listens */
    DATA_WHOLE,      /* five bytes and close_notify */
    DATA_CUT,        /* five bytes and the end of TCP */
    DATA_WHOLE_Z,    /* the same five, as a zlib stream */
    DATA_CUT_Z,      /* all but its end, and close_notify */
    DATA_TAKE,       /* reads to close_notify */
    DATA_TAKE_Z,     /* the same of a zlib stream */
    DATA_SEES_BREAK, /* reads, and must not come to close_notify */
    DATA_HANG_UP,    /* no handshake */
    DATA_PLAIN,      /* talks in clear */
};

struct row {
    const char *name;
    int (*act)(struct ftp_client *);
    int result;
    bool is_open; /* afterwards */
    unsigned code;
    enum data_action data;
    const char *says[SAYS_MAX];
};

/* -- what the client tries -- */

static int quit(struct ftp_client *c)
{
    int r = ftp_peer_log_in(c);
    return r == 0 ? ftp_client_quit(c) : r;
}

static int retr(struct ftp_client *c)
{
    uint64_t bytes = 7;
    int r = ftp_peer_log_in(c);
    if (r == 0)
        r = ftp_client_retr(c, BYTES_LIT("f"), NULL, &bytes);
    TASK_ASSERT(r == 0 ? bytes == 5 : bytes == 7);
    TASK_ASSERT(r != -FERRY_ETRUNCATED || c->moved_bytes == 5); /* who knows the size ... */
    return r;
}

static int take_five(void *arg, struct bytes data)
{
    *(bool *)arg = bytes_equal(data, BYTES_LIT("12345"));
    return 0;
}

static int mode_z(struct ftp_client *c)
{
    int r = ftp_peer_log_in(c);
    return r == 0 ? ftp_client_mode(c, 'Z', COMPRESS_AUTO) : r;
}

static int retr_in_mode_z(struct ftp_client *c)
{
    uint64_t bytes;
    bool is_right = false;
    const struct ftp_sink sink = {take_five, &is_right};
    int r = mode_z(c);
    if (r == 0)
        r = ftp_client_retr(c, BYTES_LIT("f"), &sink, &bytes);
    TASK_ASSERT(r != 0 || (is_right && bytes == 5 && c->wire_bytes == sizeof(packed_five)));
    return r;
}

static int stor_in_mode_z(struct ftp_client *c)
{
    const struct ftp_source source = {.fd = -1, .block = BYTES_LIT(UPLOAD), .len = 16};
    uint64_t bytes;
    int r = mode_z(c);
    return r == 0 ? ftp_client_stor(c, BYTES_LIT("f"), &source, &bytes) : r;
}

static int retr_into_a_sink(struct ftp_client *c)
{
    uint64_t bytes;
    bool is_right = false;
    const struct ftp_sink sink = {take_five, &is_right};
    int r = ftp_peer_log_in(c);
    if (r == 0)
        r = ftp_client_retr(c, BYTES_LIT("f"), &sink, &bytes);
    TASK_ASSERT(r != 0 || (is_right && bytes == 5));
    return r;
}

static int stor(struct ftp_client *c, const struct ftp_source *source)
{
    uint64_t bytes = 7;
    int r = ftp_peer_log_in(c);
    if (r == 0)
        r = ftp_client_stor(c, BYTES_LIT("f"), source, &bytes);
    TASK_ASSERT(r == 0 ? bytes == source->len : bytes == 7);
    return r;
}

static int stor_block(struct ftp_client *c)
{
    const struct ftp_source source = {.fd = -1, .block = BYTES_LIT(UPLOAD), .len = 16};
    return stor(c, &source);
}

static int stor_file(struct ftp_client *c, uint64_t len)
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    TASK_ASSERT(fd >= 0 && write(fd, "??" UPLOAD, 18) == 18);
    const struct ftp_source source = {.fd = fd, .offset = 2, .len = len};
    int r = stor(c, &source);
    close(fd);
    return r;
}

static int stor_whole_file(struct ftp_client *c)
{
    return stor_file(c, 16);
}

static int stor_short_file(struct ftp_client *c)
{
    return stor_file(c, 20);
}

static int begin_and_abort(struct ftp_client *c)
{
    struct stream *data;
    int r = ftp_peer_log_in(c);
    if (r == 0)
        r = ftp_client_transfer_begin(c, "STOR", BYTES_LIT("f"), &data);
    return r < 0 ? r : ftp_client_abort(c);
}

static void break_it(void *arg)
{
    ftp_client_break(arg);
}

static int be_broken(struct ftp_client *c)
{
    struct scope scope;
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "break", TASK_NORMAL, break_it, c, NULL) == 0);
    int r = ftp_client_noop(c);
    scope_leave(&scope);
    return r;
}

#define IN_TLS "220 hello", SECURE
#define LOGIN  "331 password", "230 in", "200 size", "200 private"

static const struct row rows[] = {
    /* AUTH and the handshake */
    {"connects", ftp_peer_connect_only, 0, true, 234, DATA_NONE, {IN_TLS}},
    {"has no TLS",
     ftp_peer_connect_only,
     -FERRY_EREFUSED,
     false,
     500,
     DATA_NONE,
     {"220 hi", "500 no"}},
    {"is silent after AUTH",
     ftp_peer_connect_only,
     -ETIMEDOUT,
     false,
     220,
     DATA_NONE,
     {"220 hi"}},
    {"is silent after 234",
     ftp_peer_connect_only,
     -ETIMEDOUT,
     false,
     234,
     DATA_NONE,
     {"220 hi", "234 go", SILENCE}},
    {"adds a reply in clear",
     ftp_peer_connect_only,
     -FERRY_EPROTO,
     false,
     234,
     DATA_NONE,
     {"220 hi", "234 go\r\n230 in"}},
    {"begins a reply in clear",
     ftp_peer_connect_only,
     -FERRY_EPROTO,
     false,
     234,
     DATA_NONE,
     {"220 hi", "234 go\r\n2"}},
    {"goes on in clear",
     ftp_peer_connect_only,
     -FERRY_EPROTO,
     false,
     234,
     DATA_NONE,
     {"220 hi", "234 go", "220 hello again"}},

    /* login */
    {"knows no such user",
     ftp_peer_log_in,
     -FERRY_EAUTH,
     true,
     530,
     DATA_NONE,
     {IN_TLS, "530 no"}},
    {"logs in", ftp_peer_log_in, 0, true, 200, DATA_NONE, {IN_TLS, LOGIN}},
    {"has no PBSZ",
     ftp_peer_log_in,
     -FERRY_EREFUSED,
     false,
     502,
     DATA_NONE,
     {IN_TLS, "331 password", "230 in", "502 no"}},
    {"has no private data",
     ftp_peer_log_in,
     -FERRY_EREFUSED,
     false,
     536,
     DATA_NONE,
     {IN_TLS, "331 password", "230 in", "200 size", "536 no"}},
    {"says goodbye", quit, 0, false, 221, DATA_NONE, {IN_TLS, LOGIN, "221 bye"}},
    {"is left", be_broken, -FERRY_ECLOSED, false, 234, DATA_NONE, {IN_TLS}},

    /* downloads */
    {"sends five bytes",
     retr,
     0,
     true,
     226,
     DATA_WHOLE,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n226 ok"}},
    {"sends them to a sink",
     retr_into_a_sink,
     0,
     true,
     226,
     DATA_WHOLE,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n226 ok"}},
    {"sends them in MODE Z",
     retr_in_mode_z,
     0,
     true,
     226,
     DATA_WHOLE_Z,
     {IN_TLS, LOGIN, "200 deflate", PASSIVE, "150 go\r\n226 ok"}},
    {"cuts them off in MODE Z",
     retr_in_mode_z,
     -FERRY_ETRUNCATED,
     true,
     226,
     DATA_CUT_Z,
     {IN_TLS, LOGIN, "200 deflate", PASSIVE, "150 go\r\n226 ok"}},
    {"takes a block in MODE Z",
     stor_in_mode_z,
     0,
     true,
     226,
     DATA_TAKE_Z,
     {IN_TLS, LOGIN, "200 deflate", PASSIVE, "150 go\r\n226 ok"}},
    {"is cut off",
     retr,
     -FERRY_ETRUNCATED,
     true,
     226,
     DATA_CUT,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n226 ok"}},
    {"knows that it was cut off",
     retr,
     -FERRY_EREFUSED,
     true,
     426,
     DATA_CUT,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n426 cut"}},
    {"refuses the data connection",
     retr,
     -FERRY_EREFUSED,
     true,
     522,
     DATA_HANG_UP,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n522 the session must be resumed"}},
    {"sends in clear",
     retr,
     -FERRY_EPROTO,
     false,
     226,
     DATA_PLAIN,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n226 ok"}},

    /* uploads */
    {"takes a block",
     stor_block,
     0,
     true,
     226,
     DATA_TAKE,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n226 ok"}},
    {"takes a file",
     stor_whole_file,
     0,
     true,
     226,
     DATA_TAKE,
     {IN_TLS, LOGIN, PASSIVE, "150 go\r\n226 ok"}},
    {"gets a part of a file",
     stor_short_file,
     -FERRY_ETRUNCATED,
     false,
     150,
     DATA_SEES_BREAK,
     {IN_TLS, LOGIN, PASSIVE, "150 go"}},
    {"is asked to abort",
     begin_and_abort,
     0,
     true,
     200,
     DATA_SEES_BREAK,
     {IN_TLS, LOGIN, PASSIVE, "150 go", "426 aborted\r\n226 done", "200 noop"}},
};

/* -- the server -- */

struct server {
    const struct row *row;
    SSL_CTX *ctx;
    struct ftp_peer peer;
    bool saw_the_end; /* close_notify on the control connection */
};

/* One side of a dialogue, in clear until it is secured. */
struct line {
    struct stream *s;
    struct tls_peer peer;
    bool is_secure;
};

static int say(struct line *line, const char *text)
{
    char data[COMMAND_MAX];
    int len = snprintf(data, sizeof(data), "%s\r\n", text);
    struct bytes b = bytes_of(data, (size_t)len);
    return line->is_secure ? tls_peer_write(&line->peer, b) : stream_write_bytes(line->s, b);
}

/* 1: a command came; 0: the end, in order; negative: another one. */
static int read_command(struct line *line)
{
    char c = 0;
    while (c != '\n') {
        ssize_t n =
            line->is_secure ? tls_peer_read(&line->peer, &c, 1) : stream_read(line->s, &c, 1);
        if (n <= 0)
            return (int)n;
    }
    return 1;
}

static int secure(struct line *line)
{
    int r = say(line, "234 go");
    if (r == 0)
        r = tls_peer_accept(&line->peer);
    line->is_secure = true;
    return r;
}

static int answer(struct server *server, struct line *line, const char *words)
{
    char text[64];
    if (strcmp(words, SECURE) == 0)
        return secure(line);
    if (strcmp(words, SILENCE) == 0)
        return task_sleep_until(USEC_NEVER);
    if (strcmp(words, PASSIVE) != 0)
        return say(line, words);
    unsigned port = addr_port(&server->peer.data_addr);
    (void)snprintf(text, sizeof(text), "227 (127,0,0,1,%u,%u)", port / 256, port % 256);
    return say(line, text);
}

static void serve_control(void *arg)
{
    struct server *server = arg;
    const char *const *says = server->row->says;
    struct line line = {.s = ftp_peer_accept(server->peer.control)};
    if (line.s == NULL)
        return;
    tls_peer_init(&line.peer, server->ctx, line.s);
    int r = answer(server, &line, says[0]);
    for (unsigned i = 1; r == 0 && i < SAYS_MAX && says[i] != NULL; i++) {
        r = read_command(&line);
        if (r == 1)
            r = answer(server, &line, says[i]);
    }
    while (r >= 0 && (r = read_command(&line)) == 1)
        ; /* and is silent, until the client leaves */
    server->saw_the_end = line.is_secure && r == 0;
    tls_peer_done(&line.peer);
    stream_free(line.s);
}

/* In place; it must be the whole of a stream. */
static size_t unpack(uint8_t *data, size_t len)
{
    const struct decoder_limits no_limits = {0};
    uint8_t out[100];
    struct decoder *decoder;
    struct bytes in = bytes_of(data, len);
    TASK_ASSERT(decoder_new(CODEC_ZLIB, &no_limits, &decoder) == 0);
    TASK_ASSERT(decoder_step(decoder, &in, out, sizeof(out), &len) == 1 && in.len == 0);
    (void)decoder_free(decoder);
    memcpy(data, out, len);
    return len;
}

/* The whole of an upload, or how it broke. */
static int take_upload(struct tls_peer *peer, bool is_packed)
{
    uint8_t data[100];
    size_t len = 0;
    ssize_t n;
    while ((n = tls_peer_read(peer, data + len, sizeof(data) - len)) > 0)
        len += (size_t)n;
    if (n == 0 && is_packed)
        len = unpack(data, len);
    TASK_ASSERT(n < 0 || bytes_equal(bytes_of(data, len), BYTES_LIT(UPLOAD)));
    return (int)n;
}

static void serve_data(void *arg)
{
    struct server *server = arg;
    enum data_action action = server->row->data;
    struct tls_peer peer;
    struct stream *s = ftp_peer_accept(server->peer.data);
    if (s == NULL)
        return;
    tls_peer_init(&peer, server->ctx, s);
    int r = 0;
    if (action == DATA_PLAIN)
        r = stream_write_bytes(s, BYTES_LIT("12345"));
    else if (action != DATA_HANG_UP)
        r = tls_peer_accept(&peer);
    TASK_ASSERT(r == 0);
    if (action != DATA_PLAIN && action != DATA_HANG_UP)
        TASK_ASSERT(SSL_session_reused(peer.ssl) == 1); /* that of the control connection */
    if (action == DATA_WHOLE || action == DATA_CUT)
        TASK_ASSERT(tls_peer_write(&peer, BYTES_LIT("12345")) == 0);
    size_t cut = action == DATA_CUT_Z ? 1 : 0;
    if (action == DATA_WHOLE_Z || action == DATA_CUT_Z)
        TASK_ASSERT(tls_peer_write(&peer, bytes_of(packed_five, sizeof(packed_five) - cut)) ==
                    0);
    if (action == DATA_WHOLE || action == DATA_WHOLE_Z || action == DATA_CUT_Z)
        TASK_ASSERT(tls_peer_close_notify(&peer) == 0);
    bool is_packed = action == DATA_TAKE_Z;
    if (action == DATA_TAKE ||
        is_packed) /* late: tickets that a client closes upon would make a reset */
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_S)) == 0);
    if (action == DATA_TAKE || is_packed)
        TASK_ASSERT(take_upload(&peer, is_packed) == 0);
    if (action == DATA_SEES_BREAK)
        TASK_ASSERT(take_upload(&peer, false) < 0);
    tls_peer_done(&peer);
    stream_free(s);
}

/* -- a row -- */

struct outcome {
    struct ftp_peer_outcome client;
    bool server_saw_the_end;
};

static void run_row(const struct row *row, struct outcome *ret)
{
    struct tls_context *tls;
    TASK_ASSERT(tls_context_new(&tls) == 0);
    const struct ftp_client_settings settings = {
        .connect_us = LIMIT_US, .answer_us = LIMIT_US, .stall_us = LIMIT_US, .tls = tls};
    struct server server = {.row = row, .ctx = tls_peer_context(0)};
    ftp_peer_start(&server.peer, serve_control, serve_data, &server);
    ftp_peer_meet(&server.peer, &settings, row->act, &ret->client);
    ftp_peer_stop(&server.peer);
    SSL_CTX_free(server.ctx);
    ret->server_saw_the_end = server.saw_the_end;
    (void)tls_context_free(tls);
}

static void run_rows(void *arg)
{
    struct outcome *outcomes = arg;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        run_row(&rows[i], &outcomes[i]);
}

static void every_server_gets_what_it_deserves(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        static struct outcome outcomes[ARRAY_LEN(rows)];
        run_deterministic(seed, run_rows, outcomes);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct ftp_peer_outcome wanted = {rows[i].result, rows[i].code,
                                                    rows[i].is_open};
            ftp_peer_check(rows[i].name, &outcomes[i].client, &wanted);
            if (outcomes[i].server_saw_the_end != (rows[i].act == quit))
                fail_msg("a server that %s: only QUIT ends in order", rows[i].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_server_gets_what_it_deserves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
