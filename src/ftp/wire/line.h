/* Cuts the control connection's bytes into command lines (RFC 959 4.1, RFC 1123 4.1.2.10).
 *
 * The reader belongs to a session and owns the bytes that were fed and not yet given out; it
 * holds no heap memory when there are none. Feed what came, then take lines until
 * FTP_LINE_NONE; lines that arrived together come out one by one, in order. What leaves the
 * reader is wiped, since a line may carry a password.
 *
 * A line ends with CRLF or a bare LF, which are not part of it; a CR elsewhere is. Telnet
 * sequences (RFC 854) are removed while feeding: IAC IAC is one 0xFF; IAC WILL, WONT, DO, DONT
 * and their option, and every other IAC command (IP and DM before ABOR among them), are
 * dropped. IAC before a byte below 0xF0 is no Telnet command but a client that does not escape,
 * and stays as it is. The socket wants SO_OOBINLINE: a client marks the last byte of ABOR (or
 * the IAC before DM) as urgent, and the byte would be missing otherwise.
 */
#pragma once
#include "base/attr.h"
#include "base/buf.h"

#define FTP_LINE_CHUNK 1024 /* what can be held beside one line of full length */

struct ftp_line_reader {
    struct buf in;
    uint16_t start;   /* of the bytes not yet given out */
    uint16_t current; /* length with line end of the line given out last; it begins at start */
    uint8_t telnet;
    bool is_skipping; /* the rest of an over-long line */
};

enum ftp_line_event {
    FTP_LINE_NONE,     /* no whole line: bring more bytes */
    FTP_LINE_READY,    /* *ret_line is one, perhaps empty */
    FTP_LINE_TOO_LONG, /* more than the cap; said once and at once, what follows of that line is
                          thrown away without being stored. Reply 500. */
    FTP_LINE_HAS_NUL,  /* the whole line was dropped. Reply 501. */
};

void ftp_line_init(struct ftp_line_reader *);
void ftp_line_done(struct ftp_line_reader *); /* wipes, frees; as after ftp_line_init() */

/* Bytes that ftp_line_feed() takes now: what is held stays within line_cap + FTP_LINE_CHUNK.
 * Not 0 after ftp_line_next() said FTP_LINE_NONE for the same cap. */
size_t ftp_line_room(const struct ftp_line_reader *, size_t line_cap);

/* 0; -ENOMEM or -FERRY_ELIMIT (more than FTP_LINE_MAX + FTP_LINE_CHUNK held), after which the
 * reader is as before. Ends the validity of the line given out last. */
MUST_CHECK int ftp_line_feed(struct ftp_line_reader *, struct bytes);

/* The next line of at most line_cap bytes (line end not counted): FTP_LINE_PRELOGIN_MAX before
 * login, FTP_LINE_MAX after. *ret_line is borrowed until the next call for this reader. */
enum ftp_line_event ftp_line_next(struct ftp_line_reader *, size_t line_cap,
                                  struct bytes *ret_line);

/* Gives the line of the last FTP_LINE_READY back; ftp_line_next() will return it again. For a
 * command that must wait for the end of a transfer. */
void ftp_line_unread(struct ftp_line_reader *);

/* Nothing is held and nothing is half read: the session may doze. */
bool ftp_line_is_idle(const struct ftp_line_reader *);
