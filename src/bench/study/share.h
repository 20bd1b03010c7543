/* Less of the processor for one side: a control group (cgroups(7)), version 2 or 1, for the
 * sender's programs. Blocking. */
#pragma once
#include "base/attr.h"

#define SHARE_PATH_MAX 160

struct share {
    char folder[SHARE_PATH_MAX]; /* "": none */
};

/* percent of one core. -ENOENT: there is no such controller here; -errno. share_close() in any
 * case. */
MUST_CHECK int share_open(struct share *, unsigned percent);
/* A file to which a process writes its number to be in the group, with what it starts; NULL:
 * there is no group. Returns dst. */
const char *share_door(const struct share *, char dst[SHARE_PATH_MAX + 16]);
void share_close(struct share *);
