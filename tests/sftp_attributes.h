/* Whether attributes of SFTP are the same: field by field, since what is between the fields of
 * a struct is nobody's. */
#pragma once
#include "sftp/wire/attributes.h"

static inline bool sftp_attributes_equal(const struct sftp_attributes *a,
                                         const struct sftp_attributes *b)
{
    return a->has == b->has && a->size_bytes == b->size_bytes && a->uid == b->uid &&
           a->gid == b->gid && a->mode == b->mode && a->atime_s == b->atime_s &&
           a->mtime_s == b->mtime_s;
}
