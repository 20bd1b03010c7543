/* What the runs of a cell come to, and where a cell stands. */
#pragma once
#include "bench/study/study.h"

enum study_field {
    STUDY_REAL,
    STUDY_USER,
    STUDY_SYSTEM,
    STUDY_SERVER_USER,
    STUDY_SERVER_SYSTEM,
    STUDY_CLIENT, /* user and system in one */
    STUDY_FIELDS
};

double study_field(const struct study_run *, enum study_field);
double study_median(const struct study_cell *, enum study_field);
double study_average(const struct study_cell *, enum study_field);
/* Half of what lies between the fastest and the slowest run, beside the median. */
double study_spread(const struct study_cell *);
/* KB/s. 0: there is nothing. */
double study_rate(const struct study_cell *);
/* What its table shows: seconds, or KB/s. 0: there is nothing. */
double study_value(const struct study *, const struct study_cell *);
/* Whether no other of its row, and of its group if there are some, is better. */
bool study_is_best(const struct study *, const struct study_cell *);
/* NULL: there is no cell at that place. */
const struct study_cell *study_at(const struct study *, unsigned table, unsigned row,
                                  unsigned column);
/* By labels. */
const struct study_cell *study_find(const struct study *, const char *table, const char *row,
                                    const char *column);
const char *study_state_name(enum study_state);
/* "TABLE / ROW / COLUMN", for people and --only. */
size_t study_cell_name(const struct study *, const struct study_cell *, size_t cap, char *dst);
