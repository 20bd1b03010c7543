#include "bench/rows.h"

#include <errno.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/crowd.h"
#include "bench/measure.h"
#include "bench/meter.h"
#include "bench/report.h"

#define SAMPLES         7
#define SAMPLE_US       (500 * USEC_PER_MS)
#define SAMPLES_QUICK   3
#define SAMPLE_QUICK_US (200 * USEC_PER_MS)
#define BYTES_PER_MB    (1024.0 * 1024.0)
#define INTERVAL_SEED   1 /* the same samples, the same interval */

/* A row under way. */
struct run {
    struct bench *bench;
    struct load *load;
    struct bench_row *row;
    struct meter meter;
};

static double seconds_since(usec_t began)
{
    return (double)(clock_now() - began) / (double)USEC_PER_S;
}

/* The row failed: because of what a session did. */
static int fail(struct run *run, const char *what, const struct ftp_client *c, int result)
{
    if (result != -ECANCELED && run->row->error[0] == '\0')
        load_explain(run->row->error, sizeof(run->row->error), what, c, result);
    return result;
}

static int fail_of(struct run *run, const char *what, unsigned index, int result)
{
    char text[64];
    snprintf(text, sizeof(text), "%s %u of %u", what, index + 1, run->bench->options->clients);
    return fail(run, text, &run->load->crowd[index], result);
}

/* -- one session moves one file after another -- */

/* One file, and the time from its command to the server's word that it is complete. An upload
 * makes a new file, as uploads do; what stood there is removed before, outside of the time. */
static int move_one(struct run *run, bool upload, usec_t *time_us)
{
    struct load *load = run->load;
    int r = upload ? load_remove_lone(load) : 0;
    usec_t began = clock_now();
    if (r == 0)
        r = upload ? load_store(load) : load_retrieve(load, &load->lone);
    *time_us += clock_now() - began;
    if (r < 0)
        return fail(run, upload ? "upload" : "download", &load->lone, r);
    run->row->files++;
    run->row->bytes += run->bench->options->file_bytes;
    return 0;
}

static int sample(struct run *run, bool upload, usec_t length, double *ret)
{
    uint64_t bytes_before = run->row->bytes;
    usec_t time_us = 0;
    do {
        int r = move_one(run, upload, &time_us);
        if (r < 0)
            return r;
    } while (time_us < length);
    *ret = (double)(run->row->bytes - bytes_before) / BYTES_PER_MB * (double)USEC_PER_S /
           (double)time_us;
    return 0;
}

static int move_for_a_while(struct run *run, bool upload)
{
    struct bench_row *row = run->row;
    bool quick = run->bench->options->quick;
    unsigned count = quick ? SAMPLES_QUICK : SAMPLES;
    row->unit = BENCH_MB_PER_S;
    row->clients = 1;
    for (unsigned i = 0; i < count; i++) {
        int r = sample(run, upload, quick ? SAMPLE_QUICK_US : SAMPLE_US, &row->samples[i]);
        if (r < 0)
            return r;
        row->sample_count++;
    }
    double sorted[BENCH_SAMPLES_MAX];
    memcpy(sorted, row->samples, sizeof(sorted));
    statistics_sort(sorted, count);
    row->value = statistics_median(sorted, count);
    row->has_interval =
        statistics_interval(row->samples, count, INTERVAL_SEED, &row->interval) == 0;
    return 0;
}

static int row_stor(struct run *run)
{
    return move_for_a_while(run, true);
}

static int row_retr(struct run *run)
{
    return move_for_a_while(run, false);
}

/* -- the crowd -- */

static int act_login(void *arg, unsigned index)
{
    struct run *run = arg;
    return load_login(run->load, &run->load->crowd[index]);
}

static int act_type(void *arg, unsigned index)
{
    struct run *run = arg;
    return ftp_client_type(&run->load->crowd[index], 'I');
}

static int act_retrieve(void *arg, unsigned index)
{
    struct run *run = arg;
    return load_retrieve(run->load, &run->load->crowd[index]);
}

static int act_store(void *arg, unsigned index)
{
    struct run *run = arg;
    return load_store_as(run->load, index);
}

/* what: a member's act, for messages. */
static int all(struct run *run, const char *what, struct crowd crowd)
{
    crowd.arg = run;
    int r = crowd_run(&crowd);
    return r < 0 ? fail_of(run, what, crowd.failed, r) : 0;
}

static int login_part(struct run *run, unsigned first, unsigned end, unsigned width)
{
    usec_t began = clock_now();
    int r = all(run, "login",
                (struct crowd){.act = act_login, .first = first, .end = end, .width = width});
    run->row->value += seconds_since(began);
    return r;
}

/* What the server holds after a while of silence. Not known (another user's process): 0, and
 * *ret_known is false. */
static int idle_memory(struct bench *b, uint64_t *ret_bytes, bool *ret_known)
{
    struct measure seen = {0};
    int r = task_sleep_until(clock_now() + b->idle_wait_us);
    if (r == 0)
        r = measure_run(b->pool, b->options->pid, true, &seen);
    if (r == 0) {
        *ret_known = seen.dirty_result == 0;
        *ret_bytes = seen.dirty_bytes;
    }
    return r;
}

/* One after the other, as ftpbench does. The slope begins at a third of them, so that what the
 * first sessions cost once does not count. */
static int row_login(struct run *run)
{
    struct bench *b = run->bench;
    struct bench_row *row = run->row;
    unsigned count = b->options->clients, third = count / 3;
    row->clients = count;
    uint64_t before = 0, after = 0;
    bool is_known = b->options->pid != 0;
    int r = login_part(run, 0, third, 1);
    meter_pause(&run->meter);
    if (r == 0 && is_known)
        r = idle_memory(b, &before, &is_known);
    meter_resume(&run->meter);
    if (r == 0)
        r = login_part(run, third, count, 1);
    meter_pause(&run->meter);
    if (r == 0 && is_known)
        r = idle_memory(b, &after, &is_known);
    meter_resume(&run->meter);
    if (r < 0 || !is_known)
        return r;
    row->has_memory = row->has_slope = true;
    row->memory_bytes = after;
    row->slope_from = third;
    row->slope_to = count;
    row->slope_bytes = ((double)after - (double)before) / (count - third);
    return 0;
}

static int row_login_window(struct run *run)
{
    const struct bench_options *o = run->bench->options;
    run->row->clients = o->clients;
    return login_part(run, 0, o->clients, o->window);
}

static int many(struct run *run, const char *what, int (*act)(void *, unsigned))
{
    unsigned count = run->bench->options->clients;
    usec_t began = clock_now();
    int r = all(run, what, (struct crowd){.act = act, .end = count, .width = count});
    run->row->value = seconds_since(began);
    run->row->clients = run->row->files = count;
    run->row->bytes = count * run->bench->options->file_bytes;
    return r;
}

static int row_retr_many(struct run *run)
{
    return many(run, "download", act_retrieve);
}

static int row_stor_many(struct run *run)
{
    return many(run, "upload", act_store);
}

static int row_quit(struct run *run)
{
    unsigned failed;
    usec_t began = clock_now();
    int r = load_quit(run->load, &failed);
    run->row->value = seconds_since(began);
    run->row->clients = run->bench->options->clients;
    return r < 0 ? fail_of(run, "QUIT", failed, r) : 0;
}

/* -- what belongs to a row, but not to its time -- */

static int prepare_types(struct run *run)
{
    return all(
        run, "TYPE I",
        (struct crowd){.act = act_type, .end = run->bench->options->clients, .width = 1});
}

static void close_crowd(struct run *run)
{
    for (unsigned i = 0; i < run->bench->options->clients; i++)
        ftp_client_close(&run->load->crowd[i]);
}

static void quit_crowd(struct run *run)
{
    unsigned failed;
    (void)!load_quit(run->load, &failed);
    close_crowd(run);
}

/* -- the table -- */

#define OF(kind)  (1u << (kind))
#define UPLOADS   (OF(BENCH_TRANSFER) | OF(BENCH_UPLOAD) | OF(BENCH_ALL))
#define DOWNLOADS (OF(BENCH_TRANSFER) | OF(BENCH_DOWNLOAD) | OF(BENCH_ALL))
#define CROWDS    (OF(BENCH_CONCURRENCE) | OF(BENCH_ALL))

static const struct step {
    const char *name;
    const char *label; /* '#': clients; '@': a file's size; '&': the window */
    unsigned kinds;
    bool is_transfer; /* with a NOOP beside it, and the peak of memory; else memory when idle */
    int (*prepare)(struct run *); /* NULL: nothing */
    int (*act)(struct run *);
    void (*leave)(struct run *); /* NULL: nothing */
} steps[] = {
    {"stor", "STOR (client -> server)", UPLOADS, true, NULL, row_stor, NULL},
    {"retr", "RETR (server -> client)", DOWNLOADS, true, NULL, row_retr, NULL},
    {"login", "# concurrent clients (connect, login)", CROWDS, false, NULL, row_login, NULL},
    {"stor_idle", "STOR (1 file with # idle clients)", CROWDS, true, NULL, row_stor, NULL},
    {"retr_idle", "RETR (1 file with # idle clients)", CROWDS, true, NULL, row_retr, NULL},
    {"retr_many", "# concurrent clients (RETR @ file)", CROWDS, true, prepare_types,
     row_retr_many, NULL},
    {"stor_many", "# concurrent clients (STOR @ file)", CROWDS, true, NULL, row_stor_many,
     NULL},
    {"quit", "# concurrent clients (QUIT)", CROWDS, false, NULL, row_quit, close_crowd},
    {"login_window", "# concurrent clients (login, & at once)", CROWDS, false, NULL,
     row_login_window, quit_crowd},
};

_Static_assert(ARRAY_LEN(steps) <= BENCH_ROWS_MAX, "a row for each");

static void write_label(const char *label, const struct bench_options *o,
                        char dst[BENCH_LABEL_MAX])
{
    size_t len = 0;
    for (; *label != '\0' && len + BENCH_SIZE_TEXT_MAX < BENCH_LABEL_MAX; label++) {
        char size[BENCH_SIZE_TEXT_MAX];
        char *at = dst + len;
        if (*label == '#')
            snprintf(at, BENCH_SIZE_TEXT_MAX, "%u", o->clients);
        else if (*label == '&')
            snprintf(at, BENCH_SIZE_TEXT_MAX, "%u", o->window);
        else if (*label == '@')
            snprintf(at, BENCH_SIZE_TEXT_MAX, "%s", report_size((double)o->file_bytes, size));
        else
            snprintf(at, BENCH_SIZE_TEXT_MAX, "%c", *label);
        len += strlen(at);
    }
}

/* What is wrong beside the row itself is said once. */
static void notice(struct run *run)
{
    struct bench *b = run->bench;
    if (run->meter.probe_result < 0 && b->results->notice[0] == '\0')
        load_explain(b->results->notice, sizeof(b->results->notice),
                     "NOOP beside the transfers", &b->probe.client, run->meter.probe_result);
}

static int run_measured(struct run *run, const struct step *step)
{
    int r = meter_begin(&run->meter);
    if (r == 0)
        r = step->act(run);
    int ended = meter_end(&run->meter, run->row);
    notice(run);
    if (r == 0)
        r = ended;
    if (r < 0 && r != -ECANCELED && run->row->error[0] == '\0')
        snprintf(run->row->error, sizeof(run->row->error), "process %u of the server: %s",
                 run->bench->options->pid, err_text(r));
    return r;
}

static int add_idle_memory(struct run *run)
{
    struct bench_row *row = run->row;
    if (run->bench->options->pid == 0 || row->has_memory)
        return 0;
    return idle_memory(run->bench, &row->memory_bytes, &row->has_memory);
}

static int run_step(struct bench *b, const struct step *step)
{
    struct bench_results *results = b->results;
    struct bench_row *row = &results->rows[results->count];
    struct run run = {
        .bench = b,
        .load = &b->load,
        .row = row,
        .meter = {.pool = b->pool,
                  .pid = b->options->pid,
                  .probe = step->is_transfer ? &b->probe : NULL,
                  .watches_memory = step->is_transfer},
    };
    *row = (struct bench_row){.name = step->name};
    write_label(step->label, b->options, row->label);
    b->label = row->label;
    int r = step->prepare != NULL ? step->prepare(&run) : 0;
    if (r == 0)
        r = run_measured(&run, step);
    if (r == 0 && !step->is_transfer)
        r = add_idle_memory(&run);
    if (step->leave != NULL)
        step->leave(&run);
    if (r == -ECANCELED)
        return r;
    results->count++;
    if (b->watcher->ended != NULL)
        b->watcher->ended(b->watcher->arg, row);
    return r;
}

/* -- before the first row -- */

static int look_at_server(struct bench *b)
{
    struct bench_results *results = b->results;
    unsigned pid = b->options->pid;
    struct measure seen;
    if (pid == 0)
        return 0;
    int r = measure_run(b->pool, pid, true, &seen);
    if (r == -ENOENT)
        snprintf(results->error, sizeof(results->error), "there is no process %u", pid);
    else if (r < 0 && r != -ECANCELED)
        snprintf(results->error, sizeof(results->error), "process %u: %s", pid, err_text(r));
    if (r < 0)
        return r;
    results->has_memory_start = seen.dirty_result == 0;
    results->memory_start_bytes = seen.dirty_bytes;
    if (seen.dirty_result < 0)
        snprintf(results->notice, sizeof(results->notice),
                 "memory of process %u is not shown: %s", pid, err_text(seen.dirty_result));
    return 0;
}

/* The file that downloads take, and the proof that it can be written. */
static int try_out(struct bench *b)
{
    char what[BENCH_HOST_MAX + 32];
    const struct bench_url *server = &b->options->server;
    snprintf(what, sizeof(what), "%s port %u", server->host, server->port);
    int r = load_login(&b->load, &b->load.lone);
    if (r == 0)
        r = ftp_client_type(&b->load.lone, 'I');
    if (r == 0) {
        text_copy(what, sizeof(what), BYTES_LIT("upload of the first file"));
        r = load_store(&b->load);
    }
    if (r < 0 && r != -ECANCELED)
        load_explain(b->results->error, sizeof(b->results->error), what, &b->load.lone, r);
    return r;
}

int rows_run(struct bench *b)
{
    b->label = "connecting";
    int r = look_at_server(b);
    if (r == 0)
        r = try_out(b);
    if (r == 0 && b->watcher->began != NULL)
        b->watcher->began(b->watcher->arg, b->results);
    for (size_t i = 0; i < ARRAY_LEN(steps) && r == 0; i++)
        if ((steps[i].kinds & OF(b->options->kind)) != 0)
            r = run_step(b, &steps[i]);
    return r;
}
