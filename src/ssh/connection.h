/* Channels on a transport, either role (RFC 4254).
 *
 * The session task dispatches messages and seals what the connection owes the peer: window
 * adjusts, EOF, CLOSE, replies, kept as counters and flags per channel, so that no queue of
 * control messages exists that a peer can make long. Bulk data goes by each channel's stream,
 * in the task of whoever uses it.
 *
 * Sending: a room is a chunk with one piece a packet; the peer's window is taken when the room
 * is given, and given back with what is not sent. While rooms and queues of a worker hold more
 * than its budget, a connection gets room for one packet, when it has nothing unsent: readers
 * that stop cost no more than that. Receiving: slices lie in the chunk that was
 * received; dropping them gives credit back. Credit is not memory: while chunks that are not
 * yet dropped hold more than the connection's input cap, the session task stops reading
 * (ssh_connection_is_full()). But not while somebody waits for a window or for new keys, whose
 * message may stand behind the data: then the credit that was given is the bound. Credit beyond
 * the cap is given while one channel is open alone, because its unread data delays that of
 * others: several share the cap. What was given is not taken back, only not renewed.
 */
#pragma once
#include "base/list.h"
#include "ssh/transport.h"

#define SSH_CHANNELS_MAX       64 /* of one connection */
#define SSH_CHANNELS_SESSION   10 /* of one session of a server */
#define SSH_PENDING_MAX        16 /* replies owed to one channel, runs of refused opens */
#define SSH_INPUT_CAP          (1024 * 1024)
#define SSH_WINDOW_FIRST       (2 * 1024 * 1024)
#define SSH_WINDOW_MAX         (15 * 1024 * 1024)
#define SSH_WINDOW_SHARE_MIN   (64 * 1024)        /* of one among many channels */
#define SSH_OUTPUT_CAP         (1024 * 1024)      /* two batches: one goes, one is added */
#define SSH_WORKER_OUTPUT_MAX  (64 * 1024 * 1024) /* of all connections of one worker */
#define SSH_CONTROL_OUTPUT_MAX (64 * 1024)        /* for answers, besides */
#define SSH_UNSENT_MAX         (SSH_OUTPUT_CAP + SSH_CONTROL_OUTPUT_MAX) /* then nothing is read */
#define SSH_PACKET_MIN_DATA    64           /* a peer that takes less in a packet is refused */
#define SSH_DATA_MAX           (128 * 1024) /* bytes of data in a packet that we take */

struct ssh_connection;
struct ssh_channel;

/* -- what serves a channel (server role) -- */

/* Of run(): nothing is half done; call it again with input. No status and no failure. */
#define SSH_SERVICE_DOZES 256

struct ssh_service {
    const char
        *name; /* of a subsystem, or the first word of a command; "" : any other command */
    bool is_subsystem;
    /* For a channel that asks for it. arg: of the connection; text: the whole command, or the
     * subsystem's name. *ret: for the next two. A failure refuses the request. Cannot park. */
    int (*open)(void *arg, struct ssh_channel *, struct bytes text, void **ret);
    /* The channel's task. An exit status of 0 to 255, SSH_SERVICE_DOZES, or a failure, which
     * becomes status 255. Who dozes has taken all input, and not seen its end. */
    PARKS int (*run)(void *service);
    /* After its last run, also when the connection is gone. Cannot park. */
    void (*close)(void *service);
};

struct ssh_connection_settings {
    const struct ssh_service *services; /* ends with one that has no open(); NULL: none */
    void *arg;
    unsigned channels_max; /* at most SSH_CHANNELS_MAX */
    struct event *wake; /* set when the session task has something to settle, or may read on */
};

/* Borrows all. scope: of services' tasks. */
MUST_CHECK int ssh_connection_new(struct ssh_transport *, struct scope *,
                                  const struct ssh_connection_settings *,
                                  struct ssh_connection **ret);
/* Every channel's stream fails from now on (-FERRY_ECLOSED), and those who wait are woken. */
void ssh_connection_break(struct ssh_connection *);
/* After break, and when the scope is empty: closes services. NULL is fine. */
struct ssh_connection *ssh_connection_free(struct ssh_connection *);

/* A message of 80 to 100. -FERRY_EPROTO, -ENOMEM. Cannot park. */
MUST_CHECK int ssh_connection_dispatch(struct ssh_connection *, const struct ssh_packet *);
/* Seals what is owed, as far as the gate and SSH_UNSENT_MAX allow. Cannot park. */
MUST_CHECK int ssh_connection_settle(struct ssh_connection *);
/* Frees channels that both sides have closed. By the session task alone. */
void ssh_connection_sweep(struct ssh_connection *);
/* So much was received and not yet dropped that the session task must read nothing. */
bool ssh_connection_is_full(const struct ssh_connection *);

/* A turn of the session task, which has cleared the wake event: settles, sweeps, and dispatches
 * what has come, or waits for the wake event where too much is held for more to be read:
 * -FERRY_ESTALLED after the stream's stall time. */
enum ssh_turn {
    SSH_TURN_AGAIN,
    SSH_TURN_DISPATCHED, /* a message of the peer's */
    SSH_TURN_NEEDS_MORE, /* bytes must come first */
};

PARKS MUST_CHECK int ssh_connection_turn(struct ssh_connection *);
/* No task of a service runs, and nothing is owed. */
bool ssh_connection_is_idle(const struct ssh_connection *);
/* Open or half open ones; for tests of their ends, since who has a channel needs no count. */
unsigned ssh_connection_channels(const struct ssh_connection *);
/* How long tasks of ours waited, each for itself, for the peer to give a channel a window. */
usec_t ssh_connection_window_wait_us(const struct ssh_connection *);
/* keepalive@openssh.com: asks for an answer, unless new keys are being made. */
MUST_CHECK int ssh_connection_ping(struct ssh_connection *);

/* -- a channel, for who uses it -- */

/* Both directions of its data; valid as long as the channel. stream_end(): EOF. */
struct stream *ssh_channel_stream(struct ssh_channel *);
/* To stderr. Fails as the stream does; all of it has the time of one stall. */
PARKS MUST_CHECK int ssh_channel_write_error(struct ssh_channel *, struct bytes);

/* -- client role: tasks other than the session task call these -- */

/* Opens a session channel and asks for a subsystem or a command. -FERRY_EREFUSED: the server
 * said no. The caller's to ssh_channel_close(). */
PARKS MUST_CHECK int ssh_channel_open_session(struct ssh_connection *, bool is_subsystem,
                                              struct bytes text, usec_t deadline,
                                              struct ssh_channel **ret);
/* What the peer's command wrote to stderr, up to 8 KB; borrowed. */
struct bytes ssh_channel_errors(const struct ssh_channel *);
/* Waits for the exit status: 0 to 255; -FERRY_ECLOSED: it ended without one. */
PARKS MUST_CHECK int ssh_channel_status(struct ssh_channel *, usec_t deadline);
/* Sends CLOSE, forgets it. NULL is fine. */
struct ssh_channel *ssh_channel_close(struct ssh_channel *);
