/* What test servers serve on channels. */
#pragma once
#include <errno.h>

#include "base/mem.h"
#include "ssh/connection_internal.h"
#include "ssh_pattern.h"

struct served {
    struct ssh_channel *channel;
    uint64_t count; /* of the command: its number */
};

static inline int served_open(void *arg, struct ssh_channel *ch, struct bytes text, void **ret)
{
    (void)arg;
    struct served *s = mem_new(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->channel = ch;
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] >= '0' && text.data[i] <= '9')
            s->count = s->count * 10 + (uint64_t)(text.data[i] - '0');
    *ret = s;
    return 0;
}

static inline void served_close(void *service)
{
    mem_free(service);
}

/* Sends back what comes: rooms filled from slices. */
static inline int run_echo(void *service)
{
    struct served *s = service;
    struct stream *stream = ssh_channel_stream(s->channel);
    for (;;) {
        struct slices in;
        int r = stream_take(stream, 100 * 1000, &in);
        if (r < 0)
            return r;
        if (in.len == 0)
            return 0;
        r = stream_write(stream, in.pieces, (int)in.count);
        slices_drop(&in);
        if (r < 0)
            return r;
    }
}

/* The same, but without a task while nothing comes. */
static inline int run_dozing_echo(void *service)
{
    struct served *s = service;
    struct stream *stream = ssh_channel_stream(s->channel);
    while (!list_empty(&s->channel->input)) {
        uint8_t data[700];
        ssize_t n = stream_read(stream, data, sizeof(data));
        int r = n > 0 ? stream_write_bytes(stream, bytes_of(data, (size_t)n)) : (int)n;
        if (r < 0)
            return r;
        s->count += (uint64_t)n;
    }
    return s->channel->has_peer_eof ? (int)(s->count % 251) : SSH_SERVICE_DOZES;
}

/* Takes all; status 0 if it was the pattern, and `count` bytes of it. */
static inline int run_sink(void *service)
{
    struct served *s = service;
    uint64_t at = 0;
    for (;;) {
        struct slices in;
        int r = stream_take(ssh_channel_stream(s->channel), 64 * 1024, &in);
        if (r < 0)
            return r;
        if (in.len == 0)
            return at == s->count ? 0 : 2;
        bool is_right = true;
        for (unsigned i = 0; i < in.count; i++) {
            is_right = is_right && is_pattern(in.pieces[i].iov_base, in.pieces[i].iov_len, at);
            at += in.pieces[i].iov_len;
        }
        slices_drop(&in);
        if (!is_right)
            return 3;
    }
}

static inline int run_source(void *service)
{
    struct served *s = service;
    return send_pattern(ssh_channel_stream(s->channel), s->count);
}

/* Ends at once, whatever the peer sends. */
static inline int run_status(void *service)
{
    struct served *s = service;
    return (int)s->count;
}

/* The same, but late. */
static inline int run_late(void *service)
{
    int r = task_sleep_until(clock_after(5 * USEC_PER_S));
    return r == 0 ? run_status(service) : r;
}

static inline int run_failure(void *service)
{
    struct served *s = service;
    return -(int)s->count;
}

static inline int run_complain(void *service)
{
    struct served *s = service;
    int r = ssh_channel_write_error(s->channel, BYTES_LIT("no such thing\n"));
    return r < 0 ? r : 7;
}

static const struct ssh_service test_services[] = {
    {"echo", false, served_open, run_echo, served_close},
    {"echo", true, served_open, run_echo, served_close},
    {"doze", false, served_open, run_dozing_echo, served_close},
    {"sink", false, served_open, run_sink, served_close},
    {"source", false, served_open, run_source, served_close},
    {"status", false, served_open, run_status, served_close},
    {"fail", false, served_open, run_failure, served_close},
    {"late", false, served_open, run_late, served_close},
    {"complain", false, served_open, run_complain, served_close},
    {NULL, false, NULL, NULL, NULL},
};
