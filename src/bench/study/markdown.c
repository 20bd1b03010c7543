#include <string.h>

#include "bench/study/goals.h"
#include "bench/study/report.h"
#include "bench/study/results.h"

/* A bar ends a cell of a table. */
static void print_word(const char *text, FILE *out)
{
    for (const char *at = text; *at != '\0'; at++)
        fprintf(out, "%s%c", *at == '|' ? "\\" : "", *at);
}

/* One cell, or two where the table's labels have two parts. */
static void print_label(const char *label, bool is_split, FILE *out)
{
    char first[STUDY_LABEL_MAX];
    const char *second;
    (void)study_split_label(label, first, &second);
    fputs("| ", out);
    print_word(is_split ? first : label, out);
    if (is_split) {
        fputs(" | ", out);
        print_word(second, out);
    }
}

static void print_cell(const struct study *s, const struct study_cell *cell, FILE *out)
{
    char text[STUDY_CELL_TEXT_MAX];
    bool is_best =
        cell != NULL && s->tables[cell->table].groups[0] != NULL && study_is_best(s, cell);
    fprintf(out, is_best ? " | **%s**" : " | %s", study_cell_text(s, cell, text));
    if (cell != NULL && cell->state == STUDY_MEASURED && cell->count > 1)
        fprintf(out, " ±%.0f %%", 100 * study_spread(cell));
}

static void print_times_of(const struct study_cell *cell, FILE *out)
{
    for (unsigned i = 0; i < STUDY_TIMES; i++)
        if (study_has_times(cell))
            fprintf(out, " | %.3f", study_median(cell, study_times[i].field));
        else
            fputs(" |", out);
}

static void print_times_heading(FILE *out)
{
    for (unsigned i = 0; i < STUDY_TIMES; i++)
        fprintf(out, " %s |", study_times[i].name);
}

static void print_table(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    char unused[STUDY_LABEL_MAX];
    const char *second;
    bool has_times = t->column_count == 1 && study_table_has_times(s, table);
    bool is_split = study_split_label(t->corner, unused, &second);
    fprintf(out, "\n## %s (%s)\n\n", t->title, t->is_rate ? "KB/s" : "seconds");
    if (t->groups[0] != NULL)
        fprintf(out, "1: %s, 2: %s; the best of each in bold.\n\n", t->groups[0], t->groups[1]);
    print_label(t->corner, is_split, out);
    fputs(" |", out);
    for (unsigned c = 0; c < t->column_count; c++)
        fprintf(out, " %s |", t->columns[c]);
    if (has_times)
        print_times_heading(out);
    fputs(is_split ? "\n|---|---|" : "\n|---|", out);
    for (unsigned c = 0; c < t->column_count + (has_times ? STUDY_TIMES : 0); c++)
        fputs("---:|", out);
    fputc('\n', out);
    for (unsigned r = 0; r < t->row_count; r++) {
        print_label(t->rows[r], is_split, out);
        for (unsigned c = 0; c < t->column_count; c++)
            print_cell(s, study_at(s, table, r, c), out);
        if (has_times)
            print_times_of(study_at(s, table, r, 0), out);
        fputs(" |\n", out);
    }
}

/* Where a table has more columns than one, its times stand by themselves. */
static void print_times(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    if (t->column_count < 2 || !study_table_has_times(s, table))
        return;
    fprintf(out, "\n### Times of both ends: %s (seconds)\n\n| row | column |", t->title);
    print_times_heading(out);
    fputs("\n|---|---|---:|---:|---:|---:|\n", out);
    for (unsigned r = 0; r < t->row_count; r++)
        for (unsigned c = 0; c < t->column_count; c++) {
            const struct study_cell *cell = study_at(s, table, r, c);
            if (!study_has_times(cell))
                continue;
            print_label(t->rows[r], false, out);
            fprintf(out, " | %s", t->columns[c]);
            print_times_of(cell, out);
            fputs(" |\n", out);
        }
}

static void print_sources(const struct study *s, FILE *out)
{
    if (s->source_count == 0)
        return;
    fputs("\n## Files used (bytes)\n\n| group | file | original |", out);
    for (unsigned l = 0; l < STUDY_LEVELS; l++)
        fprintf(out, " %s |", study_level_names[l]);
    fputs("\n|---|---|---:|---:|---:|---:|\n", out);
    for (unsigned i = 0; i < s->source_count; i++) {
        const struct study_source *f = &s->sources[i];
        fprintf(out, "| %u | ", f->group + 1);
        print_word(f->what, out);
        fputs(": ", out);
        print_word(f->path, out);
        fprintf(out, " | %llu |", (unsigned long long)f->bytes);
        for (unsigned l = 0; l < STUDY_LEVELS; l++)
            fprintf(out, " %llu (%.1f %%) |", (unsigned long long)f->at_level[l],
                    study_saving(f, l));
        fputc('\n', out);
    }
}

static void print_goals(const struct study *s, FILE *out)
{
    char line[STUDY_GOAL_TEXT_MAX];
    if (s->goal_count == 0)
        return;
    fputs("\n## Targets\n\n", out);
    for (unsigned i = 0; i < s->goal_count; i++) {
        fprintf(out, "* %s: ", study_verdict_name(s->goals[i].verdict));
        print_word(study_goal_text(&s->goals[i], line), out);
        fputc('\n', out);
    }
}

static void print_reasons(const struct study *s, FILE *out)
{
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        char name[4 * STUDY_LABEL_MAX];
        if (cell->reason[0] == '\0' || cell->state == STUDY_WAITING)
            continue;
        study_cell_name(s, cell, sizeof(name), name);
        fputs("* ", out);
        print_word(name, out);
        fprintf(out, ": %s: ", study_state_name(cell->state));
        print_word(cell->reason, out);
        fputc('\n', out);
    }
}

static void print_earlier(const struct study *s, const json_t *baseline, FILE *out)
{
    if (baseline == NULL)
        return;
    fputs("\n## Beside the earlier run\n\n| cell | then | now |\n|---|---:|---:|\n", out);
    for (unsigned i = 0; i < s->cell_count; i++) {
        double now = study_value(s, &s->cells[i]);
        double then = study_earlier(baseline, s, &s->cells[i]);
        char name[4 * STUDY_LABEL_MAX];
        if (now <= 0 || then <= 0)
            continue;
        study_cell_name(s, &s->cells[i], sizeof(name), name);
        fputs("| ", out);
        print_word(name, out);
        fprintf(out, " | %.3f | %.3f |\n", then, now);
    }
}

void study_markdown_print(const struct study *s, const json_t *baseline, FILE *out)
{
    char host[STUDY_HEADING_MAX];
    fprintf(out, "# %s\n\n%s.\n\n%s.\n", s->suite->title, s->suite->origin,
            study_host_text(host));
    for (unsigned i = 0; i < s->table_count; i++) {
        print_table(s, i, out);
        print_times(s, i, out);
    }
    print_sources(s, out);
    print_goals(s, out);
    fputs("\n## Notes\n\n", out);
    print_reasons(s, out);
    char line[STUDY_HEADING_MAX];
    for (unsigned i = 0; i < s->link_count; i++)
        if (s->links[i].measured > 0)
            fprintf(out, "* %s\n", study_link_text(&s->links[i], line));
    for (unsigned i = 0; i < s->note_count; i++)
        fprintf(out, "* %s\n", s->notes[i]);
    for (unsigned i = 0; i < s->version_count; i++)
        fprintf(out, "* %s\n", s->versions[i]);
    print_earlier(s, baseline, out);
}
