#include "bench/ftp/rows.h"
#include "bench/machine/aside.h"

#define SAMPLE_US        (500 * USEC_PER_MS)
#define SAMPLE_QUICK_US  (100 * USEC_PER_MS)
#define DISK_BYTES       (UINT64_C(128) * 1024 * 1024)
#define DISK_BYTES_QUICK (UINT64_C(32) * 1024 * 1024)

/* -- one session, one file after another -- */

/* A file that the lone session moves to and fro. */
struct stream_file {
    const char *name;
    uint64_t len;
};

static struct stream_file lone_file(const struct run *run)
{
    return (struct stream_file){load_of(run)->stem, load_of(run)->settings->stream_bytes};
}

static int store(struct run *run, struct stream_file file)
{
    int r = load_store(load_of(run), &load_of(run)->lone, file.name, file.len);
    return r < 0 ? row_fail(run, "upload", &load_of(run)->lone, r) : 0;
}

static int retrieve(struct run *run, struct stream_file file)
{
    int r = load_retrieve(load_of(run), &load_of(run)->lone, file.name, file.len);
    return r < 0 ? row_fail(run, "download", &load_of(run)->lone, r) : 0;
}

/* An upload makes a new file, as uploads do; what stood there is removed before, outside of the
 * time. */
static int remove_file(struct run *run, struct stream_file file)
{
    int r = ftp_client_dele(&load_of(run)->lone, bytes_str(file.name));
    return r < 0 ? row_fail(run, "removal", &load_of(run)->lone, r) : 0;
}

static int stream(struct run *run, bool upload, struct stream_file file, struct sample *ret)
{
    usec_t length = run->bench->options->quick ? SAMPLE_QUICK_US : SAMPLE_US;
    usec_t time_us = 0;
    *ret = (struct sample){0};
    do {
        int r = upload ? remove_file(run, file) : 0;
        usec_t began = clock_now();
        if (r == 0)
            r = upload ? store(run, file) : retrieve(run, file);
        time_us += clock_now() - began;
        if (r < 0)
            return r;
        ret->operations++;
        ret->bytes += file.len;
    } while (time_us < length);
    ret->value =
        (double)ret->bytes / BENCH_MB_BYTES * (double)USEC_PER_S / (double)(time_us + 1);
    return 0;
}

int row_stor(struct run *run, struct sample *ret)
{
    return stream(run, true, lone_file(run), ret);
}

int row_retr(struct run *run, struct sample *ret)
{
    return stream(run, false, lone_file(run), ret);
}

/* Stores the file and looks at every byte that comes back: what a row measures is what was
 * stored. */
static int store_and_verify(struct run *run, struct stream_file file)
{
    int r = store(run, file);
    if (r < 0)
        return r;
    r = load_verify(load_of(run), &load_of(run)->lone, file.name, file.len);
    return r < 0 ? row_fail(run, "what was stored is not what comes back", NULL, r) : 0;
}

static int open_lone(struct run *run)
{
    int r = load_open_lone(load_of(run));
    return r < 0 ? row_fail(run, "login", &load_of(run)->lone, r) : 0;
}

int row_prepare_stream(struct run *run)
{
    int r = open_lone(run);
    if (r < 0 || load_of(run)->has_stored)
        return r;
    load_of(run)->has_stored = true;
    return store_and_verify(run, lone_file(run));
}

int row_prepare_idle(struct run *run)
{
    int r = row_crowd_open(run, run_held(run), run->bench->options->window);
    return r == 0 ? row_prepare_stream(run) : r;
}

/* -- on a disk -- */

static struct stream_file disk_file(const struct run *run, char dst[LOAD_NAME_MAX])
{
    snprintf(dst, LOAD_NAME_MAX, "disk/%s", load_of(run)->stem);
    return (struct stream_file){dst,
                                run->bench->options->quick ? DISK_BYTES_QUICK : DISK_BYTES};
}

int row_prepare_disk(struct run *run)
{
    char name[LOAD_NAME_MAX];
    int r = open_lone(run);
    return r == 0 ? store_and_verify(run, disk_file(run, name)) : r;
}

int row_stor_disk(struct run *run, struct sample *ret)
{
    char name[LOAD_NAME_MAX];
    return stream(run, true, disk_file(run, name), ret);
}

int row_retr_disk(struct run *run, struct sample *ret)
{
    char name[LOAD_NAME_MAX];
    return stream(run, false, disk_file(run, name), ret);
}

static int make_cold(void *arg)
{
    const struct run *run = arg;
    return stage_make_cold(run->bench->stage, load_of(run)->stem);
}

int row_before_cold(struct run *run)
{
    int r = aside_run(run->bench->pool, make_cold, run);
    return r < 0 ? row_fail(run, "dropping the file from the cache", NULL, r) : 0;
}

/* One file: the second download would find it in the cache. */
int row_retr_cold(struct run *run, struct sample *ret)
{
    char name[LOAD_NAME_MAX];
    struct stream_file file = disk_file(run, name);
    usec_t began = clock_now();
    int r = retrieve(run, file);
    *ret =
        (struct sample){.value = (double)file.len / BENCH_MB_BYTES / row_seconds_since(began),
                        .bytes = file.len,
                        .operations = 1};
    return r;
}

void row_leave_disk(struct run *run)
{
    char name[LOAD_NAME_MAX];
    if (ftp_client_is_open(&load_of(run)->lone))
        (void)!ftp_client_dele(&load_of(run)->lone, bytes_str(disk_file(run, name).name));
}

/* -- many at once -- */

static int many(struct run *run, const char *what, int (*act)(void *, unsigned),
                struct sample *ret)
{
    unsigned count = run_clients(run);
    usec_t began = clock_now();
    int r = row_crowd_each(run, what, act, count, count);
    *ret = (struct sample){.value = row_seconds_since(began),
                           .bytes = count * run->bench->options->file_bytes,
                           .operations = count};
    return r;
}

static int act_retrieve(void *arg, unsigned index)
{
    struct run *run = arg;
    char name[LOAD_NAME_MAX];
    return load_retrieve(load_of(run), &load_of(run)->crowd[index],
                         load_name(load_of(run), "", 0, name), run->bench->options->file_bytes);
}

static int act_store(void *arg, unsigned index)
{
    struct run *run = arg;
    char name[LOAD_NAME_MAX];
    if (index >= load_of(run)->crowd_stored)
        load_of(run)->crowd_stored = index + 1;
    return load_store(load_of(run), &load_of(run)->crowd[index],
                      load_name(load_of(run), "", index, name),
                      run->bench->options->file_bytes);
}

int row_prepare_retr_many(struct run *run)
{
    int r = row_crowd_open(run, run_clients(run), run->bench->options->window);
    return r == 0 ? row_crowd_each(run, "upload", act_store, 1, 1) : r;
}

int row_retr_many(struct run *run, struct sample *ret)
{
    return many(run, "download", act_retrieve, ret);
}

/* Files of their own: servers may lock one that all write. */
int row_prepare_stor_many(struct run *run)
{
    int r = row_crowd_open(run, run_clients(run), run->bench->options->window);
    return r == 0 ? row_after_stor_many(run) : r;
}

int row_stor_many(struct run *run, struct sample *ret)
{
    return many(run, "upload", act_store, ret);
}

/* At once: there is not room for what all servers got. */
int row_after_stor_many(struct run *run)
{
    int r = load_remove_crowd_files(load_of(run), &load_of(run)->crowd[0]);
    return r < 0 ? row_fail(run, "removal", &load_of(run)->crowd[0], r) : 0;
}
