/* A server that runs already: ftpbench's line, and beneath it, indented, what else is known. */
#include "bench/report/report_internal.h"

static void print_samples(FILE *out, const struct bench_cell *cell)
{
    if (cell->bytes > 0)
        fprintf(out, "    %u file%s in %.2f s", cell->operations,
                cell->operations == 1 ? "" : "s", report_seconds(cell->wall_us));
    if (cell->has_interval)
        fprintf(out, "%smedian of %u, 90 %% interval %.2f to %.2f",
                cell->bytes > 0 ? "; " : "    ", cell->sample_count, cell->interval.low,
                cell->interval.high);
    if (cell->bytes > 0 || cell->has_interval)
        fputc('\n', out);
}

/* Without bytes: of all of the row, since ftpbench's rows are of logins one by one. */
static double cpu_of(const struct bench_cell *cell, usec_t cpu_us)
{
    return cell->bytes > 0 ? report_cpu(cell, cpu_us) : report_seconds(cpu_us);
}

static void print_cpu(FILE *out, const struct bench_cell *cell)
{
    fprintf(out, "    %s: ", cell->bytes > 0 ? "CPU-s/GB" : "CPU-s");
    if (cell->has_server_cpu)
        fprintf(out, "server %.3f, ", cpu_of(cell, cell->server_cpu_us));
    fprintf(out, "client %.3f (%.0f %% of a core%s)\n", cpu_of(cell, cell->client_cpu_us),
            bench_cell_client_share(cell) * 100,
            bench_cell_is_client_limited(cell) ? ": client-limited" : "");
}

static void print_noop(FILE *out, const struct bench_cell *cell)
{
    const struct bench_latency *l = &cell->noop;
    if (l->count > 0)
        fprintf(out, "    %u NOOPs beside it: p50 %.2f, p95 %.2f, p99 %.2f ms\n", l->count,
                l->p50_us / 1000, l->p95_us / 1000, l->p99_us / 1000);
}

void report_line_print(const struct report *r, const struct bench_row *row)
{
    const struct bench_cell *cell = &row->cells[0];
    const char *unit = bench_unit_name(row->unit);
    char memory[SIZE_TEXT_MAX];
    if (row->count == 0)
        return;
    if (bench_cell_has_failed(cell)) {
        fprintf(r->out, "%-50s   failed\n    %s\n", row->label, cell->error);
        return;
    }
    if (cell->has_memory)
        fprintf(r->out, "%-50s %8.2f %-8s%s\n", row->label, cell->value, unit,
                size_text((double)cell->memory_bytes, memory));
    else
        fprintf(r->out, "%-50s %8.2f %s\n", row->label, cell->value, unit);
    print_samples(r->out, cell);
    print_cpu(r->out, cell);
    print_noop(r->out, cell);
    report_slope_print(r->out, cell);
    report_wrapped_print(r->out, 4, cell->note);
    report_baseline_print(r, row, cell);
}
