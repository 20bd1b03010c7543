#include "auth/password.h"
#include "bench/ftp/rows.h"
#include "bench/machine/aside.h"
#include "task/sys.h"

#define SETTLE_US (500 * USEC_PER_MS)

/* -- the crowd comes and goes -- */

static int act_login(void *arg, unsigned index)
{
    struct run *run = arg;
    return load_login(load_of(run), &load_of(run)->crowd[index], NULL);
}

static int login(struct run *run, unsigned count, unsigned width, struct sample *ret)
{
    usec_t began = clock_now();
    int r = row_crowd_each(run, "login", act_login, count, width);
    *ret = (struct sample){.value = row_seconds_since(began), .operations = count};
    return r;
}

/* ProFTPD takes no connection for up to 0.4 s when a session has ended, some bury a process for
 * each, and all have yet to close what was left. That is no part of the next login's time. */
static int settle(void)
{
    return task_sleep_until(clock_after(SETTLE_US));
}

int row_before_login(struct run *run)
{
    row_crowd_close(run);
    int r = load_reserve(load_of(run), run_clients(run));
    return r < 0 ? row_fail(run, "sessions", NULL, r) : settle();
}

/* One after the other, as ftpbench does. */
int row_login(struct run *run, struct sample *ret)
{
    return login(run, run_clients(run), 1, ret);
}

int row_conclude_login(struct run *run)
{
    struct bench_cell *cell = run->cell;
    int r = run_held_memory(run, &cell->memory_bytes, &cell->has_memory);
    return r < 0 ? row_fail(run, "reading the server's memory", NULL, r) : 0;
}

int row_login_window(struct run *run, struct sample *ret)
{
    return login(run, run_clients(run), run->bench->options->window, ret);
}

int row_before_quit(struct run *run)
{
    if (load_of(run)->crowd_count != run_clients(run))
        row_crowd_close(run);
    return row_crowd_open(run, run_clients(run), run->bench->options->window);
}

int row_quit(struct run *run, struct sample *ret)
{
    unsigned failed, count = load_of(run)->crowd_count;
    usec_t began = clock_now();
    int r = load_quit(load_of(run), &failed);
    *ret = (struct sample){.value = row_seconds_since(began), .operations = count};
    if (r < 0)
        (void)!row_fail(run, "QUIT", &load_of(run)->crowd[failed], r);
    load_close(load_of(run));
    return r;
}

void row_leave_crowd(struct run *run)
{
    row_crowd_close(run);
}

/* -- hashes -- */

struct hashing {
    const struct stage *stage;
    unsigned account;
    usec_t cpu_us; /* that it took */
};

static int hash_once(void *arg)
{
    struct hashing *h = arg;
    struct secret password = {0};
    uint64_t before = sys_thread_cpu_ns();
    int r = secret_copy(bytes_str(h->stage->password), &password);
    if (r == 0)
        r = password_verify(&password, h->stage->hashes[h->account]);
    secret_done(&password);
    h->cpu_us = (sys_thread_cpu_ns() - before) / 1000;
    return r;
}

int row_before_login_first(struct run *run)
{
    row_crowd_close(run);
    return settle();
}

static int hash_alone(struct run *run, unsigned account, struct sample *ret)
{
    struct hashing hashing = {.stage = run->bench->stage, .account = account};
    int r = aside_run(run->bench->pool, hash_once, &hashing);
    ret->has_cpu = true;
    ret->cpu_us = hashing.cpu_us;
    return r < 0 ? row_fail(run, "hash", NULL, r) : 0;
}

static int login_alone(struct run *run, unsigned account)
{
    char user[STAGE_NAME_MAX];
    struct ftp_client *c = &load_of(run)->lone;
    int r = load_login(load_of(run), c, stage_account(account, user));
    return r < 0 ? row_fail(run, "login", c, r) : 0;
}

/* Of an account that has not logged in yet: each sample takes the next one. The floor is the
 * hash itself, computed here. */
int row_login_first(struct run *run, struct sample *ret)
{
    unsigned account = run->cell->sample_count + 1;
    usec_t began = clock_now();
    int r = run->cell->is_floor ? hash_alone(run, account, ret) : login_alone(run, account);
    if (r < 0)
        return r;
    ret->value = row_seconds_since(began) * 1000;
    ret->operations = 1;
    ftp_client_close(&load_of(run)->lone);
    if (run->cell->is_floor)
        snprintf(run->cell->note, sizeof(run->cell->note), "the hash itself, without a server");
    return 0;
}

static int act_login_and_quit(void *arg, unsigned index)
{
    struct run *run = arg;
    struct ftp_client *c = &load_of(run)->crowd[index];
    int r = load_login(load_of(run), c, NULL);
    return r == 0 ? ftp_client_quit(c) : r;
}

int row_login_hashed(struct run *run, struct sample *ret)
{
    unsigned count = run_clients(run);
    int r = load_reserve(load_of(run), count);
    if (r < 0)
        return row_fail(run, "sessions", NULL, r);
    usec_t began = clock_now();
    r = row_crowd_each(run, "login", act_login_and_quit, count, run->bench->options->window);
    *ret = (struct sample){.value = count / row_seconds_since(began), .operations = count};
    return r;
}
