#include "ftp/client.h"

#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/text.h"
#include "ftp/client_internal.h"
#include "io/compress.h"
#include "io/tcp_bulk.h"
#include "io/tls.h"

static_assert(sizeof(struct ftp_client) <= 512, "ten thousand of them are held at once");

#define READ_BYTES 1024 /* at a time; they lie on the stack */

#define TELNET_IAC 0xff

#define DELAYS_MAX 5 /* announced by a server before it greets */

/* -- life time -- */

void ftp_client_init(struct ftp_client *c, const struct ftp_client_settings *settings)
{
    *c = (struct ftp_client){.settings = settings};
    ftp_answer_init(&c->answers);
}

static struct io_fd *socket_of(const struct stream *s)
{
    struct io_fd *f = stream_fd(s);
    return f != NULL ? f : tls_socket(s);
}

static void count_path(struct ftp_client *c)
{
    struct stream_info info = {.rtt_us = 0};
    if (c->socket == NULL)
        return;
    tcp_info_into(c->socket, &info);
    info.busy_us += c->path.busy_us;
    info.peer_full_us += c->path.peer_full_us;
    info.buffer_full_us += c->path.buffer_full_us;
    c->path = info;
}

void ftp_client_drop_data(struct ftp_client *c, bool in_order)
{
    if (c->data == NULL)
        return;
    count_path(c);
    if (!in_order)
        tcp_reset_on_close(c->socket);
    if (c->is_deflate) {
        struct stream_info info;
        stream_info(c->data, &info);
        c->wire_bytes = info.sent_bytes + info.received_bytes;
    }
    c->data = stream_free(c->data);
    c->socket = NULL;
}

void ftp_client_close(struct ftp_client *c)
{
    ftp_client_drop_data(c, false);
    c->control = stream_free(c->control);
    ftp_answer_done(&c->answers);
    c->peer.len = c->local.len = 0;
    c->is_deflate = c->told_level = false;
}

void ftp_client_break(struct ftp_client *c)
{
    if (c->control != NULL)
        tcp_break(socket_of(c->control));
    if (c->data != NULL)
        tcp_break(c->socket);
}

bool ftp_client_is_open(const struct ftp_client *c)
{
    return c->control != NULL;
}

int ftp_client_fail(struct ftp_client *c, int result)
{
    ftp_client_close(c);
    return result;
}

/* -- sending -- */

bool ftp_client_can_send(const char *verb, struct bytes argument)
{
    if (strlen(verb) + 1 + argument.len > FTP_LINE_MAX)
        return false;
    for (size_t i = 0; i < argument.len; i++) {
        uint8_t byte = argument.data[i];
        if (byte == '\r' || byte == '\n' || byte == 0)
            return false;
    }
    return true;
}

/* The line with its end. Telnet's IAC is doubled (RFC 854). All of its room is reserved before,
 * since it may be a password. */
static int build_line(struct buf *line, const char *verb, struct bytes argument)
{
    int r = buf_reserve(line, strlen(verb) + 1 + 2 * argument.len + 2);
    if (r == 0)
        r = buf_append_str(line, verb);
    if (r == 0 && argument.len > 0)
        r = buf_append_byte(line, ' ');
    for (size_t i = 0; i < argument.len && r == 0; i++) {
        r = buf_append_byte(line, argument.data[i]);
        if (r == 0 && argument.data[i] == TELNET_IAC)
            r = buf_append_byte(line, TELNET_IAC);
    }
    return r < 0 ? r : buf_append_str(line, "\r\n");
}

int ftp_client_send(struct ftp_client *c, const char *verb, struct bytes argument)
{
    if (c->control == NULL)
        return -FERRY_ECLOSED;
    if (!ftp_client_can_send(verb, argument))
        return -FERRY_EBADNAME;
    struct buf line;
    buf_init(&line, 2 * FTP_LINE_MAX + 4);
    int r = build_line(&line, verb, argument);
    if (r == 0) {
        c->control->stall_us = c->settings->answer_us;
        r = stream_write_bytes(c->control, buf_bytes(&line));
    }
    buf_wipe(&line);
    if (r < 0)
        return ftp_client_fail(c, r == -FERRY_ESTALLED ? -ETIMEDOUT : r);
    return 0;
}

/* -- replies -- */

static int read_more(struct ftp_client *c, usec_t deadline)
{
    uint8_t data[READ_BYTES];
    size_t room = ftp_answer_room(&c->answers);
    c->control->stall_us = 0;
    if (deadline != USEC_NEVER) {
        usec_t now = clock_now();
        if (now >= deadline)
            return -ETIMEDOUT; /* also of a server that sends a byte now and then */
        c->control->stall_us = deadline - now;
    }
    ssize_t n = stream_read(c->control, data, room < sizeof(data) ? room : sizeof(data));
    if (n == 0 || n == -FERRY_ETRUNCATED)
        return -FERRY_ECLOSED;
    if (n < 0)
        return n == -FERRY_ESTALLED ? -ETIMEDOUT : (int)n;
    return ftp_answer_feed(&c->answers, bytes_of(data, (size_t)n));
}

int ftp_client_answer(struct ftp_client *c, struct ftp_answer *ret)
{
    if (c->control == NULL)
        return -FERRY_ECLOSED;
    usec_t deadline = clock_after(c->settings->answer_us);
    struct ftp_answer answer;
    int r;
    while ((r = ftp_answer_next(&c->answers, &answer)) == 0) {
        r = read_more(c, deadline);
        if (r < 0)
            break;
    }
    if (r < 0)
        return ftp_client_fail(c, r);
    c->code = (uint16_t)answer.code;
    (void)text_copy_printable(c->text, sizeof(c->text), answer.text);
    if (answer.code == 421)
        return ftp_client_fail(c, -FERRY_ECLOSED);
    *ret = answer;
    return 0;
}

int ftp_client_command(struct ftp_client *c, const char *verb, struct bytes argument,
                       struct ftp_answer *ret)
{
    int r = ftp_client_send(c, verb, argument);
    return r < 0 ? r : ftp_client_answer(c, ret);
}

int ftp_client_expect(struct ftp_client *c, const struct ftp_answer *answer, unsigned hundred)
{
    if (answer->code / 100 == hundred)
        return 0;
    if (answer->code >= 400)
        return -FERRY_EREFUSED;
    return ftp_client_fail(c, -FERRY_EPROTO);
}

/* A command whose reply matters by its code alone. */
static int command(struct ftp_client *c, const char *verb, struct bytes argument)
{
    struct ftp_answer answer;
    int r = ftp_client_command(c, verb, argument, &answer);
    if (r == 0)
        r = ftp_client_expect(c, &answer, 2);
    ftp_answer_drop(&c->answers);
    return r;
}

/* -- the dialogue -- */

static int greet(struct ftp_client *c)
{
    struct ftp_answer answer;
    int r;
    unsigned delays = 0;
    do /* 120: "ready in some minutes", another one follows; each may take its time */
        r = ftp_client_answer(c, &answer);
    while (r == 0 && answer.code == 120 && ++delays < DELAYS_MAX);
    if (r == 0)
        r = ftp_client_expect(c, &answer, 2);
    ftp_answer_drop(&c->answers);
    return r;
}

/* AUTH TLS and the handshake (RFC 4217 4). What came behind the reply was sent in clear, by
 * whoever: it must not be taken for replies that TLS protects. */
static int secure_control(struct ftp_client *c)
{
    struct ftp_answer answer;
    int r = ftp_client_command(c, "AUTH", BYTES_LIT("TLS"), &answer);
    if (r == 0)
        r = ftp_client_expect(c, &answer, 2);
    ftp_answer_drop(&c->answers);
    if (r == 0 && !ftp_line_is_idle(&c->answers.in))
        r = -FERRY_EPROTO;
    if (r < 0)
        return r;
    struct stream *plain = c->control;
    c->control = NULL;
    return tls_connect(c->settings->tls, plain, NULL, clock_after(c->settings->connect_us),
                       &c->control);
}

int ftp_client_connect(struct ftp_client *c, const struct addr *to, const struct addr *from)
{
    assert(c->control == NULL);
    struct addr local = {0};
    if (from != NULL) {
        local = *from;
        addr_set_port(&local, 0);
    }
    c->code = 0;
    c->text[0] = '\0';
    struct io_fd *f;
    int r =
        tcp_connect(to, from != NULL ? &local : NULL, clock_after(c->settings->connect_us), &f);
    if (r < 0)
        return r;
    r = tcp_set_nodelay(f);
    if (r < 0) {
        (void)io_fd_close(f);
        return r;
    }
    r = tcp_stream_new(f, 0, &c->control);
    if (r < 0)
        return r;
    c->peer = *to;
    c->local = local;
    r = greet(c);
    if (r == 0 && c->settings->tls != NULL)
        r = secure_control(c);
    return r < 0 ? ftp_client_fail(c, r) : 0;
}

/* The data connections too (RFC 4217 8, 9). */
static int protect_data(struct ftp_client *c)
{
    int r = command(c, "PBSZ", BYTES_LIT("0"));
    if (r == 0)
        r = command(c, "PROT", BYTES_LIT("P"));
    return r == -FERRY_EREFUSED ? ftp_client_fail(c, r) : r;
}

int ftp_client_login(struct ftp_client *c, struct bytes user, struct bytes password)
{
    struct ftp_answer answer;
    int r = ftp_client_command(c, "USER", user, &answer);
    if (r == 0 && answer.code == 331)
        r = ftp_client_command(c, "PASS", password, &answer);
    if (r == 0) /* 332 wants an account too, which there is not */
        r = answer.code == 332 ? -FERRY_EAUTH : ftp_client_expect(c, &answer, 2);
    ftp_answer_drop(&c->answers);
    if (r == -FERRY_EREFUSED)
        return -FERRY_EAUTH;
    return r == 0 && c->settings->tls != NULL ? protect_data(c) : r;
}

int ftp_client_quit(struct ftp_client *c)
{
    ftp_client_drop_data(c, false);
    int r = command(c, "QUIT", BYTES_NONE);
    if (r == 0 && c->settings->tls != NULL)
        (void)!stream_end(c->control, 0); /* good manners: all that we wait for has come */
    return ftp_client_fail(c, r);
}

int ftp_client_noop(struct ftp_client *c)
{
    return command(c, "NOOP", BYTES_NONE);
}

int ftp_client_type(struct ftp_client *c, char type)
{
    return command(c, "TYPE", bytes_of(&type, 1));
}

/* Whoever has no such option keeps a level of its own, which is as good. */
static int tell_level(struct ftp_client *c, int level)
{
    bool is_auto = level == COMPRESS_AUTO;
    if (is_auto && !c->told_level)
        return 0;
    char text[] = "Z LEVEL 0";
    text[sizeof(text) - 2] = (char)('0' + (is_auto ? 0 : level));
    int r = command(c, "OPTS MODE", is_auto ? BYTES_LIT("Z") : bytes_str(text));
    c->told_level = !is_auto && r == 0;
    return r == -FERRY_EREFUSED ? 0 : r;
}

int ftp_client_mode(struct ftp_client *c, char mode, int level)
{
    assert(mode == 'S' || (mode == 'Z' && (level == COMPRESS_AUTO || (unsigned)level <= 9)));
    int r = command(c, "MODE", bytes_of(&mode, 1));
    if (r < 0)
        return r;
    c->is_deflate = mode == 'Z';
    c->level = (int8_t)level;
    return c->is_deflate ? tell_level(c, level) : 0;
}

int ftp_client_dele(struct ftp_client *c, struct bytes path)
{
    return command(c, "DELE", path);
}

int ftp_client_size(struct ftp_client *c, struct bytes path, uint64_t *ret)
{
    struct ftp_answer answer;
    int r = ftp_client_command(c, "SIZE", path, &answer);
    if (r == 0)
        r = ftp_client_expect(c, &answer, 2);
    if (r == 0) {
        r = ftp_answer_size(answer.text, ret);
        if (r < 0)
            return ftp_client_fail(c, r);
    }
    ftp_answer_drop(&c->answers);
    return r;
}
