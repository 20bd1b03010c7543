/* What an FTP server says of itself in answer to FEAT (RFC 2389 3.2). Pure. */
#pragma once
#include <stdbool.h>

#include "base/bytes.h"

struct ftp_features {
    bool has_mlst, has_size, has_mdtm, has_mfmt, has_rest, has_mode_z, has_hash, has_utf8;
};

/* lines: all between the first and the last, as struct ftp_answer has them. */
struct ftp_features ftp_features_parse(struct bytes lines);
