#include "io/tls.h"

#include <assert.h>
#include <errno.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "io/chunk.h"
#include "io/tcp.h"
#include "io/tls_link.h"

#define WASTE_BYTES 1024 /* thrown away at a time; they lie on the stack */

struct tls_context {
    SSL_CTX *ctx;
    BIO_METHOD *method; /* how OpenSSL reaches a socket */
};

struct tls_stream {
    struct stream stream;
    struct stream *lower;
    struct tls_link link; /* to the socket of lower */
    SSL *ssl;
    usec_t deadline; /* of what goes on; 0: the stall time bounds each wait */
    bool is_broken;  /* nothing more may be asked of OpenSSL */
    bool is_closed;  /* close_notify was sent */
    uint64_t sent_bytes, received_bytes;
};

static struct tls_stream *tls_of(struct stream *s)
{
    return (struct tls_stream *)(void *)s; /* its first member */
}

static const struct tls_stream *tls_of_const(const struct stream *s)
{
    return (const struct tls_stream *)(const void *)s;
}

/* -- contexts -- */

static bool set_up(SSL_CTX *ctx)
{
    SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* A write ends with the record that the socket took, is repeated from wherever the rest
     * lies then, and an idle connection keeps no buffers. */
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(ctx, 1); /* one call for a record, not two */
    /* A peer that sends records without payload must not keep us inside one call. */
    SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* the streams have them */
    return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1;
}

int tls_context_new(struct tls_context **ret)
{
    struct tls_context *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->ctx = SSL_CTX_new(TLS_client_method());
    c->method = tls_link_method_new();
    if (c->ctx == NULL || c->method == NULL || !set_up(c->ctx)) {
        ERR_clear_error();
        (void)tls_context_free(c);
        return -FERRY_EPROTO;
    }
    *ret = c;
    return 0;
}

struct tls_context *tls_context_free(struct tls_context *c)
{
    if (c == NULL)
        return NULL;
    SSL_CTX_free(c->ctx);
    BIO_meth_free(c->method);
    mem_free(c);
    return NULL;
}

/* -- waiting for what OpenSSL wants -- */

static int failure_of(struct tls_stream *t)
{
    bool is_memory = ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE;
    ERR_clear_error();
    t->is_broken = true;
    if (t->link.failure < 0)
        return t->link.failure;
    if (is_memory)
        return -ENOMEM;
    return t->link.has_ended ? -FERRY_ETRUNCATED : -FERRY_EPROTO;
}

/* After a call that returned `result` and not success: 0 when it is to be repeated. */
static int try_again(struct tls_stream *t, int result)
{
    int error = SSL_get_error(t->ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
        return failure_of(t);
    if (task_is_cancelled())
        return -ECANCELED;
    if (t->deadline != 0 && clock_now() >= t->deadline)
        return -ETIMEDOUT;
    if (task_turn_is_over())
        task_yield();
    enum io_dir dir = error == SSL_ERROR_WANT_READ ? IO_READ : IO_WRITE;
    return t->deadline != 0 ? io_fd_wait(t->link.fd, dir, t->deadline)
                            : tcp_wait_ready(t->link.fd, dir, t->stream.stall_us);
}

/* -- sending -- */

static int write_all(struct tls_stream *t, const uint8_t *data, size_t len)
{
    while (len > 0) {
        if (t->is_broken)
            return -FERRY_ECLOSED;
        size_t n = 0;
        ERR_clear_error();
        int ok = SSL_write_ex(t->ssl, data, len, &n);
        if (ok != 1) {
            int r = try_again(t, ok);
            if (r < 0)
                return r;
            continue;
        }
        data += n;
        len -= n;
        t->sent_bytes += n;
        if (len > 0 && task_turn_is_over())
            task_yield();
    }
    return 0;
}

static int tls_write(struct stream *s, const struct iovec *data, int count)
{
    int r = 0;
    for (int i = 0; i < count && r == 0; i++)
        r = write_all(tls_of(s), data[i].iov_base, data[i].iov_len);
    return r;
}

static int tls_send(struct stream *s, struct room *room, size_t len)
{
    int r = 0;
    for (unsigned i = 0; i < room->count && len > 0 && r == 0; i++) {
        size_t n = room->pieces[i].iov_len < len ? room->pieces[i].iov_len : len;
        r = write_all(tls_of(s), room->pieces[i].iov_base, n);
        len -= n;
    }
    chunk_unref(room->chunk);
    return r;
}

/* -- receiving -- */

/* The stall time is that of payload: a peer can send records without any for ever. */
static ssize_t read_some(struct tls_stream *t, void *data, size_t max)
{
    usec_t stalled_at = clock_after(t->stream.stall_us);
    for (;;) {
        if (t->is_broken)
            return -FERRY_ECLOSED;
        size_t n = 0;
        ERR_clear_error();
        int ok = SSL_read_ex(t->ssl, data, max, &n);
        if (ok == 1) {
            t->received_bytes += n;
            return (ssize_t)n;
        }
        if (SSL_get_error(t->ssl, ok) == SSL_ERROR_ZERO_RETURN)
            return 0;
        int r = try_again(t, ok);
        if (r < 0)
            return r;
        if (clock_now() >= stalled_at)
            return -FERRY_ESTALLED;
    }
}

static ssize_t tls_read(struct stream *s, void *data, size_t max)
{
    return read_some(tls_of(s), data, max);
}

/* One record at most. */
static int tls_take(struct stream *s, size_t max, struct slices *ret)
{
    struct tls_stream *t = tls_of(s);
    /* the chunk comes after the wait: who waits for a slow peer holds no memory */
    int r = SSL_has_pending(t->ssl) == 1 ? 0 : tcp_wait_ready(t->link.fd, IO_READ, s->stall_us);
    if (r < 0)
        return r;
    struct chunk *c =
        chunk_new(max < SSL3_RT_MAX_PLAIN_LENGTH ? max : SSL3_RT_MAX_PLAIN_LENGTH);
    if (c == NULL)
        return -ENOMEM;
    ssize_t n = read_some(t, c->data, max < c->size ? max : c->size);
    if (n > 0) {
        chunk_slices(s, c, (size_t)n, ret);
        return 0;
    }
    chunk_unref(c);
    if (n == 0)
        *ret = (struct slices){0};
    return (int)n;
}

/* What is readable need not hold a byte for us, so it is opened. */
static int tls_wait(struct stream *s, struct event *event, usec_t deadline)
{
    struct tls_stream *t = tls_of(s);
    for (;;) {
        if (event != NULL && event->is_set)
            return 1;
        if (t->is_broken)
            return -FERRY_ECLOSED;
        uint8_t first;
        size_t n;
        ERR_clear_error();
        int ok = SSL_peek_ex(t->ssl, &first, 1, &n);
        int error = ok == 1 ? SSL_ERROR_NONE : SSL_get_error(t->ssl, ok);
        if (error == SSL_ERROR_NONE || error == SSL_ERROR_ZERO_RETURN)
            return 0;
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
            return failure_of(t);
        int r = io_fd_wait_or(t->link.fd, error == SSL_ERROR_WANT_READ ? IO_READ : IO_WRITE,
                              event, deadline);
        if (r != 0)
            return r;
    }
}

/* -- the end -- */

static int send_close_notify(struct tls_stream *t)
{
    int r = t->is_broken ? -FERRY_ECLOSED : 0;
    while (r == 0 && !t->is_closed) {
        ERR_clear_error();
        int sent = SSL_shutdown(t->ssl); /* 0: it is sent, and the peer's has not come yet */
        t->is_closed = sent >= 0;
        if (sent < 0)
            r = try_again(t, sent);
    }
    return r;
}

/* The peer's end, with or without close_notify: nothing of what comes is used. */
static int wait_for_end(struct tls_stream *t, usec_t deadline)
{
    uint8_t waste[WASTE_BYTES];
    ssize_t n;
    while ((n = read_some(t, waste, sizeof(waste))) > 0) {
        if (task_is_cancelled())
            return -ECANCELED;
        if (clock_now() >= deadline)
            return -ETIMEDOUT; /* the peer sends without end */
        if (task_turn_is_over())
            task_yield();
    }
    return n == -FERRY_ETRUNCATED ? 0 : (int)n;
}

static int tls_end(struct stream *s, usec_t deadline)
{
    struct tls_stream *t = tls_of(s);
    t->deadline = deadline;
    int r = send_close_notify(t);
    if (r == 0)
        r = stream_end(t->lower, 0);
    if (r == 0 && deadline != 0)
        r = wait_for_end(t, deadline);
    t->deadline = 0;
    return r;
}

static void tls_info(const struct stream *s, struct stream_info *ret)
{
    const struct tls_stream *t = tls_of_const(s);
    stream_info(t->lower, ret);
    ret->sent_bytes = t->sent_bytes;
    ret->received_bytes = t->received_bytes;
}

static void tls_free(struct stream *s)
{
    struct tls_stream *t = tls_of(s);
    SSL_free(t->ssl);
    (void)stream_free(t->lower);
    mem_free(t);
}

static const struct stream_ops tls_ops = {
    .name = "tls",
    .room = chunk_room,
    .send = tls_send,
    .take = tls_take,
    .write = tls_write,
    .read = tls_read,
    .end = tls_end,
    .wait = tls_wait,
    .info = tls_info,
    .free = tls_free,
};

/* -- the beginning -- */

/* A copy, since OpenSSL spoils the session of a connection that breaks. */
static int offer_session(SSL *ssl, const struct stream *resume)
{
    SSL_SESSION *session = SSL_get0_session(tls_of_const(resume)->ssl);
    if (session == NULL || SSL_SESSION_is_resumable(session) != 1)
        return 0;
    SSL_SESSION *copy = SSL_SESSION_dup(session);
    if (copy == NULL)
        return -ENOMEM;
    int ok = SSL_set_session(ssl, copy);
    SSL_SESSION_free(copy);
    return ok == 1 ? 0 : -ENOMEM;
}

static int prepare(struct tls_stream *t, const struct tls_context *c,
                   const struct stream *resume)
{
    t->ssl = SSL_new(c->ctx);
    BIO *bio = t->ssl != NULL ? BIO_new(c->method) : NULL;
    if (bio == NULL)
        return -ENOMEM;
    BIO_set_data(bio, &t->link);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    SSL_set_connect_state(t->ssl);
    return resume != NULL ? offer_session(t->ssl, resume) : 0;
}

static int shake_hands(struct tls_stream *t)
{
    int r = 0, ok;
    do {
        ERR_clear_error();
        ok = SSL_do_handshake(t->ssl);
        if (ok != 1)
            r = try_again(t, ok);
    } while (ok != 1 && r == 0);
    return r == -FERRY_ETRUNCATED ? -FERRY_ECLOSED : r;
}

int tls_connect(const struct tls_context *c, struct stream *lower, const struct stream *resume,
                usec_t deadline, struct stream **ret)
{
    struct tls_stream *t = mem_new(sizeof(*t));
    if (t == NULL) {
        (void)stream_free(lower);
        return -ENOMEM;
    }
    t->stream = (struct stream){.ops = &tls_ops, .stall_us = lower->stall_us};
    t->lower = lower;
    t->link.fd = stream_fd(lower);
    t->deadline = deadline;
    assert(t->link.fd != NULL);
    int r = prepare(t, c, resume);
    if (r == 0)
        r = shake_hands(t);
    t->deadline = 0;
    if (r < 0) {
        ERR_clear_error();
        tls_free(&t->stream);
        return r;
    }
    *ret = &t->stream;
    return 0;
}

bool tls_is_resumed(const struct stream *s)
{
    return SSL_session_reused(tls_of_const(s)->ssl) == 1;
}

struct io_fd *tls_socket(const struct stream *s)
{
    assert(s->ops == &tls_ops);
    return tls_of_const(s)->link.fd;
}
