/* What a listing or MLST shows of one file (internal to ftp/). */
#pragma once
#include "ftp/wire/facts.h"
#include "vfs/vfs.h"

/* name is what is shown. rights: what the account may do there; 0 where the lines do not tell.
 */
struct ftp_entry ftp_entry_of(unsigned rights, struct bytes name, const struct vstat *);
