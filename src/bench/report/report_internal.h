/* What the parts of the report share. */
#pragma once
#include "bench/report/report.h"
#include "bench/report/size_text.h"

#define REPORT_COLUMNS    80
#define REPORT_NUMBER_MAX 24
#define REPORT_RANGE_MAX  64
#define BYTES_PER_GB      1e9

double report_seconds(usec_t);
/* The server's, or the client's: seconds per GB where bytes were moved, else per operation. */
double report_cpu(const struct bench_cell *, usec_t cpu_us);

/* Three digits that count: "1.04", "51.2", "1062". Both return dst. */
const char *report_number(double, char dst[REPORT_NUMBER_MAX]);
const char *report_range(const struct bench_ratio *, char dst[REPORT_RANGE_MAX]);

/* A text in lines of at most REPORT_COLUMNS, each beginning with so many blanks. */
void report_wrapped_print(FILE *, unsigned indent, const char *text);
/* The verdict, in its colour, padded to 9 columns when `is_padded`. */
void report_verdict_print(const struct report *, enum bench_verdict, bool is_padded);
/* Then and now; nothing when there is nothing to tell. */
void report_baseline_print(const struct report *, const struct bench_row *,
                           const struct bench_cell *);
void report_slope_print(FILE *, const struct bench_cell *);

/* report_text.c: a server alone. report_table.c: several. */
void report_line_print(const struct report *, const struct bench_row *);
void report_table_print(const struct report *, const struct bench_row *);
void report_legend_print(const struct report *);
