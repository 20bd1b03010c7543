#include "bench/report.h"

#include <math.h>

#include "base/attr.h"

#define BYTES_PER_GB 1e9

static const char *const units[] = {[BENCH_SECS] = "secs", [BENCH_MB_PER_S] = "MB/sec"};

double bench_row_client_share(const struct bench_row *row)
{
    return row->wall_us > 0 ? (double)row->client_cpu_us / (double)row->wall_us : 0;
}

static bool is_client_limited(const struct bench_row *row)
{
    return bench_row_client_share(row) > BENCH_LIMITED_AT;
}

static double seconds(usec_t us)
{
    return (double)us / (double)USEC_PER_S;
}

static double per_gb(usec_t cpu_us, uint64_t bytes)
{
    return seconds(cpu_us) / ((double)bytes / BYTES_PER_GB);
}

const char *report_size(double bytes, char dst[BENCH_SIZE_TEXT_MAX])
{
    static const char letters[] = "BKMGTPE";
    size_t i = 0;
    while (fabs(bytes) >= 1024 && letters[i + 1] != '\0') {
        bytes /= 1024;
        i++;
    }
    snprintf(dst, BENCH_SIZE_TEXT_MAX, "%.1f%c", bytes, letters[i]);
    return dst;
}

/* -- text -- */

static void print_samples(const struct bench_row *row, FILE *out)
{
    if (row->bytes == 0)
        return;
    fprintf(out, "    %u file%s in %.2f s", row->files, row->files == 1 ? "" : "s",
            seconds(row->wall_us));
    if (row->has_interval)
        fprintf(out, "; median of %u, 90 %% interval %.2f to %.2f", row->sample_count,
                row->interval.low, row->interval.high);
    fputc('\n', out);
}

static double cpu(const struct bench_row *row, usec_t cpu_us)
{
    return row->bytes > 0 ? per_gb(cpu_us, row->bytes) : seconds(cpu_us);
}

static void print_cpu(const struct bench_row *row, FILE *out)
{
    fprintf(out, "    %s: ", row->bytes > 0 ? "CPU-s/GB" : "CPU-s");
    if (row->has_server_cpu)
        fprintf(out, "server %.3f, ", cpu(row, row->server_cpu_us));
    fprintf(out, "client %.3f (%.0f %% of a core%s)\n", cpu(row, row->client_cpu_us),
            bench_row_client_share(row) * 100,
            is_client_limited(row) ? ": client-limited" : "");
}

static void print_noop(const struct bench_row *row, FILE *out)
{
    const struct bench_latency *l = &row->noop;
    if (l->count > 0)
        fprintf(out, "    %u NOOPs beside it: p50 %.2f, p95 %.2f, p99 %.2f ms\n", l->count,
                l->p50_us / 1000, l->p95_us / 1000, l->p99_us / 1000);
}

static void print_slope(const struct bench_row *row, FILE *out)
{
    char size[BENCH_SIZE_TEXT_MAX];
    if (row->has_slope)
        fprintf(out, "    memory of a session: %s (between %u and %u sessions)\n",
                report_size(row->slope_bytes, size), row->slope_from, row->slope_to);
}

void report_row_print(const struct bench_row *row, FILE *out)
{
    char memory[BENCH_SIZE_TEXT_MAX];
    if (row->error[0] != '\0') {
        fprintf(out, "%-50s   failed\n    %s\n", row->label, row->error);
        return;
    }
    if (row->has_memory)
        fprintf(out, "%-50s %8.2f %-8s%s\n", row->label, row->value, units[row->unit],
                report_size((double)row->memory_bytes, memory));
    else
        fprintf(out, "%-50s %8.2f %s\n", row->label, row->value, units[row->unit]);
    print_samples(row, out);
    print_cpu(row, out);
    print_noop(row, out);
    print_slope(row, out);
}

void report_head_print(const struct bench_options *o, FILE *out)
{
    char size[BENCH_SIZE_TEXT_MAX];
    fprintf(out, "ferry %s bench ftp: %s port %u, files of %s%s\n", FERRY_VERSION,
            o->server.host, o->server.port, report_size((double)o->file_bytes, size),
            o->quick ? " (quick: less exact)" : "");
}

void report_memory_print(const struct bench_results *r, FILE *out)
{
    char size[BENCH_SIZE_TEXT_MAX];
    if (r->has_memory_start)
        fprintf(out, "(starting with %s of memory being used)\n",
                report_size((double)r->memory_start_bytes, size));
}

/* -- JSON -- */

/* Takes the value. Want of memory is seen at the end: an object without it is not whole. */
static void set(json_t *object, bool *whole, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) < 0)
        *whole = false;
}

static json_t *latency_json(const struct bench_latency *l)
{
    return json_pack("{s:i,s:f,s:f,s:f}", "count", (int)l->count, "p50_ms", l->p50_us / 1000,
                     "p95_ms", l->p95_us / 1000, "p99_ms", l->p99_us / 1000);
}

static json_t *samples_json(const struct bench_row *row)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < row->sample_count; i++)
        (void)!json_array_append_new(list, json_real(row->samples[i]));
    return list;
}

static void set_server(json_t *o, bool *whole, const struct bench_row *row)
{
    if (row->has_server_cpu) {
        set(o, whole, "server_cpu_s", json_real(seconds(row->server_cpu_us)));
        if (row->bytes > 0)
            set(o, whole, "server_cpu_s_per_gb",
                json_real(per_gb(row->server_cpu_us, row->bytes)));
    }
    if (row->has_memory)
        set(o, whole, "memory_bytes", json_integer((json_int_t)row->memory_bytes));
    if (row->has_slope) {
        set(o, whole, "memory_per_session_bytes", json_real(row->slope_bytes));
        set(o, whole, "memory_per_session_between",
            json_pack("[i,i]", (int)row->slope_from, (int)row->slope_to));
    }
}

static void set_values(json_t *o, bool *whole, const struct bench_row *row)
{
    set(o, whole, "value", json_real(row->value));
    set(o, whole, "unit", json_string(units[row->unit]));
    set(o, whole, "clients", json_integer(row->clients));
    set(o, whole, "files", json_integer(row->files));
    set(o, whole, "bytes", json_integer((json_int_t)row->bytes));
    set(o, whole, "seconds", json_real(seconds(row->wall_us)));
    if (row->sample_count > 0)
        set(o, whole, "samples", samples_json(row));
    if (row->has_interval)
        set(o, whole, "interval_90", json_pack("[f,f]", row->interval.low, row->interval.high));
    set(o, whole, "client_cpu_s", json_real(seconds(row->client_cpu_us)));
    if (row->bytes > 0)
        set(o, whole, "client_cpu_s_per_gb", json_real(per_gb(row->client_cpu_us, row->bytes)));
    set(o, whole, "client_limited", json_boolean(is_client_limited(row)));
    if (row->noop.count > 0)
        set(o, whole, "noop", latency_json(&row->noop));
}

static json_t *row_json(const struct bench_row *row, bool *whole)
{
    json_t *o = json_object();
    set(o, whole, "row", json_string(row->name));
    set(o, whole, "label", json_string(row->label));
    if (row->error[0] != '\0') {
        set(o, whole, "error", json_string(row->error));
        return o;
    }
    set_values(o, whole, row);
    set_server(o, whole, row);
    return o;
}

static json_t *settings_json(const struct bench_options *o)
{
    return json_pack("{s:s,s:i,s:I,s:i,s:b}", "benchmark", bench_kind_name(o->kind), "clients",
                     (int)o->clients, "file_bytes", (json_int_t)o->file_bytes, "window",
                     (int)o->window, "quick", o->quick);
}

json_t *report_json(const struct bench_options *options, const struct bench_results *r)
{
    bool whole = true;
    json_t *o = json_object(), *rows = json_array();
    set(o, &whole, "ferry", json_string(FERRY_VERSION));
    set(o, &whole, "suite", json_string("ftp"));
    set(o, &whole, "host", json_string(options->server.host));
    set(o, &whole, "port", json_integer(options->server.port));
    set(o, &whole, "began_s", json_integer(r->began_at_us / (int64_t)USEC_PER_S));
    set(o, &whole, "settings", settings_json(options));
    set(o, &whole, "complete", json_boolean(r->is_complete));
    if (r->error[0] != '\0')
        set(o, &whole, "error", json_string(r->error));
    if (r->has_memory_start)
        set(o, &whole, "memory_start_bytes", json_integer((json_int_t)r->memory_start_bytes));
    set(o, &whole, "stored_bytes", json_integer((json_int_t)r->stored_bytes));
    set(o, &whole, "retrieved_bytes", json_integer((json_int_t)r->retrieved_bytes));
    for (unsigned i = 0; i < r->count; i++)
        if (json_array_append_new(rows, row_json(&r->rows[i], &whole)) < 0)
            whole = false;
    set(o, &whole, "rows", rows);
    if (whole)
        return o;
    json_decref(o);
    return NULL;
}
