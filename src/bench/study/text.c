/* A study's tables in its own layout, on a terminal. */
#include "base/text.h"

#include <math.h>
#include <string.h>

#include "bench/machine/host.h"
#include "bench/report/statistics.h"
#include "bench/study/report.h"

#define CELL_WIDTH 10
#define MINUTE_S   60
#define NOTE_WIDTH 96

const char *study_cell_text(const struct study *s, const struct study_cell *cell,
                            char dst[STUDY_CELL_TEXT_MAX])
{
    double value = cell != NULL ? study_value(s, cell) : 0;
    if (cell == NULL)
        dst[0] = '\0';
    else if (cell->state == STUDY_WAITING)
        text_copy(dst, STUDY_CELL_TEXT_MAX, BYTES_LIT("-"));
    else if (cell->state != STUDY_MEASURED)
        snprintf(dst, STUDY_CELL_TEXT_MAX, "%s",
                 cell->state == STUDY_NOT_INSTALLED ? "none here"
                                                    : study_state_name(cell->state));
    else
        snprintf(dst, STUDY_CELL_TEXT_MAX, "%.*f",
                 value < 10     ? 3
                 : value < 1000 ? 1
                                : 0,
                 value);
    return dst;
}

const char *study_host_text(char dst[STUDY_HEADING_MAX])
{
    struct host host;
    host_read(&host);
    snprintf(dst, STUDY_HEADING_MAX, "%s, %u cores, Linux %s",
             host.cpu[0] != '\0' ? host.cpu : "unknown processor", host.cores, host.kernel);
    return dst;
}

const char *study_clock_text(double seconds, char dst[STUDY_CELL_TEXT_MAX])
{
    int minutes = (int)(seconds / MINUTE_S);
    snprintf(dst, STUDY_CELL_TEXT_MAX, "%dm%.3fs", minutes, seconds - minutes * MINUTE_S);
    return dst;
}

/* -- a table -- */

static int label_width(const struct study_table *t)
{
    size_t width = strlen(t->corner);
    for (unsigned i = 0; i < t->row_count; i++)
        width = strlen(t->rows[i]) > width ? strlen(t->rows[i]) : width;
    return (int)width;
}

static int column_width(const struct study_table *t, unsigned column)
{
    size_t width = strlen(t->columns[column]);
    return width > CELL_WIDTH ? (int)width : CELL_WIDTH;
}

static void print_spread(const struct study_cell *cell, FILE *out)
{
    if (cell != NULL && cell->state == STUDY_MEASURED && cell->count > 1)
        fprintf(out, " ±%3.0f%%", 100 * study_spread(cell));
    else
        fputs("      ", out);
}

static void print_row(const struct study *s, unsigned table, unsigned row, int width, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    bool is_narrow = t->column_count <= 4;
    char text[STUDY_CELL_TEXT_MAX];
    fprintf(out, "%-*s", width, t->rows[row]);
    for (unsigned c = 0; c < t->column_count; c++) {
        const struct study_cell *cell = study_at(s, table, row, c);
        fprintf(out, "  %*s", column_width(t, c), study_cell_text(s, cell, text));
        if (is_narrow)
            print_spread(cell, out);
    }
    const struct study_cell *only = t->column_count == 1 ? study_at(s, table, row, 0) : NULL;
    if (only != NULL && only->state == STUDY_MEASURED)
        fprintf(out, "  %8.3f %8.3f %8.3f", study_median(only, STUDY_USER),
                study_median(only, STUDY_SYSTEM), study_median(only, STUDY_SERVER));
    fputc('\n', out);
}

static void print_grid(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    int width = label_width(t);
    bool is_narrow = t->column_count <= 4;
    fprintf(out, "%-*s", width, t->corner);
    for (unsigned c = 0; c < t->column_count; c++)
        fprintf(out, "  %*s%s", column_width(t, c), t->columns[c], is_narrow ? "      " : "");
    fputs(t->column_count == 1 ? "      user   system   server\n" : "\n", out);
    for (unsigned r = 0; r < t->row_count; r++)
        print_row(s, table, r, width, out);
}

/* -- each run, as the study of ciphers has them -- */

static void print_runs(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    char real[STUDY_CELL_TEXT_MAX], user[STUDY_CELL_TEXT_MAX], system[STUDY_CELL_TEXT_MAX];
    fputs("run | Xfer type | real | user | system |\n---|---|---|---|---|\n", out);
    for (unsigned r = 0; r < t->row_count; r++) {
        const struct study_cell *cell = study_at(s, table, r, 0);
        for (unsigned i = 0; cell != NULL && i < cell->count; i++)
            fprintf(out, "%u | %s | %s | %s | %s |\n", i + 1, t->rows[r],
                    study_clock_text(cell->runs[i].real_s, real),
                    study_clock_text(cell->runs[i].user_s, user),
                    study_clock_text(cell->runs[i].system_s, system));
        if (cell != NULL && cell->state != STUDY_MEASURED)
            fprintf(out, "- | %s | %s | | |\n", t->rows[r], study_state_name(cell->state));
    }
    fprintf(out, "\nAverage over %u runs\n", s->options->runs);
    for (unsigned r = 0; r < t->row_count; r++) {
        const struct study_cell *cell = study_at(s, table, r, 0);
        if (cell != NULL && cell->state == STUDY_MEASURED)
            fprintf(out, "%s: real=%.3f user=%.4f sys=%.4f server=%.4f\n", t->rows[r],
                    study_average(cell, STUDY_REAL), study_average(cell, STUDY_USER),
                    study_average(cell, STUDY_SYSTEM), study_average(cell, STUDY_SERVER));
    }
}

/* -- what stands beside the tables -- */

static const char *row_of(const struct study *s, const struct study_cell *cell)
{
    return s->tables[cell->table].rows[cell->row];
}

/* Each reason once, with the first cell that it is for. */
static void print_reasons(const struct study *s, FILE *out)
{
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        bool is_said = cell->reason[0] == '\0' || cell->state == STUDY_WAITING;
        for (unsigned k = 0; k < i && !is_said; k++)
            is_said = strcmp(row_of(s, &s->cells[k]), row_of(s, cell)) == 0 &&
                      strcmp(s->cells[k].reason, cell->reason) == 0;
        if (!is_said)
            fprintf(out, "%s: %s: %s\n", s->tables[cell->table].rows[cell->row],
                    study_state_name(cell->state), cell->reason);
    }
}

static void print_baseline(const struct study *s, const json_t *baseline, FILE *out)
{
    char name[4 * STUDY_LABEL_MAX];
    for (unsigned i = 0; baseline != NULL && i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        double now = study_value(s, cell), then = study_earlier(baseline, s, cell);
        if (now <= 0 || then <= 0)
            continue;
        study_cell_name(s, cell, sizeof(name), name);
        fprintf(out, "%s: %.3f then, %.3f now (%+.1f %%)\n", name, then, now,
                100 * (now / then - 1));
    }
}

static void print_links(const struct study *s, FILE *out)
{
    for (unsigned i = 0; i < s->link_count; i++)
        if (s->links[i].measured > 0)
            fprintf(out, "link %s: a plain TCP stream has %.1f KB/s of %.1f\n",
                    s->links[i].name, s->links[i].measured / 1024,
                    (double)s->links[i].bytes_per_s / 1024);
}

void study_text_print(const struct study *s, const json_t *baseline, FILE *out)
{
    char host[STUDY_HEADING_MAX];
    fprintf(out, "%s: %s\n%s\n", s->suite->title, s->suite->origin, study_host_text(host));
    for (unsigned i = 0; i < s->table_count; i++) {
        fprintf(out, "\n%s%s\n", s->tables[i].title,
                s->tables[i].is_rate ? " (KB/s)" : " (seconds)");
        if (s->tables[i].lists_runs)
            print_runs(s, i, out);
        else
            print_grid(s, i, out);
    }
    fputc('\n', out);
    print_reasons(s, out);
    print_links(s, out);
    for (unsigned i = 0; i < s->note_count; i++)
        fprintf(out, "%s\n", s->notes[i]);
    for (unsigned i = 0; i < s->version_count; i++)
        fprintf(out, "%s\n", s->versions[i]);
    if (baseline != NULL)
        fputs("\nBeside the earlier run\n", out);
    print_baseline(s, baseline, out);
}
