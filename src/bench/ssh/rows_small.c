#include <stdio.h>

#include "base/err.h"
#include "bench/machine/aside.h"
#include "bench/machine/folder.h"
#include "bench/machine/noise.h"
#include "bench/peers/peer_program.h"
#include "bench/ssh/rows.h"

#define SMALL_FILES 2000
#define SMALL_BYTES 4096
#define SMALL_QUICK 100
#define SMALL       "ferry-bench-small" /* in the servers' folder; uploads take it, too */
#define INTO        "ferry-bench-uploaded-small"
#define UPLOADED    INTO "/" SMALL
#define DOWNLOADED  "small"
#define ARCHIVE     "small.tar"
#define TAR         "/usr/bin/tar"
#define TAR_US      (60 * USEC_PER_S)
#define SSH         "/usr/bin/ssh"

static unsigned small_count(const struct run *run)
{
    return run->bench->options->quick ? SMALL_QUICK : SMALL_FILES;
}

static int make_blocking(void *arg)
{
    const struct run *run = arg;
    const struct stage *stage = run->bench->stage;
    char path[STAGE_SSH_PATH_MAX];
    const struct noise_owner owner = {stage->uid, stage->gid};
    return noise_folder(ssh_row_remote(run, SMALL, path), small_count(run), SMALL_BYTES, owner);
}

int ssh_row_prepare_small(struct run *run)
{
    int r = aside_run(run->bench->pool, make_blocking, run);
    return r < 0 ? run_fail_at(run, "making the files", r) : ssh_row_start_sftp(run);
}

static int remove_blocking(void *arg)
{
    char path[STAGE_SSH_PATH_MAX];
    folder_remove(ssh_row_remote(arg, INTO, path));
    folder_remove(ssh_row_local(arg, DOWNLOADED, path));
    return 0;
}

/* Where uploads go is there, and empty: ProFTPD knows no path of what is not. */
static int clear_blocking(void *arg)
{
    const struct run *run = arg;
    const struct stage *stage = run->bench->stage;
    const struct noise_owner owner = {stage->uid, stage->gid};
    char path[STAGE_SSH_PATH_MAX];
    int r = remove_blocking(arg);
    if (r == 0)
        r = noise_folder(ssh_row_remote(run, INTO, path), 0, 0, owner);
    return r == 0 ? noise_folder(ssh_row_remote(run, UPLOADED, path), 0, 0, owner) : r;
}

int ssh_row_before_small(struct run *run)
{
    int r = aside_run(run->bench->pool, clear_blocking, run);
    return r < 0 ? run_fail_at(run, "clearing", r) : 0;
}

static int move_all(struct run *run, const char *command, struct sample *ret)
{
    struct ssh_program_cpu from;
    unsigned count = small_count(run);
    usec_t took;
    int r = ssh_row_count_from(run, &from);
    if (r == 0)
        r = ssh_row_do(run, command, &took);
    if (r < 0)
        return r;
    *ret = (struct sample){.value = (double)took / (double)USEC_PER_S,
                           .operations = count,
                           .bytes = (uint64_t)count * SMALL_BYTES};
    return ssh_row_count_to(run, &from, ret);
}

int ssh_row_small_get(struct run *run, struct sample *ret)
{
    char command[STAGE_SSH_PATH_MAX + 64], path[STAGE_SSH_PATH_MAX];
    snprintf(command, sizeof(command), "get -r " SMALL " %s",
             ssh_row_local(run, DOWNLOADED, path));
    return move_all(run, command, ret);
}

int ssh_row_small_put(struct run *run, struct sample *ret)
{
    char command[STAGE_SSH_PATH_MAX + 64], path[STAGE_SSH_PATH_MAX];
    snprintf(command, sizeof(command), "put -r %s " INTO, ssh_row_remote(run, SMALL, path));
    return move_all(run, command, ret);
}

/* -- every one of them, whole -- */

static int compare_got(void *arg)
{
    char path[STAGE_SSH_PATH_MAX], got[STAGE_SSH_PATH_MAX];
    return noise_compare_folders(ssh_row_remote(arg, SMALL, path),
                                 ssh_row_local(arg, DOWNLOADED, got));
}

static int compare_stored(void *arg)
{
    char path[STAGE_SSH_PATH_MAX], stored[STAGE_SSH_PATH_MAX];
    return noise_compare_folders(ssh_row_remote(arg, SMALL, path),
                                 ssh_row_remote(arg, UPLOADED, stored));
}

static int verify(struct run *run, int (*compare)(void *), uint64_t *moved)
{
    int r = aside_run(run->bench->pool, compare, run);
    if (r < 0)
        return run_fail_at(run, "what has arrived is not what was sent", r);
    *moved += (uint64_t)small_count(run) * SMALL_BYTES;
    return 0;
}

int ssh_row_after_small_get(struct run *run)
{
    return verify(run, compare_got, &ssh_load_of(run)->retrieved_bytes);
}

int ssh_row_after_small_put(struct run *run)
{
    return verify(run, compare_stored, &ssh_load_of(run)->stored_bytes);
}

/* -- as an archive -- */

static int make_archive(void *arg)
{
    const struct run *run = arg;
    char path[STAGE_SSH_PATH_MAX];
    struct buf output;
    buf_init(&output, STAGE_SSH_PATH_MAX);
    const char *const argv[] = {
        TAR,   "-C", run->bench->stage->files, "-cf", ssh_row_local(run, ARCHIVE, path),
        SMALL, NULL};
    int r = peer_program_run(argv, "/", TAR_US, &output);
    buf_done(&output);
    return r;
}

static int make_files(struct run *run)
{
    int r = aside_run(run->bench->pool, make_blocking, run);
    return r < 0 ? run_fail_at(run, "making the files", r) : 0;
}

/* What is thrown away later is counted once: an archive is longer than its files. */
int ssh_row_prepare_tar_get(struct run *run)
{
    struct ssh_load *load = ssh_load_of(run);
    uint64_t bytes = 0;
    int r = make_files(run);
    if (r < 0)
        return r;
    ssh_session_close(&load->lone);
    r = ssh_session_open(load, &load->lone, ssh_detail_of(run));
    if (r == 0)
        r = ssh_session_run(load, &load->lone, "tar cf - " SMALL, &bytes);
    if (r == 0 && bytes < (uint64_t)small_count(run) * SMALL_BYTES)
        r = -FERRY_ETRUNCATED;
    ssh_session_close(&load->lone);
    return r < 0 ? ssh_row_fail(run, "tar", r) : 0;
}

int ssh_row_prepare_tar_put(struct run *run)
{
    int r = make_files(run);
    if (r < 0)
        return r;
    r = aside_run(run->bench->pool, make_archive, run);
    return r < 0 ? run_fail_at(run, "making the archive", r) : 0;
}

static int tar(struct run *run, struct ssh_program_call *call, struct sample *ret)
{
    usec_t took;
    unsigned count = small_count(run);
    *ret = (struct sample){.operations = count, .bytes = (uint64_t)count * SMALL_BYTES};
    int r = ssh_row_run(run, call, ret, &took);
    ret->value = (double)took / (double)USEC_PER_S;
    return r;
}

int ssh_row_tar_get(struct run *run, struct sample *ret)
{
    struct ssh_program_call call = {
        .path = SSH, .discards = true, .args = {"-T", "@", "tar cf - " SMALL}};
    int r = tar(run, &call, ret);
    if (r == 0)
        ssh_load_of(run)->retrieved_bytes += ret->bytes;
    return r;
}

int ssh_row_tar_put(struct run *run, struct sample *ret)
{
    char path[STAGE_SSH_PATH_MAX];
    struct ssh_program_call call = {
        .path = SSH,
        .input = ssh_row_local(run, ARCHIVE, path),
        .args = {"-T", "@", "tar xf - -C " INTO},
    };
    return tar(run, &call, ret);
}

void ssh_row_leave_small(struct run *run)
{
    ssh_row_stop(run);
    (void)!aside_run(run->bench->pool, remove_blocking, run);
}
