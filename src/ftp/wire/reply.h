/* Replies of the control connection (RFC 959 4.2).
 *
 * All functions append whole lines with CRLF to the caller's buffer, whose cap is the bound
 * (FTP_REPLY_MAX); on failure (-FERRY_ELIMIT, -ENOMEM) it is as before. Whatever the text
 * holds, no control character leaves: each becomes '?', and 0xFF is doubled (RFC 854), so a
 * name can be given as it is, with "%.*s".
 *
 *     ftp_reply_open(out, 211, "Features:");
 *     ftp_reply_line(out, " MDTM");
 *     ftp_reply(out, 211, "End");
 */
#pragma once
#include <stdarg.h>

#include "base/attr.h"
#include "base/buf.h"

/* "CODE text": a whole reply, or the last line of one that was opened. */
MUST_CHECK int ftp_reply(struct buf *, unsigned code, const char *format, ...)
    PRINTF_LIKE(3, 4);
MUST_CHECK int ftp_reply_args(struct buf *, unsigned code, const char *format, va_list)
    PRINTF_LIKE(3, 0);

/* "CODE-text": the first of several lines. */
MUST_CHECK int ftp_reply_open(struct buf *, unsigned code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* A line between. One that begins with a digit gets a space before it, so that no client takes
 * it for the end. */
MUST_CHECK int ftp_reply_line(struct buf *, const char *format, ...) PRINTF_LIKE(2, 3);

/* CODE "path" after: the quotes in the path doubled, as PWD and MKD have it (RFC 959 appendix
 * II). */
MUST_CHECK int ftp_reply_path(struct buf *, unsigned code, struct bytes path,
                              const char *after);

/* The code that tells a peer of a negative result (-errno, -FERRY_E...): 4yz where trying again
 * may help, else 5yz; 451 for what the table does not know. Say it with err_text(). What only
 * the command knows (425, 553 for STOR of a bad name, 554 for REST) it decides itself. */
unsigned ftp_reply_code(int result);
