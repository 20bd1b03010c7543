/* Names from inside. */
#pragma once
#include "vfs/beneath.h"
#include "vfs/quota.h"

/* On a pool thread. path: relative, as beneath_parent() has it. */
MUST_CHECK int names_mkdir(const struct beneath *, struct quota *, char *path, mode_t);
