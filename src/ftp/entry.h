/* What a listing or MLST shows of one file (internal to ftp/). */
#pragma once
#include "ftp/wire/facts.h"
#include "vfs/vfs.h"

/* name is what is shown. With a path the entry tells what the account may do there; NULL: it
 * is not asked for. */
struct ftp_entry ftp_entry_of(const struct vfs *, const struct vpath *, struct bytes name,
                              const struct vstat *);
