/* The benchmark's suite of FTP: its tables, and what joins them to the engine. */
#pragma once
#include "bench/suite.h"

extern const struct bench_suite bench_suite_ftp;

/* What some servers lack, and some rows need. */
enum ftp_feature {
    FTP_MLSD = 1 << 0,
    FTP_HASHED_LOGIN = 1 << 1, /* without it: compares plain text, where not told to hash */
};

extern const struct row_table ftp_rows;      /* rows.c */
extern const struct recipe_list ftp_recipes; /* recipes.c */
extern const struct goal_table ftp_goals;    /* goals.c */
