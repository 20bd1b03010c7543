/* What one FTP session remembers between commands (internal to ftp/).
 *
 * An idle session has no stack: it dozes, and this struct is all that is left of it (DESIGN
 * 3.3). So everything that outlives a command stands here, and names are on the heap only while
 * they are in use. One task, the session's own, reads the control connection and writes
 * replies; a transfer is a child task that reports through its struct ftp_transfer and the
 * event.
 */
#pragma once
#include "ftp/data.h"
#include "ftp/server.h"
#include "ftp/wire/line.h"

struct ftp_transfer;

struct ftp_session {
    struct session base; /* base.control is ours to close */
    const struct ftp_service *service;
    struct scope *sessions;        /* where the session's task runs */
    struct scope children;         /* the running transfer */
    struct event event;            /* the transfer has news, or the session is to end */
    struct ftp_transfer *transfer; /* NULL: none */
    struct ftp_line_reader lines;  /* command lines not yet run */
    struct ftp_data data;          /* what PASV or PORT prepared for the next transfer */
    struct vpath cwd;              /* {0}: the root */
    struct vpath rename_from;      /* RNFR, until the next command */
    struct vpath partial;          /* SIZE told the size of this kept partial */
    char *user;                    /* USER, until PASS */
    uint64_t restart_at;           /* REST, for the next transfer */
    uint64_t allocate_bytes;       /* ALLO, for the next upload */
    uint8_t facts;                 /* OPTS MLST */
    int8_t level;                  /* OPTS MODE Z: FTP_MODE_LEVEL_AUTO, or 0 to 9 */
    uint8_t commands_before_login;
    uint8_t wrong_passwords;
    bool is_ascii : 1;     /* TYPE A */
    bool is_deflate : 1;   /* MODE Z */
    bool is_epsv_only : 1; /* EPSV ALL */
    bool is_holding : 1;   /* a whole line waits for the transfer */
    bool is_quitting : 1;  /* nothing more is read; 221 after the transfer */
};

/* The loop's result when it ends without a failure. */
enum { FTP_SESSION_DOZES = 1, FTP_SESSION_QUITS };

static inline bool ftp_session_is_logged_in(const struct ftp_session *s)
{
    return s->base.account != NULL;
}

static inline struct bytes ftp_session_cwd(const struct ftp_session *s)
{
    return s->cwd.text != NULL ? vpath_bytes(&s->cwd) : BYTES_LIT("/");
}

/* Drops what a login and its commands left behind. */
void ftp_session_forget(struct ftp_session *);
/* TYPE, MODE, OPTS and EPSV ALL as at the start. */
void ftp_session_reset(struct ftp_session *);
