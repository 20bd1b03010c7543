/* What is asked of ferry, held against what was measured: run by run, since the runs of a round
 * stand close together and what else went on met them alike. */
#include "bench/study/goals.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bench/report/statistics.h"
#include "bench/study/results.h"

#define RUNS_MIN 3 /* fewer decide nothing */

static const char *const verdicts[] = {
    [STUDY_UNDECIDED] = "undecided", [STUDY_MET] = "met", [STUDY_MISSED] = "missed"};

const char *study_verdict_name(enum study_verdict verdict)
{
    return verdicts[verdict];
}

static struct study_goal *add_goal(struct study *s, const char *text, double least)
{
    if (s->goal_count == STUDY_GOALS_MAX)
        return NULL;
    struct study_goal *goal = &s->goals[s->goal_count++];
    *goal = (struct study_goal){.least = least};
    text_copy(goal->text, sizeof(goal->text), bytes_str(text));
    return goal;
}

static bool is_measured(const struct study_cell *cell)
{
    return cell != NULL && cell->state == STUDY_MEASURED && cell->count > 0;
}

/* All runs on one side of it, or nothing is said. */
static void decide(struct study_goal *goal, const double *values, unsigned count)
{
    goal->value = statistics_median_of(values, count);
    goal->low = goal->high = values[0];
    for (unsigned i = 1; i < count; i++) {
        goal->low = values[i] < goal->low ? values[i] : goal->low;
        goal->high = values[i] > goal->high ? values[i] : goal->high;
    }
    goal->count = 1;
    goal->reached = goal->value >= goal->least;
    if (count < RUNS_MIN)
        snprintf(goal->why, sizeof(goal->why), "fewer than %u runs", RUNS_MIN);
    else if (goal->low >= goal->least)
        goal->verdict = STUDY_MET;
    else if (goal->high < goal->least)
        goal->verdict = STUDY_MISSED;
    else
        snprintf(goal->why, sizeof(goal->why), "runs lie on both sides of it");
}

void study_judge_pair(struct study *s, const char *text, const struct study_pair *pair)
{
    struct study_goal *goal = add_goal(s, text, pair->least);
    const struct study_cell *what = study_find(s, pair->table, pair->what, pair->column);
    const struct study_cell *than = study_find(s, pair->table, pair->than, pair->column);
    double ratios[STUDY_RUNS_MAX] = {0};
    if (goal == NULL)
        return;
    if (!is_measured(what) || !is_measured(than)) {
        snprintf(goal->why, sizeof(goal->why), "not measured");
        return;
    }
    unsigned count = what->count < than->count ? what->count : than->count;
    for (unsigned i = 0; i < count; i++) {
        double mine = study_field(&what->runs[i], pair->field);
        if (mine > 0)
            ratios[i] = study_field(&than->runs[i], pair->field) / mine;
    }
    decide(goal, ratios, count);
}

void study_judge_link(struct study *s, const char *text, const char *table, const char *row,
                      double least)
{
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        const struct study_table *t = &s->tables[cell->table];
        char line[2 * STUDY_LABEL_MAX];
        double shares[STUDY_RUNS_MAX] = {0};
        if (strcmp(t->title, table) != 0 || strcmp(t->rows[cell->row], row) != 0)
            continue;
        snprintf(line, sizeof(line), "%.60s, %.60s", text, t->columns[cell->column]);
        struct study_goal *goal = add_goal(s, line, least);
        if (goal == NULL)
            return;
        for (unsigned k = 0; k < cell->count; k++)
            shares[k] = (double)cell->runs[k].bytes / cell->runs[k].real_s /
                        (double)s->links[cell->link].bytes_per_s;
        if (is_measured(cell))
            decide(goal, shares, cell->count);
        else
            snprintf(goal->why, sizeof(goal->why), "not measured");
    }
}

/* -- a grid, cell by cell -- */

static bool is_fixed(const struct study_grid *grid, const char *column)
{
    return strcmp(column + 2, grid->automatic) != 0;
}

/* What the automatic choice reaches of the other, run by run: the median. */
static double share_of(const struct study_cell *mine, const struct study_cell *other,
                       double *ret_best)
{
    double shares[STUDY_RUNS_MAX] = {0};
    unsigned count = mine->count < other->count ? mine->count : other->count;
    *ret_best = 0;
    for (unsigned i = 0; i < count; i++) {
        shares[i] = other->runs[i].real_s / mine->runs[i].real_s;
        *ret_best = shares[i] > *ret_best ? shares[i] : *ret_best;
    }
    return statistics_median_of(shares, count);
}

/* Of a row and group: the best of the others, or the one of that name. NULL: there is none. */
static const struct study_cell *find_rival(const struct study *s, const struct study_cell *mine,
                                           const struct study_grid *grid)
{
    const struct study_table *t = &s->tables[mine->table];
    const struct study_cell *best = NULL;
    for (unsigned c = 0; c < t->column_count; c++) {
        const struct study_cell *cell = study_at(s, mine->table, mine->row, c);
        bool is_rival = is_measured(cell) && t->columns[c][0] == t->columns[mine->column][0] &&
                        (grid->rival == NULL ? is_fixed(grid, t->columns[c])
                                             : strcmp(t->columns[c] + 2, grid->rival) == 0);
        if (is_rival && (best == NULL || study_rate(cell) > study_rate(best)))
            best = cell;
    }
    return best;
}

static void count_cell(const struct study *s, const struct study_cell *mine,
                       const struct study_grid *grid, struct study_goal *goal)
{
    const struct study_table *t = &s->tables[mine->table];
    const struct study_cell *rival = find_rival(s, mine, grid);
    if (rival == NULL || study_median(mine, STUDY_REAL) < grid->least_s)
        return;
    double best, share = share_of(mine, rival, &best);
    goal->reached += share >= goal->least;
    goal->missed += best < goal->least;
    if (goal->count++ == 0 || share < goal->low) {
        goal->low = share;
        snprintf(goal->why, sizeof(goal->why), "farthest: %.3f of %.20s, %.60s / %.40s / %.20s",
                 share, t->columns[rival->column] + 2, t->title, t->rows[mine->row],
                 t->columns[mine->column]);
    }
    goal->high = share > goal->high ? share : goal->high;
}

void study_judge_grid(struct study *s, const char *text, const struct study_grid *grid)
{
    struct study_goal *goal = add_goal(s, text, grid->least);
    unsigned runs = STUDY_RUNS_MAX;
    if (goal == NULL)
        return;
    for (unsigned i = 0; i < s->cell_count; i++) {
        const struct study_cell *cell = &s->cells[i];
        const char *column = s->tables[cell->table].columns[cell->column];
        if (is_fixed(grid, column) || !is_measured(cell) ||
            (grid->leaves_out != NULL && grid->leaves_out(s, cell)))
            continue;
        runs = cell->count < runs ? cell->count : runs;
        count_cell(s, cell, grid, goal);
    }
    goal->value = goal->low;
    if (goal->count == 0)
        snprintf(goal->why, sizeof(goal->why), "no cell%s was measured",
                 grid->least_s > 0 ? " that takes long enough" : "");
    else if (runs >= RUNS_MIN && goal->missed > 0)
        goal->verdict = STUDY_MISSED;
    else if (runs >= RUNS_MIN && goal->reached == goal->count)
        goal->verdict = STUDY_MET;
}
