#include "bench/ssh/load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/wire.h"
#include "sftp/wire/message.h"

#define ANSWER_MAX     1024 /* bytes of an answer that we take */
#define TAKE_AT_ONCE   (1024 * 1024)
#define ADDRESSES_EACH 250

void ssh_load_init(struct ssh_load *l, const struct ssh_load_shared *shared,
                   const struct addr *server, const char *user)
{
    *l = (struct ssh_load){.shared = shared, .server = server, .user = user};
    scope_init(&l->readers);
    ssh_program_init(&l->program);
}

/* -- sessions -- */

/* 127.1.0.1 and on: an address takes part in few connections before its turn comes again. */
static void choose_source(struct ssh_load *l, struct addr *ret)
{
    unsigned n = l->logins++ % (ADDRESSES_EACH * ADDRESSES_EACH * 100);
    uint32_t host = UINT32_C(127) << 24 | (1 + n / (ADDRESSES_EACH * ADDRESSES_EACH)) << 16 |
                    (n / ADDRESSES_EACH % ADDRESSES_EACH) << 8 | (1 + n % ADDRESSES_EACH);
    *ret = (struct addr){.len = sizeof(ret->u.v4)};
    ret->u.v4.sin_family = AF_INET;
    ret->u.v4.sin_addr.s_addr = htonl(host);
}

static int check_host_key(void *arg, const struct crypto_key *key, struct bytes blob)
{
    (void)blob;
    const struct ssh_load_shared *shared = arg;
    return crypto_key_equal(key, shared->keys.host) ? 0 : -FERRY_EAUTH;
}

static int make_offer(const struct ssh_row_detail *detail, struct ssh_offer **ret)
{
    const struct ssh_offer_settings settings = {
        .only_host_keys = "ssh-ed25519",
        .only_ciphers = detail->cipher,
        .only_macs = detail->mac,
    };
    return ssh_offer_new(SSH_CLIENT, &settings, ret);
}

int ssh_session_open(struct ssh_load *l, struct ssh_session *s,
                     const struct ssh_row_detail *detail)
{
    if (s->client != NULL)
        return 0;
    const struct ssh_load_shared *shared = l->shared;
    struct addr from;
    choose_source(l, &from);
    int r = make_offer(detail, &s->offer);
    if (r < 0)
        return r;
    s->settings = (struct ssh_client_settings){
        .to = *l->server,
        .from = &from,
        .user = l->user,
        .keys = &shared->keys.client,
        .key_count = 1,
        .transport = {.role = SSH_CLIENT,
                      .offer = s->offer,
                      .check_host_key = check_host_key,
                      .check_arg = (void *)(uintptr_t)shared},
        .deadline = clock_after(shared->timeout_us),
        .stall_us = shared->timeout_us,
    };
    r = ssh_client_connect(&s->settings, &l->readers, l->why, &s->client);
    if (r < 0)
        s->offer = ssh_offer_free(s->offer);
    return r;
}

void ssh_session_close(struct ssh_session *s)
{
    s->sftp = sftp_client_free(s->sftp);
    s->channel = ssh_channel_close(s->channel);
    s->client = ssh_client_free(s->client);
    s->offer = ssh_offer_free(s->offer);
}

static usec_t deadline_of(const struct ssh_load *l)
{
    return clock_after(l->shared->timeout_us);
}

/* -- sftp, as little as shows that it answers -- */

static int read_all(struct stream *stream, uint8_t *dst, size_t len)
{
    while (len > 0) {
        ssize_t n = stream_read(stream, dst, len);
        if (n <= 0)
            return n < 0 ? (int)n : -FERRY_ECLOSED;
        dst += n;
        len -= (size_t)n;
    }
    return 0;
}

/* draft-ietf-secsh-filexfer-02, section 3: a length, then the type and what belongs to it. */
static int exchange(struct ssh_session *s, const struct wire_writer *question, uint8_t type)
{
    uint8_t answer[ANSWER_MAX];
    struct stream *stream = ssh_channel_stream(s->channel);
    int r = wire_write_end(question);
    if (r == 0)
        r = stream_write_bytes(stream, bytes_of(question->data, question->len));
    if (r == 0)
        r = stream_flush(stream);
    if (r == 0)
        r = read_all(stream, answer, 4);
    if (r < 0)
        return r;
    uint32_t len = wire_u32(answer);
    if (len == 0 || len > sizeof(answer))
        return -FERRY_EPROTO;
    r = read_all(stream, answer, len);
    return r == 0 && answer[0] != type ? -FERRY_EPROTO : r;
}

static int greet(struct ssh_session *s)
{
    uint8_t question[16];
    struct wire_writer w = wire_writer_of(question, sizeof(question));
    wire_put_u32(&w, 5);
    wire_put_u8(&w, SFTP_INIT);
    wire_put_u32(&w, SFTP_VERSION);
    return exchange(s, &w, SFTP_VERSION_ANSWER);
}

static int open_channel(struct ssh_load *l, struct ssh_session *s)
{
    return ssh_channel_open_session(ssh_client_connection(s->client), true, BYTES_LIT("sftp"),
                                    deadline_of(l), &s->channel);
}

int ssh_session_open_sftp(struct ssh_load *l, struct ssh_session *s)
{
    if (s->channel != NULL)
        return 0;
    int r = open_channel(l, s);
    return r == 0 ? greet(s) : r;
}

int ssh_session_open_files(struct ssh_load *l, struct ssh_session *s)
{
    const struct sftp_client_settings settings = {.stall_us = l->shared->timeout_us};
    int r = open_channel(l, s);
    return r == 0 ? sftp_client_new(ssh_channel_stream(s->channel), &settings, &s->sftp) : r;
}

int ssh_session_ask(struct ssh_load *l, struct ssh_session *s)
{
    uint8_t question[16];
    struct wire_writer w = wire_writer_of(question, sizeof(question));
    wire_put_u32(&w, 10);
    wire_put_u8(&w, SFTP_REALPATH);
    wire_put_u32(&w, ++l->logins);
    wire_put_string(&w, BYTES_LIT("."));
    return exchange(s, &w, SFTP_NAME);
}

/* -- commands -- */

static int throw_away(struct stream *stream, uint64_t *ret_bytes)
{
    uint64_t bytes = 0;
    for (;;) {
        struct slices in;
        int r = stream_take(stream, TAKE_AT_ONCE, &in);
        if (r < 0)
            return r;
        size_t len = in.len;
        slices_drop(&in);
        if (len == 0)
            break;
        bytes += len;
        if (task_turn_is_over())
            task_yield();
    }
    *ret_bytes = bytes;
    return 0;
}

int ssh_session_run(struct ssh_load *l, struct ssh_session *s, const char *command,
                    uint64_t *ret_bytes)
{
    struct ssh_channel *channel;
    l->why[0] = '\0';
    int r = ssh_channel_open_session(ssh_client_connection(s->client), false,
                                     bytes_str(command), deadline_of(l), &channel);
    if (r < 0)
        return r;
    r = throw_away(ssh_channel_stream(channel), ret_bytes);
    int status = r == 0 ? ssh_channel_status(channel, deadline_of(l)) : r;
    if (status > 0) {
        text_copy_printable(l->why, sizeof(l->why), ssh_channel_errors(channel));
        r = -FERRY_EREFUSED;
    }
    ssh_channel_close(channel);
    return status < 0 ? status : r;
}

/* -- the crowd -- */

int ssh_load_reserve(struct ssh_load *l, unsigned count)
{
    if (count <= l->crowd_count)
        return 0;
    struct ssh_session **more = mem_raw(count * sizeof(struct ssh_session *));
    if (more == NULL)
        return -ENOMEM;
    if (l->crowd_count > 0)
        memcpy(more, l->crowd, l->crowd_count * sizeof(struct ssh_session *));
    mem_free(l->crowd);
    l->crowd = more;
    while (l->crowd_count < count) {
        struct ssh_session *s = mem_new(sizeof(*s));
        if (s == NULL)
            return -ENOMEM;
        l->crowd[l->crowd_count++] = s;
    }
    return 0;
}

void ssh_load_close_crowd(struct ssh_load *l)
{
    for (unsigned i = 0; i < l->crowd_count; i++) {
        ssh_session_close(l->crowd[i]);
        mem_free(l->crowd[i]);
    }
    mem_free(l->crowd);
    l->crowd = NULL;
    l->crowd_count = 0;
}

void ssh_load_close(struct ssh_load *l)
{
    ssh_load_close_crowd(l);
    ssh_session_close(&l->lone);
    if (l->program.pid != 0)
        ssh_program_stop(&l->program, *l->shared->pool);
    l->relay = relay_free(l->relay);
}

void ssh_load_explain(const struct ssh_load *l, const char *what, int result, size_t cap,
                      char *dst)
{
    bool is_said = l->why[0] != '\0' && result != -ENOMEM;
    snprintf(dst, cap, "%s: %s", what, is_said ? l->why : err_text(result));
}
