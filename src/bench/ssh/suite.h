/* The benchmark's suite of ssh: its tables, and what joins them to the engine.
 *
 * Load is made by two kinds of client: OpenSSH's programs (program.h), which are what people
 * use, and ferry's own client side (load.h), which is faster and can be many at once.
 */
#pragma once
#include <stdbool.h>

#include "bench/suite.h"

extern const struct bench_suite bench_suite_ssh;

/* What some servers lack, and some rows need. */
enum ssh_feature {
    SSH_CAT = 1 << 0,    /* `cat FILE` as a command */
    SSH_TAR = 1 << 1,    /* tar as a command */
    SSH_CHACHA = 1 << 2, /* chacha20-poly1305@openssh.com */
    /* A program for sftp beside the one that is part of it; rows take its only one else. */
    SSH_EXTERNAL = 1 << 3,
};

/* What a row's kind says of it, beside what the engine needs. */
struct ssh_row_detail {
    const char *cipher;     /* the only one that is offered */
    const char *mac;        /* likewise; NULL: the cipher has its own */
    unsigned round_trip_ms; /* of the relay between both; 0: there is none */
    bool is_external;       /* SSH_SFTP_EXTERNAL, of who has it */
    bool is_on_disk;        /* the file is */
};

#define SSH_SFTP_EXTERNAL "sftp-external" /* the subsystem */

extern const struct row_table ssh_rows;      /* rows.c */
extern const struct recipe_list ssh_recipes; /* recipes.c */
extern const struct goal_table ssh_goals;    /* goals.c */
