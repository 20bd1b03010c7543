/* The audit record: one JSON line per file moved, or per change (DESIGN 3.10).
 *
 * Names are virtual, never a host's path; control characters are escaped; no secret has a
 * field. A record is at most LOG_LINE_MAX bytes: a long path is cut, and the line says so.
 */
#pragma once
#include <stdint.h>

#include "base/bytes.h"
#include "base/clock.h"

struct session;

struct audit {
    const char *operation; /* "download", "upload", "append", "delete", "rename", "mkdir",
                              "rmdir", "chmod" ... */
    struct bytes path, to; /* virtual; `to` for rename */
    uint64_t offset, bytes, wire_bytes;
    const char *compression; /* "zlib:6", "zlib:auto"; NULL: the session's that way */
    usec_t seconds_us;
    int result; /* 0 or positive: done */
};

/* To settings.audit_sink, if there is one. Uploads also say how they were synced. */
void session_audit(const struct session *, const struct audit *);

/* A log record that begins with session, protocol, peer and user. */
struct log_record;
void session_log_begin(const struct session *, struct log_record *, int level,
                       const char *event);
