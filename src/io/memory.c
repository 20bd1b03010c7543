#include "io/memory.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/chunk.h"

/* One direction: a ring, written by one end and read by the other. */
struct pipe {
    uint8_t *ring;
    size_t cap, head, len;
    bool writer_ended; /* no more will come */
    bool reader_gone;
    struct event readable, writable; /* set when it changes for the better */
};

/* Lives until both ends are freed. */
struct joint {
    unsigned refs;
    uint64_t dice; /* 0: nothing is cut */
    struct pipe pipes[2];
};

struct memory_stream {
    struct stream stream;
    struct joint *joint;
    struct pipe *in, *out;
    uint64_t sent_bytes, received_bytes;
};

static struct memory_stream *memory_of(struct stream *s)
{
    return (struct memory_stream *)(void *)s; /* its first member */
}

/* How many of len bytes the next step moves: any number from 1 on (xorshift64). */
static size_t cut(struct joint *j, size_t len)
{
    if (j->dice == 0 || len <= 1)
        return len;
    j->dice ^= j->dice << 13;
    j->dice ^= j->dice >> 7;
    j->dice ^= j->dice << 17;
    /* short pieces as often as long ones: that is where protocols break */
    size_t most = j->dice & 1 ? len : len < 4 ? len : 4;
    return 1 + (size_t)((j->dice >> 8) % most);
}

/* -- sending -- */

static int wait_writable(struct memory_stream *m)
{
    while (!m->out->reader_gone && m->out->len == m->out->cap) {
        event_clear(&m->out->writable);
        int r = event_wait(&m->out->writable, clock_after(m->stream.stall_us));
        if (r < 0)
            return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
    }
    return m->out->reader_gone ? -FERRY_ECLOSED : 0;
}

static size_t put(struct pipe *p, const uint8_t *data, size_t len)
{
    size_t tail = (p->head + p->len) % p->cap;
    size_t n = p->cap - p->len;
    if (n > len)
        n = len;
    if (n > p->cap - tail)
        n = p->cap - tail;
    memcpy(p->ring + tail, data, n);
    p->len += n;
    event_set(&p->readable);
    return n;
}

static int send_bytes(struct memory_stream *m, const uint8_t *data, size_t len)
{
    while (len > 0) {
        int r = wait_writable(m);
        if (r < 0)
            return r;
        size_t n = put(m->out, data, cut(m->joint, len));
        data += n;
        len -= n;
        m->sent_bytes += n;
        if (m->joint->dice != 0)
            task_yield(); /* the reader sees each piece by itself */
    }
    return 0;
}

static int memory_room(struct stream *s, size_t want, struct room *ret)
{
    struct joint *j = memory_of(s)->joint;
    int r = chunk_room(s, cut(j, want), ret);
    if (r < 0 || j->dice == 0)
        return r;
    /* pieces of any size, as a stream of packets lends them */
    uint8_t *at = ret->pieces[0].iov_base;
    size_t left = ret->len;
    for (ret->count = 0; left > 0; ret->count++) {
        size_t len = ret->count == ROOM_PIECES_MAX - 1 ? left : cut(j, left);
        ret->pieces[ret->count] = (struct iovec){.iov_base = at, .iov_len = len};
        at += len;
        left -= len;
    }
    return 0;
}

static int memory_send(struct stream *s, struct room *room, size_t len)
{
    int r = 0;
    for (unsigned i = 0; i < room->count && len > 0 && r == 0; i++) {
        size_t n = room->pieces[i].iov_len < len ? room->pieces[i].iov_len : len;
        r = send_bytes(memory_of(s), room->pieces[i].iov_base, n);
        len -= n;
    }
    chunk_unref(room->chunk);
    return r;
}

static int memory_write(struct stream *s, const struct iovec *data, int count)
{
    int r = 0;
    for (int i = 0; i < count && r == 0; i++)
        r = send_bytes(memory_of(s), data[i].iov_base, data[i].iov_len);
    return r;
}

static ssize_t memory_try_write(struct stream *s, const struct iovec *data, int count)
{
    struct memory_stream *m = memory_of(s);
    size_t sent = 0;
    if (m->out->reader_gone)
        return -FERRY_ECLOSED;
    for (int i = 0; i < count; i++) {
        size_t len = data[i].iov_len < m->out->cap - m->out->len ? data[i].iov_len
                                                                 : m->out->cap - m->out->len;
        len = len > 0 ? cut(m->joint, len) : 0;
        size_t n = len > 0 ? put(m->out, data[i].iov_base, len) : 0;
        sent += n;
        if (n < data[i].iov_len)
            break;
    }
    m->sent_bytes += sent;
    return sent > 0 ? (ssize_t)sent : -EAGAIN;
}

/* -- receiving -- */

static int wait_readable(struct memory_stream *m, usec_t deadline)
{
    while (m->in->len == 0 && !m->in->writer_ended) {
        event_clear(&m->in->readable);
        int r = event_wait(&m->in->readable, deadline);
        if (r < 0)
            return r;
    }
    return 0;
}

static size_t get(struct memory_stream *m, uint8_t *data, size_t max)
{
    struct pipe *p = m->in;
    size_t n = p->len < max ? p->len : max;
    if (n > p->cap - p->head)
        n = p->cap - p->head;
    n = cut(m->joint, n);
    memcpy(data, p->ring + p->head, n);
    p->head = (p->head + n) % p->cap;
    p->len -= n;
    m->received_bytes += n;
    event_set(&p->writable);
    return n;
}

static ssize_t memory_read(struct stream *s, void *data, size_t max)
{
    struct memory_stream *m = memory_of(s);
    int r = wait_readable(m, clock_after(s->stall_us));
    if (r < 0)
        return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
    return m->in->len > 0 ? (ssize_t)get(m, data, max) : 0;
}

static int memory_take(struct stream *s, size_t max, struct slices *ret)
{
    struct chunk *c = chunk_new(max);
    if (c == NULL)
        return -ENOMEM;
    ssize_t n = memory_read(s, c->data, max < c->size ? max : c->size);
    if (n > 0) {
        chunk_slices(s, c, (size_t)n, ret);
        return 0;
    }
    chunk_unref(c);
    *ret = (struct slices){0};
    return (int)n;
}

/* Tells the waiting end that the caller's event is set: a pipe has one event to wait on. */
struct relay {
    struct event *from, *to;
};

static void relay_event(void *arg)
{
    struct relay *relay = arg;
    if (event_wait(relay->from, USEC_NEVER) == 0)
        event_set(relay->to);
}

static int wait_readable_or(struct memory_stream *m, struct event *event, usec_t deadline)
{
    struct relay relay = {.from = event, .to = &m->in->readable};
    struct scope scope;
    scope_init(&scope);
    int r = scope_start(&scope, "memory wait", TASK_NORMAL, relay_event, &relay, NULL);
    while (r == 0 && !event->is_set && m->in->len == 0 && !m->in->writer_ended) {
        event_clear(&m->in->readable);
        r = event_wait(&m->in->readable, deadline);
    }
    scope_leave(&scope);
    return r;
}

static int memory_wait(struct stream *s, struct event *event, usec_t deadline)
{
    struct memory_stream *m = memory_of(s);
    if (event == NULL)
        return wait_readable(m, deadline);
    bool must_wait = !event->is_set && m->in->len == 0 && !m->in->writer_ended;
    int r = must_wait ? wait_readable_or(m, event, deadline) : 0;
    if (r < 0)
        return r;
    return event->is_set ? 1 : 0;
}

/* -- the end -- */

static void end_writing(struct pipe *p)
{
    p->writer_ended = true;
    event_set(&p->readable);
}

static int memory_end(struct stream *s, usec_t deadline)
{
    struct memory_stream *m = memory_of(s);
    end_writing(m->out);
    while (deadline != 0) {
        int r = wait_readable(m, deadline);
        if (r < 0)
            return r;
        if (m->in->len == 0)
            break;
        m->in->len = 0;
        event_set(&m->in->writable);
    }
    return 0;
}

static void memory_info(const struct stream *s, struct stream_info *ret)
{
    const struct memory_stream *m = (const struct memory_stream *)(const void *)s;
    ret->sent_bytes = m->sent_bytes;
    ret->received_bytes = m->received_bytes;
    ret->unsent_bytes = (uint32_t)m->out->len;
}

static void joint_unref(struct joint *j)
{
    if (j == NULL || --j->refs > 0)
        return;
    mem_free(j->pipes[0].ring);
    mem_free(j->pipes[1].ring);
    mem_free(j);
}

static void memory_free(struct stream *s)
{
    struct memory_stream *m = memory_of(s);
    end_writing(m->out);
    m->in->reader_gone = true;
    event_set(&m->in->writable);
    joint_unref(m->joint);
    mem_free(m);
}

static const struct stream_ops memory_ops = {
    .name = "memory",
    .room = memory_room,
    .send = memory_send,
    .take = memory_take,
    .write = memory_write,
    .try_write = memory_try_write,
    .read = memory_read,
    .end = memory_end,
    .wait = memory_wait,
    .info = memory_info,
    .free = memory_free,
};

static struct joint *joint_new(size_t cap, uint64_t seed)
{
    struct joint *j = mem_new(sizeof(*j));
    if (j == NULL)
        return NULL;
    j->refs = 1;
    j->dice = seed;
    for (unsigned i = 0; i < ARRAY_LEN(j->pipes); i++) {
        struct pipe *p = &j->pipes[i];
        event_init(&p->readable);
        event_init(&p->writable);
        p->cap = cap;
        p->ring = mem_raw(cap);
        if (p->ring == NULL) {
            joint_unref(j);
            return NULL;
        }
    }
    return j;
}

static struct stream *end_new(struct joint *j, struct pipe *in, struct pipe *out)
{
    struct memory_stream *m = mem_new(sizeof(*m));
    if (m == NULL)
        return NULL;
    m->stream.ops = &memory_ops;
    m->joint = j;
    m->in = in;
    m->out = out;
    j->refs++;
    return &m->stream;
}

int memory_pair_new(size_t cap, uint64_t seed, struct stream **ret_a, struct stream **ret_b)
{
    struct joint *j = joint_new(cap, seed);
    if (j == NULL)
        return -ENOMEM;
    struct stream *a = end_new(j, &j->pipes[0], &j->pipes[1]);
    struct stream *b = a != NULL ? end_new(j, &j->pipes[1], &j->pipes[0]) : NULL;
    joint_unref(j); /* the ends hold it */
    if (b == NULL) {
        (void)stream_free(a);
        return -ENOMEM;
    }
    *ret_a = a;
    *ret_b = b;
    return 0;
}
