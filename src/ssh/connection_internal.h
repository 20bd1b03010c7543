/* A connection and its channels from inside: for ssh/connection*.c and ssh/channel*.c. */
#pragma once
#include "base/buf.h"
#include "base/wire.h"
#include "ssh/connection.h"
#include "ssh/transport_internal.h"
#include "ssh/wire/channel.h"

#define SSH_ERRORS_MAX (8 * 1024)

/* A run of received data, in order of arrival. */
struct ssh_input {
    struct list node;
    struct chunk *chunk;
    unsigned first, count; /* of the chunk's pieces */
    size_t len;
    bool is_copy; /* the chunk is the channel's own: behind its last piece is room */
};

struct ssh_channel {
    struct stream stream; /* first */
    struct list node;     /* in the connection's */
    struct ssh_connection *connection;
    uint32_t id, peer_id;

    /* to the peer */
    uint32_t peer_window, peer_packet_max;
    uint32_t lent;         /* of the peer's window: in rooms that were not sent yet */
    struct event writable; /* the window has grown, or the channel has ended */
    uint64_t sent_bytes;

    /* from the peer */
    struct list input;
    struct event readable; /* input came, or the end */
    uint32_t window;       /* what the peer may still send */
    uint32_t window_size;  /* what it is topped up to */
    uint32_t dropped;      /* since the last adjust */
    uint64_t received_bytes;
    uint64_t granted;     /* credit of all times; less `window`: what was received */
    uint32_t grown;       /* to be granted beyond what was dropped */
    usec_t round_at;      /* a grant under way: when; 0: none */
    uint64_t round_bytes; /* what had been granted before it */
    usec_t data_at;       /* when data came last, during a round */
    usec_t shortest_us;   /* of the rounds so far; 0: there was none */

    /* Where it stands:
     *
     *     message        from the peer    owed by us           sent by us
     *     confirmation   is_open          owes_confirmation    is_open
     *     reply          is_answered      replies              -
     *     EOF            has_peer_eof     owes_eof             has_sent_eof
     *     exit status    status           owes_status          -
     *     CLOSE          has_peer_close   owes_close           has_sent_close
     *
     * A CLOSE of the peer is its EOF, too. What is owed is sealed when the gate is open, by
     * connection_settle.c. */
    bool is_open;
    bool has_peer_eof, has_peer_close;
    bool owes_confirmation, owes_eof, owes_status, owes_close;
    bool has_sent_eof, has_sent_close;
    uint16_t replies; /* owed: bit n is the n-th's, 1: success */
    uint8_t reply_count;

    /* server: what serves it */
    const struct ssh_service *service;
    void *service_state;
    struct task *task; /* NULL: it dozes, or has not begun or ended */
    bool has_finished; /* it ran for the last time */
    int status;        /* exit status, of ours or of the peer's; -1: none yet */

    /* client */
    bool is_held;          /* by who opened it */
    bool has_asked;        /* the peer knows of it */
    bool is_refused;       /* the open or the request was */
    bool is_answered;      /* the request was */
    struct event answered; /* confirmation, failure, reply, status, end */
    struct buf errors;
};

struct ssh_refusal { /* opens that were refused, of channels that the peer counts upwards */
    uint32_t recipient, count;
    enum ssh_open_failure reason;
};

struct ssh_connection {
    struct ssh_transport *transport;
    struct scope *scope;
    const struct ssh_connection_settings *settings;
    struct ssh_channel *slots[SSH_CHANNELS_MAX];
    struct list channels;
    unsigned count;
    size_t held_bytes; /* of chunks that hold data not yet dropped */
    unsigned waiting;  /* tasks that wait for the peer's word: a window */
    usec_t window_wait_us;
    bool is_broken;
    bool no_more_sessions;
    struct ssh_refusal refusals[SSH_PENDING_MAX];
    unsigned refusal_count;
    unsigned global_failures; /* owed */
    unsigned unanswered;      /* pings of ours */
};

static inline struct ssh_channel *ssh_channel_of(struct stream *s)
{
    return (struct ssh_channel *)(void *)s; /* its first member */
}

enum ssh_role ssh_connection_role(const struct ssh_connection *);
bool ssh_connection_may_seal(const struct ssh_connection *);
/* Adds a channel. -FERRY_ELIMIT, -ENOMEM. */
MUST_CHECK int ssh_channel_new(struct ssh_connection *, struct ssh_channel **ret);
void ssh_channel_free(struct ssh_channel *);
extern const struct stream_ops ssh_channel_ops;

/* Data of the peer, in its window. Copies what is short. */
MUST_CHECK int ssh_channel_receive(struct ssh_channel *, struct bytes, struct chunk *);
void ssh_channel_window_init(struct ssh_channel *);
/* So much of the credit was used; at most `window`. */
void ssh_channel_window_take(struct ssh_channel *, uint32_t len);
/* Seals an adjust if enough was dropped and the gate is open. */
MUST_CHECK int ssh_channel_adjust(struct ssh_channel *);
/* Forgets what was received and not taken: nobody will. */
void ssh_channel_drop_input(struct ssh_channel *);
/* Until something was received, or the peer has ended: 0. */
PARKS MUST_CHECK int ssh_channel_wait_readable(struct ssh_channel *, usec_t deadline);
/* Throws away what comes, until the peer has ended. */
PARKS MUST_CHECK int ssh_channel_drain(struct ssh_channel *, usec_t deadline);
/* The stream's operations of receiving. */
PARKS MUST_CHECK int ssh_channel_take(struct stream *, size_t max, struct slices *ret);
void ssh_channel_slices_drop(struct slices *);
PARKS MUST_CHECK ssize_t ssh_channel_read(struct stream *, void *, size_t max);
/* No more data will come or go: wakes who waits. */
void ssh_channel_end(struct ssh_channel *);
/* Around a wait for something that only the peer can send: what it is stands behind its data,
 * so the session task must not stop reading. */
void ssh_connection_wait_begin(struct ssh_connection *);
void ssh_connection_wait_end(struct ssh_connection *);

/* A request on a channel of ours (server), or of theirs (client). */
MUST_CHECK int ssh_channel_on_request(struct ssh_channel *, struct bytes payload);
/* Starts the service's task if it dozes. */
MUST_CHECK int ssh_channel_wake_service(struct ssh_channel *);
