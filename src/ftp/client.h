/* The FTP client role (RFC 959, 1123, 2428, 3659, 4217): one control connection, passive
 * transfers, in clear or all of it in TLS.
 *
 * A client is a plain object of its owner: every function is called by whatever task wants
 * something done, one at a time, on the worker that connected it; nothing runs between two
 * calls. Logged in and idle it holds its struct and a socket, under 1 KB, and in TLS what
 * OpenSSL keeps (a reply that was asked for with ftp_client_command() is held until the next
 * call).
 *
 *     ftp_client_init(&c, &settings);
 *     r = ftp_client_connect(&c, &server, NULL);
 *     if (r == 0)
 *         r = ftp_client_login(&c, BYTES_LIT("ann"), BYTES_LIT("secret"));
 *     if (r == 0)
 *         r = ftp_client_retr(&c, BYTES_LIT("file"), NULL, &bytes);
 *     ftp_client_close(&c);
 *
 * Results. These leave the connection in use:
 *
 *     -FERRY_EREFUSED  the server answered 4yz or 5yz; c->code and c->text are its words (but
 *                      who is refused at the greeting is not connected)
 *     -FERRY_EAUTH     the same, of a login
 *     -FERRY_EBADNAME  CR, LF or NUL in an argument, or a line over FTP_LINE_MAX: not sent
 *     -FERRY_ETRUNCATED  of a download in TLS: it ended without close_notify. moved_bytes is
 *                      what came; who knows the length can tell whether it was cut
 *
 * So do -FERRY_ECLOSED and -FERRY_ESTALLED of a transfer, if the data connection alone failed
 * and the server has answered since: ftp_client_is_open() tells. Every other failure has closed
 * the connection:
 *
 *     -ETIMEDOUT       no connection, or no reply, in time
 *     -FERRY_ECLOSED   the server went away, or said 421 (c->code)
 *     -FERRY_EPROTO    what came is no FTP, or not what may follow; no TLS that we take
 *     -FERRY_ELIMIT    a reply over FTP_REPLY_MAX, FTP_LINE_MAX or FTP_ANSWER_LINES_MAX, or
 *                      a download that does not end within its bound
 *     -ECANCELED       the task was cancelled
 *     and -errno of the system (-ECONNREFUSED, -EADDRNOTAVAIL, -ENOMEM, ...).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "ftp/wire/answer.h"
#include "io/addr.h"
#include "io/stream.h"

#define FTP_CLIENT_TEXT_MAX 160 /* of the last reply that is kept, with a NUL */

/* Shared by any number of clients, and outlives them. 0: no bound. */
struct ftp_client_settings {
    usec_t connect_us;             /* to make a connection, of control and of data */
    usec_t answer_us;              /* from a command to the end of its reply */
    usec_t stall_us;               /* a transfer's longest time without a byte */
    uint64_t download_bytes;       /* a download of so many, or more, breaks off */
    const struct tls_context *tls; /* NULL: in clear. See io/tls.h: nothing is verified */
};

struct ftp_client {
    const struct ftp_client_settings *settings;
    struct stream *control; /* NULL: closed */
    struct stream *data;    /* of the transfer that is under way, or NULL */
    struct ftp_answer_reader answers;
    struct addr peer, local; /* local: what data connections are bound to; len 0: nothing */
    struct io_fd *socket;    /* beneath data */
    bool is_upload;          /* the transfer under way */
    bool is_deflate;         /* MODE Z */
    int8_t level;            /* of it, in what we send: COMPRESS_AUTO, or 0 to 9 */
    bool told_level;         /* the server sends with another level than its own */

    /* for the owner to read */
    uint64_t moved_bytes;    /* of the transfer under way, or of the last; not yet confirmed */
    uint64_t wire_bytes;     /* of the last one in MODE Z: what it was compressed to */
    struct stream_info path; /* of data connections that are closed: the times of all, else of
                                the last */
    uint16_t code;           /* of the last reply; 0: none came */
    char text[FTP_CLIENT_TEXT_MAX]; /* of its last line, printable, cut */
};

/* -- life time -- */

void ftp_client_init(struct ftp_client *, const struct ftp_client_settings *);

/* Connects and takes the greeting; with TLS also AUTH TLS and the handshake, and there is no
 * way back to a connection in clear: -FERRY_EREFUSED closes it. from: the local address of this
 * and of the data connections (its port is not used), or NULL: the kernel's choice. */
PARKS MUST_CHECK int ftp_client_connect(struct ftp_client *, const struct addr *to,
                                        const struct addr *from);

/* USER and PASS; a server that asks for no password gets none. With TLS also PBSZ and PROT P,
 * and who refuses that is not connected. */
PARKS MUST_CHECK int ftp_client_login(struct ftp_client *, struct bytes user,
                                      struct bytes password);

/* QUIT, its reply, and close: closed in any case. */
PARKS MUST_CHECK int ftp_client_quit(struct ftp_client *);

/* Closes both connections without a word; the object is as after ftp_client_init() but for the
 * last reply. No task may be inside; fine if it is closed already. */
void ftp_client_close(struct ftp_client *);

/* For another task of the worker: whoever is inside leaves with -FERRY_ECLOSED (who is making a
 * connection, when that is made or fails). task_cancel() on it: at once, with -ECANCELED. */
void ftp_client_break(struct ftp_client *);

bool ftp_client_is_open(const struct ftp_client *);

/* -- commands -- */

/* Sends "VERB argument" (BYTES_NONE: the verb alone) and waits for one reply, whatever its
 * code, 1yz included. *ret is borrowed until the next call for this client. A 421 is
 * -FERRY_ECLOSED here and everywhere. */
PARKS MUST_CHECK int ftp_client_command(struct ftp_client *, const char *verb,
                                        struct bytes argument, struct ftp_answer *ret);

/* The two halves, for who sends several commands before it reads a reply, or owes none. */
PARKS MUST_CHECK int ftp_client_send(struct ftp_client *, const char *verb,
                                     struct bytes argument);
PARKS MUST_CHECK int ftp_client_answer(struct ftp_client *, struct ftp_answer *ret);

/* One command each; 0 when the server answered 2yz. */
PARKS MUST_CHECK int ftp_client_noop(struct ftp_client *);
PARKS MUST_CHECK int ftp_client_type(struct ftp_client *, char type); /* 'I' or 'A' */
/* 'S', or 'Z': transfers and listings go as zlib streams (draft-preston-ftpext-deflate-04). The
 * level, 0 to 9 or COMPRESS_AUTO, is for what we send; a server that knows OPTS MODE takes it
 * for what it sends, and of one that does not, its own stands. All counts but wire_bytes are of
 * what is compressed. A download that is no such stream is -EBADMSG, a bomb -FERRY_ELIMIT;
 * both close the connection. One that was cut short is -FERRY_ETRUNCATED. */
PARKS MUST_CHECK int ftp_client_mode(struct ftp_client *, char mode, int level);
PARKS MUST_CHECK int ftp_client_dele(struct ftp_client *, struct bytes path);
PARKS MUST_CHECK int ftp_client_size(struct ftp_client *, struct bytes path, uint64_t *ret);

/* -- transfers: *ret_bytes is written when the server has confirmed them (226 or 250) -- */

/* Where a download's bytes go. A negative result ends the transfer and closes the connection;
 * it is what the caller gets. May park. */
struct ftp_sink {
    PARKS int (*take)(void *arg, struct bytes);
    void *arg;
};

/* What an upload sends: len bytes of a file from an offset on, by sendfile in the caller's
 * thread (so one that does not wait for a disk), or, when fd is -1, of a block that is repeated
 * as often as it takes (the last time in part). */
struct ftp_source {
    int fd;
    uint64_t offset;
    struct bytes block; /* one call each, so a large one; not empty if fd is -1 */
    uint64_t len;
};

/* sink NULL: the bytes are thrown away in the kernel, and only counted. */
PARKS MUST_CHECK int ftp_client_retr(struct ftp_client *, struct bytes path,
                                     const struct ftp_sink *, uint64_t *ret_bytes);
PARKS MUST_CHECK int ftp_client_nlst(struct ftp_client *, struct bytes path,
                                     const struct ftp_sink *, uint64_t *ret_bytes);
/* Any other command that lists, or NLST itself ("MLSD", "LIST"). path may be BYTES_NONE. */
PARKS MUST_CHECK int ftp_client_receive(struct ftp_client *, const char *verb,
                                        struct bytes path, const struct ftp_sink *,
                                        uint64_t *ret_bytes);
/* -FERRY_ETRUNCATED: the file ended before len; the connection is closed, so that the server
 * does not take it for the whole. */
PARKS MUST_CHECK int ftp_client_stor(struct ftp_client *, struct bytes path,
                                     const struct ftp_source *, uint64_t *ret_bytes);

/* -- a transfer in parts, for who moves the bytes itself (xfer/) or stops half way -- */

/* EPSV (IPv6) or PASV (IPv4; the host it tells is ignored, the peer's is used), the data
 * connection, the command, and its 1yz. The stream is the client's (c->data) until one of the
 * next three. */
PARKS MUST_CHECK int ftp_client_transfer_begin(struct ftp_client *, const char *verb,
                                               struct bytes path, struct stream **ret);
/* Closes the data connection, whose bytes were all of them. The last reply is left for
 * ftp_client_transfer_end(). */
PARKS MUST_CHECK int ftp_client_data_end(struct ftp_client *);
/* Closes it too, unless that is done, and waits for the last reply. */
PARKS MUST_CHECK int ftp_client_transfer_end(struct ftp_client *);
/* ABOR; 0 when the server is ready for the next command, whichever way it counted. */
PARKS MUST_CHECK int ftp_client_abort(struct ftp_client *);
