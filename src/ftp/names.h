/* Commands that change what is there (internal to ftp/): record it, answer it. */
#pragma once
#include "ftp/session.h"

/* Writes the audit record, then says code and text, or why change->result failed, with the
 * name as the client gave it. */
PARKS MUST_CHECK int ftp_say_change(struct ftp_session *, const struct audit *change,
                                    struct bytes name, unsigned code, const char *text);
