/* A study's tables in its own layout, on a terminal. */
#include <string.h>

#include "bench/study/goals.h"
#include "bench/study/report.h"
#include "bench/study/results.h"

#define GB         1e9 /* as CPU is told for: of 1,000,000,000 bytes */
#define CELL_WIDTH 9
#define NARROW     4 /* columns that leave room for how far runs lie apart */

/* -- a table -- */

static int wider(size_t width, const char *text)
{
    size_t len = strlen(text);
    return (int)(len > width ? len : width);
}

/* Labels of two parts are two columns. */
struct widths {
    int first, second, cells[STUDY_COLUMNS_MAX];
};

static void measure_label(const char *label, struct widths *w)
{
    char first[STUDY_LABEL_MAX];
    const char *second;
    (void)study_split_label(label, first, &second);
    w->first = wider((size_t)w->first, first);
    w->second = wider((size_t)w->second, second);
}

static void measure(const struct study *s, unsigned table, struct widths *w)
{
    const struct study_table *t = &s->tables[table];
    char text[STUDY_CELL_TEXT_MAX];
    *w = (struct widths){0};
    measure_label(t->corner, w);
    for (unsigned r = 0; r < t->row_count; r++)
        measure_label(t->rows[r], w);
    for (unsigned c = 0; c < t->column_count; c++) {
        w->cells[c] = wider(CELL_WIDTH, study_column_text(t, c));
        for (unsigned r = 0; r < t->row_count; r++)
            w->cells[c] =
                wider((size_t)w->cells[c], study_cell_text(s, study_at(s, table, r, c), text));
    }
}

static void print_label(const char *label, const struct widths *w, FILE *out)
{
    char first[STUDY_LABEL_MAX];
    const char *second;
    (void)study_split_label(label, first, &second);
    fprintf(out, "%-*s", w->first, first);
    if (w->second > 0)
        fprintf(out, "  %-*s", w->second, second);
}

/* How far runs lie apart; in wide tables the mark of the best alone has room. */
static void print_mark(const struct study *s, const struct study_cell *cell, FILE *out)
{
    const struct study_table *t = cell != NULL ? &s->tables[cell->table] : NULL;
    if (t == NULL || t->groups[0] != NULL)
        fputs(cell != NULL && study_is_best(s, cell) ? "*" : " ", out);
    else if (t->column_count <= NARROW && cell->state == STUDY_MEASURED && cell->count > 1)
        fprintf(out, " ±%3.0f%%", 100 * study_spread(cell));
    else if (t->column_count <= NARROW)
        fputs("      ", out);
}

static void print_row(const struct study *s, unsigned table, unsigned row,
                      const struct widths *w, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    char text[STUDY_CELL_TEXT_MAX];
    print_label(t->rows[row], w, out);
    for (unsigned c = 0; c < t->column_count; c++) {
        const struct study_cell *cell = study_at(s, table, row, c);
        fprintf(out, "  %*s", w->cells[c], study_cell_text(s, cell, text));
        print_mark(s, cell, out);
    }
    const struct study_cell *only = t->column_count == 1 ? study_at(s, table, row, 0) : NULL;
    for (unsigned i = 0; i < STUDY_TIMES && study_has_times(only); i++)
        fprintf(out, " %8.3f", study_median(only, study_times[i].field));
    fputc('\n', out);
}

static void print_groups(const struct study_table *t, const struct widths *w, FILE *out)
{
    unsigned c = 0;
    fprintf(out, "%-*s", w->first, "");
    for (unsigned g = 0; g < STUDY_GROUPS_MAX && t->groups[g] != NULL; g++) {
        int room = 0;
        for (unsigned n = study_group_columns(t, g); n > 0; n--)
            room += w->cells[c++] + 3;
        fprintf(out, "  %-*s", room - 2, t->groups[g]);
    }
    fputc('\n', out);
}

static void print_grid(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    struct widths w;
    measure(s, table, &w);
    if (t->groups[0] != NULL)
        print_groups(t, &w, out);
    print_label(t->corner, &w, out);
    for (unsigned c = 0; c < t->column_count; c++)
        fprintf(out, "  %*s%s", w.cells[c], study_column_text(t, c),
                t->groups[0] != NULL        ? " "
                : t->column_count <= NARROW ? "      "
                                            : "");
    bool has_times = t->column_count == 1 && study_table_has_times(s, table);
    fputs(has_times ? "     user   system  server:u  server:s\n" : "\n", out);
    for (unsigned r = 0; r < t->row_count; r++)
        print_row(s, table, r, &w, out);
}

/* Of tables of few columns; of wide ones the other reports have them. */
static void print_times(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    if (t->column_count < 2 || t->column_count > NARROW || !study_table_has_times(s, table))
        return;
    struct widths w = {0};
    for (unsigned r = 0; r < t->row_count; r++)
        w.first = wider((size_t)w.first, t->rows[r]);
    for (unsigned c = 0; c < t->column_count; c++)
        w.second = wider((size_t)w.second, t->columns[c]);
    fprintf(
        out,
        "\nTimes of both ends (seconds)\n%-*s  %-*s      user   system  server:u  server:s\n",
        w.first, "", w.second, "");
    for (unsigned r = 0; r < t->row_count; r++)
        for (unsigned c = 0; c < t->column_count; c++) {
            const struct study_cell *cell = study_at(s, table, r, c);
            if (!study_has_times(cell))
                continue;
            fprintf(out, "%-*s  %-*s ", w.first, t->rows[r], w.second, t->columns[c]);
            for (unsigned i = 0; i < STUDY_TIMES; i++)
                fprintf(out, " %8.3f", study_median(cell, study_times[i].field));
            fputc('\n', out);
        }
}

/* -- each run, as the study of ciphers has them -- */

/* In terms of speed, as the study has it: the fastest first. */
static void print_averages(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    double last = 0;
    fprintf(out, "\nAverage over %u run%s\n", s->options->runs,
            s->options->runs > 1 ? "s" : "");
    for (unsigned i = 0; i < t->row_count; i++) {
        const struct study_cell *next = NULL;
        for (unsigned r = 0; r < t->row_count; r++) {
            const struct study_cell *cell = study_at(s, table, r, 0);
            double real_s = cell != NULL && cell->state == STUDY_MEASURED
                                ? study_average(cell, STUDY_REAL)
                                : 0;
            if (real_s > last && (next == NULL || real_s < study_average(next, STUDY_REAL)))
                next = cell;
        }
        if (next == NULL)
            return;
        last = study_average(next, STUDY_REAL);
        fprintf(out,
                "%s: real=%.3f user=%.4f sys=%.4f server: user=%.4f sys=%.4f client: %.3f "
                "s/GB\n",
                t->rows[next->row], last, study_average(next, STUDY_USER),
                study_average(next, STUDY_SYSTEM), study_average(next, STUDY_SERVER_USER),
                study_average(next, STUDY_SERVER_SYSTEM),
                study_average(next, STUDY_CLIENT) * GB / (double)s->data[next->data].bytes);
    }
}

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
    print_averages(s, table, out);
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
    char line[STUDY_HEADING_MAX];
    for (unsigned i = 0; i < s->link_count; i++)
        if (s->links[i].measured > 0)
            fprintf(out, "%s\n", study_link_text(&s->links[i], line));
}

/* The study's last table: which files, and what each level makes of them. */
static void print_sources(const struct study *s, FILE *out)
{
    if (s->source_count == 0)
        return;
    fputs("\nFiles used (bytes)\n", out);
    fprintf(out, "%-32s %9s", "", "original");
    for (unsigned l = 0; l < STUDY_LEVELS; l++)
        fprintf(out, "  %17s", study_level_names[l]);
    fputc('\n', out);
    for (unsigned i = 0; i < s->source_count; i++) {
        const struct study_source *f = &s->sources[i];
        fprintf(out, "%u  %-29.29s %9llu", f->group + 1, f->what, (unsigned long long)f->bytes);
        for (unsigned l = 0; l < STUDY_LEVELS; l++)
            fprintf(out, "  %9llu (%4.1f%%)", (unsigned long long)f->at_level[l],
                    study_saving(f, l));
        fprintf(out, "\n   %s\n", f->path);
    }
}

static void print_goals(const struct study *s, FILE *out)
{
    char line[STUDY_GOAL_TEXT_MAX];
    if (s->goal_count > 0)
        fputs("Targets\n", out);
    for (unsigned i = 0; i < s->goal_count; i++)
        fprintf(out, "%-9s  %s\n", study_verdict_name(s->goals[i].verdict),
                study_goal_text(&s->goals[i], line));
    if (s->goal_count > 0)
        fputc('\n', out);
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
        print_times(s, i, out);
    }
    print_sources(s, out);
    fputc('\n', out);
    print_goals(s, out);
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
