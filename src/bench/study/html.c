#include <string.h>

#include "bench/study/goals.h"
#include "bench/study/report.h"
#include "bench/study/results.h"

/* Wide tables scroll by themselves; the page never does sideways. Colours are told apart also
 * by those who see few, and are lighter where the page is dark. */
static const char style[] =
    ":root{--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--head:#f2f4f7;--c0:#0b63b0;"
    "--c1:#b3470b;--c2:#1a7a3c;--c3:#8a3fa8;--c4:#8a6a00;--c5:#b0124f}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e9ec;--dim:#a3abb4;"
    "--line:#3a4149;--head:#1f2429;--c0:#6cb6ff;--c1:#ff9d5c;--c2:#6bd08a;--c3:#d59bf0;"
    "--c4:#e3c04f;--c5:#ff86ae}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:76rem;background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
    "p,li{color:var(--dim);margin:.25rem 0}ul{padding-left:1.2rem}\n"
    ".t{overflow-x:auto;border:1px solid var(--line);border-radius:6px}\n"
    "table{border-collapse:collapse;width:100%;font-size:.875rem;"
    "font-variant-numeric:tabular-nums;overflow-wrap:normal}\n"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;"
    "white-space:nowrap}\n"
    "tr:last-child th,tr:last-child td{border-bottom:0}\n"
    "thead th{background:var(--head)}th:first-child{text-align:left;white-space:normal;"
    "min-width:8.5rem}\n"
    "td.n{color:var(--dim);font-style:italic}small{color:var(--dim)}\n"
    "td.b{font-weight:700}td.w{text-align:left;white-space:normal;min-width:5rem}"
    "thead td.w{background:var(--head);font-weight:700}th.g0,th.g1{text-align:center}\n"
    "details{margin-top:.75rem}summary{cursor:pointer;color:var(--dim)}b{color:var(--fg)}\n"
    ".g{stroke:var(--line)}.charts{display:flex;flex-wrap:wrap;gap:1rem;margin-top:1rem}\n"
    "svg{width:100%;max-width:34rem;height:auto;flex:1 1 20rem}\n"
    "svg text{font:11px system-ui,sans-serif;fill:var(--fg)}svg .v{fill:var(--dim)}\n"
    "svg .e{text-anchor:end;fill:var(--dim)}svg .m{text-anchor:middle;fill:var(--dim)}\n"
    "polyline{fill:none;stroke-width:2}\n"
    ".c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}"
    ".c4{fill:var(--c4)}.c5{fill:var(--c5)}\n"
    ".l0{stroke:var(--c0)}.l1{stroke:var(--c1);stroke-dasharray:6 2}.l2{stroke:var(--c2)}"
    ".l3{stroke:var(--c3);stroke-dasharray:2 2}.l4{stroke:var(--c4);stroke-width:3}"
    ".l5{stroke:var(--c5)}\n";

void study_escaped_print(const char *text, FILE *out)
{
    static const char special[] = "&<>\"";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (const char *at = text; *at != '\0'; at++) {
        const char *found = strchr(special, *at);
        if (found != NULL)
            fputs(names[found - special], out);
        else
            fputc(*at, out);
    }
}

static void print_element(const char *name, const char *text, FILE *out)
{
    fprintf(out, "<%s>", name);
    study_escaped_print(text, out);
    fprintf(out, "</%.*s>\n", (int)strcspn(name, " "), name);
}

static void print_cell(const struct study *s, const struct study_cell *cell, FILE *out)
{
    char text[STUDY_CELL_TEXT_MAX];
    bool is_number = cell != NULL && cell->state == STUDY_MEASURED;
    bool is_best =
        is_number && s->tables[cell->table].groups[0] != NULL && study_is_best(s, cell);
    fprintf(out, "<td%s", is_best ? " class=\"b\"" : is_number ? "" : " class=\"n\"");
    if (!is_number && cell != NULL) {
        fputs(" title=\"", out);
        study_escaped_print(cell->reason, out);
        fputc('"', out);
    }
    fprintf(out, ">%s", study_cell_text(s, cell, text));
    if (is_number && cell->count > 1)
        fprintf(out, " <small>±%.0f%%</small>", 100 * study_spread(cell));
    fputs("</td>", out);
}

static void print_times_of(const struct study_cell *cell, FILE *out)
{
    for (unsigned i = 0; i < STUDY_TIMES; i++)
        if (study_has_times(cell))
            fprintf(out, "<td>%.3f</td>", study_median(cell, study_times[i].field));
        else
            fputs("<td></td>", out);
}

static void print_times_heading(FILE *out)
{
    for (unsigned i = 0; i < STUDY_TIMES; i++)
        print_element("th scope=\"col\"", study_times[i].name, out);
}

/* One head, or two where the table's labels have two parts. */
static void print_label(const char *label, const char *scope, bool is_split, FILE *out)
{
    char first[STUDY_LABEL_MAX], element[32];
    const char *second;
    (void)study_split_label(label, first, &second);
    snprintf(element, sizeof(element), "th scope=\"%s\"", scope);
    print_element(element, is_split ? first : label, out);
    if (is_split)
        print_element("td class=\"w\"", second, out);
}

static void print_groups(const struct study_table *t, FILE *out)
{
    fputs("<tr><th></th>", out);
    for (unsigned g = 0; g < STUDY_GROUPS_MAX && t->groups[g] != NULL; g++) {
        fprintf(out, "<th class=\"g%u\" scope=\"colgroup\" colspan=\"%u\">", g,
                study_group_columns(t, g));
        study_escaped_print(t->groups[g], out);
        fputs("</th>", out);
    }
    fputs("</tr>\n", out);
}

static void print_table(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    char unused[STUDY_LABEL_MAX];
    const char *second;
    bool has_times = t->column_count == 1 && study_table_has_times(s, table);
    bool is_split = study_split_label(t->corner, unused, &second);
    fputs("<div class=\"t\" tabindex=\"0\"><table>\n<thead>", out);
    if (t->groups[0] != NULL)
        print_groups(t, out);
    fputs("<tr>", out);
    print_label(t->corner, "col", is_split, out);
    for (unsigned c = 0; c < t->column_count; c++)
        print_element("th scope=\"col\"", study_column_text(t, c), out);
    if (has_times)
        print_times_heading(out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (unsigned r = 0; r < t->row_count; r++) {
        fputs("<tr>", out);
        print_label(t->rows[r], "row", is_split, out);
        for (unsigned c = 0; c < t->column_count; c++)
            print_cell(s, study_at(s, table, r, c), out);
        if (has_times)
            print_times_of(study_at(s, table, r, 0), out);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* Where a table has more columns than one, its times are folded away beneath it. */
static void print_times(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    if (t->column_count < 2 || !study_table_has_times(s, table))
        return;
    fputs("<details><summary>Times of both ends, seconds</summary>\n"
          "<div class=\"t\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">row</th>"
          "<td class=\"w\">column</td>",
          out);
    print_times_heading(out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (unsigned r = 0; r < t->row_count; r++)
        for (unsigned c = 0; c < t->column_count; c++) {
            const struct study_cell *cell = study_at(s, table, r, c);
            if (!study_has_times(cell))
                continue;
            fputs("<tr>", out);
            print_element("th scope=\"row\"", t->rows[r], out);
            print_element("td class=\"w\"", t->columns[c], out);
            print_times_of(cell, out);
            fputs("</tr>\n", out);
        }
    fputs("</tbody></table></div></details>\n", out);
}

/* The study of ciphers prints each run. */
static void print_runs(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    if (!t->lists_runs || s->options->runs < 2)
        return;
    fputs("<details><summary>Each run</summary>\n<div class=\"t\" tabindex=\"0\"><table>\n"
          "<thead><tr><th scope=\"col\">Xfer type</th><th scope=\"col\">run</th>"
          "<th scope=\"col\">real</th>",
          out);
    print_times_heading(out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (unsigned r = 0; r < t->row_count; r++) {
        const struct study_cell *cell = study_at(s, table, r, 0);
        for (unsigned i = 0; cell != NULL && i < cell->count; i++) {
            fputs("<tr>", out);
            print_element("th scope=\"row\"", t->rows[r], out);
            fprintf(out, "<td>%u</td><td>%.3f</td>", i + 1, cell->runs[i].real_s);
            for (unsigned k = 0; k < STUDY_TIMES; k++)
                fprintf(out, "<td>%.3f</td>",
                        study_field(&cell->runs[i], study_times[k].field));
            fputs("</tr>\n", out);
        }
    }
    fputs("</tbody></table></div></details>\n", out);
}

static void print_sources(const struct study *s, FILE *out)
{
    if (s->source_count == 0)
        return;
    fputs("<h2>Files used, bytes</h2>\n<div class=\"t\" tabindex=\"0\"><table>\n<thead><tr>"
          "<th scope=\"col\">file</th><th scope=\"col\">original</th>",
          out);
    for (unsigned l = 0; l < STUDY_LEVELS; l++)
        print_element("th scope=\"col\"", study_level_names[l], out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (unsigned i = 0; i < s->source_count; i++) {
        const struct study_source *f = &s->sources[i];
        fprintf(out, "<tr><th scope=\"row\">%u: ", f->group + 1);
        study_escaped_print(f->what, out);
        fputs(" <small>", out);
        study_escaped_print(f->path, out);
        fprintf(out, "</small></th><td>%llu</td>", (unsigned long long)f->bytes);
        for (unsigned l = 0; l < STUDY_LEVELS; l++)
            fprintf(out, "<td>%llu <small>(%.1f%%)</small></td>",
                    (unsigned long long)f->at_level[l], study_saving(f, l));
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n<div class=\"charts\">\n", out);
    study_svg_print_sources(s, out);
    fputs("</div>\n", out);
}

static void print_goals(const struct study *s, FILE *out)
{
    char line[STUDY_GOAL_TEXT_MAX];
    if (s->goal_count == 0)
        return;
    fputs("<h2>Targets</h2>\n<ul>\n", out);
    for (unsigned i = 0; i < s->goal_count; i++) {
        fprintf(out, "<li><b>%s</b> ", study_verdict_name(s->goals[i].verdict));
        study_escaped_print(study_goal_text(&s->goals[i], line), out);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

/* What a number's want is due to: also for those who cannot point at it. */
static void print_reasons(const struct study *s, FILE *out)
{
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        char line[4 * STUDY_LABEL_MAX + STUDY_REASON_MAX + 32], name[4 * STUDY_LABEL_MAX];
        if (cell->reason[0] == '\0' || cell->state == STUDY_WAITING)
            continue;
        study_cell_name(s, cell, sizeof(name), name);
        snprintf(line, sizeof(line), "%s: %s: %s", name, study_state_name(cell->state),
                 cell->reason);
        print_element("li", line, out);
    }
}

static void print_links(const struct study *s, FILE *out)
{
    char line[STUDY_HEADING_MAX];
    for (unsigned i = 0; i < s->link_count; i++)
        if (s->links[i].measured > 0)
            print_element("li", study_link_text(&s->links[i], line), out);
}

static void print_earlier(const struct study *s, const json_t *baseline, FILE *out)
{
    if (baseline == NULL)
        return;
    fputs("<h2>Beside the earlier run</h2>\n<ul>\n", out);
    for (unsigned i = 0; i < s->cell_count; i++) {
        double now = study_value(s, &s->cells[i]);
        double then = study_earlier(baseline, s, &s->cells[i]);
        char line[4 * STUDY_LABEL_MAX + 64], name[4 * STUDY_LABEL_MAX];
        if (now <= 0 || then <= 0)
            continue;
        study_cell_name(s, &s->cells[i], sizeof(name), name);
        snprintf(line, sizeof(line), "%s: %.3f then, %.3f now", name, then, now);
        print_element("li", line, out);
    }
    fputs("</ul>\n", out);
}

void study_html_print(const struct study *s, const json_t *baseline, FILE *out)
{
    char text[STUDY_HEADING_MAX + 2 * STUDY_LABEL_MAX];
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n",
          out);
    snprintf(text, sizeof(text), "ferry bench %s", s->suite->name);
    print_element("title", text, out);
    fprintf(out, "<style>\n%s</style>\n</head>\n<body>\n", style);
    print_element("h1", s->suite->title, out);
    print_element("p", s->suite->origin, out);
    print_element("p", study_host_text(text), out);
    for (unsigned i = 0; i < s->table_count; i++) {
        snprintf(text, sizeof(text), "%s, %s", s->tables[i].title,
                 s->tables[i].is_rate ? "KB/s" : "seconds");
        print_element("h2", text, out);
        print_table(s, i, out);
        fputs("<div class=\"charts\">\n", out);
        study_svg_print(s, i, out);
        fputs("</div>\n", out);
        print_times(s, i, out);
        print_runs(s, i, out);
    }
    print_sources(s, out);
    print_goals(s, out);
    print_earlier(s, baseline, out);
    fputs("<h2>Notes</h2>\n<ul>\n", out);
    print_reasons(s, out);
    print_links(s, out);
    for (unsigned i = 0; i < s->note_count; i++)
        print_element("li", s->notes[i], out);
    for (unsigned i = 0; i < s->version_count; i++)
        print_element("li", s->versions[i], out);
    fputs("</ul>\n</body>\n</html>\n", out);
}
