/* Reading ssh's configuration files for one host. */
#pragma once
#include "client/place/ssh_config.h"
#include "task/task.h"

struct pool;

/* file: -F's, which is then the only one, or "none": no file; NULL: $HOME/.ssh/config, which
 * must be the user's and not for others to write (-EPERM), then /etc/ssh/ssh_config. Files that
 * are not there are no failure, but -F's is. ret_why: a sentence. */
PARKS MUST_CHECK int ssh_config_load(struct ssh_config *, const char *file, struct pool *,
                                     size_t why_max, char *ret_why);
