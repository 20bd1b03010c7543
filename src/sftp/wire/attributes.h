/* File attributes (draft-ietf-secsh-filexfer-02 section 5). Pure. */
#pragma once
#include "base/wire.h"

enum sftp_attribute {
    SFTP_ATTR_SIZE = 1 << 0,
    SFTP_ATTR_OWNER = 1 << 1,
    SFTP_ATTR_MODE = 1 << 2,
    SFTP_ATTR_TIMES = 1 << 3,
};

#define SFTP_ATTRIBUTES_MAX 32 /* bytes that sftp_put_attributes() writes at most */

/* The kinds of a file within a mode, as every Unix has them. */
enum sftp_mode {
    SFTP_MODE_KIND = 0170000,
    SFTP_MODE_FIFO = 0010000,
    SFTP_MODE_DIRECTORY = 0040000,
    SFTP_MODE_FILE = 0100000,
    SFTP_MODE_LINK = 0120000,
};

struct sftp_attributes {
    uint32_t has; /* enum sftp_attribute: which of the others count */
    uint64_t size_bytes;
    uint32_t uid, gid;
    uint32_t mode;
    uint32_t atime_s, mtime_s;
};

/* Extended pairs are read over; bits of later versions are ignored. What is missing leaves the
 * reader failed. */
void sftp_get_attributes(struct wire_reader *, struct sftp_attributes *ret);
void sftp_put_attributes(struct wire_writer *, const struct sftp_attributes *);
