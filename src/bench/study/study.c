#include "bench/study/study.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "bench/report/statistics.h"

#define KB 1024.0

static const char *const states[] = {
    [STUDY_WAITING] = "not run", [STUDY_MEASURED] = "measured",
    [STUDY_RETIRED] = "retired", [STUDY_NOT_INSTALLED] = "not installed",
    [STUDY_FAILED] = "failed",
};

const char *study_state_name(enum study_state state)
{
    return states[state];
}

int study_new(const struct study_suite *suite, const struct study_options *options,
              struct study **ret)
{
    struct study *s = mem_new(sizeof(*s));
    struct study_cell *cells = mem_new(STUDY_CELLS_MAX * sizeof(*cells));
    if (s == NULL || cells == NULL) {
        mem_free(s);
        mem_free(cells);
        return -ENOMEM;
    }
    s->suite = suite;
    s->options = options;
    s->cells = cells;
    *ret = s;
    return 0;
}

struct study *study_free(struct study *s)
{
    if (s == NULL)
        return NULL;
    for (unsigned i = 0; i < s->cell_count; i++) {
        mem_free(s->cells[i].command);
        mem_free(s->cells[i].receiver);
    }
    mem_free(s->cells);
    mem_free(s);
    return NULL;
}

/* -- what is to be run -- */

int study_add_table(struct study *s, const struct study_heading *heading)
{
    if (s->table_count == STUDY_TABLES_MAX)
        return -E2BIG;
    struct study_table *t = &s->tables[s->table_count];
    text_copy(t->title, sizeof(t->title), bytes_str(heading->title));
    text_copy(t->corner, sizeof(t->corner), bytes_str(heading->corner));
    t->is_rate = heading->is_rate;
    t->lists_runs = heading->lists_runs;
    t->chart = heading->chart;
    return (int)s->table_count++;
}

int study_add_link(struct study *s, const char *name, uint64_t bytes_per_s)
{
    if (s->link_count == STUDY_LINKS_MAX)
        return -E2BIG;
    struct study_link *link = &s->links[s->link_count];
    text_copy(link->name, sizeof(link->name), bytes_str(name));
    link->bytes_per_s = bytes_per_s;
    return (int)s->link_count++;
}

static int find_label(char (*labels)[STUDY_LABEL_MAX], unsigned *count, unsigned max,
                      const char *label)
{
    for (unsigned i = 0; i < *count; i++)
        if (strcmp(labels[i], label) == 0)
            return (int)i;
    if (*count == max)
        return -E2BIG;
    text_copy(labels[*count], STUDY_LABEL_MAX, bytes_str(label));
    return (int)(*count)++;
}

int study_row(struct study *s, unsigned table, const char *label)
{
    struct study_table *t = &s->tables[table];
    return find_label(t->rows, &t->row_count, STUDY_ROWS_MAX, label);
}

int study_column(struct study *s, unsigned table, const char *label)
{
    struct study_table *t = &s->tables[table];
    return find_label(t->columns, &t->column_count, STUDY_COLUMNS_MAX, label);
}

static bool is_wanted(const struct study *s, const struct study_cell *cell)
{
    char name[4 * STUDY_LABEL_MAX];
    study_cell_name(s, cell, sizeof(name), name);
    return s->options->only == NULL || strstr(name, s->options->only) != NULL;
}

int study_add(struct study *s, const struct study_what *w)
{
    int row = study_row(s, w->table, w->row), column = study_column(s, w->table, w->column);
    if (row < 0 || column < 0 || s->cell_count == STUDY_CELLS_MAX)
        return -E2BIG;
    struct study_cell *cell = &s->cells[s->cell_count];
    memset(cell, 0, sizeof(*cell)); /* a literal would be built on the stack */
    cell->table = w->table;
    cell->row = (unsigned)row;
    cell->column = (unsigned)column;
    cell->program = w->program;
    cell->is_shell = w->is_shell;
    cell->subtracts_start = w->subtracts_start;
    cell->server = w->server;
    cell->link = w->link;
    cell->data = w->data;
    cell->measure = w->measure;
    cell->detail = w->detail;
    cell->state = w->retired != NULL ? STUDY_RETIRED : STUDY_WAITING;
    if (w->retired != NULL)
        text_copy(cell->reason, sizeof(cell->reason), bytes_str(w->retired));
    else if (!is_wanted(s, cell))
        text_copy(cell->reason, sizeof(cell->reason), BYTES_LIT("left out by --only"));
    if (w->command != NULL && (cell->command = mem_strdup(w->command)) == NULL)
        return -ENOMEM;
    s->cell_count++;
    if (w->receiver != NULL && (cell->receiver = mem_strdup(w->receiver)) == NULL)
        return -ENOMEM;
    return 0;
}

void study_note(struct study *s, const char *format, ...)
{
    if (s->note_count == STUDY_NOTES_MAX)
        return;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->notes[s->note_count++], STUDY_NOTE_MAX, format, args);
    va_end(args);
}

void study_version(struct study *s, const char *format, ...)
{
    if (s->version_count == STUDY_NOTES_MAX)
        return;
    char *line = s->versions[s->version_count];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, STUDY_NOTE_MAX, format, args);
    va_end(args);
    for (unsigned i = 0; i < s->version_count; i++)
        if (strcmp(s->versions[i], line) == 0)
            return;
    s->version_count++;
}

/* -- results -- */

static double field(const struct study_run *run, enum study_field f)
{
    const double values[] = {
        [STUDY_REAL] = run->real_s,
        [STUDY_USER] = run->user_s,
        [STUDY_SYSTEM] = run->system_s,
        [STUDY_SERVER] = run->server_s,
    };
    return values[f];
}

double study_median(const struct study_cell *cell, enum study_field f)
{
    double values[STUDY_RUNS_MAX] = {0};
    for (unsigned i = 0; i < cell->count; i++)
        values[i] = field(&cell->runs[i], f);
    return statistics_median_of(values, cell->count);
}

double study_average(const struct study_cell *cell, enum study_field f)
{
    double sum = 0;
    for (unsigned i = 0; i < cell->count; i++)
        sum += field(&cell->runs[i], f);
    return cell->count > 0 ? sum / cell->count : 0;
}

double study_spread(const struct study_cell *cell)
{
    if (cell->count == 0)
        return 0;
    double low = cell->runs[0].real_s, high = low;
    for (unsigned i = 1; i < cell->count; i++) {
        double real_s = cell->runs[i].real_s;
        low = real_s < low ? real_s : low;
        high = real_s > high ? real_s : high;
    }
    double median = study_median(cell, STUDY_REAL);
    return median > 0 ? (high - low) / 2 / median : 0;
}

double study_value(const struct study *s, const struct study_cell *cell)
{
    double real_s = study_median(cell, STUDY_REAL);
    if (cell->state != STUDY_MEASURED || real_s <= 0)
        return 0;
    if (!s->tables[cell->table].is_rate)
        return real_s;
    return (double)s->data[cell->data].bytes / real_s / KB;
}

const struct study_cell *study_at(const struct study *s, unsigned table, unsigned row,
                                  unsigned column)
{
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        if (cell->table == table && cell->row == row && cell->column == column)
            return cell;
    }
    return NULL;
}

size_t study_cell_name(const struct study *s, const struct study_cell *cell, size_t cap,
                       char *dst)
{
    const struct study_table *t = &s->tables[cell->table];
    int n = snprintf(dst, cap, "%.60s / %s / %s", t->title, t->rows[cell->row],
                     t->columns[cell->column]);
    return n > 0 ? (size_t)n : 0;
}

void study_progress(const struct study *s, const char *what)
{
    if (s->progress != NULL)
        s->progress(what);
}
