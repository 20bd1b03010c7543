/* A study's results for people and for programs. */
#pragma once
#include <jansson.h>
#include <stdio.h>

#include "bench/study/study.h"

#define STUDY_CELL_TEXT_MAX 40
#define STUDY_HEADING_MAX   160

/* An earlier run's JSON. study_earlier(): its value at that cell, 0: it has none. */
MUST_CHECK int study_baseline_load(const char *path, json_t **ret);
double study_earlier(const json_t *baseline, const struct study *, const struct study_cell *);

/* "1.23", "584.7", or the state. Returns dst. */
const char *study_cell_text(const struct study *, const struct study_cell *,
                            char dst[STUDY_CELL_TEXT_MAX]);
/* The processor, its cores and the kernel; returns dst. */
const char *study_host_text(char dst[STUDY_HEADING_MAX]);
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
/* With & < > " as a page has them. */
void study_escaped_print(const char *text, FILE *);
