/* A study's results for people and for programs. */
#pragma once
#include <jansson.h>
#include <stdio.h>

#include "bench/study/results.h"

#define STUDY_CELL_TEXT_MAX 40
#define STUDY_HEADING_MAX   160
#define STUDY_GOAL_TEXT_MAX 512
#define STUDY_TIMES         4

/* An earlier run's JSON. study_earlier(): its value at that cell, 0: it has none. */
MUST_CHECK int study_baseline_load(const char *path, json_t **ret);
double study_earlier(const json_t *baseline, const struct study *, const struct study_cell *);

/* "1.234s", "584.7" (KB/s), "0.382s (52344)", or the state. Returns dst. */
const char *study_cell_text(const struct study *, const struct study_cell *,
                            char dst[STUDY_CELL_TEXT_MAX]);
/* The processor, its cores and the kernel; returns dst. */
const char *study_host_text(char dst[STUDY_HEADING_MAX]);
/* A column without the number of its group. */
const char *study_column_text(const struct study_table *, unsigned column);
/* How many columns a group has. */
unsigned study_group_columns(const struct study_table *, unsigned group);
/* "scp | no": true, "scp" and "no"; else all of it and "". */
bool study_split_label(const char *label, char first[STUDY_LABEL_MAX], const char **ret_second);

/* What stands beside real time, of cells that have it: not of what was ended by us. */
struct study_time {
    const char *name;
    enum study_field field;
};

extern const struct study_time study_times[STUDY_TIMES];

bool study_has_times(const struct study_cell *);
bool study_table_has_times(const struct study *, unsigned table);
/* "link 32KB/s: ..."; returns dst. */
const char *study_link_text(const struct study_link *, char dst[STUDY_HEADING_MAX]);
extern const char *const study_level_names[STUDY_LEVELS];
/* Percent that a level saves. */
double study_saving(const struct study_source *, unsigned level);
/* "TEXT: at least 1.2, is 1.312 [1.25, 1.4]; WHY"; returns dst. */
const char *study_goal_text(const struct study_goal *, char dst[STUDY_GOAL_TEXT_MAX]);
/* Seconds as time(1) of a shell has them: "0m12.709s". Returns dst. */
const char *study_clock_text(double seconds, char dst[STUDY_CELL_TEXT_MAX]);

/* baseline: NULL for none. */
void study_text_print(const struct study *, const json_t *baseline, FILE *);
void study_markdown_print(const struct study *, const json_t *baseline, FILE *);
/* One page that needs nothing else: no script, no font, no picture. */
void study_html_print(const struct study *, const json_t *baseline, FILE *);
/* NULL: no memory. */
json_t *study_json(const struct study *);

/* svg.c: the chart of a table, for a page that has the variables of html.c. */
void study_svg_print(const struct study *, unsigned table, FILE *);
/* What levels make of the files that groups are of. */
void study_svg_print_sources(const struct study *, FILE *);
/* With & < > " as a page has them. */
void study_escaped_print(const char *text, FILE *);
