/* Log records: one line each, as JSON or as text, escaped; given to a sink.
 *
 *     struct log_record r;
 *     log_begin(&r, LOG_INFO, "login");
 *     log_str(&r, "user", name);
 *     log_err(&r, result);
 *     log_end(&r);
 *
 *     2026-11-30T12:00:00Z info login user="x" error=EACCES ...
 *     {"ts":"2026-11-30T12:00:00.000Z","level":"info","event":"login","user":"x",...}
 *
 * A record lives on the caller's stack and allocates nothing; what does not fit in LOG_LINE_MAX
 * is cut, the line stays valid and ends with "cut". Control characters never reach the line,
 * and what is not UTF-8 becomes U+FFFD. Event and keys are words of our own code. Library
 * layers do not log (debug apart): who knows session and peer logs once.
 */
#pragma once
#include <stdint.h>

#include "base/bytes.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_LEVEL_COUNT };

enum log_format { LOG_TEXT, LOG_JSON };

#define LOG_LINE_MAX  1024 /* a record is on task stacks of 64 KB; names in it are cut */
#define LOG_VALUE_MAX 384  /* of one value as written: a long path leaves room for the rest */

struct log_record {
    uint16_t len;
    uint8_t format;
    bool wanted; /* the level is on */
    bool cut;    /* something did not fit */
    char line[LOG_LINE_MAX];
};

/* The sink gets whole lines with their newline, from any thread. NULL (the start): nowhere. */
void log_setup(enum log_format, enum log_level max, void (*sink)(const char *line, size_t len));

void log_begin(struct log_record *, enum log_level, const char *event);
/* For log_finish(): wanted at every level, in a format of its own. */
void log_begin_as(struct log_record *, enum log_format, enum log_level, const char *event);

void log_str(struct log_record *, const char *key, struct bytes);
void log_text(struct log_record *, const char *key, const char *); /* NULL: left out */
void log_u64(struct log_record *, const char *key, uint64_t);
void log_us(struct log_record *, const char *key, uint64_t us); /* as seconds, three decimals */
void log_err(struct log_record *, int result);                  /* "error" and "reason" */
void log_end(struct log_record *);

/* One event with one detail. */
void log_event(enum log_level, const char *event, const char *key, const char *value);

/* The line finished without a sink (audit files): bytes valid as long as the record; none if
 * the record was not wanted. */
struct bytes log_finish(struct log_record *);
