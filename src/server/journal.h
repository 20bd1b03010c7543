/* Where the process's lines go: the log to standard error, audit records to the file of
 * `log { transfers }` or, without one, to the log too. One per process, as log_setup() is. */
#pragma once
#include "base/attr.h"
#include "server/privileges.h"
#include "server/sandbox.h"
#include "server/settings.h"

/* From here on log records are written (at once; by threads after journal_start()). The file is
 * made for that identity. */
MUST_CHECK int journal_open(const struct settings *, const struct identity *, struct refusal *);
/* What journal_open() would refuse, without making the file; the log is open after it too. */
MUST_CHECK int journal_check(const struct settings *, const struct identity *,
                             struct refusal *);
/* Of a directory in which the file could not be made again after a rotation. Call it as the
 * user that the process became. Returns how many warnings that were. */
unsigned journal_warn_access(void);
void journal_allow(struct sandbox_rules *); /* so that the file can be opened again */
MUST_CHECK int journal_start(void);
void journal_reopen(void); /* SIGHUP */
void journal_close(void);

void journal_audit(const char *line, size_t len); /* a sink, from any thread */
