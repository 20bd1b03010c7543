#include "bench/study/results.h"

#include <stdio.h>
#include <string.h>

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

double study_field(const struct study_run *run, enum study_field f)
{
    const double values[STUDY_FIELDS] = {
        [STUDY_REAL] = run->real_s,
        [STUDY_USER] = run->user_s,
        [STUDY_SYSTEM] = run->system_s,
        [STUDY_SERVER_USER] = run->server_user_s,
        [STUDY_SERVER_SYSTEM] = run->server_system_s,
        [STUDY_CLIENT] = run->user_s + run->system_s,
    };
    return values[f];
}

double study_median(const struct study_cell *cell, enum study_field f)
{
    double values[STUDY_RUNS_MAX] = {0};
    for (unsigned i = 0; i < cell->count; i++)
        values[i] = study_field(&cell->runs[i], f);
    return statistics_median_of(values, cell->count);
}

double study_average(const struct study_cell *cell, enum study_field f)
{
    double sum = 0;
    for (unsigned i = 0; i < cell->count; i++)
        sum += study_field(&cell->runs[i], f);
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

double study_rate(const struct study_cell *cell)
{
    double rates[STUDY_RUNS_MAX] = {0};
    if (cell->state != STUDY_MEASURED)
        return 0;
    for (unsigned i = 0; i < cell->count; i++)
        if (cell->runs[i].real_s > 0)
            rates[i] = (double)cell->runs[i].bytes / cell->runs[i].real_s / KB;
    return statistics_median_of(rates, cell->count);
}

double study_value(const struct study *s, const struct study_cell *cell)
{
    if (cell->state != STUDY_MEASURED)
        return 0;
    return s->tables[cell->table].is_rate ? study_rate(cell) : study_median(cell, STUDY_REAL);
}

bool study_is_best(const struct study *s, const struct study_cell *cell)
{
    const struct study_table *t = &s->tables[cell->table];
    double value = study_value(s, cell);
    for (unsigned c = 0; value > 0 && c < t->column_count; c++) {
        const struct study_cell *other = study_at(s, cell->table, cell->row, c);
        bool is_rival = other != NULL && (t->groups[0] == NULL ||
                                          t->columns[c][0] == t->columns[cell->column][0]);
        double its = is_rival ? study_value(s, other) : 0;
        if (its > 0 && (t->is_rate ? its > value : its < value))
            return false;
    }
    return value > 0;
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

const struct study_cell *study_find(const struct study *s, const char *table, const char *row,
                                    const char *column)
{
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        const struct study_table *t = &s->tables[cell->table];
        if (strcmp(t->title, table) == 0 && strcmp(t->rows[cell->row], row) == 0 &&
            strcmp(t->columns[cell->column], column) == 0)
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
