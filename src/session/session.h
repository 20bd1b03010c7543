/* What every session has, whatever it speaks: identity, account, deadlines, what it does now,
 * audit record (session/audit.h), kick. A session lives and dies on one worker; what sessions
 * share (limits, bans, ids) is session_shared, behind locks of its own.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "auth/check.h"
#include "base/list.h"
#include "io/addr.h"
#include "io/stream.h"
#include "session/audit.h"
#include "session/limits.h"
#include "vfs/vfs.h"
#include "xfer/xfer.h"

struct session_timeouts {
    usec_t login_us, idle_us, stall_us, connect_us;
};

/* Shared by all workers and protocols: counters behind a lock, settings, audit sink. */
struct session_shared;

struct session_settings {
    struct session_limits limits;
    unsigned ban_failures; /* auth/bans.h; 0: nobody is banned. Loopback is not exempt */
    struct session_timeouts timeouts;
    struct vfs_policy vfs;
    struct vroot *const *roots; /* by account->root_index */
    struct pool *files_pool;
    struct auth *auth;
    /* Gets audit lines (JSON, with newline), from any worker. NULL: none. */
    void (*audit_sink)(const char *line, size_t len);
};

/* After the accounts were added and before workers run: gives each account its share of the
 * pool and its rate bucket. Borrows what settings points to. -ENOMEM. */
MUST_CHECK int session_shared_new(const struct session_settings *, struct session_shared **ret);
/* After the last session and before the auth object goes. NULL is fine; returns NULL. */
struct session_shared *session_shared_free(struct session_shared *);
const struct session_timeouts *session_timeouts(const struct session_shared *);

enum session_end { SESSION_RUNS, SESSION_KICKED, SESSION_SHUTDOWN };

struct session {
    struct list node; /* in its worker's table */
    struct session_shared *shared;
    uint64_t id;              /* unique in the process, never 0 */
    const char *protocol;     /* "ftp", "ssh" */
    const char *cipher;       /* static text; NULL: what is sent is in clear */
    struct addr peer, local;  /* peer is what limits count: it stays as it is */
    struct account *account;  /* NULL before login */
    struct vfs *vfs;          /* NULL before login */
    struct pool_share *share; /* of the pool: two jobs; NULL before login */
    struct stream *control;   /* closing it is the protocol's; who and kick wake it */
    usec_t started_at;
    usec_t login_deadline;    /* one wall-clock deadline before authentication */
    usec_t active_at;         /* last command, or last end of a transfer */
    enum session_end end : 8; /* set by kick and drain; the protocol says 421 and leaves */
    bool sends_zlib, receives_zlib;          /* all that passes; else none, or by transfer */
    uint16_t sftp_handles, sftp_directories; /* open now, of all channels */
    struct event *wake; /* what the protocol's task waits on while awake; NULL while dozing */
    struct task *task;  /* it, if a kick may cancel it: it may wait for a disk that has stopped,
                           or for a peer that reads nothing; NULL while dozing */
    char *command;      /* ssh: the one command that its key may run, or NULL */
    const char *doing;  /* static text for who: "idle", "RETR", ... */
    struct xfer_progress *progress; /* of the running transfer, or NULL */
};

/* -- life -- */

/* Counts it against the limits: -FERRY_ELIMIT (too many sessions, or from this address, or
 * before login: above half of `unauthenticated` some are refused early, at random),
 * -FERRY_EBANNED, -ENOMEM. Embedded in the protocol's object. After a failure nothing is held,
 * and session_done() does nothing. Nothing is logged: who accepts knows how loud to be. */
MUST_CHECK int session_init(struct session *, struct session_shared *, const char *protocol,
                            const struct addr *peer, const struct addr *local);
/* Uncounts, frees account, vfs, share; not the control stream. {0} is fine. */
void session_done(struct session *);

/* auth_check(), then per-account limit, root and vfs. -FERRY_EAUTH, -FERRY_EBANNED (meanwhile),
 * -EBUSY, -FERRY_ELIMIT, -ENOMEM, -ECANCELED. On success session->account, ->vfs and ->share
 * are set. Outcomes are logged, and refusals counted, here. A session that is logged in is
 * logged out first. */
PARKS MUST_CHECK int session_login(struct session *, const struct auth_request *);
/* The same with an account that the protocol has found right itself (a signature of one of its
 * keys). Takes the account. how: "publickey", for the log. */
MUST_CHECK int session_login_account(struct session *, struct account *, const char *how);
/* A refusal by the protocol itself, which is logged and counted as session_login()'s are. */
void session_login_failed(struct session *, const char *user, const char *how);
/* REIN: back to before login, with a new login deadline. */
void session_logout(struct session *);

/* Of the pool: what all sessions of this host share, for what runs before a login. A reference.
 */
struct pool_share *session_host_share(struct session *);

/* -- who, kick, drain: on the session's worker -- */

/* The first reason given stays. */
void session_end_all(enum session_end);              /* every session of this worker */
bool session_end_one(uint64_t id, enum session_end); /* false: not on this worker */
unsigned session_count_here(void);

struct session_line { /* a copy for `ferry who` */
    uint64_t id, file_bytes;
    char protocol[8], peer[ADDR_TEXT_MAX], user[64], doing[16];
    uint64_t age_us, idle_us;
};

/* Up to max lines of this worker, starting behind id `after`, in order of id; returns the
 * count. */
unsigned session_list_here(uint64_t after, struct session_line *lines, unsigned max);
