#include <stdio.h>

#include "base/err.h"
#include "bench/machine/aside.h"
#include "bench/machine/noise.h"
#include "bench/ssh/rows.h"

#define SCP               "/usr/bin/scp"
#define BIG               "ferry-bench-big" /* in the servers' folder; uploads take it, too */
#define UPLOADED          "ferry-bench-uploaded"
#define DISK              "disk/"               /* before a name: on a disk */
#define RELAYED           "ferry-bench-relayed" /* as BIG, for rows with a relay */
#define BIG_BYTES         (UINT64_C(512) * 1024 * 1024)
#define BIG_BYTES_QUICK   (UINT64_C(32) * 1024 * 1024)
#define DISK_BYTES        (UINT64_C(128) * 1024 * 1024)
#define RELAY_BYTES       (UINT64_C(64) * 1024 * 1024)
#define RELAY_BYTES_QUICK (UINT64_C(4) * 1024 * 1024)
#define SAMPLE_US         (500 * USEC_PER_MS)
#define SAMPLE_QUICK_US   (100 * USEC_PER_MS)

/* -- the file -- */

struct ssh_big ssh_row_big(const struct run *run)
{
    bool is_quick = run->bench->options->quick;
    if (ssh_detail_of(run)->round_trip_ms > 0)
        return (struct ssh_big){RELAYED, is_quick ? RELAY_BYTES_QUICK : RELAY_BYTES};
    if (ssh_detail_of(run)->is_on_disk)
        return (struct ssh_big){DISK BIG, is_quick ? BIG_BYTES_QUICK : DISK_BYTES};
    return (struct ssh_big){BIG, is_quick ? BIG_BYTES_QUICK : BIG_BYTES};
}

const char *ssh_row_uploaded(const struct run *run)
{
    return ssh_detail_of(run)->is_on_disk ? DISK UPLOADED : UPLOADED;
}

static int make_blocking(void *arg)
{
    const struct run *run = arg;
    const struct stage *stage = run->bench->stage;
    struct ssh_big big = ssh_row_big(run);
    char path[STAGE_SSH_PATH_MAX];
    const struct noise_owner owner = {stage->uid, stage->gid};
    return noise_file(ssh_row_remote(run, big.name, path), big.len, owner);
}

int ssh_row_make_big(struct run *run)
{
    int r = aside_run(run->bench->pool, make_blocking, run);
    return r < 0 ? run_fail_at(run, "making the file", r) : 0;
}

static int compare_blocking(void *arg)
{
    const struct run *run = arg;
    char path[STAGE_SSH_PATH_MAX], stored[STAGE_SSH_PATH_MAX];
    return noise_compare(ssh_row_remote(run, ssh_row_big(run).name, path),
                         ssh_row_remote(run, ssh_row_uploaded(run), stored));
}

static int remove_blocking(void *arg)
{
    char path[STAGE_SSH_PATH_MAX];
    return noise_remove(ssh_row_remote(arg, ssh_row_uploaded(arg), path));
}

/* An upload makes a new file; what stood there is removed before, outside of the time. */
int ssh_row_remove_uploaded(struct run *run)
{
    int r = aside_run(run->bench->pool, remove_blocking, run);
    return r < 0 ? run_fail_at(run, "removal", r) : 0;
}

int ssh_row_verify(struct run *run)
{
    int r = aside_run(run->bench->pool, compare_blocking, run);
    return r < 0 ? run_fail_at(run, "what was stored is not what was sent", r) : 0;
}

/* -- file after file, until the sample is long enough -- */

int ssh_row_stream(struct run *run, bool upload, ssh_move_fn *move, struct sample *ret)
{
    usec_t length = run->bench->options->quick ? SAMPLE_QUICK_US : SAMPLE_US;
    usec_t time_us = 0, took;
    struct ssh_load *load = ssh_load_of(run);
    uint64_t len = ssh_row_big(run).len;
    do {
        int r = upload ? ssh_row_remove_uploaded(run) : 0;
        if (r == 0)
            r = move(run, ret, &took);
        if (r < 0)
            return r;
        time_us += took;
        ret->operations++;
        ret->bytes += len;
        *(upload ? &load->stored_bytes : &load->retrieved_bytes) += len;
    } while (time_us < length);
    ret->value =
        (double)ret->bytes / BENCH_MB_BYTES * (double)USEC_PER_S / (double)(time_us + 1);
    return 0;
}

/* -- sftp -- */

static int sftp_get(struct run *run, struct sample *s, usec_t *ret_us)
{
    (void)s;
    char command[128];
    snprintf(command, sizeof(command), "get %s /dev/null", ssh_row_big(run).name);
    return ssh_row_do(run, command, ret_us);
}

static int sftp_put(struct run *run, struct sample *s, usec_t *ret_us)
{
    (void)s;
    char command[STAGE_SSH_PATH_MAX + 64], path[STAGE_SSH_PATH_MAX];
    snprintf(command, sizeof(command), "put %s %s",
             ssh_row_remote(run, ssh_row_big(run).name, path), ssh_row_uploaded(run));
    return ssh_row_do(run, command, ret_us);
}

/* The session stays, so its login is in no sample. */
static int by_sftp(struct run *run, bool upload, ssh_move_fn *move, struct sample *ret)
{
    struct ssh_program_cpu from;
    *ret = (struct sample){.value = 0};
    int r = ssh_row_count_from(run, &from);
    if (r == 0)
        r = ssh_row_stream(run, upload, move, ret);
    return r == 0 ? ssh_row_count_to(run, &from, ret) : r;
}

int ssh_row_sftp_get(struct run *run, struct sample *ret)
{
    return by_sftp(run, false, sftp_get, ret);
}

int ssh_row_sftp_put(struct run *run, struct sample *ret)
{
    return by_sftp(run, true, sftp_put, ret);
}

/* The relay's own trip is measured first: what it adds is known, and stands beside the value.
 */
static int begin_relay(struct run *run)
{
    struct ssh_load *load = ssh_load_of(run);
    usec_t wanted = ssh_detail_of(run)->round_trip_ms * USEC_PER_MS;
    struct relay_quality quality;
    int r = relay_test(wanted, &quality);
    if (r < 0)
        return run_fail_at(run, "the relay's test", r);
    snprintf(run->cell->note, sizeof(run->cell->note),
             "a relay ends TCP: %.1f ms, %.0f MB/s by itself",
             (double)quality.round_trip_us / (double)USEC_PER_MS, quality.mb_per_s);
    if (quality.round_trip_us < wanted || quality.round_trip_us > wanted + wanted / 4) {
        char reason[BENCH_LABEL_MAX + 32];
        snprintf(reason, sizeof(reason), "not the round trip wanted: %s", run->cell->note);
        return run_fail(run, reason, -FERRY_EPROTO);
    }
    r = relay_new(load->server, wanted, &load->relay);
    return r < 0 ? run_fail_at(run, "the relay", r) : 0;
}

int ssh_row_prepare_sftp(struct run *run)
{
    struct sample unused = {.value = 0};
    usec_t took;
    int r = ssh_row_make_big(run);
    if (r == 0 && ssh_detail_of(run)->round_trip_ms > 0)
        r = begin_relay(run);
    if (r == 0)
        r = ssh_row_remove_uploaded(run);
    if (r == 0)
        r = ssh_row_start_sftp(run);
    if (r == 0)
        r = sftp_put(run, &unused, &took);
    return r == 0 ? ssh_row_verify(run) : r;
}

/* -- scp, by its own protocol -- */

static int scp_get(struct run *run, struct sample *s, usec_t *ret_us)
{
    char from[64];
    snprintf(from, sizeof(from), "@%s", ssh_row_big(run).name);
    struct ssh_program_call call = {.path = SCP, .args = {"-O", "-q", from, "/dev/null"}};
    return ssh_row_run(run, &call, s, ret_us);
}

static int scp_put(struct run *run, struct sample *s, usec_t *ret_us)
{
    char path[STAGE_SSH_PATH_MAX];
    struct ssh_program_call call = {
        .path = SCP,
        .args = {"-O", "-q", ssh_row_remote(run, ssh_row_big(run).name, path), "@" UPLOADED},
    };
    return ssh_row_run(run, &call, s, ret_us);
}

int ssh_row_scp_get(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.value = 0};
    return ssh_row_stream(run, false, scp_get, ret);
}

int ssh_row_scp_put(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.value = 0};
    return ssh_row_stream(run, true, scp_put, ret);
}

int ssh_row_prepare_scp(struct run *run)
{
    struct sample unused = {.value = 0};
    usec_t took;
    int r = ssh_row_make_big(run);
    if (r == 0)
        r = ssh_row_remove_uploaded(run);
    if (r == 0)
        r = scp_put(run, &unused, &took);
    return r == 0 ? ssh_row_verify(run) : r;
}

void ssh_row_leave_stream(struct run *run)
{
    struct ssh_load *load = ssh_load_of(run);
    ssh_row_stop(run);
    load->relay = relay_free(load->relay);
    (void)!aside_run(run->bench->pool, remove_blocking, run);
}
