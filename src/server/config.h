/* The configuration file, ferryd.conf(5), in libconfuse's syntax.
 *
 * Reading happens once, at start, in one thread. The first thing that is wrong ends it, with
 * "FILE:LINE: " before the reason. Keys of the design that this release has not built are
 * refused by name, so that nobody believes they work.
 */
#pragma once
#include "server/settings.h"

MUST_CHECK int config_read(const char *path, struct settings *, struct refusal *);
