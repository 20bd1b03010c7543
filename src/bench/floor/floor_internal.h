/* What the parts of the floor know of each other. */
#pragma once
#include <sys/epoll.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/list.h"
#include "bench/floor/floor.h"

#define FLOOR_PIPE_BYTES  (1024 * 1024) /* as much as any user may have */
#define FLOOR_BLOCK_BYTES (16 * 1024)
#define FLOOR_EVENTS      256 /* of one turn */

/* A descriptor in the loop, which is level-triggered: on_ready() does one step. It may come
 * once for nothing, when the descriptor was replaced since the kernel told of it. */
struct watch {
    int fd; /* -1: none */
    void (*on_ready)(struct watch *);
};

struct floor {
    const struct floor_settings *settings;
    int folder;
    int epoll;
    struct watch listener, signals, parent; /* the last two: readable when it is time to end */
    bool is_full; /* no descriptor for the next client: the listener is off the loop */
    bool is_over;
    int pipe[2];                      /* from a socket to a file; empty between two steps */
    uint8_t block[FLOOR_BLOCK_BYTES]; /* the first of an upload */
    struct list sessions, ended;
    struct epoll_event events[FLOOR_EVENTS];
    char commands[FTP_LINE_MAX + 1024]; /* one read, behind what was left of the one before */
};

enum floor_transfer { FLOOR_NO_TRANSFER, FLOOR_RETR, FLOOR_STOR };

struct floor_session {
    struct list link;
    struct floor *floor;
    bool is_over; /* nothing is done for it any more; the end of the turn closes and frees it */
    struct watch control;
    struct buf rest; /* of a line whose end has not come */

    struct watch door; /* where it connects for data */
    struct watch data;
    uint16_t port; /* of the door */
    enum floor_transfer transfer;
    bool is_awaited; /* the door is in the loop, since a transfer waits for its connection */
    int file;
    off_t off, len;
};

MUST_CHECK int floor_watch(struct floor *, struct watch *, unsigned events);
void floor_unwatch(struct floor *, struct watch *);

/* -- floor_session.c -- */

void floor_session_begin(struct floor *, int fd); /* takes fd */
void floor_session_end(struct floor_session *);   /* fine twice */
void floor_session_free(struct floor_session *);
/* One write. A client that does not read its replies is dropped. */
void floor_reply(struct floor_session *, struct bytes);

/* -- floor_transfer.c -- */

void floor_passive(struct floor_session *, bool is_extended);
/* Each replies, at once or at its end. name: a name in the folder. */
void floor_retrieve(struct floor_session *, const char *name);
void floor_store(struct floor_session *, const char *name);
void floor_abort(struct floor_session *);
/* Lets go of what a transfer holds, without a word. */
void floor_transfer_drop(struct floor_session *);
