#include "bench/ssh/suite.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/engine/bench.h"
#include "bench/ssh/load.h"

/* One load for each target, in their order. */
struct loads {
    struct ssh_load_shared shared;
    struct ssh_load each[BENCH_TARGETS_MAX];
    struct ssh_load probe; /* of the probe's worker, to the target that it was opened for */
};

static int open_loads(struct bench *b)
{
    struct loads *all = b->loads = mem_new(sizeof(*all));
    if (all == NULL)
        return -ENOMEM;
    all->shared.stage = b->stage;
    all->shared.pool = &b->pool;
    all->shared.timeout_us = b->options->timeout_us;
    for (unsigned i = 0; i < b->target_count; i++) {
        struct target *t = &b->targets[i];
        t->load = &all->each[i];
        ssh_load_init(t->load, &all->shared, &t->addr, t->user);
    }
    return stage_keys_read(b->stage, &all->shared.keys);
}

/* Sessions are closed by now: they were hung up when their server was stopped. */
static void close_loads(struct bench *b)
{
    struct loads *all = b->loads;
    if (all == NULL)
        return;
    for (unsigned i = 0; i < b->target_count; i++) {
        b->results->stored_bytes += all->each[i].stored_bytes;
        b->results->retrieved_bytes += all->each[i].retrieved_bytes;
        mem_free(all->each[i].block);
    }
    stage_keys_done(&all->shared.keys);
    mem_free(all);
    b->loads = NULL;
}

static void hang_up(struct target *t)
{
    ssh_load_close(t->load);
}

/* -- the probe -- */

static const struct ssh_row_detail probed = {.cipher = "aes128-gcm@openssh.com"};

static int probe_open(void *arg, const struct target *t)
{
    struct loads *all = ((struct bench *)arg)->loads;
    struct ssh_load *load = &all->probe;
    ssh_load_init(load, &all->shared, &t->addr, t->user);
    int r = ssh_session_open(load, &load->lone, &probed);
    return r == 0 ? ssh_session_open_sftp(load, &load->lone) : r;
}

static int probe_ask(void *arg)
{
    struct loads *all = ((struct bench *)arg)->loads;
    return ssh_session_ask(&all->probe, &all->probe.lone);
}

static void probe_close(void *arg)
{
    struct loads *all = ((struct bench *)arg)->loads;
    ssh_session_close(&all->probe.lone);
}

static void probe_explain(void *arg, const char *what, int result, size_t cap, char *dst)
{
    const struct loads *all = ((struct bench *)arg)->loads;
    ssh_load_explain(&all->probe, what, result, cap, dst);
}

static const struct probe_talk questions = {
    .name = "REALPATH",
    .open = probe_open,
    .ask = probe_ask,
    .close = probe_close,
    .explain = probe_explain,
};

#define ONLY_OWN "only servers that ferry starts are measured, which have its keys"

static const struct bench_refusal refusals[] = {
    {"url", ONLY_OWN},
    {"host", ONLY_OWN},
    {"port", ONLY_OWN},
    {"user", ONLY_OWN},
    {"pass", ONLY_OWN},
    {"pid", ONLY_OWN},
    {"ssl", "ssh encrypts by itself"},
    {"compat", "ftpbench measures FTP alone"},
    {"filesize", "its rows have files of fixed sizes"},
    {0},
};

const struct bench_suite bench_suite_ssh = {
    .name = "ssh",
    .port = 22,
    .rows = &ssh_rows,
    .recipes = &ssh_recipes,
    .goals = &ssh_goals,
    .probe = &questions,
    .refusals = refusals,
    .files = "512M",
    .files_quick = "32M",
    .open = open_loads,
    .close = close_loads,
    .hang_up = hang_up,
};
