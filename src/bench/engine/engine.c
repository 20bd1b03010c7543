#include "bench/engine/engine.h"

#include <errno.h>

#include "base/text.h"
#include "bench/engine/choice.h"
#include "bench/engine/meter.h"
#include "bench/engine/run.h"
#include "bench/engine/servers.h"
#include "bench/engine/turns.h"
#include "bench/report/size_text.h"

#define ROW_US            (70 * USEC_PER_S) /* then slow servers get no further samples */
#define ROW_QUICK_US      (2500 * USEC_PER_MS)
#define QUICK_US          (100 * USEC_PER_S) /* of a quick run; then rows are left out */
#define SAMPLES_MIN       5 /* of these everybody gets as many, within SERVER_US */
#define SAMPLES_QUICK_MIN 1
#define SERVER_US         (30 * USEC_PER_S)
#define CLOSE_US          (20 * USEC_PER_MS)

_Static_assert(BENCH_PAIRS_MAX <= BENCH_SAMPLES_MAX, "a cell holds all samples");
_Static_assert(BENCH_SAMPLES_MAX <= STATISTICS_SAMPLES_MAX, "and all have one interval");

/* -- one sample of one server -- */

static bool has(const struct run *run, unsigned trait)
{
    return (run->kind->traits & trait) != 0;
}

/* What is wrong beside the row itself is said once. */
static void notice(struct run *run, int probe_result)
{
    struct bench *b = run->bench;
    char what[64];
    snprintf(what, sizeof(what), "%s beside the transfers", b->probe.talk->name);
    if (probe_result < 0 && b->results->notice[0] == '\0')
        b->probe.talk->explain(b, what, probe_result, sizeof(b->results->notice),
                               b->results->notice);
}

static int fail_of_probe(struct run *run, int result)
{
    struct bench *b = run->bench;
    char reason[BENCH_ERROR_MAX];
    b->probe.talk->explain(b, b->probe.talk->name, result, sizeof(reason), reason);
    return run_fail(run, reason, result);
}

static void set_up_probe(struct run *run)
{
    struct probe *p = &run->bench->probe;
    p->target = run->target;
    p->latencies = &run->latencies;
}

static void add_memory(struct run *run, const struct meter *m)
{
    struct bench_cell *cell = run->cell;
    uint64_t seen = m->memory_peak - (has(run, ROW_GROWTH) ? m->memory_before : 0);
    if (!m->has_memory)
        return;
    cell->has_memory = true;
    if (seen > cell->memory_bytes)
        cell->memory_bytes = seen;
}

static void add_sample(struct run *run, const struct meter *m, const struct sample *s)
{
    struct bench_cell *cell = run->cell;
    unsigned i = cell->sample_count++;
    uint64_t per = s->bytes > 0 ? s->bytes : s->operations > 0 ? s->operations : 1;
    cell->samples[i] = s->value;
    usec_t cpu_us = s->has_cpu ? s->cpu_us : m->server_cpu_us;
    cell->cpu_samples[i] = (double)cpu_us / (double)USEC_PER_S / (double)per;
    cell->operations += s->operations;
    cell->bytes += s->bytes;
    cell->wall_us += m->wall_us;
    cell->client_cpu_us += m->own_cpu_us + s->client_cpu_us;
    cell->client_busiest_us +=
        m->own_cpu_us > s->client_busiest_us ? m->own_cpu_us : s->client_busiest_us;
    cell->has_server_cpu = m->pid != 0;
    cell->server_cpu_us += cpu_us;
    add_memory(run, m);
}

static int measure(struct run *run, struct sample *s)
{
    struct meter m = {
        .pool = run->bench->pool,
        .pid = run->target->pid,
        .root_pid = run->target->recipe != NULL ? run->target->peer.keeper : run->target->pid,
        .probe = has(run, ROW_PROBED) ? &run->bench->probe : NULL,
        .watches_memory = has(run, ROW_WATCHED),
    };
    unsigned first = run->latencies.count;
    if (m.probe != NULL)
        set_up_probe(run);
    int r = meter_begin(&m);
    if (r == 0)
        r = run->kind->sample(run, s);
    int ended = meter_end(&m);
    notice(run, m.probe_result);
    if (r == 0 && ended < 0)
        r = run_fail_at(run, "the server's process", ended);
    if (r == 0 && has(run, ROW_P99)) {
        s->value = latencies_of(&run->latencies, first).p99_us / 1000;
        if (m.probe_result < 0)
            r = fail_of_probe(run, m.probe_result);
    }
    if (r == 0)
        add_sample(run, &m, s);
    return r;
}

/* What goes wrong ends this server's part in the row, and its sessions: the next row begins
 * with new ones. */
static int give_up(struct run *run, int result)
{
    if (result == -ECANCELED)
        return result;
    if (run->cell->error[0] == '\0')
        (void)run_fail_at(run, "the row", result);
    run->bench->suite->hang_up(run->target);
    return run->bench->stage != NULL ? 0 : result;
}

static bool is_out(const struct run *run)
{
    return run->cell->error[0] != '\0';
}

static int take_sample(struct run *run)
{
    struct sample s = {0};
    int r = run->kind->before != NULL ? run->kind->before(run) : 0;
    if (r == 0)
        r = measure(run, &s);
    if (r == 0 && run->kind->after != NULL)
        r = run->kind->after(run);
    return r < 0 ? give_up(run, r) : 0;
}

/* -- a row -- */

/* What is under way; what --url names has no name that is worth saying. */
static void show(const struct run *run, const char *what)
{
    struct bench *b = run->bench;
    if (b->stage == NULL)
        return;
    snprintf(b->progress, sizeof(b->progress), "%s: %s, %s", run->row->label, run->cell->target,
             what);
    b->label = b->progress;
}

static int prepare(struct run *run)
{
    if (run->kind->prepare == NULL)
        return 0;
    show(run, "beginning");
    int r = run->kind->prepare(run);
    return r < 0 ? give_up(run, r) : 0;
}

/* Of a quick run, each row that is to come gets its part of what is left; a third of that,
 * since there is more to a row than its samples. */
static usec_t quick_row_us(const struct bench *b)
{
    usec_t now = clock_now(), left = b->until > now ? b->until - now : 0;
    usec_t part = left / 3 / (b->rows_left > 0 ? b->rows_left : 1);
    return part < ROW_QUICK_US ? part : ROW_QUICK_US;
}

static struct turns turns_of(const struct run *runs, unsigned count)
{
    const struct bench *b = runs[0].bench;
    const struct bench_options *o = b->options;
    return (struct turns){
        .count = count,
        .wanted = has(&runs[0], ROW_ONCE) ? 1 : o->pairs,
        .least = o->quick ? SAMPLES_QUICK_MIN : SAMPLES_MIN,
        .share_us = (o->quick ? quick_row_us(b) : ROW_US) / count,
        .most_us = SERVER_US,
    };
}

static int rounds(struct run *runs, unsigned count)
{
    struct turns turns = turns_of(runs, count);
    for (unsigned i = 0; i < count; i++)
        if (is_out(&runs[i]))
            turns_out(&turns, i);
    int r = 0, next;
    while (r == 0 && (next = turns_next(&turns)) >= 0) {
        struct run *run = &runs[next];
        usec_t began = clock_now();
        char what[48];
        snprintf(what, sizeof(what), "%u of %u", turns.servers[next].samples + 1, turns.wanted);
        show(run, what);
        run->waited_us = 0;
        r = take_sample(run);
        turns_took(&turns, (unsigned)next, clock_now() - began - run->waited_us);
        if (is_out(run))
            turns_out(&turns, (unsigned)next);
    }
    return r;
}

static int finish(struct run *run)
{
    struct bench_cell *cell = run->cell;
    int r = 0;
    if (run->kind->conclude != NULL && !is_out(run))
        r = run->kind->conclude(run);
    if (run->latencies.count > 0)
        cell->noop = latencies_of(&run->latencies, 0);
    if (cell->held > 0 && cell->note[0] == '\0')
        snprintf(cell->note, sizeof(cell->note), "%u sessions: no descriptors for more",
                 cell->held);
    if (run->target->recipe != NULL && has(run, ROW_LOGIN) && cell->note[0] == '\0') {
        const char *note = run->target->recipe->login_note[run->kind->variant];
        if (note != NULL)
            text_copy(cell->note, sizeof(cell->note), bytes_str(note));
    }
    return r == 0 || r == -ECANCELED ? r : give_up(run, r);
}

static int run_in_turn(struct run *runs, unsigned count)
{
    int r = 0;
    for (unsigned i = 0; i < count && r == 0; i++)
        r = prepare(&runs[i]);
    if (r == 0)
        r = rounds(runs, count);
    if (r == 0 && runs[0].kind->conclude != NULL && runs[0].target->pid != 0)
        r = run_wait_idle(&runs[0], clock_now()); /* once for all of them */
    for (unsigned i = 0; i < count && r == 0; i++)
        r = finish(&runs[i]);
    for (unsigned i = 0; i < count; i++)
        if (runs[i].kind->leave != NULL)
            runs[i].kind->leave(&runs[i]);
    return r;
}

static void write_label(const struct run *run, char dst[BENCH_LABEL_MAX])
{
    const struct bench_options *o = run->bench->options;
    size_t len = 0;
    for (const char *at = run->row->is_reduced ? run->kind->quick_label : run->kind->label;
         *at != '\0' && len + SIZE_TEXT_MAX < BENCH_LABEL_MAX; at++) {
        char size[SIZE_TEXT_MAX];
        char *end = dst + len;
        if (*at == '#')
            snprintf(end, SIZE_TEXT_MAX, "%u", run_clients(run));
        else if (*at == '&')
            snprintf(end, SIZE_TEXT_MAX, "%u", o->window);
        else if (*at == '@')
            snprintf(end, SIZE_TEXT_MAX, "%s", size_text((double)o->file_bytes, size));
        else
            snprintf(end, SIZE_TEXT_MAX, "%c", *at);
        len += strlen(end);
    }
}

static int run_servers(struct bench *b, struct bench_row *row, struct run *runs)
{
    unsigned count = row->count;
    int r = 0;
    if ((runs[0].kind->traits & ROW_THOUSANDS) == 0)
        return run_in_turn(runs, count);
    for (unsigned i = 0; i < count && r == 0; i++) {
        for (unsigned k = 0; k < b->target_count; k++)
            b->suite->hang_up(&b->targets[k]);
        /* What was closed counts until the loop's turn is over. */
        r = task_sleep_until(clock_after(CLOSE_US));
        if (r == 0)
            r = run_in_turn(&runs[i], 1);
    }
    return r;
}

/* What it may be given to is not there, or not in this setting: no row. */
static int run_row(struct bench *b, const struct row_kind *kind)
{
    struct bench_results *results = b->results;
    struct bench_row *row = &results->rows[results->count];
    struct target *targets[BENCH_TARGETS_MAX];
    struct run runs[BENCH_TARGETS_MAX];
    unsigned count = choice_of_targets(b, kind, targets);
    if (count == 0)
        return 0;
    memset(row, 0, sizeof(*row)); /* a literal would be built on the stack of a task */
    row->name = kind->name;
    row->unit = kind->unit;
    row->count = count;
    row->is_reduced = b->options->quick && kind->quick_label != NULL;
    int r = 0;
    for (unsigned i = 0; i < count; i++) {
        struct target *t = targets[i];
        struct bench_cell *cell = &row->cells[i];
        runs[i] = (struct run){.bench = b, .kind = kind, .target = t, .row = row, .cell = cell};
        text_copy(cell->target, sizeof(cell->target), bytes_str(t->record->name));
        cell->is_floor = t->recipe != NULL && t->recipe->is_floor;
        if (r == 0)
            r = latencies_init(&runs[i].latencies);
    }
    write_label(&runs[0], row->label);
    row->clients = run_clients(&runs[0]);
    b->label = row->label;
    if (r == 0)
        r = run_servers(b, row, runs);
    for (unsigned i = 0; i < count; i++)
        latencies_done(&runs[i].latencies);
    if (r == -ECANCELED)
        return r;
    for (unsigned i = 0; i < count; i++)
        bench_cell_finish(&row->cells[i], row->unit, &row->cells[0]);
    results->count++;
    if (b->watcher->ended != NULL)
        b->watcher->ended(b->watcher->arg, row);
    return r;
}

/* -- all of them -- */

/* In a run rows are left out for one reason, which is said once. */
static void say_left_out(struct bench *b, const struct row_kind *kind, const char *why)
{
    char *notice = b->results->notice;
    size_t len = strlen(notice), cap = sizeof(b->results->notice);
    if (b->has_left_out)
        snprintf(notice + len, cap - len, ", %s", kind->name);
    else
        snprintf(notice + len, cap - len, "%sleft out, since %s: %s", len > 0 ? "; " : "", why,
                 kind->name);
    b->has_left_out = true;
}

/* Whether it is measured; what would be without a reason of the machine's is told. */
static bool has_row(struct bench *b, const struct row_kind *kind)
{
    const struct bench_options *o = b->options;
    const char *why = choice_refusal(o, kind);
    if (choice_has_row(o, kind))
        return true;
    if (why != NULL && b->stage != NULL && !o->quick && o->rows == NULL)
        say_left_out(b, kind, "they need more descriptors ('ulimit -n')");
    return false;
}

static int run_kind(struct bench *b, const struct row_kind *kind)
{
    if (b->options->quick && b->stage != NULL && clock_now() >= b->until) {
        say_left_out(b, kind, "a quick run has ended");
        return 0;
    }
    if ((kind->traits & ROW_FRESH) != 0)
        servers_stop(b);
    int r = servers_run(b, kind->variant);
    return r == 0 ? run_row(b, kind) : r;
}

static int run_rows(struct bench *b)
{
    const struct row_table *rows = b->suite->rows;
    for (size_t i = 0; i < rows->count; i++)
        b->rows_left += choice_has_row(b->options, &rows->kinds[i]);
    int r = 0;
    for (size_t i = 0; i < rows->count && r == 0; i++) {
        if (!has_row(b, &rows->kinds[i]))
            continue;
        r = run_kind(b, &rows->kinds[i]);
        b->rows_left--;
    }
    return r;
}

int engine_run(struct bench *b)
{
    b->until = clock_after(QUICK_US);
    b->label = b->stage != NULL ? "starting servers" : "connecting";
    int r = servers_run(b, RECIPE_PLAIN);
    if (r == 0)
        r = servers_look(b);
    if (r == 0 && b->stage == NULL)
        r = b->suite->try_out(b);
    if (r == 0 && b->watcher->began != NULL)
        b->watcher->began(b->watcher->arg, b->results);
    return r == 0 ? run_rows(b) : r;
}
