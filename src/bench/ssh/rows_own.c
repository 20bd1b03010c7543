#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/aside.h"
#include "bench/machine/noise.h"
#include "bench/ssh/rows.h"

/* -- what is sent: the file, as it is in memory -- */

static int read_blocking(void *arg)
{
    struct run *run = arg;
    char path[STAGE_SSH_PATH_MAX];
    return noise_read_block(ssh_row_remote(run, ssh_row_big(run).name, path),
                            ssh_load_of(run)->block);
}

static int read_file(struct run *run)
{
    struct ssh_load *load = ssh_load_of(run);
    if (load->block == NULL)
        load->block = mem_raw(NOISE_BLOCK_BYTES);
    if (load->block == NULL)
        return run_fail_at(run, "memory for the file", -ENOMEM);
    int r = aside_run(run->bench->pool, read_blocking, run);
    return r < 0 ? run_fail_at(run, "reading the file", r) : 0;
}

struct sending {
    const uint8_t *block;
    uint64_t len;
};

/* The file is its first block again and again. */
static ssize_t fill_pieces(void *arg, uint64_t offset, struct chunk *chunk,
                           const struct iovec *pieces, unsigned count)
{
    (void)chunk;
    const struct sending *sending = arg;
    size_t filled = 0;
    for (unsigned i = 0; i < count; i++) {
        uint8_t *at = pieces[i].iov_base;
        size_t left = pieces[i].iov_len;
        while (left > 0 && offset < sending->len) {
            size_t from = (size_t)(offset % NOISE_BLOCK_BYTES), n = NOISE_BLOCK_BYTES - from;
            n = n < left ? n : left;
            n = n < sending->len - offset ? n : (size_t)(sending->len - offset);
            memcpy(at, sending->block + from, n);
            at += n;
            left -= n;
            offset += n;
            filled += n;
        }
    }
    return (ssize_t)filled;
}

/* -- one file -- */

static int fail(struct run *run, const char *what, int result)
{
    struct ssh_load *load = ssh_load_of(run);
    const char *why = load->lone.sftp != NULL ? sftp_client_why(load->lone.sftp) : "";
    (void)text_copy(load->why, sizeof(load->why), bytes_str(why));
    return ssh_row_fail(run, what, result);
}

static int own_get(struct run *run, struct sample *s, usec_t *ret_us)
{
    (void)s;
    const struct sftp_get whole = {.sink = NULL};
    struct ssh_big big = ssh_row_big(run);
    struct sftp_got got;
    usec_t began = clock_now();
    int r = sftp_client_get(ssh_load_of(run)->lone.sftp, bytes_str(big.name), &whole, &got);
    *ret_us = clock_now() - began;
    if (r == 0 && got.bytes != big.len)
        r = -FERRY_ETRUNCATED;
    return r < 0 ? fail(run, "download", r) : 0;
}

static int own_put(struct run *run, struct sample *s, usec_t *ret_us)
{
    (void)s;
    struct ssh_load *load = ssh_load_of(run);
    struct sending sending = {load->block, ssh_row_big(run).len};
    const struct sftp_put put = {.source = fill_pieces, .arg = &sending};
    uint64_t bytes = 0;
    usec_t began = clock_now();
    int r = sftp_client_put(load->lone.sftp, bytes_str(ssh_row_uploaded(run)), &put, &bytes);
    *ret_us = clock_now() - began;
    if (r == 0 && bytes != sending.len)
        r = -FERRY_ETRUNCATED;
    return r < 0 ? fail(run, "upload", r) : 0;
}

int ssh_row_own_get(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.value = 0};
    return ssh_row_stream(run, false, own_get, ret);
}

int ssh_row_own_put(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.value = 0};
    return ssh_row_stream(run, true, own_put, ret);
}

static int open_session(struct run *run)
{
    struct ssh_load *load = ssh_load_of(run);
    ssh_session_close(&load->lone);
    int r = ssh_session_open(load, &load->lone, ssh_detail_of(run));
    if (r == 0)
        r = ssh_session_open_files(load, &load->lone);
    return r < 0 ? ssh_row_fail(run, "login", r) : 0;
}

int ssh_row_prepare_own(struct run *run)
{
    struct sample unused = {.value = 0};
    usec_t took;
    int r = ssh_row_make_big(run);
    if (r == 0)
        r = read_file(run);
    if (r == 0)
        r = ssh_row_remove_uploaded(run);
    if (r == 0)
        r = open_session(run);
    if (r == 0)
        r = own_put(run, &unused, &took);
    return r == 0 ? ssh_row_verify(run) : r;
}

void ssh_row_leave_own(struct run *run)
{
    ssh_session_close(&ssh_load_of(run)->lone);
    ssh_row_leave_stream(run);
}

/* -- by the server's own client -- */

int ssh_row_prepare_both(struct run *run)
{
    ssh_row_note_client(run);
    return ssh_row_is_ours(run) ? ssh_row_prepare_own(run) : ssh_row_prepare_sftp(run);
}

int ssh_row_both_get(struct run *run, struct sample *ret)
{
    return ssh_row_is_ours(run) ? ssh_row_own_get(run, ret) : ssh_row_sftp_get(run, ret);
}

int ssh_row_both_put(struct run *run, struct sample *ret)
{
    return ssh_row_is_ours(run) ? ssh_row_own_put(run, ret) : ssh_row_sftp_put(run, ret);
}
