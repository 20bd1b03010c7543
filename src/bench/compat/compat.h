/* `ferry bench ftp --compat`: what ftpbench does, as it does it, with its distortions: one
 * second, one sample, bytes that the own socket accepted, logins one by one, one remote file
 * for all, memory (rss - shared) of the process and its direct children, printed last first.
 * Its lines and nothing else.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "bench/options/options.h"
#include "io/addr.h"

/* In a runtime of its own; not from a task. Prints as it goes. All signals must be blocked.
 * 0, or a failure after it was told on `err`. */
MUST_CHECK int compat_run(const struct bench_options *, const struct addr *server, FILE *out,
                          bool has_colour, FILE *err);
