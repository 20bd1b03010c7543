/* Everything, for programs. What was not measured is left out, not 0. */
#include <math.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/host.h"
#include "bench/report/goals.h"
#include "bench/report/report_internal.h"
#include "bench/suite.h"

/* Takes the value. Want of memory is seen at the end: an object without it is not whole. */
static void set(json_t *object, bool *whole, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) < 0)
        *whole = false;
}

/* Servers say what they want: bytes that are not UTF-8, which JSON cannot hold, become '?'. */
static json_t *text_json(const char *text)
{
    char *copy = mem_strdup(text);
    struct bytes rest = bytes_str(text);
    for (char *at = copy; copy != NULL && rest.len > 0;) {
        size_t len = text_utf8_len(rest);
        if (len == 0)
            *at = '?';
        at += len > 0 ? len : 1;
        rest = bytes_skip(rest, len > 0 ? len : 1);
    }
    json_t *value = copy != NULL ? json_string(copy) : NULL;
    mem_free(copy);
    return value;
}

static void set_text(json_t *object, bool *whole, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        set(object, whole, key, text_json(text));
}

/* A number that JSON has no word for was not measured. */
static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void add(json_t *list, bool *whole, json_t *value)
{
    if (json_array_append_new(list, value) < 0)
        *whole = false;
}

static json_t *count_json(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *list_json(const double *values, unsigned count, bool *whole)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        add(list, whole, real_json(values[i]));
    return list;
}

static json_t *interval_json(const struct statistics_interval *i, bool *whole)
{
    const double ends[] = {i->low, i->high};
    return list_json(ends, ARRAY_LEN(ends), whole);
}

/* -- a server in a row -- */

static void set_ratio(json_t *o, bool *whole, const char *key, const struct bench_ratio *ratio)
{
    if (!ratio->is_known)
        return;
    json_t *r = json_object();
    set(r, whole, "value", real_json(ratio->value));
    set(r, whole, "pairs", json_integer(ratio->pairs));
    if (ratio->has_interval)
        set(r, whole, "interval_90", interval_json(&ratio->interval, whole));
    set(o, whole, key, r);
}

static void set_latency(json_t *o, bool *whole, const struct bench_latency *l)
{
    if (l->count > 0)
        set(o, whole, "noop",
            json_pack("{s:i,s:f,s:f,s:f}", "count", (int)l->count, "p50_ms", l->p50_us / 1000,
                      "p95_ms", l->p95_us / 1000, "p99_ms", l->p99_us / 1000));
}

static void set_cpu(json_t *o, bool *whole, const struct bench_cell *cell)
{
    set(o, whole, "client_cpu_s", real_json(report_seconds(cell->client_cpu_us)));
    if (cell->bytes > 0)
        set(o, whole, "client_cpu_s_per_gb", real_json(report_cpu(cell, cell->client_cpu_us)));
    set(o, whole, "client_limited", json_boolean(bench_cell_is_client_limited(cell)));
    if (!cell->has_server_cpu)
        return;
    set(o, whole, "server_cpu_s", real_json(report_seconds(cell->server_cpu_us)));
    if (cell->bytes > 0)
        set(o, whole, "server_cpu_s_per_gb", real_json(report_cpu(cell, cell->server_cpu_us)));
    else if (cell->operations > 0)
        set(o, whole, "server_cpu_s_each", real_json(report_cpu(cell, cell->server_cpu_us)));
    set(o, whole,
        cell->bytes > 0 ? "server_cpu_s_per_byte_samples" : "server_cpu_s_each_samples",
        list_json(cell->cpu_samples, cell->sample_count, whole));
}

static void set_memory(json_t *o, bool *whole, const struct bench_cell *cell)
{
    if (cell->has_memory)
        set(o, whole, "memory_bytes", count_json(cell->memory_bytes));
    if (cell->held > 0)
        set(o, whole, "sessions_held", json_integer(cell->held));
    if (!cell->has_slope)
        return;
    set(o, whole, "memory_per_session_bytes", real_json(cell->slope_bytes));
    set(o, whole, "memory_per_session_between",
        json_pack("[i,i]", (int)cell->slope_from, (int)cell->slope_to));
}

static void set_values(json_t *o, bool *whole, const struct bench_cell *cell)
{
    set(o, whole, "value", real_json(cell->value));
    set(o, whole, "samples", list_json(cell->samples, cell->sample_count, whole));
    if (cell->has_interval)
        set(o, whole, "interval_90", interval_json(&cell->interval, whole));
    set(o, whole, "operations", json_integer(cell->operations));
    set(o, whole, "bytes", count_json(cell->bytes));
    set(o, whole, "seconds", real_json(report_seconds(cell->wall_us)));
}

static void set_verdict(json_t *o, bool *whole, const struct goal_table *goals,
                        const struct bench_row *row, const struct bench_cell *cell)
{
    double target;
    if (!goals_target(goals, row->name, cell, &target))
        return;
    bool is_by_cpu = bench_cell_is_judged_by_cpu(cell, row->unit, &row->cells[0]);
    set_text(o, whole, "verdict", bench_verdict_name(goals_verdict(goals, row, cell)));
    set(o, whole, "target", real_json(target));
    set(o, whole, "judged_by", json_string(is_by_cpu ? "cpu_ratio" : "ratio"));
}

static json_t *cell_json(const struct goal_table *goals, const struct bench_row *row,
                         const struct bench_cell *cell, bool *whole)
{
    json_t *o = json_object();
    set(o, whole, "server", json_string(cell->target));
    set(o, whole, "floor", json_boolean(cell->is_floor));
    set_text(o, whole, "note", cell->note);
    set_text(o, whole, "error", cell->error);
    if (bench_cell_has_failed(cell))
        return o;
    set_values(o, whole, cell);
    set_cpu(o, whole, cell);
    set_memory(o, whole, cell);
    set_latency(o, whole, &cell->noop);
    set_ratio(o, whole, "ratio", &cell->ratio);
    set_ratio(o, whole, "cpu_ratio", &cell->cpu_ratio);
    if (cell != &row->cells[0])
        set_verdict(o, whole, goals, row, cell);
    return o;
}

static json_t *row_json(const struct goal_table *goals, const struct bench_row *row,
                        bool *whole)
{
    json_t *o = json_object(), *servers = json_array();
    set(o, whole, "row", json_string(row->name));
    set(o, whole, "label", text_json(row->label));
    set(o, whole, "unit", json_string(bench_unit_name(row->unit)));
    set(o, whole, "clients", json_integer(row->clients));
    if (row->is_reduced)
        set(o, whole, "reduced", json_true());
    for (unsigned i = 0; i < row->count; i++)
        add(servers, whole, cell_json(goals, row, &row->cells[i], whole));
    set(o, whole, "servers", servers);
    return o;
}

/* -- the run -- */

static json_t *server_json(const struct bench_server *server, bool *whole)
{
    json_t *o = json_object();
    set(o, whole, "server", json_string(server->name));
    set_text(o, whole, "version", server->version);
    set_text(o, whole, "where", server->where);
    set_text(o, whole, "error", server->error);
    static const char *const keys[] = {[RECIPE_PLAIN] = "settings",
                                       [RECIPE_NO_SENDFILE] = "settings_no_sendfile",
                                       [RECIPE_HASHED] = "settings_hashed"};
    for (unsigned v = 0; v < RECIPE_VARIANTS; v++)
        set_text(o, whole, keys[v], server->settings[v]);
    if (server->has_memory_start)
        set(o, whole, "memory_start_bytes", count_json(server->memory_start_bytes));
    return o;
}

static json_t *goal_json(const struct goal_result *g, bool *whole)
{
    json_t *o = json_object();
    set(o, whole, "row", json_string(g->row));
    set(o, whole, "goal", json_string(g->what));
    set(o, whole, "verdict", json_string(bench_verdict_name(g->verdict)));
    set(o, whole, "target", real_json(g->target));
    set(o, whole, "at_least", json_boolean(goal_is_ratio(g->kind)));
    set_text(o, whole, "server", g->peer);
    if (g->held > 0)
        set(o, whole, "sessions_held", json_integer(g->held));
    if (!g->is_known)
        return o;
    set(o, whole, "value", real_json(g->value));
    set(o, whole, "margin", real_json(goal_margin(g)));
    set(o, whole, "by_cpu", json_boolean(g->is_by_cpu));
    if (g->has_interval)
        set(o, whole, "interval_90", interval_json(&g->interval, whole));
    return o;
}

/* Goals are for ferryd, which stands first where servers are side by side. */
static json_t *goals_json(const struct goal_table *table, const struct bench_results *results,
                          bool *whole)
{
    json_t *list = json_array();
    struct goal_result *goals = mem_new(GOALS_MAX * sizeof(*goals));
    unsigned count = goals != NULL ? goals_decide(table, results, goals) : 0;
    for (unsigned i = 0; i < count; i++)
        add(list, whole, goal_json(&goals[i], whole));
    if (goals == NULL)
        *whole = false;
    mem_free(goals);
    return list;
}

static json_t *host_json(bool *whole)
{
    struct host host;
    host_read(&host);
    json_t *o = json_object();
    set_text(o, whole, "cpu", host.cpu);
    set_text(o, whole, "kernel", host.kernel);
    set(o, whole, "cores", json_integer(host.cores));
    return o;
}

static json_t *options_json(const struct bench_options *o, bool *whole)
{
    json_t *j = json_object();
    set(j, whole, "benchmark", json_string(bench_kind_name(o->kind)));
    set(j, whole, "clients", json_integer(o->clients));
    set(j, whole, "file_bytes", count_json(o->file_bytes));
    set(j, whole, "window", json_integer(o->window));
    set(j, whole, "pairs", json_integer(o->pairs));
    set(j, whole, "timeout_s", real_json(report_seconds(o->timeout_us)));
    set(j, whole, "quick", json_boolean(o->quick));
    set(j, whole, "tls", json_boolean(o->tls));
    set_text(j, whole, "rows", o->rows);
    set_text(j, whole, "peers", o->peers);
    set_text(j, whole, "disk", o->disk);
    if (!o->has_server)
        return j;
    set(j, whole, "host", text_json(o->server.host));
    set(j, whole, "port", json_integer(o->server.port));
    return j;
}

static void set_lists(json_t *o, bool *whole, const struct bench_options *options,
                      const struct bench_results *r)
{
    const struct goal_table *goals = options->suite->goals;
    json_t *servers = json_array(), *rows = json_array();
    for (unsigned i = 0; i < r->server_count; i++)
        add(servers, whole, server_json(&r->servers[i], whole));
    for (unsigned i = 0; i < r->count; i++)
        add(rows, whole, row_json(goals, &r->rows[i], whole));
    set(o, whole, "servers", servers);
    set(o, whole, "rows", rows);
    if (!options->has_server)
        set(o, whole, "goals", goals_json(goals, r, whole));
}

json_t *report_json(const struct bench_options *options, const struct bench_results *r)
{
    bool whole = true;
    json_t *o = json_object();
    set(o, &whole, "ferry", json_string(FERRY_VERSION));
    set(o, &whole, "suite", json_string(options->suite->name));
    set(o, &whole, "began_s", json_integer(r->began_at_us / (int64_t)USEC_PER_S));
    set(o, &whole, "took_s", real_json(report_seconds(r->took_us)));
    set(o, &whole, "host", host_json(&whole));
    set(o, &whole, "options", options_json(options, &whole));
    set(o, &whole, "complete", json_boolean(r->is_complete));
    set_text(o, &whole, "error", r->error);
    set_text(o, &whole, "notice", r->notice);
    set(o, &whole, "stored_bytes", count_json(r->stored_bytes));
    set(o, &whole, "retrieved_bytes", count_json(r->retrieved_bytes));
    set_lists(o, &whole, options, r);
    if (whole)
        return o;
    json_decref(o);
    return NULL;
}
