#include "bench/engine/crowd.h"
#include "bench/ftp/rows.h"

struct load *load_of(const struct run *run)
{
    return run->target->load;
}

int row_fail(struct run *run, const char *what, const struct ftp_client *c, int result)
{
    static const struct ftp_client nobody;
    char reason[BENCH_ERROR_MAX];
    load_explain(reason, sizeof(reason), what, c != NULL ? c : &nobody, result);
    return run_fail(run, reason, result);
}

double row_seconds_since(usec_t began)
{
    return (double)(clock_now() - began) / (double)USEC_PER_S;
}

/* -- the crowd -- */

int row_crowd_each(struct run *run, const char *what, int (*act)(void *, unsigned),
                   unsigned count, unsigned width)
{
    struct crowd crowd = {.act = act, .arg = run, .count = count, .width = width};
    int r = crowd_run(&crowd);
    if (r == 0)
        return 0;
    char text[96];
    snprintf(text, sizeof(text), "%s %u of %u", what, crowd.failed + 1, count);
    bool has_session = crowd.failed < load_of(run)->crowd_count;
    return row_fail(run, text, has_session ? &load_of(run)->crowd[crowd.failed] : NULL, r);
}

static int act_open(void *arg, unsigned index)
{
    struct run *run = arg;
    struct ftp_client *c = &load_of(run)->crowd[index];
    int r = ftp_client_is_open(c) ? 0 : load_login(load_of(run), c, NULL);
    return r == 0 ? ftp_client_type(c, 'I') : r;
}

int row_crowd_open(struct run *run, unsigned count, unsigned width)
{
    int r = load_reserve(load_of(run), count);
    if (r < 0)
        return row_fail(run, "sessions", NULL, r);
    return row_crowd_each(run, "login", act_open, count, width);
}

void row_crowd_close(struct run *run)
{
    unsigned failed;
    bool is_open = load_of(run)->crowd_count > 0 && ftp_client_is_open(&load_of(run)->crowd[0]);
    if (is_open)
        (void)!load_quit(load_of(run), &failed);
    load_close(load_of(run));
}
