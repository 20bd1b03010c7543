/* Names and paths of a copy. Pure. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"
#include "base/bytes.h"

/* What a file is called on a server until all of it is there. */
#define COPY_PART_SUFFIX ".ferry-part"

/* The last component, without slashes behind it; empty if there is none, or if it is "." or
 * "..": then it is what is in the directory that is meant. */
struct bytes copy_name_last(struct bytes path);
/* All before the last component: "" in "a", "/" in "/a". */
struct bytes copy_name_parent(struct bytes path);
/* "a" and "b" make "a/b", "" and "b" make "b", "a" and "" make "a". NULL: no memory. */
char *copy_name_join(struct bytes directory, struct bytes name);
/* Of this path: its name and COPY_PART_SUFFIX, cut where a file system would not take that, and
 * then told apart by a digest. NULL: no memory. */
char *copy_name_part(struct bytes path);
