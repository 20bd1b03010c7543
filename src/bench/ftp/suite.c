#include "bench/ftp/suite.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/engine/bench.h"
#include "bench/ftp/load.h"
#include "io/tls.h"

#define STREAM_BYTES       (UINT64_C(512) * 1024 * 1024)
#define STREAM_BYTES_QUICK (UINT64_C(32) * 1024 * 1024)

/* One load for each target, in their order. */
struct loads {
    struct load_source source;
    struct tls_context *tls; /* NULL: in clear */
    struct load_settings settings[BENCH_TARGETS_MAX];
    struct load each[BENCH_TARGETS_MAX];
    struct ftp_client probe; /* of the probe's worker */
};

/* -- the loads -- */

static uint64_t stream_bytes(const struct bench_options *o)
{
    if (o->has_server)
        return o->file_bytes;
    return o->quick ? STREAM_BYTES_QUICK : STREAM_BYTES;
}

static struct load_settings settings_of(const struct loads *all, const struct bench_options *o,
                                        const struct target *t)
{
    return (struct load_settings){
        .source = &all->source,
        .server = &t->addr,
        .user = t->user,
        .password = t->password,
        .stream_bytes = stream_bytes(o),
        .client = {.tls = all->tls,
                   .connect_us = o->timeout_us,
                   .answer_us = o->timeout_us,
                   .stall_us = o->timeout_us,
                   .download_bytes = o->has_server ? o->file_bytes + BENCH_LISTING_MAX : 0},
    };
}

static int open_loads(struct bench *b)
{
    const struct bench_options *o = b->options;
    struct loads *all = b->loads = mem_new(sizeof(*all));
    if (all == NULL)
        return -ENOMEM;
    uint64_t stream = stream_bytes(o);
    int r = load_source_init(&all->source, o->file_bytes > stream ? o->file_bytes : stream);
    if (r == 0 && o->tls)
        r = tls_context_new(&all->tls);
    for (unsigned i = 0; r == 0 && i < b->target_count; i++) {
        struct target *t = &b->targets[i];
        all->settings[i] = settings_of(all, o, t);
        t->load = &all->each[i];
        r = load_init(t->load, &all->settings[i]);
    }
    return r;
}

static void close_loads(struct bench *b)
{
    struct loads *all = b->loads;
    if (all == NULL)
        return;
    for (unsigned i = 0; i < b->target_count; i++) {
        b->results->stored_bytes += all->each[i].stored_bytes;
        b->results->retrieved_bytes += all->each[i].retrieved_bytes;
    }
    load_source_done(&all->source);
    (void)tls_context_free(all->tls);
    mem_free(all);
    b->loads = NULL;
}

static void hang_up(struct target *t)
{
    load_close(t->load);
}

/* -- a server that runs already -- */

/* The file that downloads take, and the proof that it can be written. */
static int try_out(struct bench *b)
{
    char what[BENCH_HOST_MAX + 32];
    const struct bench_url *server = &b->options->server;
    struct load *load = b->targets[0].load;
    snprintf(what, sizeof(what), "%s port %u", server->host, server->port);
    int r = load_open_lone(load);
    if (r == 0) {
        snprintf(what, sizeof(what), "upload of the first file");
        load->has_stored = true;
        r = load_store(load, &load->lone, load->stem, load->settings->stream_bytes);
    }
    if (r < 0 && r != -ECANCELED)
        load_explain(b->results->error, sizeof(b->results->error), what, &load->lone, r);
    return r;
}

static void clean_up(struct bench *b)
{
    unsigned left;
    struct load *load = b->targets[0].load;
    int r = load_remove_files(load, &left);
    if (left > 0)
        snprintf(b->results->notice, sizeof(b->results->notice),
                 "%u file%s named %s* may be left on the server: %s", left,
                 left == 1 ? "" : "s", load->stem, err_text(r));
}

/* -- the probe -- */

static int probe_open(void *arg, const struct target *t)
{
    struct loads *all = ((struct bench *)arg)->loads;
    const struct load *load = t->load;
    ftp_client_init(&all->probe, &load->settings->client);
    int r = ftp_client_connect(&all->probe, &t->addr, NULL);
    if (r == 0)
        r = ftp_client_login(&all->probe, bytes_str(t->user), bytes_str(t->password));
    return r;
}

static int probe_ask(void *arg)
{
    struct loads *all = ((struct bench *)arg)->loads;
    return ftp_client_noop(&all->probe);
}

static void probe_close(void *arg)
{
    struct loads *all = ((struct bench *)arg)->loads;
    ftp_client_close(&all->probe);
}

static void probe_explain(void *arg, const char *what, int result, size_t cap, char *dst)
{
    const struct loads *all = ((struct bench *)arg)->loads;
    load_explain(dst, cap, what, &all->probe, result);
}

static const struct probe_talk noops = {
    .name = "NOOP",
    .open = probe_open,
    .ask = probe_ask,
    .close = probe_close,
    .explain = probe_explain,
};

const struct bench_suite bench_suite_ftp = {
    .name = "ftp",
    .port = 21,
    .rows = &ftp_rows,
    .recipes = &ftp_recipes,
    .goals = &ftp_goals,
    .probe = &noops,
    .floor = "The floor is a bare responder that does the least that a row needs, in one\n"
             "thread: with many sessions or long files at once, servers of several threads\n"
             "may be faster than it.\n",
    .open = open_loads,
    .close = close_loads,
    .hang_up = hang_up,
    .try_out = try_out,
    .clean_up = clean_up,
};
