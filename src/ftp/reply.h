/* Replies that a session writes (internal to ftp/): what the wire code formats, and what every
 * failure is called. */
#pragma once
#include "base/attr.h"
#include "base/buf.h"
#include "base/bytes.h"

struct ftp_session;

/* A failure as a peer sees it: "CODE NAME: what is wrong; what to do". */
struct ftp_failure {
    unsigned code;
    const char *text;
};

/* Every result has an answer, and none names a thing of the host. By when it happened: the
 * command did not do its work; the data connection was not made (425); the transfer broke off
 * after that. */
struct ftp_failure ftp_failure_of_command(int result);
struct ftp_failure ftp_failure_of_connecting(int result);
struct ftp_failure ftp_failure_of_transfer(int result);
struct ftp_failure ftp_failure_of_upload(int result); /* the same, of one to us */
MUST_CHECK int ftp_failure_append(struct buf *, struct ftp_failure, struct bytes name);

/* Write one reply; what fails ends the session. A peer that does not read is given up after the
 * control stream's stall time. */
PARKS MUST_CHECK int ftp_say(struct ftp_session *, unsigned code, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* ftp_failure_of_command(), with the name that the command was about, if it was about one. */
PARKS MUST_CHECK int ftp_say_error(struct ftp_session *, int result, struct bytes name);
/* Sends the lines that ftp/wire/reply.h appended with result r, and frees the buffer. */
PARKS MUST_CHECK int ftp_say_lines(struct ftp_session *, struct buf *, int r);
