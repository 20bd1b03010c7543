#include <string.h>

#include "bench/study/report.h"

/* A bar ends a cell of a table. */
static void print_word(const char *text, FILE *out)
{
    for (const char *at = text; *at != '\0'; at++)
        fprintf(out, "%s%c", *at == '|' ? "\\" : "", *at);
}

static void print_table(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    char text[STUDY_CELL_TEXT_MAX];
    bool has_times = t->column_count == 1;
    fprintf(out, "\n## %s (%s)\n\n| ", t->title, t->is_rate ? "KB/s" : "seconds");
    print_word(t->corner, out);
    fputs(" |", out);
    for (unsigned c = 0; c < t->column_count; c++)
        fprintf(out, " %s |", t->columns[c]);
    fputs(has_times ? " user | system | server's CPU |\n|---|" : "\n|---|", out);
    for (unsigned c = 0; c < t->column_count + (has_times ? 3 : 0); c++)
        fputs("---:|", out);
    fputc('\n', out);
    for (unsigned r = 0; r < t->row_count; r++) {
        fputs("| ", out);
        print_word(t->rows[r], out);
        for (unsigned c = 0; c < t->column_count; c++) {
            const struct study_cell *cell = study_at(s, table, r, c);
            fprintf(out, " | %s", study_cell_text(s, cell, text));
            if (cell != NULL && cell->state == STUDY_MEASURED && cell->count > 1)
                fprintf(out, " ±%.0f %%", 100 * study_spread(cell));
            if (has_times && cell != NULL && cell->state == STUDY_MEASURED)
                fprintf(out, " | %.3f | %.3f | %.3f", study_median(cell, STUDY_USER),
                        study_median(cell, STUDY_SYSTEM), study_median(cell, STUDY_SERVER));
            else if (has_times)
                fputs(" | | |", out);
        }
        fputs(" |\n", out);
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
    for (unsigned i = 0; i < s->table_count; i++)
        print_table(s, i, out);
    fputc('\n', out);
    print_reasons(s, out);
    for (unsigned i = 0; i < s->note_count; i++)
        fprintf(out, "* %s\n", s->notes[i]);
    for (unsigned i = 0; i < s->version_count; i++)
        fprintf(out, "* %s\n", s->versions[i]);
    print_earlier(s, baseline, out);
}
