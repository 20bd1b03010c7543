/* What is moved. Files that take long to make are kept in STUDY_CACHE, with a record of what
 * they are made of; noise and zeros are made in memory for each run. Blocking.
 *
 * All return the number of the data in the study, or -errno: -ECANCELED when a tool failed. */
#pragma once
#include "bench/study/study.h"

#define STUDY_CACHE "/var/cache/ferry/study"

/* Sources of programs that lie on this machine, in one tar archive cut to this length. */
MUST_CHECK int data_source_tar(struct study *, uint64_t bytes);
/* One file of noise, as a compressed one is. */
MUST_CHECK int data_noise(struct study *, const char *name, uint64_t bytes);
/* One file with nothing in it but its length: takes no memory. */
MUST_CHECK int data_hole(struct study *, const char *name, uint64_t bytes);
/* `count` files of `each` bytes: noise, or zeros. */
MUST_CHECK int data_folder(struct study *, const char *name, unsigned count, uint64_t each,
                           bool is_zero);
/* The study's two groups of three files, as near as this machine has them; group 0 is the one
 * that compresses well. Of each length that sizes() tells for the whole one's: each file's
 * first part, or all of them again and again. ret: `count` numbers. */
#define DATA_SIZES_MAX 8
MUST_CHECK int data_group(struct study *, unsigned group, unsigned count,
                          uint64_t (*size)(const struct study *, unsigned i, uint64_t whole),
                          unsigned ret[DATA_SIZES_MAX]);
