/* Replies as a client reads them (RFC 959 4.2): incremental, bounded, of a server that may be
 * hostile.
 *
 * Feed what came, then take replies until there is none; replies that arrived together come out
 * one by one, in order. Lines are cut by ftp/wire/line.h, so Telnet sequences are gone and a
 * bare LF ends a line as well. A reader that holds nothing has no heap memory.
 *
 * A reply is one line "CODE text" or several: "CODE-text", lines of any kind, and "CODE text"
 * with the same code. A code alone on its line is a reply without text. Bounds: FTP_LINE_MAX
 * for a line, FTP_ANSWER_LINES_MAX lines, FTP_REPLY_MAX bytes for all of them. Text is the
 * server's: it may hold any byte but CR LF and NUL, so nothing of it is shown as it is.
 */
#pragma once
#include "base/attr.h"
#include "ftp/wire/address.h"
#include "ftp/wire/line.h"

struct ftp_answer_reader {
    struct ftp_line_reader in;
    struct buf lines; /* of a reply of several lines, each ended by LF */
    uint16_t code;    /* of the reply that was begun; 0: none */
    uint16_t count;   /* its lines */
    bool is_given;    /* `lines` was the last reply's */
    int error;        /* sticky: after it no byte can be understood */
};

struct ftp_answer {
    unsigned code;      /* 100 to 599 */
    struct bytes text;  /* of its last line, behind the code and the space */
    struct bytes lines; /* of several: all but the last, whole and with LF; else empty */
};

void ftp_answer_init(struct ftp_answer_reader *);
void ftp_answer_done(struct ftp_answer_reader *); /* as after ftp_answer_init() */

/* Bytes that ftp_answer_feed() takes now; not 0 after ftp_answer_next() returned 0. */
size_t ftp_answer_room(const struct ftp_answer_reader *);
/* -ENOMEM, -FERRY_ELIMIT: more than there is room for. Ends the validity of the last reply. */
MUST_CHECK int ftp_answer_feed(struct ftp_answer_reader *, struct bytes);

/* 1: *ret is the next reply, borrowed until the next call for this reader; 0: bring more bytes.
 * -FERRY_EPROTO: no reply begins like this, or a line holds NUL; -FERRY_ELIMIT; -ENOMEM. */
MUST_CHECK int ftp_answer_next(struct ftp_answer_reader *, struct ftp_answer *ret);
/* Ends the validity of the last reply now; a reader that holds nothing more frees its memory.
 */
void ftp_answer_drop(struct ftp_answer_reader *);

/* The address of a 227's text. RFC 959 does not say how the numbers are set off (RFC 1123
 * 4.1.2.6): the first six with five commas are taken. -FERRY_EPROTO: none, or port 0. */
MUST_CHECK int ftp_answer_pasv(struct bytes text, struct ftp_address *ret);
/* The port of a 229's text: "(|||port|)" (RFC 2428 3). -FERRY_EPROTO. */
MUST_CHECK int ftp_answer_epsv(struct bytes text, uint16_t *ret_port);
/* The number of a 213 for SIZE (RFC 3659 4.2). -FERRY_EPROTO. */
MUST_CHECK int ftp_answer_size(struct bytes text, uint64_t *ret);
