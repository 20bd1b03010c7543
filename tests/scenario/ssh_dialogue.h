/* Steps of a client's dialogue. */
#pragma once
#include "ssh_link.h"

static inline int open_exec(struct link *l, const char *command, struct ssh_channel **ret)
{
    return ssh_channel_open_session(ssh_client_connection(l->client), false, bytes_str(command),
                                    clock_after(STALL_US), ret);
}

struct writing {
    struct stream *stream;
    uint64_t count;
    int result;
};

static inline void writing_main(void *arg)
{
    struct writing *w = arg;
    w->result = send_pattern(w->stream, w->count);
    int r = stream_end(w->stream, 0); /* also after a failure: who reads comes to an end */
    if (w->result == 0)
        w->result = r;
}

/* Sends the pattern and reads it back, at once. */
static inline int echo_pattern(struct ssh_channel *ch, uint64_t count)
{
    struct scope scope;
    struct writing w = {ssh_channel_stream(ch), count, 0};
    uint64_t at = 0;
    scope_init(&scope);
    int r = scope_start(&scope, "writing", TASK_NORMAL, writing_main, &w, NULL);
    while (r == 0) {
        struct slices in;
        r = stream_take(ssh_channel_stream(ch), 50 * 1000, &in);
        if (r < 0 || in.len == 0)
            break;
        for (unsigned i = 0; i < in.count; i++) {
            TASK_ASSERT(is_pattern(in.pieces[i].iov_base, in.pieces[i].iov_len, at));
            at += in.pieces[i].iov_len;
        }
        slices_drop(&in);
    }
    scope_leave(&scope);
    if (r == 0)
        r = w.result;
    return r == 0 && at != count ? -EIO : r;
}

/* All channels are forgotten by both sides, or the connection is. */
static inline int wait_forgotten(struct link *l)
{
    for (unsigned i = 0; i < 1000; i++) {
        if (ssh_client_result(l->client) < 0)
            return ssh_client_result(l->client);
        if (ssh_connection_channels(ssh_client_connection(l->client)) == 0)
            return 0;
        int r = task_sleep_until(clock_after(100 * USEC_PER_MS));
        if (r < 0)
            return r;
    }
    return -ETIMEDOUT;
}
