/* Results for people and for programs. */
#pragma once
#include <jansson.h>
#include <stdio.h>

#include "bench/options/options.h"
#include "bench/report/baseline.h"
#include "bench/report/results.h"

/* At most 80 columns each, but for the text of an error. `width` of a terminal does not matter;
 * has_colour marks verdicts. */
struct report {
    const struct bench_options *options;
    const struct baseline *baseline; /* NULL: none */
    FILE *out;
    bool has_colour;
};

void report_head_print(const struct report *, const struct bench_results *);
/* A row with one server: the line of ftpbench, and beneath it, indented, what else is known. A
 * row with several: the label, and a line for each server. */
void report_row_print(const struct report *, const struct bench_row *);
/* At the end: each row in short (ferryd, the best peer, ratio, interval, verdict), then goals.
 */
void report_summary_print(const struct report *, const struct bench_results *);

/* Whether a server of some row is in the baseline, too. */
bool report_has_baseline(const struct report *, const struct bench_results *);

/* NULL: no memory. */
json_t *report_json(const struct bench_options *, const struct bench_results *);
