/* Several servers: a block of lines for each row, and at the end each row in short. The columns
 * are as wide as what they hold at most, and 80 together. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "bench/engine/probe.h"
#include "bench/report/goals.h"
#include "bench/report/report_internal.h"
#include "bench/suite.h"

#define LABEL_COLUMNS 40

void report_legend_print(const struct report *r)
{
    const struct bench_suite *suite = r->options->suite;
    fputs("\n"
          "Beneath each row, its unit and that of CPU stand behind its name; then:\n"
          "  memory   of all processes of the server, what they share left out\n"
          "  CPU      the server's, for each GB, or for each login or listing\n",
          r->out);
    fprintf(r->out,
            "  %-8s what another session waits for an answer meanwhile: p50/p99 in ms\n",
            suite->probe->name);
    fputs("           (p95 is in the JSON)\n"
          "  ratio    ferryd beside this server, pair by pair: above 1 ferryd is better\n"
          "  [ , ]    where the ratio lies with 90 % certainty\n"
          "  verdict  met: all of that is at or above the goal (0.95 of a peer, or as told\n"
          "           at the end); missed: none; undecided: some, or fewer than 5 pairs\n"
          "  client   CPU of the load's side, counted as the server's\n",
          r->out);
    if (suite->floor != NULL)
        fputs(suite->floor, r->out);
    fprintf(r->out,
            "\n"
            "  server         value  memory     CPU %10s ratio     [ , ]      verdict\n",
            suite->probe->name);
}

/* -- a row -- */

/* A hundredth says nothing of what takes milliseconds. */
static int decimals(double value)
{
    return fabs(value) < 0.1 ? 4 : 2;
}

/* Of listings microseconds are too many digits. */
static bool counts_in_ms(const struct bench_row *row)
{
    for (unsigned i = 0; i < row->count; i++) {
        const struct bench_cell *cell = &row->cells[i];
        if (cell->bytes == 0 && report_cpu(cell, cell->server_cpu_us) >= 1)
            return true;
    }
    return false;
}

/* Of the server or the client, in at most seven columns. */
static const char *write_cpu(const struct bench_row *row, const struct bench_cell *cell,
                             usec_t cpu_us, char dst[REPORT_NUMBER_MAX])
{
    double value = report_cpu(cell, cpu_us);
    if (cell->bytes == 0)
        value *= counts_in_ms(row) ? 1e3 : 1e6;
    bool is_small = cell->bytes > 0 && value < 9.9995;
    if (is_small)
        snprintf(dst, REPORT_NUMBER_MAX, "%.3f", value);
    else if (value < 9999999)
        snprintf(dst, REPORT_NUMBER_MAX, "%.*f", cell->bytes > 0 && value < 99.95 ? 1 : 0,
                 value);
    else
        snprintf(dst, REPORT_NUMBER_MAX, "%.0e", value);
    return dst;
}

static void print_columns(FILE *out, const struct bench_row *row, const struct bench_cell *cell)
{
    char memory[SIZE_TEXT_MAX] = "-", cpu[REPORT_NUMBER_MAX] = "-";
    char p50[REPORT_NUMBER_MAX], p99[REPORT_NUMBER_MAX], noop[2 * REPORT_NUMBER_MAX + 1] = "-";
    if (cell->has_memory)
        size_text((double)cell->memory_bytes, memory);
    if (cell->has_server_cpu)
        write_cpu(row, cell, cell->server_cpu_us, cpu);
    if (cell->noop.count > 0)
        snprintf(noop, sizeof(noop), "%s/%s", report_number(cell->noop.p50_us / 1000, p50),
                 report_number(cell->noop.p99_us / 1000, p99));
    fprintf(out, "  %-10.10s %9.*f %7s %7s %10s", cell->target, decimals(cell->value),
            cell->value, memory, cpu, noop);
}

static void print_cell(const struct report *r, const struct bench_row *row,
                       const struct bench_cell *cell)
{
    const struct bench_cell *first = &row->cells[0];
    char value[REPORT_NUMBER_MAX], range[REPORT_RANGE_MAX];
    if (bench_cell_has_failed(cell)) {
        fprintf(r->out, "  %-10.10s failed\n", cell->target);
        report_wrapped_print(r->out, 4, cell->error);
        return;
    }
    print_columns(r->out, row, cell);
    if (cell != first && cell->ratio.is_known) {
        enum bench_verdict verdict = goals_verdict(r->options->suite->goals, row, cell);
        report_range(&cell->ratio, range);
        fprintf(r->out, " %5s", report_number(cell->ratio.value, value));
        if (verdict != BENCH_NO_VERDICT) {
            fprintf(r->out, " %-14s ", range);
            report_verdict_print(r, verdict, false);
        } else if (range[0] != '\0') {
            fprintf(r->out, " %s", range);
        }
    }
    fputc('\n', r->out);
    if (cell != first && bench_cell_is_judged_by_cpu(cell, row->unit, first)) {
        fputs("    client-limited: judged by CPU", r->out);
        if (cell->cpu_ratio.is_known)
            fprintf(r->out, ", ratio %s %s", report_number(cell->cpu_ratio.value, value),
                    report_range(&cell->cpu_ratio, range));
        fputc('\n', r->out);
    }
    report_slope_print(r->out, cell);
    report_wrapped_print(r->out, 4, cell->note);
    report_baseline_print(r, row, cell);
}

static const char *cpu_unit(const struct bench_row *row)
{
    for (unsigned i = 0; i < row->count; i++)
        if (row->cells[i].has_server_cpu)
            return row->cells[i].bytes > 0 ? "; CPU: s/GB"
                   : counts_in_ms(row)     ? "; CPU: ms each"
                                           : "; CPU: us each";
    return "";
}

/* One line for all of them: there is no column left. */
static void print_clients(FILE *out, const struct bench_row *row)
{
    char text[BENCH_TARGETS_MAX * (BENCH_NAME_MAX + REPORT_NUMBER_MAX + 2) + 16] =
        "client CPU:";
    size_t len = strlen(text), before = len;
    for (unsigned i = 0; i < row->count; i++) {
        const struct bench_cell *cell = &row->cells[i];
        char cpu[REPORT_NUMBER_MAX];
        if (bench_cell_has_failed(cell) || cell->sample_count == 0)
            continue;
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s %s",
                                len > before ? "," : "", cell->target,
                                write_cpu(row, cell, cell->client_cpu_us, cpu));
    }
    if (len > before)
        report_wrapped_print(out, 2, text);
}

void report_table_print(const struct report *r, const struct bench_row *row)
{
    char head[BENCH_LABEL_MAX + 32];
    snprintf(head, sizeof(head), "%s: %s%s", row->label, bench_unit_name(row->unit),
             cpu_unit(row));
    fputc('\n', r->out);
    report_wrapped_print(r->out, 0, head);
    for (unsigned i = 0; i < row->count; i++)
        print_cell(r, row, &row->cells[i]);
    print_clients(r->out, row);
}

/* -- in short: ferryd and the best peer -- */

/* NULL: no peer was measured, or ferryd failed. */
static const struct bench_cell *best_peer(const struct bench_row *row)
{
    const struct bench_cell *best = NULL;
    for (unsigned i = 1; i < row->count; i++) {
        const struct bench_cell *cell = &row->cells[i];
        if (!cell->is_floor && !bench_cell_has_failed(cell) && cell->ratio.is_known &&
            (best == NULL || cell->ratio.value < best->ratio.value))
            best = cell;
    }
    return best;
}

/* The label in its column, cut where it must be. */
static void print_label(FILE *out, const struct bench_row *row)
{
    bool is_long = strlen(row->label) > LABEL_COLUMNS;
    fprintf(out, "%-*.*s%s", is_long ? 0 : LABEL_COLUMNS, LABEL_COLUMNS - (is_long ? 2 : 0),
            row->label, is_long ? ".." : "");
}

static void print_comparison(const struct report *r, const struct bench_row *row,
                             const struct bench_cell *peer)
{
    const struct bench_cell *ours = &row->cells[0];
    const struct bench_ratio *ratio = bench_cell_decider(peer, row->unit, ours);
    char value[REPORT_NUMBER_MAX], range[REPORT_RANGE_MAX];
    bool is_by_cpu = bench_cell_is_judged_by_cpu(peer, row->unit, ours);
    print_label(r->out, row);
    fprintf(r->out, " %10.*f  %9.*f %-10.10s %5s\n", decimals(ours->value), ours->value,
            decimals(peer->value), peer->value, peer->target,
            report_number(peer->ratio.value, value));
    fprintf(r->out, "%*s %10s  %-14s ", LABEL_COLUMNS,
            is_by_cpu ? "client-limited: judged by CPU" : "", bench_unit_name(row->unit),
            report_range(ratio, range));
    report_verdict_print(r, goals_verdict(r->options->suite->goals, row, peer), false);
    fputc('\n', r->out);
}

static void print_alone(FILE *out, const struct bench_row *row)
{
    const struct bench_cell *ours = &row->cells[0];
    print_label(out, row);
    if (bench_cell_has_failed(ours))
        fprintf(out, " %10s\n", "failed");
    else
        fprintf(out, " %10.*f  no peer\n%*s %10s\n", decimals(ours->value), ours->value,
                LABEL_COLUMNS, "", bench_unit_name(row->unit));
}

static void print_comparisons(const struct report *r, const struct bench_results *results)
{
    fprintf(r->out, "\n%-*s %10s  %9s %-10s %5s\n", LABEL_COLUMNS, "In short", "ferryd", "best",
            "peer", "ratio");
    for (unsigned i = 0; i < results->count; i++) {
        const struct bench_row *row = &results->rows[i];
        if (!bench_row_is_ours(results, row))
            continue;
        const struct bench_cell *peer = best_peer(row);
        if (peer != NULL)
            print_comparison(r, row, peer);
        else
            print_alone(r->out, row);
    }
}

/* -- goals -- */

/* As the goal's own text counts it. */
static const char *write_value(const struct goal_result *g, char dst[REPORT_NUMBER_MAX])
{
    if (g->kind == GOAL_MEMORY || g->kind == GOAL_SLOPE)
        return size_text(g->value, dst);
    return report_number(g->kind == GOAL_NOOP_P99 ? g->value / 1000 : g->value, dst);
}

static void print_goal(const struct report *r, const struct goal_result *g)
{
    char number[REPORT_NUMBER_MAX], value[64], margin[16] = "";
    snprintf(value, sizeof(value), "%s", g->verdict == BENCH_MISSED ? "failed" : "-");
    if (g->is_known) {
        snprintf(value, sizeof(value), "%s %.9s", write_value(g, number),
                 g->peer != NULL ? g->peer : "");
        snprintf(margin, sizeof(margin), "%+.0f%%", fmin(goal_margin(g) * 100, 999));
    }
    fputc(' ', r->out);
    report_verdict_print(r, g->verdict, true);
    fprintf(r->out, " %-14s %-32s %-15s %s\n", g->row, g->what, value, margin);
    if (g->held > 0)
        fprintf(r->out, "%*s not possible here: descriptors for %u sessions\n", 25, "",
                g->held);
    if (g->is_by_cpu)
        fprintf(r->out, "%*s client-limited: judged by CPU\n", 25, "");
}

static void print_goals(const struct report *r, const struct goal_result *goals, unsigned count)
{
    unsigned counts[BENCH_UNDECIDED + 1] = {0};
    for (unsigned i = 0; i < count; i++)
        counts[goals[i].verdict]++;
    fprintf(r->out, "\nGoals: %u met, %u missed, %u undecided%s\n", counts[BENCH_MET],
            counts[BENCH_MISSED], counts[BENCH_UNDECIDED],
            r->options->quick ? " (quick: less exact)" : "");
    for (unsigned i = 0; i < count; i++)
        print_goal(r, &goals[i]);
}

void report_summary_print(const struct report *r, const struct bench_results *results)
{
    if (r->options->has_server || results->count == 0)
        return;
    print_comparisons(r, results);
    struct goal_result *goals = mem_new(GOALS_MAX * sizeof(*goals));
    unsigned count = goals != NULL ? goals_decide(r->options->suite->goals, results, goals) : 0;
    if (count > 0)
        print_goals(r, goals, count);
    mem_free(goals);
}
