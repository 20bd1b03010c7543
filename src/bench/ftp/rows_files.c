#include "base/err.h"
#include "bench/ftp/rows.h"
#include "bench/machine/aside.h"

#define SMALL_FILES  2000
#define SMALL_BYTES  4096
#define SMALL_QUICK  100
#define MANY_FOLDER  "ferry-bench-many"
#define MANY_ENTRIES 100000
#define MANY_QUICK   10000

/* -- small files -- */

static unsigned small_count(const struct run *run)
{
    return run->bench->options->quick ? SMALL_QUICK : SMALL_FILES;
}

/* Each session takes every n-th file. */
static int each_small(struct run *run, unsigned index,
                      int (*act)(struct run *, struct ftp_client *, const char *name))
{
    int r = 0;
    unsigned count = small_count(run);
    for (unsigned i = index; i < count && r == 0; i += load_of(run)->crowd_count) {
        char name[LOAD_NAME_MAX];
        r = act(run, &load_of(run)->crowd[index], load_name(load_of(run), "small", i, name));
    }
    return r;
}

static int store_small(struct run *run, struct ftp_client *c, const char *name)
{
    return load_store(load_of(run), c, name, SMALL_BYTES);
}

static int retrieve_small(struct run *run, struct ftp_client *c, const char *name)
{
    return load_retrieve(load_of(run), c, name, SMALL_BYTES);
}

static int remove_small(struct run *run, struct ftp_client *c, const char *name)
{
    (void)run;
    return load_remove(c, name);
}

static int act_store(void *arg, unsigned index)
{
    return each_small(arg, index, store_small);
}

static int act_retrieve(void *arg, unsigned index)
{
    return each_small(arg, index, retrieve_small);
}

static int act_remove(void *arg, unsigned index)
{
    return each_small(arg, index, remove_small);
}

static int all_sessions(struct run *run, const char *what, int (*act)(void *, unsigned))
{
    return row_crowd_each(run, what, act, load_of(run)->crowd_count, load_of(run)->crowd_count);
}

static int small(struct run *run, const char *what, int (*act)(void *, unsigned),
                 struct sample *ret)
{
    usec_t began = clock_now();
    int r = all_sessions(run, what, act);
    unsigned count = small_count(run);
    *ret = (struct sample){.value = row_seconds_since(began),
                           .operations = count,
                           .bytes = (uint64_t)count * SMALL_BYTES};
    return r;
}

/* Sessions of their own for each sample, so that none has an address, and its ports, for long.
 */
static int open_sessions(struct run *run)
{
    row_crowd_close(run);
    return row_crowd_open(run, run_clients(run), run_clients(run));
}

/* Uploads make new files; downloads find them. */
int row_before_small_up(struct run *run)
{
    int r = open_sessions(run);
    if (r == 0 && run->cell->sample_count > 0)
        r = all_sessions(run, "removal of small files", act_remove);
    return r;
}

int row_small_up(struct run *run, struct sample *ret)
{
    return small(run, "upload of small files", act_store, ret);
}

/* It is the server that closes, and its ports that are held. */
int row_before_small_down(struct run *run)
{
    int r = run_wait_ports(run);
    if (r < 0)
        return row_fail(run, "counting ports", NULL, r);
    r = open_sessions(run);
    if (r == 0 && run->cell->sample_count == 0)
        r = all_sessions(run, "upload of small files", act_store);
    return r;
}

int row_small_down(struct run *run, struct sample *ret)
{
    return small(run, "download of small files", act_retrieve, ret);
}

void row_leave_small(struct run *run)
{
    if (load_of(run)->crowd_count > 0 && ftp_client_is_open(&load_of(run)->crowd[0]))
        (void)!all_sessions(run, "removal of small files", act_remove);
    row_crowd_close(run);
}

/* -- long listings -- */

static unsigned many_count(const struct bench_options *o)
{
    return o->quick ? MANY_QUICK : MANY_ENTRIES;
}

static int make_many(void *arg)
{
    const struct bench *b = arg;
    return stage_make_many(b->stage, MANY_FOLDER, many_count(b->options));
}

int row_prepare_listing(struct run *run)
{
    int r = aside_run(run->bench->pool, make_many, run->bench);
    if (r < 0)
        return row_fail(run, "making the files to be listed", NULL, r);
    r = load_open_lone(load_of(run));
    return r < 0 ? row_fail(run, "login", &load_of(run)->lone, r) : 0;
}

/* Lines, of which each is an entry: a listing that lacks some is none. */
static int count_lines(void *arg, struct bytes data)
{
    unsigned *count = arg;
    size_t end;
    while (bytes_find(data, '\n', &end)) {
        ++*count;
        data = bytes_skip(data, end + 1);
    }
    return 0;
}

static int list(struct run *run, const char *verb, struct sample *ret)
{
    unsigned lines = 0;
    uint64_t bytes;
    const struct ftp_sink sink = {.take = count_lines, .arg = &lines};
    struct ftp_client *c = &load_of(run)->lone;
    usec_t began = clock_now();
    int r = ftp_client_receive(c, verb, BYTES_LIT(MANY_FOLDER), &sink, &bytes);
    *ret = (struct sample){.value = row_seconds_since(began), .operations = 1};
    if (r < 0)
        return row_fail(run, "listing", c, r);
    if (lines < many_count(run->bench->options))
        return row_fail(run, "listing: entries are missing", NULL, -FERRY_ETRUNCATED);
    return 0;
}

int row_list(struct run *run, struct sample *ret)
{
    return list(run, "LIST", ret);
}

int row_mlsd(struct run *run, struct sample *ret)
{
    return list(run, "MLSD", ret);
}
