#include "bench/study/study.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "bench/study/results.h"

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
    t->tells_rate = heading->tells_rate;
    memcpy(t->groups, heading->groups, sizeof(t->groups));
    t->chart = heading->chart;
    return (int)s->table_count++;
}

int study_add_link(struct study *s, const char *name, uint64_t bytes_per_s)
{
    return study_add_far_link(s, name, bytes_per_s, 0);
}

int study_add_far_link(struct study *s, const char *name, uint64_t bytes_per_s,
                       usec_t round_trip_us)
{
    if (s->link_count == STUDY_LINKS_MAX)
        return -E2BIG;
    struct study_link *link = &s->links[s->link_count];
    text_copy(link->name, sizeof(link->name), bytes_str(name));
    link->bytes_per_s = bytes_per_s;
    link->round_trip_us = round_trip_us;
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
    cell->window = w->window;
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

void study_progress(const struct study *s, const char *what)
{
    if (s->progress != NULL)
        s->progress(what);
}
