/* The options people put before the argument of LIST and NLST. Patterns: base/glob.h. */
#pragma once
#include "base/bytes.h"

struct ftp_list_argument {
    bool long_format;  /* -l */
    struct bytes path; /* borrowed; empty: the working directory */
};

/* "-la dir/x*": leading words of '-' and letters or digits are options as of ls, known or not,
 * and "--" ends them; each takes one space with it. All that remains is the path, spaces and
 * all. */
void ftp_list_argument_parse(struct bytes argument, struct ftp_list_argument *ret);
