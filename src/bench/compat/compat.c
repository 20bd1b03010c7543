#include "bench/compat/compat.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/compat/compat_rows.h"
#include "bench/engine/interrupt.h"
#include "io/tls.h"

#define REMOVAL_TRIES    10
#define REMOVAL_PAUSE_US (200 * USEC_PER_MS)

struct compat_run {
    struct compat compat;
    struct scope work;  /* the rows, then the removal: a signal ends the one it meets */
    struct scope aside; /* what goes on until the end */
    struct interrupt interrupt;
    FILE *err;
    struct tls_context *tls;
    bool has_begun; /* the file may be there from now on */
    int result;
};

static int tell(struct compat_run *run, int result)
{
    const char *why = run->compat.error;
    if (run->interrupt.has_come)
        why = "interrupted";
    else if (why[0] == '\0')
        why = err_text(result);
    fprintf(run->err, "ferry bench ftp: %s\n", why);
    return result;
}

/* -- before the rows -- */

/* An upload in ASCII type that ends at once, as whoever may not write fails here. */
static int try_to_write(struct compat *t)
{
    struct stream *data;
    int r = compat_login(t, &t->lone);
    if (r == 0)
        r = ftp_client_transfer_begin(&t->lone, "STOR", COMPAT_FILE, &data);
    if (r == 0)
        r = ftp_client_transfer_end(&t->lone);
    if (r == 0)
        r = ftp_client_dele(&t->lone, COMPAT_FILE);
    if (r == 0)
        r = ftp_client_quit(&t->lone);
    return r < 0 ? compat_fail(t, "trying to write", &t->lone, r) : 0;
}

static int look_at_memory(struct compat *t, struct compat_memory *ret)
{
    int r = compat_memory_run(t->pool, t->options->pid, ret);
    if (r == 0)
        return 0;
    char what[48];
    snprintf(what, sizeof(what), "process %u", t->options->pid);
    return compat_fail(t, what, NULL, r == -ENOENT ? -ESRCH : r);
}

/* The sample stays on the pile; the line shows something else, in bytes. */
static int show_memory(struct compat *t)
{
    struct compat_memory memory;
    int r = look_at_memory(t, &memory);
    if (r < 0)
        return r;
    compat_samples_push(&t->samples, memory.own_bytes);
    fprintf(t->out, "(starting with %s%llu%s of memory being used)\n",
            t->has_colour ? "\033[32m" : "", (unsigned long long)memory.resident_bytes,
            t->has_colour ? "\033[0m" : "");
    fflush(t->out);
    return 0;
}

static void rows_main(void *arg)
{
    struct compat_run *run = arg;
    struct compat *t = &run->compat;
    struct compat_memory memory;
    bool has_pid = t->options->pid != 0;
    int r = has_pid ? look_at_memory(t, &memory) : 0; /* no such process: before all else */
    if (r == 0)
        r = try_to_write(t);
    if (r == 0) {
        run->has_begun = true;
        r = has_pid ? show_memory(t) : 0;
    }
    run->result = r == 0 ? compat_rows_run(t) : r;
}

/* -- the removal of the file -- */

/* Looks for the name in a listing whose lines may be cut anywhere. */
struct search {
    uint8_t line[16]; /* its beginning */
    size_t len;       /* of the whole line */
    bool is_found;
};

static void end_line(struct search *s)
{
    size_t len = s->len > 0 && s->len <= sizeof(s->line) && s->line[s->len - 1] == '\r'
                     ? s->len - 1
                     : s->len;
    if (len <= sizeof(s->line) && bytes_equal(bytes_of(s->line, len), COMPAT_FILE))
        s->is_found = true;
    s->len = 0;
}

static int look_in(void *arg, struct bytes data)
{
    struct search *s = arg;
    for (size_t i = 0; i < data.len; i++) {
        if (data.data[i] == '\n') {
            end_line(s);
            continue;
        }
        if (s->len < sizeof(s->line))
            s->line[s->len] = data.data[i];
        s->len++;
    }
    return 0;
}

/* Sessions that we closed count until the server has seen it, so one that is full is asked
 * again. */
static int login_to_remove(struct compat *t)
{
    int r = compat_login(t, &t->lone);
    for (unsigned i = 1; i < REMOVAL_TRIES; i++) {
        if (r != -FERRY_EREFUSED && r != -FERRY_EAUTH && r != -FERRY_ECLOSED)
            return r;
        ftp_client_close(&t->lone);
        r = task_sleep_until(clock_after(REMOVAL_PAUSE_US));
        if (r == 0)
            r = compat_login(t, &t->lone);
    }
    return r;
}

static int remove_file(struct compat *t)
{
    struct search search = {0};
    const struct ftp_sink sink = {look_in, &search};
    uint64_t bytes;
    int r = login_to_remove(t);
    if (r == 0)
        r = ftp_client_type(&t->lone, 'A');
    if (r == 0)
        r = ftp_client_nlst(&t->lone, BYTES_NONE, &sink, &bytes);
    end_line(&search);
    if (r == 0 && search.is_found)
        r = ftp_client_dele(&t->lone, COMPAT_FILE);
    return r;
}

static void remove_main(void *arg)
{
    struct compat_run *run = arg;
    struct compat *t = &run->compat;
    t->error[0] = '\0'; /* of the rows: it is told already */
    int r = remove_file(t);
    if (r < 0) {
        (void)compat_fail(t, "the file $testfile may be left on the server", &t->lone, r);
        fprintf(run->err, "ferry bench ftp: %s\n", t->error);
        run->result = run->result < 0 ? run->result : r;
    }
    if (ftp_client_is_open(&t->lone))
        (void)!ftp_client_quit(&t->lone);
    compat_close(t);
}

/* -- the run -- */

static int run_work(struct compat_run *run, const char *name, task_fn *fn)
{
    int r = scope_start(&run->work, name, TASK_NORMAL, fn, run, NULL);
    return r < 0 ? r : scope_wait(&run->work, USEC_NEVER);
}

static void main_task(void *arg)
{
    struct compat_run *run = arg;
    scope_init(&run->work);
    scope_init(&run->aside);
    int r = interrupt_start(&run->interrupt, &run->aside);
    if (r == 0)
        r = run_work(run, "rows", rows_main);
    if (r < 0)
        run->result = r;
    compat_close(&run->compat);
    if (run->result < 0)
        (void)tell(run, run->result);
    if (run->has_begun) {
        r = run_work(run, "remove file", remove_main);
        if (r < 0)
            run->result = r;
    }
    scope_leave(&run->work);
    scope_leave(&run->aside);
}

static int run_all(struct compat_run *run)
{
    const struct runtime_settings settings = {
        .workers = 1, .pool_threads = 1, .hash_threads = 1};
    struct runtime *runtime = NULL;
    struct compat *t = &run->compat;
    t->chunk = mem_raw(COMPAT_CHUNK_BYTES);
    t->waste = mem_raw(COMPAT_WASTE_BYTES);
    int r = t->chunk != NULL && t->waste != NULL ? interrupt_init(&run->interrupt, &run->work)
                                                 : -ENOMEM;
    if (r == 0 && t->options->tls)
        r = tls_context_new(&run->tls);
    if (r == 0)
        r = runtime_new(&settings, &runtime);
    if (r == 0) {
        memset(t->chunk, 'x', COMPAT_CHUNK_BYTES);
        t->settings.tls = run->tls;
        t->pool = runtime_files_pool(runtime);
        r = runtime_run(runtime, main_task, run);
    }
    (void)runtime_free(runtime);
    interrupt_done(&run->interrupt);
    (void)tls_context_free(run->tls);
    mem_free(t->chunk);
    mem_free(t->waste);
    return r;
}

int compat_run(const struct bench_options *options, const struct addr *server, FILE *out,
               bool has_colour, FILE *err)
{
    struct compat_run *run = mem_new(sizeof(*run));
    if (run == NULL) {
        fprintf(err, "ferry bench ftp: %s\n", err_text(-ENOMEM));
        return -ENOMEM;
    }
    usec_t timeout_us = options->timeout_us;
    *run = (struct compat_run){
        .compat = {.options = options,
                   .server = *server,
                   .settings = {.connect_us = timeout_us,
                                .answer_us = timeout_us,
                                .stall_us = timeout_us,
                                .download_bytes = options->file_bytes + BENCH_LISTING_MAX},
                   .out = out,
                   .has_colour = has_colour},
        .interrupt.fd = -1,
        .err = err,
    };
    ftp_client_init(&run->compat.lone, &run->compat.settings);
    int r = run_all(run);
    if (r < 0)
        (void)tell(run, r);
    else
        r = run->result;
    mem_free(run);
    return r;
}
