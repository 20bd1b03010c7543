#include <stdio.h>

#include "base/err.h"
#include "bench/ssh/rows.h"

#define SSH "/usr/bin/ssh"

/* -- by OpenSSH's client, which throws away what comes -- */

static int cat_ssh(struct run *run, struct sample *s, usec_t *ret_us)
{
    char command[64];
    snprintf(command, sizeof(command), "cat %s", ssh_row_big(run).name);
    struct ssh_program_call call = {
        .path = SSH, .discards = true, .args = {"-T", "@", command}};
    return ssh_row_run(run, &call, s, ret_us);
}

int ssh_row_prepare_cat_ssh(struct run *run)
{
    return ssh_row_make_big(run);
}

int ssh_row_cat_ssh(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.value = 0};
    return ssh_row_stream(run, false, cat_ssh, ret);
}

/* -- by ferry's -- */

static int cat(struct run *run, struct sample *s, usec_t *ret_us)
{
    (void)s;
    char command[64];
    struct ssh_load *load = ssh_load_of(run);
    struct ssh_big big = ssh_row_big(run);
    uint64_t bytes;
    snprintf(command, sizeof(command), "cat %s", big.name);
    usec_t began = clock_now();
    int r = ssh_session_run(load, &load->lone, command, &bytes);
    *ret_us = clock_now() - began;
    if (r == 0 && bytes != big.len)
        r = -FERRY_ETRUNCATED;
    return r < 0 ? ssh_row_fail(run, command, r) : 0;
}

int ssh_row_prepare_cat(struct run *run)
{
    struct ssh_load *load = ssh_load_of(run);
    int r = ssh_row_make_big(run);
    if (r < 0)
        return r;
    ssh_session_close(&load->lone); /* of another cipher, maybe */
    r = ssh_session_open(load, &load->lone, ssh_detail_of(run));
    return r < 0 ? ssh_row_fail(run, "login", r) : 0;
}

int ssh_row_cat(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.value = 0};
    return ssh_row_stream(run, false, cat, ret);
}

void ssh_row_leave_cat(struct run *run)
{
    ssh_session_close(&ssh_load_of(run)->lone);
    ssh_row_stop(run);
}

/* -- by the server's own: two programs of ferry's, or two of OpenSSH's -- */

int ssh_row_prepare_both_ends(struct run *run)
{
    ssh_row_note_client(run);
    return ssh_row_is_ours(run) ? ssh_row_prepare_cat(run) : ssh_row_prepare_cat_ssh(run);
}

/* A login for each file, as the other client needs one. */
static int login_and_cat(struct run *run, struct sample *s, usec_t *ret_us)
{
    struct ssh_load *load = ssh_load_of(run);
    usec_t began = clock_now(), took;
    ssh_session_close(&load->lone);
    int r = ssh_session_open(load, &load->lone, ssh_detail_of(run));
    if (r < 0)
        return ssh_row_fail(run, "login", r);
    r = cat(run, s, &took);
    *ret_us = clock_now() - began;
    return r;
}

int ssh_row_both_ends(struct run *run, struct sample *ret)
{
    *ret = (struct sample){.value = 0};
    return ssh_row_stream(run, false, ssh_row_is_ours(run) ? login_and_cat : cat_ssh, ret);
}
