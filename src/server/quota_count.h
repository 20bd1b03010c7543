/* What accounts with a quota hold already: their roots are counted at start, so that a restart
 * does not give them their quota again. */
#pragma once
#include "base/attr.h"
#include "server/server.h"

/* True if there is anything to count. */
bool quota_count_is_needed(const struct server *);
/* On one worker, before any session. A directory that cannot be read is left out; an account
 * that holds more than its quota has used all of it. Ends early when the task is cancelled. */
PARKS void quota_count_all(struct server *);
