/* Results for people and for programs. */
#pragma once
#include <jansson.h>
#include <stdio.h>

#include "bench/options.h"
#include "bench/row.h"

#define BENCH_SIZE_TEXT_MAX 24

/* One decimal and a letter: "8.8M", "512.0B". Returns dst. */
const char *report_size(double bytes, char dst[BENCH_SIZE_TEXT_MAX]);

/* The line of ftpbench, and beneath it, indented, what else is known. At most 80 columns but
 * for the text of an error. */
void report_row_print(const struct bench_row *, FILE *);
void report_head_print(const struct bench_options *, FILE *);
void report_memory_print(const struct bench_results *, FILE *);

/* NULL: no memory. */
json_t *report_json(const struct bench_options *, const struct bench_results *);
