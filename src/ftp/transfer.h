/* A transfer command while it runs: RETR, STOR, STOU, APPE, LIST, NLST, MLSD.
 *
 * The transfer is a child task of the session. It opens what it needs, reports that, makes the
 * data connection, moves the bytes, closes, and reports the end; each report is a phase and the
 * session's event. It never writes to the control connection. The object is the session's,
 * which frees it when the task has returned.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "ftp/data.h"
#include "task/task.h"
#include "vfs/path.h"
#include "xfer/xfer.h"

/* One state machine of two tasks:
 *
 *     transfer's task              session's task
 *     OPENING                      holds every line but ABOR and QUIT
 *     OPENED: connects             says 150 (is_announced); answers NOOP, STAT ...
 *     CONNECTED: bytes flow        the same; other lines are held (session's is_holding)
 *     is_finished, returns         says the last reply, frees the transfer, goes on reading
 *
 * Neither waits for the other between OPENED and the end.
 * A transfer that was over before the session ran gets its 150 and its last reply in one
 * packet.
 *
 * ABOR cancels the transfer's task in any phase (is_aborted): the last reply is then 426, and
 * ABOR's own 226 comes behind it. QUIT (session's is_quitting) stops the reading; 221 comes
 * behind the last reply. A kick, or the end of the control connection, ends the session, which
 * cancels and joins the transfer first (ftp_transfer_stop).
 */
struct ftp_session;
struct ftp_transfer;

#define FTP_COMPRESSION_TEXT_MAX 12

enum ftp_transfer_phase {
    FTP_TRANSFER_OPENING,
    FTP_TRANSFER_OPENED,    /* 150 can be said; the data connection is made */
    FTP_TRANSFER_CONNECTED, /* bytes flow */
};

/* What differs between the commands. All run in the transfer's task, but for
 * announce, which may come after close. */
struct ftp_transfer_kind {
    const char *verb;      /* what `who` shows */
    const char *operation; /* of the audit record; NULL: none is written */
    bool restarts;         /* REST means something to it */
    bool is_upload;        /* the client sends */
    size_t size;           /* of the object that begins with struct ftp_transfer */
    PARKS int (*open)(struct ftp_transfer *);
    int (*announce)(struct ftp_transfer *, struct buf *out); /* appends 150 */
    PARKS int (*move)(struct ftp_transfer *, struct stream *);
    /* Called once after a successful open, in a shield; the result so far goes in, the final
     * one comes out (a commit may fail). */
    PARKS int (*close)(struct ftp_transfer *, int result);
};

struct ftp_transfer {
    const struct ftp_transfer_kind *kind;
    struct ftp_session *session;
    struct task *task;     /* valid until is_finished */
    struct ftp_data data;  /* taken from the session */
    struct vpath path;     /* of the command; {0} if it has none */
    char *argument;        /* the command's text, a copy */
    uint64_t offset;       /* REST */
    uint64_t expect_bytes; /* ALLO */
    bool is_ascii;         /* TYPE A */
    bool is_deflate;       /* MODE Z */
    int8_t level;          /* of it, if we send */
    bool takes_partial;    /* SIZE told this name's partial size (APPE) */
    bool is_announced;     /* 150 was said */
    bool is_finished;      /* result is final; the task is about to return */
    bool is_aborted;       /* ABOR is to be answered */
    enum ftp_transfer_phase phase;
    int result; /* of the phase it ended in */
    struct xfer_progress progress;
    struct xfer_result moved;
    char compression[FTP_COMPRESSION_TEXT_MAX]; /* for the audit record; "": none */
};

/* Takes what PASV or PORT prepared, REST and ALLO, and starts the task; or says why not. path
 * and argument are copied; path may be NULL. */
PARKS MUST_CHECK int ftp_transfer_start(struct ftp_session *, const struct ftp_transfer_kind *,
                                        const struct vpath *path, struct bytes argument);

/* What became of the running transfer since the last call: says 150, or the final reply, after
 * which there is no transfer. 0, or what ends the session. */
PARKS MUST_CHECK int ftp_transfer_events(struct ftp_session *);

/* Cancels it, if there is one, and waits until it has left. For the session's end, whose reason
 * is what the transfer's records tell. */
PARKS void ftp_transfer_stop(struct ftp_session *, int why);

/* The request that xfer/ gets: limits of session and account. */
struct xfer_request ftp_transfer_request(struct ftp_transfer *);
