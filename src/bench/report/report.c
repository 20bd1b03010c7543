#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "bench/machine/host.h"
#include "bench/report/report_internal.h"
#include "bench/suite.h"

double report_seconds(usec_t us)
{
    return (double)us / (double)USEC_PER_S;
}

double report_cpu(const struct bench_cell *cell, usec_t cpu_us)
{
    if (cell->bytes > 0)
        return report_seconds(cpu_us) / ((double)cell->bytes / BYTES_PER_GB);
    return report_seconds(cpu_us) / (cell->operations > 0 ? cell->operations : 1);
}

/* -- texts -- */

const char *report_number(double value, char dst[REPORT_NUMBER_MAX])
{
    double size = fabs(value);
    if (size >= 99999.5)
        snprintf(dst, REPORT_NUMBER_MAX, "%.0e", value);
    else
        snprintf(dst, REPORT_NUMBER_MAX, "%.*f",
                 size < 9.995   ? 2
                 : size < 99.95 ? 1
                                : 0,
                 value);
    return dst;
}

const char *report_range(const struct bench_ratio *ratio, char dst[REPORT_RANGE_MAX])
{
    char low[REPORT_NUMBER_MAX], high[REPORT_NUMBER_MAX];
    dst[0] = '\0';
    if (ratio->has_interval)
        snprintf(dst, REPORT_RANGE_MAX, "[%s, %s]", report_number(ratio->interval.low, low),
                 report_number(ratio->interval.high, high));
    return dst;
}

void report_wrapped_print(FILE *out, unsigned indent, const char *text)
{
    size_t width = REPORT_COLUMNS - indent;
    while (*text != '\0') {
        size_t len = strlen(text);
        if (len > width) {
            len = width;
            while (len > 0 && text[len] != ' ')
                len--;
            if (len == 0)
                len = strcspn(text, " "); /* a word that is longer than a line */
        }
        fprintf(out, "%*s%.*s\n", (int)indent, "", (int)len, text);
        text += len;
        text += strspn(text, " ");
    }
}

void report_verdict_print(const struct report *r, enum bench_verdict verdict, bool is_padded)
{
    static const char *const colours[] = {
        [BENCH_NO_VERDICT] = "",
        [BENCH_MET] = "\033[32m",
        [BENCH_MISSED] = "\033[31m",
        [BENCH_UNDECIDED] = "\033[33m",
    };
    bool has_colour = r->has_colour && verdict != BENCH_NO_VERDICT;
    fprintf(r->out, "%s%*s%s", has_colour ? colours[verdict] : "", is_padded ? -9 : 0,
            bench_verdict_name(verdict), has_colour ? "\033[0m" : "");
}

void report_baseline_print(const struct report *r, const struct bench_row *row,
                           const struct bench_cell *cell)
{
    char value[REPORT_NUMBER_MAX], range[REPORT_RANGE_MAX];
    if (r->baseline == NULL)
        return;
    struct bench_ratio ratio = baseline_ratio(r->baseline, row, cell);
    if (ratio.is_known)
        fprintf(r->out, "    beside the baseline: %s %s%s\n", report_number(ratio.value, value),
                report_range(&ratio, range), ratio.has_interval ? "" : "(too few samples)");
}

bool report_has_baseline(const struct report *r, const struct bench_results *results)
{
    for (unsigned i = 0; r->baseline != NULL && i < results->count; i++)
        for (unsigned k = 0; k < results->rows[i].count; k++)
            if (baseline_ratio(r->baseline, &results->rows[i], &results->rows[i].cells[k])
                    .is_known)
                return true;
    return false;
}

void report_slope_print(FILE *out, const struct bench_cell *cell)
{
    char size[SIZE_TEXT_MAX];
    if (cell->has_slope)
        fprintf(out, "    memory of a session: %s (between %u and %u sessions)\n",
                size_text(cell->slope_bytes, size), cell->slope_from, cell->slope_to);
}

/* -- before the rows -- */

static void print_host(FILE *out)
{
    char text[3 * HOST_TEXT_MAX];
    struct host host;
    host_read(&host);
    snprintf(text, sizeof(text), "%s%s%u core%s, Linux %s", host.cpu,
             host.cpu[0] != '\0' ? ", " : "", host.cores, host.cores == 1 ? "" : "s",
             host.kernel);
    report_wrapped_print(out, 0, text);
}

static void print_server(FILE *out, const struct bench_server *server)
{
    char text[sizeof(server->where) + sizeof(server->version) + sizeof(server->error)];
    if (server->error[0] != '\0')
        snprintf(text, sizeof(text), "not measured: %s", server->error);
    else
        snprintf(text, sizeof(text), "%s%s%s%s", server->version,
                 server->where[0] != '\0' ? " (" : "", server->where,
                 server->where[0] != '\0' ? ")" : "");
    /* The name stands in the room of the first line's indent. */
    char line[sizeof(text) + BENCH_NAME_MAX + 4];
    snprintf(line, sizeof(line), "%-10s %s", server->name, text);
    report_wrapped_print(out, 2, line);
}

static void print_head_of_many(const struct report *r, const struct bench_results *results)
{
    const struct bench_options *o = r->options;
    char size[SIZE_TEXT_MAX];
    const char *files = o->quick ? o->suite->files_quick : o->suite->files;
    if (files == NULL)
        files = size_text((double)o->file_bytes, size);
    fprintf(r->out, "ferry %s bench %s: files of %s, %u clients, %u pairs%s\n", FERRY_VERSION,
            o->suite->name, files, o->clients, o->pairs,
            o->quick ? " (quick: less exact)" : "");
    print_host(r->out);
    for (unsigned i = 0; i < results->server_count; i++)
        print_server(r->out, &results->servers[i]);
    report_legend_print(r);
}

static void print_head_of_one(const struct report *r, const struct bench_results *results)
{
    const struct bench_options *o = r->options;
    const struct bench_server *server = &results->servers[0];
    char size[SIZE_TEXT_MAX];
    fprintf(r->out, "ferry %s bench %s: %s port %u%s, files of %s%s\n", FERRY_VERSION,
            o->suite->name, o->server.host, o->server.port, o->tls ? " with TLS" : "",
            size_text((double)o->file_bytes, size), o->quick ? " (quick: less exact)" : "");
    if (results->server_count > 0 && server->has_memory_start)
        fprintf(r->out, "(starting with %s of memory being used)\n",
                size_text((double)server->memory_start_bytes, size));
}

void report_head_print(const struct report *r, const struct bench_results *results)
{
    if (r->options->has_server)
        print_head_of_one(r, results);
    else
        print_head_of_many(r, results);
}

void report_row_print(const struct report *r, const struct bench_row *row)
{
    if (r->options->has_server)
        report_line_print(r, row);
    else
        report_table_print(r, row);
}
