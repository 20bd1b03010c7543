/* A thread that writes lines to a descriptor, behind a bounded ring.
 *
 * The loop never waits for a log: what does not fit because the descriptor is stuck (a pipe
 * that nobody reads) is dropped and counted, and the count is written as a record of its own
 * when there is room again. In a rush lines are written together, some milliseconds late; each
 * write ends with the end of a line. Before log_writer_start() each is written at once.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/log.h"

#define LOG_RING_BYTES (256 * 1024)

struct log_writer;

/* Opens the file anew: a descriptor, which the writer takes, or a failure: the old one stays.
 */
typedef int log_reopen_fn(void *arg);

/* Takes fd, also on failure; standard error stays open. format: of its own records, about
 * losses. reopen may be NULL. */
MUST_CHECK int log_writer_new(int fd, enum log_format format, size_t ring_bytes,
                              log_reopen_fn *reopen, void *arg, struct log_writer **ret);
MUST_CHECK int log_writer_start(struct log_writer *); /* the thread; after the sandbox */
/* Writes what it has for at most that long, then leaves the thread behind if it is stuck, which
 * frees the rest if it ever ends. NULL is fine. Returns NULL. */
struct log_writer *log_writer_free(struct log_writer *, usec_t patience_us);

void log_writer_put(struct log_writer *, const char *line, size_t len); /* any thread */
/* Calls reopen on the writer's thread when it has written what it has: a log was rotated. */
void log_writer_turn(struct log_writer *);
uint64_t log_writer_lost(struct log_writer *);
