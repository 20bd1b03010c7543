/* Parameters of MODE Z (draft-preston-ftpext-deflate-04), as OPTS MODE takes them. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define FTP_MODE_LEVEL_MAX  9
#define FTP_MODE_LEVEL_AUTO (-1) /* our own: the server picks, and may change its mind */

/* "Z", then pairs: "LEVEL" with 0 to 9, of which 0 stores, or "AUTO"; "ENGINE" with "ZLIB".
 * What is not named is as at the start, so that "Z" alone resets. -EINVAL: a name, a value or a
 * mode that is none of these. */
MUST_CHECK int ftp_mode_parse(struct bytes text, int *ret_level);
