/* By which method a copy goes. Pure.
 *
 * Who asks for a method gets it or is told why not. Otherwise: what a server is named by
 * decides (ftp:// is FTP), and over ssh many small files go as one stream of tar where the
 * other end can run it, since each file costs round trips by SFTP; all else goes by SFTP.
 */
#pragma once
#include "client/copy/options.h"

#define COPY_PLAN_WHY_MAX 160
/* From so many files on, of so few bytes each, a stream is worth its start. */
#define COPY_TAR_FILES      16
#define COPY_TAR_MEAN_BYTES (256 * 1024)

enum copy_place { COPY_PLACE_LOCAL, COPY_PLACE_STREAM, COPY_PLACE_SSH, COPY_PLACE_FTP };

struct copy_ends {
    enum copy_place source, target;
    bool has_tar; /* this program and the server can do so */
};

/* Directories go between this machine and one that ssh reaches. */
bool copy_ends_have_tar(const struct copy_ends *);

/* What is known of the source: its first part, or all. */
struct copy_sample {
    uint64_t files, bytes;
    bool is_all, is_tree;
};

struct copy_plan {
    enum copy_method method;
    char why[COPY_PLAN_WHY_MAX]; /* for --explain */
};

/* -EINVAL: ret_why says why the method that is wanted cannot be. */
MUST_CHECK int copy_plan(enum copy_method wanted, const struct copy_ends *,
                         const struct copy_sample *, char ret_why[COPY_PLAN_WHY_MAX],
                         struct copy_plan *ret);
