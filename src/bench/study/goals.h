/* What is asked of ferry, held against what was measured, for a suite's judge(). Goals are
 * appended to the study, those beyond STUDY_GOALS_MAX are dropped. Pure. */
#pragma once
#include "bench/study/results.h"

/* Decided run by run, by three of them or more. */

/* `than` takes at least so many times as long as `what`, or as much processor time. */
struct study_pair {
    const char *table, *column, *what, *than; /* rows */
    enum study_field field;
    double least;
};

void study_judge_pair(struct study *, const char *text, const struct study_pair *);
/* `what` reaches so much of its link's rate, in every column. */
void study_judge_link(struct study *, const char *text, const char *table, const char *row,
                      double least);

/* In every row and group of tables that have some: the column `automatic` reaches so much of
 * the best of the others, or of the one that is named. Missed when no run of some cell does;
 * met when the median of each does. */
struct study_grid {
    const char *automatic, *rival; /* columns, without the group; rival NULL: the best */
    double least, least_s;         /* least_s: cells that take less are not asked */
    bool (*leaves_out)(const struct study *, const struct study_cell *); /* NULL: none */
};

void study_judge_grid(struct study *, const char *text, const struct study_grid *);
const char *study_verdict_name(enum study_verdict);
