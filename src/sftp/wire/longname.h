/* The line about a file that a NAME answer has for people (draft 7: "ls -l"). Clients show it,
 * and some read it: the form is ls's, with ids where a name space of users would be ours alone.
 * Control characters of the name become '?' here; the name beside it is raw. Pure. */
#pragma once
#include "sftp/wire/attributes.h"

#define SFTP_LONGNAME_MAX 400 /* the facts, a name of 255 bytes, and a NUL */

struct bytes sftp_longname(struct bytes name, const struct sftp_attributes *, uint32_t links,
                           int64_t now_us, char dst[SFTP_LONGNAME_MAX]);
