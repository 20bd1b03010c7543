/* Our client against servers that break the rules: a table of what each says, how its data
 * connection behaves, and what the client must make of it. No row may hang: those that are
 * silent end by the client's deadlines. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "base/err.h"
#include "check.h"
#include "ftp_peer.h"
#include "io/tcp_bulk.h"

#define DOWNLOAD_MAX 1000
#define LIMIT_US     (10 * USEC_PER_S)
#define SAYS_MAX     10
#define COMMAND_MAX  512

/* What a server says first and after each command; when it has no more words it reads on and is
 * silent, until the client leaves. Text, or: */
#define CLOSE   "close"   /* after the command, without a word */
#define CUT     "cut"     /* closes at once, with no command to come */
#define ENDLESS "endless" /* a line without end */
#define FLOOD   "flood"   /* lines of one reply without end */
#define LATER   "later"   /* whole replies without end, of which none is the last */
#define TRICKLE "trickle" /* a byte a second */
#define PASSIVE "passive" /* 227 with the port of the data listener and the host of another */

enum data_action {
    DATA_NONE, /* nobody listens */
    DATA_EMPTY,
    DATA_FIVE,
    DATA_RESET,
    DATA_SILENT,
    DATA_ENDLESS,
    DATA_BOMB,       /* zeros without end, compressed */
    DATA_SEES_BREAK, /* reads, and must not come to an orderly end */
};

struct row {
    const char *name;
    int (*act)(struct ftp_client *);
    int result;
    bool is_open; /* afterwards */
    bool limits;  /* the client's deadlines are on */
    unsigned code;
    enum data_action data;
    const char *says[SAYS_MAX];
};

/* -- what the client tries -- */

static int retr(struct ftp_client *c)
{
    uint64_t bytes = 7;
    int r = ftp_client_retr(c, BYTES_LIT("f"), NULL, &bytes);
    TASK_ASSERT(r == 0 ? bytes == c->moved_bytes : bytes == 7);
    return r;
}

static int retr_in_mode_z(struct ftp_client *c)
{
    int r = ftp_client_mode(c, 'Z', 6);
    return r == 0 ? retr(c) : r;
}

static int throw_away(void *arg, struct bytes data)
{
    (void)arg;
    (void)data;
    return 0;
}

static int nlst(struct ftp_client *c)
{
    uint64_t bytes = 7;
    const struct ftp_sink sink = {.take = throw_away};
    int r = ftp_client_nlst(c, BYTES_NONE, &sink, &bytes);
    TASK_ASSERT(r != 0 && bytes == 7);
    return r;
}

static int stor(struct ftp_client *c)
{
    static const uint8_t block[64 * 1024];
    uint64_t bytes = 7;
    const struct ftp_source source = {
        .fd = -1, .block = {block, sizeof(block)}, .len = 64 * 1024 * 1024};
    int r = ftp_client_stor(c, BYTES_LIT("f"), &source, &bytes);
    TASK_ASSERT(r != 0 && bytes == 7);
    return r;
}

static int stor_little(struct ftp_client *c)
{
    uint64_t bytes = 7;
    const struct ftp_source source = {.fd = -1, .block = BYTES_LIT("abc"), .len = 3};
    int r = ftp_client_stor(c, BYTES_LIT("f"), &source, &bytes);
    TASK_ASSERT(r == 0 ? bytes == 3 : bytes == 7);
    return r;
}

/* A file that is shorter than it seemed. */
static int stor_short(struct ftp_client *c)
{
    uint64_t bytes = 7;
    int fd = memfd_create("short", MFD_CLOEXEC);
    const struct ftp_source source = {.fd = fd, .len = 10};
    TASK_ASSERT(fd >= 0 && write(fd, "12345", 5) == 5);
    int r = ftp_client_stor(c, BYTES_LIT("f"), &source, &bytes);
    TASK_ASSERT(bytes == 7);
    close(fd);
    return r;
}

static int noop(struct ftp_client *c)
{
    return ftp_client_noop(c);
}

static int size(struct ftp_client *c)
{
    uint64_t bytes = 7;
    int r = ftp_client_size(c, BYTES_LIT("f"), &bytes);
    TASK_ASSERT(r == 0 || bytes == 7);
    return r;
}

static int begin_and_abort(struct ftp_client *c)
{
    struct stream *data;
    int r = ftp_client_transfer_begin(c, "RETR", BYTES_LIT("f"), &data);
    return r < 0 ? r : ftp_client_abort(c);
}

static int quit(struct ftp_client *c)
{
    return ftp_client_quit(c);
}

#define GREETS  "220 ready\r\n"
#define GOES_ON "150 here it comes\r\n"
#define IS_DONE "226 done\r\n"

static const struct row rows[] = {
    /* the greeting */
    {"closes before a word", ftp_peer_connect_only, -FERRY_ECLOSED, .says = {CUT}},
    {"says nothing", ftp_peer_connect_only, -ETIMEDOUT, .limits = true, .says = {NULL}},
    {"is no FTP", ftp_peer_connect_only, -FERRY_EPROTO, .says = {"SSH-2.0-OpenSSH_9.2\r\n"}},
    {"greets with garbage", ftp_peer_connect_only, -FERRY_EPROTO, .says = {"\x01\xfe\x80\n"}},
    {"greets half", ftp_peer_connect_only, -FERRY_ECLOSED, .says = {"220 rea", CUT}},
    {"greets with 3yz", ftp_peer_connect_only, -FERRY_EPROTO, .code = 331,
     .says = {"331 ?\r\n"}},
    {"refuses at once", ftp_peer_connect_only, -FERRY_EREFUSED, .code = 500,
     .says = {"500 no\r\n"}},
    {"is full", ftp_peer_connect_only, -FERRY_ECLOSED, .code = 421, .says = {"421 full\r\n"}},
    {"is late", ftp_peer_connect_only, 0, true, .code = 220,
     .says = {"120 soon\r\n220 now\r\n"}},
    {"is late for ever", ftp_peer_connect_only, -FERRY_EPROTO, .code = 120, .says = {LATER}},
    {"greets without end", ftp_peer_connect_only, -FERRY_ELIMIT, .says = {ENDLESS}},
    {"greets in endless lines", ftp_peer_connect_only, -FERRY_ELIMIT, .says = {FLOOD}},
    {"greets by the byte", ftp_peer_connect_only, -ETIMEDOUT, .limits = true,
     .says = {TRICKLE}},
    /* commands */
    {"closes after USER", ftp_peer_log_in, -FERRY_ECLOSED, .code = 220,
     .says = {GREETS, CLOSE}},
    {"closes after PASS", ftp_peer_log_in, -FERRY_ECLOSED, .code = 331,
     .says = {GREETS, "331 \r\n", CLOSE}},
    {"asks without end", ftp_peer_log_in, -FERRY_EPROTO, .code = 331,
     .says = {GREETS, "331 ?\r\n", "331 ?\r\n"}},
    {"wants an account", ftp_peer_log_in, -FERRY_EAUTH, true, .code = 332,
     .says = {GREETS, "331 ?\r\n", "332 account?\r\n"}},
    {"needs no password", ftp_peer_log_in, 0, true, .code = 230,
     .says = {GREETS, "230 in\r\n"}},
    {"says good-bye at PASS", ftp_peer_log_in, -FERRY_ECLOSED, .code = 421,
     .says = {GREETS, "331 ?\r\n", "421 bye\r\n"}},
    {"starts and says no more", noop, -ETIMEDOUT, .limits = true, .code = 220,
     .says = {GREETS, "200-a\r\n"}},
    {"answers NOOP with 1yz", noop, -FERRY_EPROTO, .code = 150, .says = {GREETS, GOES_ON}},
    {"tells no size", size, -FERRY_EPROTO, .code = 213, .says = {GREETS, "213 big\r\n"}},
    {"does not say good-bye", quit, -ETIMEDOUT, .limits = true, .code = 220, .says = {GREETS}},
    /* the data connection */
    {"knows no PASV", retr, -FERRY_EREFUSED, true, .code = 502, .says = {GREETS, "502 no\r\n"}},
    {"answers PASV otherwise", retr, -FERRY_EPROTO, .code = 200,
     .says = {GREETS, "200 ok\r\n"}},
    {"tells no address", retr, -FERRY_EPROTO, .code = 227, .says = {GREETS, "227 (1,2,3)\r\n"}},
    {"tells port 0", retr, -FERRY_EPROTO, .code = 227,
     .says = {GREETS, "227 (127,0,0,1,0,0)\r\n"}},
    {"does not listen", retr, -ECONNREFUSED, .code = 227, .says = {GREETS, PASSIVE}},
    {"names another host", retr, 0, true, .code = 226, .data = DATA_FIVE,
     .says = {GREETS, PASSIVE, GOES_ON IS_DONE}},
    {"sends nothing and is done", retr, 0, true, .code = 226, .data = DATA_EMPTY,
     .says = {GREETS, PASSIVE, GOES_ON IS_DONE}},
    {"is done before it began", retr, -FERRY_EPROTO, .code = 226, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, IS_DONE}},
    {"has no such file", retr, -FERRY_EREFUSED, true, .code = 550, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, "550 no\r\n"}},
    {"begins twice", retr, -FERRY_EPROTO, .code = 150, .data = DATA_FIVE,
     .says = {GREETS, PASSIVE, GOES_ON GOES_ON}},
    {"breaks off and says so", retr, -FERRY_EREFUSED, true, .code = 426, .data = DATA_FIVE,
     .says = {GREETS, PASSIVE, GOES_ON "426 broken\r\n"}},
    {"cuts the data and says why", retr, -FERRY_EREFUSED, true, .code = 451, .data = DATA_RESET,
     .says = {GREETS, PASSIVE, GOES_ON "451 disk\r\n"}},
    {"cuts the data and is content", retr, -FERRY_ECLOSED, true, .code = 226,
     .data = DATA_RESET, .says = {GREETS, PASSIVE, GOES_ON IS_DONE}},
    {"cuts both", retr, -FERRY_ECLOSED, .code = 150, .data = DATA_RESET,
     .says = {GREETS, PASSIVE, GOES_ON "22", CUT}},
    {"closes after 150", retr, -FERRY_ECLOSED, .code = 150, .data = DATA_FIVE,
     .says = {GREETS, PASSIVE, GOES_ON "226", CUT}},
    {"is done but keeps the data", retr, -FERRY_ESTALLED, true, .limits = true, .code = 226,
     .data = DATA_SILENT, .says = {GREETS, PASSIVE, GOES_ON IS_DONE}},
    {"falls silent", retr, -ETIMEDOUT, .limits = true, .code = 150, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, GOES_ON}},
    {"ends the data and falls silent", retr, -ETIMEDOUT, .limits = true, .code = 150,
     .data = DATA_FIVE, .says = {GREETS, PASSIVE, GOES_ON}},
    {"never ends a file", retr, -FERRY_ELIMIT, .limits = true, .code = 150,
     .data = DATA_ENDLESS, .says = {GREETS, PASSIVE, GOES_ON}},
    {"never ends a listing", nlst, -FERRY_ELIMIT, .limits = true, .code = 150,
     .data = DATA_ENDLESS, .says = {GREETS, PASSIVE, GOES_ON}},
    {"compresses zeros without end", retr_in_mode_z, -FERRY_ELIMIT, .code = 150,
     .data = DATA_BOMB, .says = {GREETS, "200 Z\r\n", "200 6\r\n", PASSIVE, GOES_ON}},
    {"says Z and sends in clear", retr_in_mode_z, -EBADMSG, .code = 150, .data = DATA_FIVE,
     .says = {GREETS, "200 Z\r\n", "200 6\r\n", PASSIVE, GOES_ON}},
    {"says Z and sends no stream", retr_in_mode_z, -FERRY_ETRUNCATED, true, .code = 226,
     .data = DATA_EMPTY, .says = {GREETS, "200 Z\r\n", "200 6\r\n", PASSIVE, GOES_ON IS_DONE}},
    {"knows no MODE Z", retr_in_mode_z, -FERRY_EREFUSED, true, .code = 504,
     .says = {GREETS, "504 no\r\n"}},
    {"answers RETR with garbage", retr, -FERRY_EPROTO, .code = 227, .data = DATA_FIVE,
     .says = {GREETS, PASSIVE, "hello\r\n"}},
    {"has no room", stor, -FERRY_EREFUSED, true, .code = 452, .data = DATA_RESET,
     .says = {GREETS, PASSIVE, GOES_ON "452 full\r\n"}},
    {"does not read", stor, -FERRY_ESTALLED, true, .limits = true, .code = 426,
     .data = DATA_SILENT, .says = {GREETS, PASSIVE, GOES_ON "426 what?\r\n"}},
    {"gets half a file", stor_short, -FERRY_ETRUNCATED, .code = 150, .data = DATA_SEES_BREAK,
     .says = {GREETS, PASSIVE, GOES_ON}},
    {"does not confirm", stor_little, -FERRY_ECLOSED, .code = 150, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, GOES_ON "2", CUT}},
    {"confirms with 3yz", stor_little, -FERRY_EPROTO, .code = 350, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, GOES_ON "350 more\r\n"}},
    {"confirms with 250", stor_little, 0, true, .code = 250, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, GOES_ON "250 done\r\n"}},
    /* ABOR: the transfer's reply, its own, and that of the NOOP behind it */
    {"aborts in two replies", begin_and_abort, 0, true, .code = 200, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, GOES_ON, "426 cut\r\n226 so\r\n", "200 ok\r\n"}},
    {"aborts in one reply", begin_and_abort, 0, true, .code = 200, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, GOES_ON, "226 so\r\n", "200 ok\r\n"}},
    {"never ends to abort", begin_and_abort, -FERRY_EPROTO, .code = 226, .data = DATA_SILENT,
     .says = {GREETS, PASSIVE, GOES_ON, "226 a\r\n226 b\r\n226 c\r\n226 d\r\n226 e\r\n"}},
    {"ends instead of aborting", begin_and_abort, -FERRY_ECLOSED, .code = 150,
     .data = DATA_SILENT, .says = {GREETS, PASSIVE, GOES_ON, CLOSE}},
};

/* -- the server -- */

struct server {
    const struct row *row;
    struct ftp_peer peer;
};

static int say(struct stream *s, const char *text)
{
    return stream_write_bytes(s, bytes_str(text));
}

static void say_passive(struct server *server, struct stream *s)
{
    char text[64];
    unsigned port = addr_port(&server->peer.data_addr);
    (void)snprintf(text, sizeof(text), "227 (192,0,2,1,%u,%u)\r\n", port >> 8, port & 0xff);
    (void)(say(s, text) < 0);
}

/* The same text without end, behind what begins it; in large pieces unless it is slow. */
static void say_without_end(struct stream *s, const char *first, const char *text, bool is_slow)
{
    char many[16 * 1024];
    size_t len = strlen(text), held = 0;
    do {
        memcpy(many + held, text, len);
        held += len;
    } while (!is_slow && held + len <= sizeof(many));
    int r = say(s, first);
    while (r == 0) {
        r = stream_write_bytes(s, bytes_of(many, held));
        if (r == 0 && is_slow)
            r = task_sleep_until(clock_after(USEC_PER_S));
    }
}

/* Until the end of a line; false: the client is gone. */
static bool read_line(struct stream *s)
{
    char byte = 0;
    for (unsigned len = 0; byte != '\n'; len++) {
        TASK_ASSERT(len < COMMAND_MAX);
        if (stream_read(s, &byte, 1) <= 0)
            return false;
    }
    return true;
}

static void answer(struct server *server, struct stream *s, const char *what)
{
    if (strcmp(what, ENDLESS) == 0)
        say_without_end(s, "220-", "0123456789abcdef", false);
    else if (strcmp(what, FLOOD) == 0)
        say_without_end(s, "220-", "a line\r\n", false);
    else if (strcmp(what, LATER) == 0)
        say_without_end(s, "120 now\r\n", "120 later\r\n", false);
    else if (strcmp(what, TRICKLE) == 0)
        say_without_end(s, "220-", "a", true);
    else if (strcmp(what, PASSIVE) == 0)
        say_passive(server, s);
    else
        (void)(say(s, what) < 0);
}

static void serve_control(void *arg)
{
    struct server *server = arg;
    const char *const *says = server->row->says;
    struct stream *s = ftp_peer_accept(server->peer.control);
    if (s == NULL)
        return;
    bool goes_on = true;
    for (unsigned i = 0; i < SAYS_MAX && says[i] != NULL && goes_on; i++) {
        if (strcmp(says[i], CUT) == 0)
            goes_on = false;
        else if (i > 0)
            goes_on = read_line(s);
        if (goes_on && strcmp(says[i], CLOSE) == 0)
            goes_on = false;
        if (goes_on)
            answer(server, s, says[i]);
    }
    while (goes_on)
        goes_on = read_line(s);
    stream_free(s);
}

/* Behind a flush to a whole byte the same input makes the same output: it can be repeated. */
static size_t pack_zeros(z_stream *z, uint8_t *out, size_t max)
{
    static uint8_t zeros[64 * 1024];
    z->next_in = zeros;
    z->avail_in = sizeof(zeros);
    z->next_out = out;
    z->avail_out = (uInt)max;
    TASK_ASSERT(deflate(z, Z_SYNC_FLUSH) == Z_OK && z->avail_in == 0 && z->avail_out > 0);
    return max - z->avail_out;
}

static void say_zeros_without_end(struct stream *s)
{
    uint8_t first[200], next[200];
    z_stream z = {.zalloc = NULL};
    TASK_ASSERT(deflateInit(&z, 6) == Z_OK);
    struct bytes first_bytes = bytes_of(first, pack_zeros(&z, first, sizeof(first)));
    struct bytes next_bytes = bytes_of(next, pack_zeros(&z, next, sizeof(next)));
    (void)deflateEnd(&z);
    int r = stream_write_bytes(s, first_bytes);
    while (r == 0)
        r = stream_write_bytes(s, next_bytes);
    TASK_ASSERT(r == -FERRY_ECLOSED);
}

static void serve_data(void *arg)
{
    struct server *server = arg;
    struct stream *s = ftp_peer_accept(server->peer.data);
    if (s == NULL)
        return;
    if (server->row->data == DATA_FIVE)
        TASK_ASSERT(say(s, "12345") == 0);
    if (server->row->data == DATA_ENDLESS)
        say_without_end(s, "", "12345", false);
    if (server->row->data == DATA_BOMB)
        say_zeros_without_end(s);
    if (server->row->data == DATA_RESET)
        tcp_reset_on_close(stream_fd(s));
    if (server->row->data == DATA_SILENT)
        TASK_ASSERT(task_sleep_until(USEC_NEVER) == -ECANCELED); /* the row is over */
    if (server->row->data == DATA_SEES_BREAK) {
        char bytes[100];
        ssize_t n;
        do
            n = stream_read(s, bytes, sizeof(bytes));
        while (n > 0);
        TASK_ASSERT(n == -FERRY_ECLOSED);
    }
    stream_free(s);
}

/* -- a row -- */

static void run_row(const struct row *row, struct ftp_peer_outcome *ret)
{
    static const struct ftp_client_settings patient, strict = {.connect_us = LIMIT_US,
                                                               .answer_us = LIMIT_US,
                                                               .stall_us = LIMIT_US,
                                                               .download_bytes = DOWNLOAD_MAX};
    struct server server = {.row = row};
    ftp_peer_start(&server.peer, serve_control, row->data != DATA_NONE ? serve_data : NULL,
                   &server);
    ftp_peer_meet(&server.peer, row->limits ? &strict : &patient, row->act, ret);
    ftp_peer_stop(&server.peer);
}

static void run_rows(void *arg)
{
    struct ftp_peer_outcome *outcomes = arg;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        run_row(&rows[i], &outcomes[i]);
}

static void every_broken_server_gets_a_clear_end(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        static struct ftp_peer_outcome outcomes[ARRAY_LEN(rows)];
        run_deterministic(seed, run_rows, outcomes);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const struct ftp_peer_outcome wanted = {rows[i].result, rows[i].code,
                                                    rows[i].is_open};
            ftp_peer_check(rows[i].name, &outcomes[i], &wanted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_server_gets_a_clear_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
