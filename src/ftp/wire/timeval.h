/* time-val of RFC 3659 2.3: "YYYYMMDDHHMMSS[.sss]", always UTC. For MDTM, MFMT and facts. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define FTP_TIMEVAL_TEXT_MAX 20 /* "YYYYMMDDHHMMSS.sss" and a NUL */

/* Microseconds since 1970. A fraction has one digit or more, those after the sixth are dropped;
 * second 60 is the second after 59. -EINVAL: anything else, or a date that does not exist. */
MUST_CHECK int ftp_timeval_parse(struct bytes text, int64_t *ret_us);

/* MFMT's argument: a time-val, one space, a path that is not empty (draft-somers-ftp-mfxx).
 * -EINVAL: 501. */
MUST_CHECK int ftp_timeval_split(struct bytes argument, int64_t *ret_us,
                                 struct bytes *ret_path);

/* Milliseconds are shown only if there are any; pass whole seconds to programs that expect 14
 * digits. Years outside 1 to 9999 are shown as the nearest date inside. Returns dst. */
const char *ftp_timeval_format(int64_t us, char dst[FTP_TIMEVAL_TEXT_MAX]);

#define FTP_TIMEVAL_SECONDS_LEN 14

/* The same without a fraction, without a NUL: FTP_TIMEVAL_SECONDS_LEN digits at `at`. Returns
 * the place after them. */
char *ftp_timeval_put_seconds(char *at, int64_t us);
