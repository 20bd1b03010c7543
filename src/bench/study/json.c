/* Everything of a study, for programs, and what an earlier run had. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "bench/machine/file.h"
#include "bench/machine/host.h"
#include "bench/study/goals.h"
#include "bench/study/report.h"
#include "bench/study/results.h"

#define BASELINE_MAX (16 * 1024 * 1024)

/* Want of memory, and text that is no UTF-8, are seen at the end: *whole. */
static void set(json_t *o, bool *whole, const char *key, json_t *value)
{
    if (json_object_set_new(o, key, value) < 0)
        *whole = false;
}

static void set_text(json_t *o, bool *whole, const char *key, const char *text)
{
    set(o, whole, key, json_string(text));
}

static void add(json_t *list, bool *whole, json_t *value)
{
    if (json_array_append_new(list, value) < 0)
        *whole = false;
}

static json_t *run_json(const struct study_run *run, bool *whole)
{
    json_t *o = json_object();
    set(o, whole, "real_s", json_real(run->real_s));
    set(o, whole, "user_s", json_real(run->user_s));
    set(o, whole, "system_s", json_real(run->system_s));
    set(o, whole, "server_user_s", json_real(run->server_user_s));
    set(o, whole, "server_system_s", json_real(run->server_system_s));
    set(o, whole, "bytes", json_integer((json_int_t)run->bytes));
    return o;
}

static json_t *cell_json(const struct study *s, const struct study_cell *cell, bool *whole)
{
    const struct study_table *t = &s->tables[cell->table];
    json_t *o = json_object(), *runs = json_array();
    set_text(o, whole, "table", t->title);
    set_text(o, whole, "row", t->rows[cell->row]);
    set_text(o, whole, "column", t->columns[cell->column]);
    set_text(o, whole, "state", study_state_name(cell->state));
    if (cell->reason[0] != '\0')
        set_text(o, whole, "reason", cell->reason);
    if (cell->command != NULL)
        set_text(o, whole, "command", cell->command);
    set_text(o, whole, "link", s->links[cell->link].name);
    if (cell->window.until_s > 0)
        set(o, whole, "window_s",
            json_pack("[i,i]", (int)cell->window.from_s, (int)cell->window.until_s));
    set(o, whole, "bytes", json_integer((json_int_t)s->data[cell->data].bytes));
    for (unsigned i = 0; i < cell->count; i++)
        add(runs, whole, run_json(&cell->runs[i], whole));
    set(o, whole, "runs", runs);
    if (cell->state != STUDY_MEASURED)
        return o;
    set(o, whole, "value", json_real(study_value(s, cell)));
    set_text(o, whole, "unit", t->is_rate ? "KB/s" : "s");
    set(o, whole, "spread", json_real(study_spread(cell)));
    return o;
}

static json_t *data_json(const struct study_data *d, bool *whole)
{
    json_t *o = json_object();
    set_text(o, whole, "name", d->name);
    set_text(o, whole, "note", d->note);
    set(o, whole, "bytes", json_integer((json_int_t)d->bytes));
    if (d->gz_bytes > 0)
        set(o, whole, "gzip_6_bytes", json_integer((json_int_t)d->gz_bytes));
    return o;
}

static json_t *link_json(const struct study_link *link, bool *whole)
{
    json_t *o = json_object();
    set_text(o, whole, "name", link->name);
    set(o, whole, "bytes_per_s", json_integer((json_int_t)link->bytes_per_s));
    if (link->measured > 0)
        set(o, whole, "measured_bytes_per_s", json_real(link->measured));
    if (link->round_trip_us > 0) {
        set(o, whole, "round_trip_us", json_integer((json_int_t)link->round_trip_us));
        set(o, whole, "measured_trip_us", json_integer((json_int_t)link->measured_trip_us));
    }
    return o;
}

static json_t *source_json(const struct study_source *f, bool *whole)
{
    json_t *o = json_object();
    set(o, whole, "group", json_integer((json_int_t)f->group + 1));
    set_text(o, whole, "what", f->what);
    set_text(o, whole, "path", f->path);
    set(o, whole, "bytes", json_integer((json_int_t)f->bytes));
    for (unsigned l = 0; l < STUDY_LEVELS; l++)
        set(o, whole, study_level_names[l], json_integer((json_int_t)f->at_level[l]));
    return o;
}

static json_t *goal_json(const struct study_goal *goal, bool *whole)
{
    json_t *o = json_object();
    set_text(o, whole, "goal", goal->text);
    set_text(o, whole, "verdict", study_verdict_name(goal->verdict));
    set(o, whole, "least", json_real(goal->least));
    set(o, whole, "value", json_real(goal->value));
    set(o, whole, "low", json_real(goal->low));
    set(o, whole, "high", json_real(goal->high));
    set(o, whole, "cells", json_integer(goal->count));
    set(o, whole, "reached", json_integer(goal->reached));
    set_text(o, whole, "why", goal->why);
    return o;
}

static json_t *lines_json(const char (*lines)[STUDY_NOTE_MAX], unsigned count, bool *whole)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        add(list, whole, json_string(lines[i]));
    return list;
}

static json_t *host_json(bool *whole)
{
    struct host host;
    json_t *o = json_object();
    host_read(&host);
    set_text(o, whole, "cpu", host.cpu);
    set_text(o, whole, "kernel", host.kernel);
    set(o, whole, "cores", json_integer(host.cores));
    return o;
}

json_t *study_json(const struct study *s)
{
    bool whole = true;
    json_t *o = json_object(), *cells = json_array(), *data = json_array(),
           *links = json_array(), *sources = json_array(), *goals = json_array();
    for (unsigned i = 0; i < s->cell_count; i++)
        add(cells, &whole, cell_json(s, &s->cells[i], &whole));
    for (unsigned i = 0; i < s->data_count; i++)
        add(data, &whole, data_json(&s->data[i], &whole));
    for (unsigned i = 0; i < s->link_count; i++)
        add(links, &whole, link_json(&s->links[i], &whole));
    for (unsigned i = 0; i < s->source_count; i++)
        add(sources, &whole, source_json(&s->sources[i], &whole));
    for (unsigned i = 0; i < s->goal_count; i++)
        add(goals, &whole, goal_json(&s->goals[i], &whole));
    set_text(o, &whole, "ferry", FERRY_VERSION);
    set_text(o, &whole, "suite", s->suite->name);
    set_text(o, &whole, "study", s->suite->origin);
    set(o, &whole, "began_s", json_integer(s->began_at_us / (int64_t)USEC_PER_S));
    set(o, &whole, "took_s", json_real((double)s->took_us / (double)USEC_PER_S));
    set(o, &whole, "host", host_json(&whole));
    set(o, &whole, "complete", json_boolean(s->error[0] == '\0'));
    set(o, &whole, "quick", json_boolean(s->options->quick));
    set(o, &whole, "runs", json_integer(s->options->runs));
    set(o, &whole, "cpu_share", json_integer(s->options->cpu_share));
    set(o, &whole, "links", links);
    set(o, &whole, "data", data);
    set(o, &whole, "sources", sources);
    set(o, &whole, "goals", goals);
    set(o, &whole, "cells", cells);
    set(o, &whole, "notes", lines_json(s->notes, s->note_count, &whole));
    set(o, &whole, "versions", lines_json(s->versions, s->version_count, &whole));
    if (whole)
        return o;
    json_decref(o);
    return NULL;
}

/* -- an earlier run -- */

int study_baseline_load(const char *path, json_t **ret)
{
    struct buf text;
    buf_init(&text, BASELINE_MAX);
    int r = file_read(path, &text);
    json_t *o = r == 0 ? json_loadb((const char *)text.data, text.len, 0, NULL) : NULL;
    buf_done(&text);
    if (r == 0 && !json_is_array(json_object_get(o, "cells"))) {
        json_decref(o);
        r = -EINVAL;
    }
    if (r == 0)
        *ret = o;
    return r;
}

static bool has_text(const json_t *o, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(o, key));
    return value != NULL && strcmp(value, text) == 0;
}

double study_earlier(const json_t *baseline, const struct study *s,
                     const struct study_cell *cell)
{
    const struct study_table *t = &s->tables[cell->table];
    size_t i;
    const json_t *one;
    json_array_foreach(
        json_object_get(baseline, "cells"), i,
        one) if (has_text(one, "table", t->title) && has_text(one, "row", t->rows[cell->row]) &&
                 has_text(
                     one, "column",
                     t->columns
                         [cell->column])) return json_number_value(json_object_get(one,
                                                                                   "value"));
    return 0;
}
