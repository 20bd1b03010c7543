/* How single figures of a study are written, in all reports. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bench/machine/host.h"
#include "bench/study/report.h"

#define MINUTE_S 60

static void put_value(const struct study *s, const struct study_cell *cell, char *dst)
{
    double value = study_value(s, cell);
    const struct study_table *t = &s->tables[cell->table];
    int n = snprintf(dst, STUDY_CELL_TEXT_MAX, "%.*f%s",
                     value < 10     ? 3
                     : value < 1000 ? 1
                                    : 0,
                     value, t->is_rate ? "" : "s");
    if (n > 0 && n < STUDY_CELL_TEXT_MAX && t->tells_rate)
        snprintf(dst + n, (size_t)(STUDY_CELL_TEXT_MAX - n), " (%.0f)", study_rate(cell));
}

const char *study_cell_text(const struct study *s, const struct study_cell *cell,
                            char dst[STUDY_CELL_TEXT_MAX])
{
    if (cell == NULL)
        dst[0] = '\0';
    else if (cell->state == STUDY_WAITING)
        text_copy(dst, STUDY_CELL_TEXT_MAX, BYTES_LIT("-"));
    else if (cell->state == STUDY_MEASURED)
        put_value(s, cell, dst);
    else
        snprintf(dst, STUDY_CELL_TEXT_MAX, "%s",
                 cell->state == STUDY_NOT_INSTALLED ? "none here"
                                                    : study_state_name(cell->state));
    return dst;
}

const char *study_column_text(const struct study_table *t, unsigned column)
{
    return t->columns[column] + (t->groups[0] != NULL ? 2 : 0); /* "1 level 6" */
}

unsigned study_group_columns(const struct study_table *t, unsigned group)
{
    unsigned count = 0;
    for (unsigned c = 0; c < t->column_count; c++)
        count += t->columns[c][0] == (char)('1' + group);
    return count;
}

bool study_split_label(const char *label, char first[STUDY_LABEL_MAX], const char **ret_second)
{
    static const char bar[] = " | ";
    const char *at = strstr(label, bar);
    size_t len = at != NULL ? (size_t)(at - label) : strlen(label);
    text_copy(first, STUDY_LABEL_MAX, bytes_of(label, len));
    *ret_second = at != NULL ? at + sizeof(bar) - 1 : "";
    return at != NULL;
}

bool study_has_times(const struct study_cell *cell)
{
    return cell != NULL && cell->state == STUDY_MEASURED && cell->measure == NULL &&
           cell->window.until_s == 0;
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

const struct study_time study_times[STUDY_TIMES] = {
    {"user", STUDY_USER},
    {"system", STUDY_SYSTEM},
    {"server's user", STUDY_SERVER_USER},
    {"server's system", STUDY_SERVER_SYSTEM},
};

bool study_table_has_times(const struct study *s, unsigned table)
{
    for (unsigned i = 0; i < s->cell_count; i++)
        if (s->cells[i].table == table && study_has_times(&s->cells[i]))
            return true;
    return false;
}

const char *study_link_text(const struct study_link *link, char dst[STUDY_HEADING_MAX])
{
    int n =
        snprintf(dst, STUDY_HEADING_MAX, "link %s: a plain TCP stream has %.1f KB/s of %.1f",
                 link->name, link->measured / 1024, (double)link->bytes_per_s / 1024);
    if (link->round_trip_us > 0 && n > 0 && n < STUDY_HEADING_MAX)
        snprintf(dst + n, (size_t)(STUDY_HEADING_MAX - n), ", and %.1f ms there and back",
                 (double)link->measured_trip_us / (double)USEC_PER_MS);
    return dst;
}

const char *const study_level_names[STUDY_LEVELS] = {"level 1", "level 6", "level 9"};

double study_saving(const struct study_source *f, unsigned level)
{
    return f->bytes > 0 ? 100 * (1 - (double)f->at_level[level] / (double)f->bytes) : 0;
}

const char *study_goal_text(const struct study_goal *goal, char dst[STUDY_GOAL_TEXT_MAX])
{
    int n = snprintf(dst, STUDY_GOAL_TEXT_MAX, "%s: at least %.3g", goal->text, goal->least);
    if (goal->count > 1)
        n += snprintf(dst + n, (size_t)(STUDY_GOAL_TEXT_MAX - n), ", %u of %u cells",
                      goal->reached, goal->count);
    else if (goal->count == 1)
        n += snprintf(dst + n, (size_t)(STUDY_GOAL_TEXT_MAX - n), ", is %.3f [%.3f, %.3f]",
                      goal->value, goal->low, goal->high);
    if (goal->why[0] != '\0')
        snprintf(dst + n, (size_t)(STUDY_GOAL_TEXT_MAX - n), "; %s", goal->why);
    return dst;
}
