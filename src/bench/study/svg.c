/* Charts, in the page's own colours: bars with their labels above them, so that a phone has
 * room for both, and lines over links. Widths are those of a phone; a page scales them up. */
#include <math.h>
#include <string.h>

#include "bench/study/report.h"
#include "bench/study/results.h"

#define WIDTH     340.0
#define BAR_STEP  30.0
#define BAR_HIGH  10.0
#define VALUE_GAP 100.0 /* for the value behind a bar */
#define TOP       8.0

#define SOURCE_GAP 96.0 /* "level 6: 100.0 %" */

#define PLOT_TOP    22.0 /* beneath its title */
#define PLOT_LEFT   46.0
#define PLOT_RIGHT  8.0
#define PLOT_HIGH   210.0
#define LEGEND_STEP 15.0
#define COLOURS     6

/* -- bars: one for each cell that has a value -- */

static double largest(const struct study *s, unsigned table)
{
    double most = 0;
    for (unsigned i = 0; i < s->cell_count; i++) {
        double value = s->cells[i].table == table ? study_value(s, &s->cells[i]) : 0;
        most = value > most ? value : most;
    }
    return most;
}

/* Of several columns each its own; of one, ferry's is another. */
static unsigned colour_of(const struct study *s, const struct study_cell *cell)
{
    const struct study_table *t = &s->tables[cell->table];
    if (t->column_count > 1)
        return cell->column % COLOURS;
    return strncmp(t->rows[cell->row], "ferry", 5) == 0 ? 1 : 0;
}

static void print_bar(const struct study *s, const struct study_cell *cell, double y,
                      double most, FILE *out)
{
    const struct study_table *t = &s->tables[cell->table];
    char text[STUDY_CELL_TEXT_MAX];
    double width = (WIDTH - VALUE_GAP) * study_value(s, cell) / most;
    fprintf(out, "<text x=\"0\" y=\"%.0f\">", y + 9);
    study_escaped_print(t->rows[cell->row], out);
    if (t->column_count > 1) {
        fputs(" · ", out);
        study_escaped_print(t->columns[cell->column], out);
    }
    fprintf(out,
            "</text><rect class=\"c%u\" x=\"0\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" "
            "rx=\"1\"/><text class=\"v\" x=\"%.1f\" y=\"%.0f\">%s</text>\n",
            colour_of(s, cell), y + 13, width > 1 ? width : 1, BAR_HIGH, width + 5, y + 22,
            study_cell_text(s, cell, text));
}

static void print_bars(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    double most = largest(s, table), y = TOP;
    unsigned count = 0;
    for (unsigned i = 0; i < s->cell_count; i++)
        count += s->cells[i].table == table && study_value(s, &s->cells[i]) > 0;
    if (count == 0)
        return;
    fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", WIDTH,
            TOP + count * BAR_STEP);
    study_escaped_print(t->title, out);
    fprintf(out, ", %s\">\n", t->is_rate ? "KB/s" : "seconds");
    for (unsigned r = 0; r < t->row_count; r++)
        for (unsigned c = 0; c < t->column_count; c++) {
            const struct study_cell *cell = study_at(s, table, r, c);
            if (cell == NULL || study_value(s, cell) <= 0)
                continue;
            print_bar(s, cell, y, most, out);
            y += BAR_STEP;
        }
    fputs("</svg>\n", out);
}

/* -- what levels make of files: percent of the original, a bar each -- */

void study_svg_print_sources(const struct study *s, FILE *out)
{
    double y = TOP, step = 16 + STUDY_LEVELS * 12.0;
    fprintf(out,
            "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Files used, percent of "
            "the original\">\n",
            WIDTH, TOP + s->source_count * step);
    for (unsigned i = 0; i < s->source_count; i++, y += step) {
        const struct study_source *f = &s->sources[i];
        fprintf(out, "<text x=\"0\" y=\"%.0f\">%u: ", y + 9, f->group + 1);
        study_escaped_print(f->what, out);
        fputs("</text>\n", out);
        for (unsigned l = 0; l < STUDY_LEVELS; l++) {
            double left = 100 - study_saving(f, l), top = y + 13 + l * 12;
            double width = (WIDTH - SOURCE_GAP) * left / 100;
            fprintf(out,
                    "<rect class=\"c%u\" x=\"0\" y=\"%.0f\" width=\"%.1f\" height=\"9\"/>"
                    "<text class=\"v\" x=\"%.1f\" y=\"%.0f\">%s: %.1f %%</text>\n",
                    l + 1, top, width, width + 5, top + 9, study_level_names[l], left);
        }
    }
    fputs("</svg>\n", out);
}

/* -- lines: the value of each column over the rate of the row's link, both by powers of ten --
 */

struct plot {
    double x_low, x_high, y_low, y_high; /* decimal logarithms */
};

static void widen(double *low, double *high, double value, bool is_first)
{
    *low = is_first || value < *low ? value : *low;
    *high = is_first || value > *high ? value : *high;
}

/* False: there is nothing to be drawn. */
static bool find_range(const struct study *s, unsigned table, struct plot *p)
{
    bool is_first = true;
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        double value = cell->table == table ? study_value(s, cell) : 0;
        double rate = (double)s->links[cell->link].bytes_per_s / 1024;
        if (value <= 0 || rate <= 0)
            continue;
        widen(&p->x_low, &p->x_high, log10(rate), is_first);
        widen(&p->y_low, &p->y_high, log10(value), is_first);
        is_first = false;
    }
    p->x_high = p->x_high - p->x_low < 0.1 ? p->x_low + 0.1 : p->x_high;
    p->y_low = floor(p->y_low);
    p->y_high = ceil(p->y_high) > p->y_low ? ceil(p->y_high) : p->y_low + 1;
    return !is_first;
}

static double x_of(const struct plot *p, double rate)
{
    return PLOT_LEFT +
           (WIDTH - PLOT_LEFT - PLOT_RIGHT) * (log10(rate) - p->x_low) / (p->x_high - p->x_low);
}

static double y_of(const struct plot *p, double value)
{
    return PLOT_TOP + PLOT_HIGH * (1 - (log10(value) - p->y_low) / (p->y_high - p->y_low));
}

static void print_grid(const struct study *s, unsigned table, const struct plot *p, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    int lines = (int)(p->y_high - p->y_low + 0.01);
    for (int i = 0; i <= lines; i++) {
        double value = pow(10, p->y_low + i), y = y_of(p, value);
        fprintf(out,
                "<line class=\"g\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>"
                "<text class=\"e\" x=\"%.0f\" y=\"%.1f\">%.0f</text>\n",
                PLOT_LEFT, y, WIDTH - PLOT_RIGHT, y, PLOT_LEFT - 4, y + 4, value);
    }
    double last = -100;
    for (unsigned r = t->row_count;
         r-- > 0;) { /* slow links stand left, and last in the table */
        const struct study_cell *cell = study_at(s, table, r, 0);
        double rate = cell == NULL ? 0 : (double)s->links[cell->link].bytes_per_s / 1024;
        if (rate <= 0 || x_of(p, rate) - last < 30)
            continue;
        last = x_of(p, rate);
        fprintf(out, "<text class=\"m\" x=\"%.1f\" y=\"%.0f\">%.0f</text>\n",
                last < WIDTH - 20 ? last : WIDTH - 20, PLOT_TOP + PLOT_HIGH + 14, rate);
    }
    fprintf(out, "<text class=\"m\" x=\"%.0f\" y=\"%.0f\">the link, KB/s</text>\n", WIDTH / 2,
            PLOT_TOP + PLOT_HIGH + 28);
}

static void print_line(const struct study *s, unsigned table, unsigned column, unsigned colour,
                       const struct plot *p, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    fprintf(out, "<polyline class=\"l%u\" points=\"", colour);
    for (unsigned r = 0; r < t->row_count; r++) {
        const struct study_cell *cell = study_at(s, table, r, column);
        double value = cell == NULL ? 0 : study_value(s, cell);
        if (value > 0)
            fprintf(out, "%.1f,%.1f ", x_of(p, (double)s->links[cell->link].bytes_per_s / 1024),
                    y_of(p, value));
    }
    fputs("\"/>\n", out);
}

static void print_lines(const struct study *s, unsigned table, FILE *out)
{
    const struct study_table *t = &s->tables[table];
    struct plot p = {0};
    if (!find_range(s, table, &p))
        return;
    for (unsigned group = 0, first = 0; group < STUDY_GROUPS_MAX; group++) {
        unsigned count = study_group_columns(t, group);
        double legend = PLOT_TOP + PLOT_HIGH + 46;
        fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", WIDTH,
                legend + count * LEGEND_STEP);
        study_escaped_print(t->title, out);
        fprintf(out, ", %s\"><text x=\"%.0f\" y=\"%.0f\">%s</text>\n", t->groups[group],
                PLOT_LEFT, TOP + 2, t->groups[group]);
        print_grid(s, table, &p, out);
        for (unsigned i = 0; i < count; i++) {
            unsigned column = first + i;
            print_line(s, table, column, i % COLOURS, &p, out);
            fprintf(out,
                    "<polyline class=\"l%u\" points=\"%.0f,%.0f %.0f,%.0f\"/>"
                    "<text x=\"%.0f\" y=\"%.0f\">",
                    i % COLOURS, PLOT_LEFT, legend + i * LEGEND_STEP - 4, PLOT_LEFT + 18,
                    legend + i * LEGEND_STEP - 4, PLOT_LEFT + 24, legend + i * LEGEND_STEP);
            study_escaped_print(study_column_text(t, column), out);
            fputs("</text>\n", out);
        }
        fputs("</svg>\n", out);
        first += count;
    }
}

void study_svg_print(const struct study *s, unsigned table, FILE *out)
{
    if (s->tables[table].chart == STUDY_LINES)
        print_lines(s, table, out);
    else
        print_bars(s, table, out);
}
