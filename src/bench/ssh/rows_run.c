#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "bench/ssh/rows.h"

#define SFTP   "/usr/bin/sftp"
#define DISK   "disk/"                    /* mounted there in the servers' name spaces only */
#define ANSWER "Remote working directory" /* of pwd, which sftp reads when it is done */

struct ssh_load *ssh_load_of(const struct run *run)
{
    return run->target->load;
}

const struct ssh_row_detail *ssh_detail_of(const struct run *run)
{
    return run->kind->detail;
}

int ssh_row_fail(struct run *run, const char *what, int result)
{
    char reason[BENCH_ERROR_MAX];
    ssh_load_explain(ssh_load_of(run), what, result, sizeof(reason), reason);
    return run_fail(run, reason, result);
}

int ssh_row_fail_of_program(struct run *run, const char *what, int result)
{
    char reason[BENCH_ERROR_MAX];
    ssh_program_explain(&ssh_load_of(run)->program, what, result, sizeof(reason), reason);
    return run_fail(run, reason, result);
}

bool ssh_row_is_ours(const struct run *run)
{
    return run->target->recipe->package == NULL;
}

void ssh_row_note_client(struct run *run)
{
    snprintf(run->cell->note, sizeof(run->cell->note), "%s",
             ssh_row_is_ours(run) ? "with ferry's client" : "with OpenSSH's client");
}

double ssh_row_seconds_since(usec_t began)
{
    return (double)(clock_now() - began) / (double)USEC_PER_S;
}

const char *ssh_row_remote(const struct run *run, const char *name,
                           char dst[STAGE_SSH_PATH_MAX])
{
    const struct stage *stage = run->bench->stage;
    bool is_on_disk = strncmp(name, DISK, strlen(DISK)) == 0;
    snprintf(dst, STAGE_SSH_PATH_MAX, "%.240s/%.60s", is_on_disk ? stage->disk : stage->files,
             is_on_disk ? name + strlen(DISK) : name);
    return dst;
}

const char *ssh_row_local(const struct run *run, const char *name, char dst[STAGE_SSH_PATH_MAX])
{
    snprintf(dst, STAGE_SSH_PATH_MAX, "%.240s/ssh/local/%.60s", run->bench->stage->base, name);
    return dst;
}

usec_t ssh_row_deadline(const struct run *run)
{
    return clock_after(run->bench->options->timeout_us);
}

/* -- programs -- */

int ssh_row_start(struct run *run, struct ssh_program_call *call)
{
    struct ssh_load *load = ssh_load_of(run);
    call->stage = run->bench->stage;
    call->detail = ssh_detail_of(run);
    call->server = load->relay != NULL ? relay_addr(load->relay) : load->server;
    int r = ssh_program_start(&load->program, call);
    return r < 0 ? ssh_row_fail_of_program(run, call->path, r) : 0;
}

int ssh_row_do(struct run *run, const char *command, usec_t *ret_us)
{
    char text[2 * STAGE_SSH_PATH_MAX + 64];
    struct ssh_program *sftp = &ssh_load_of(run)->program;
    snprintf(text, sizeof(text), "%s\npwd\n", command);
    usec_t began = clock_now();
    int r = ssh_program_ask(sftp, text, ANSWER, ssh_row_deadline(run));
    *ret_us = clock_now() - began;
    return r < 0 ? ssh_row_fail_of_program(run, "sftp", r) : 0;
}

int ssh_row_start_sftp(struct run *run)
{
    usec_t took;
    bool has_choice = (run->target->recipe->lacks & SSH_EXTERNAL) == 0;
    bool is_external = ssh_detail_of(run)->is_external && has_choice;
    struct ssh_program_call call = {
        .path = SFTP,
        .is_spoken_to = true,
        .args = {"-b-", is_external ? "-s" SSH_SFTP_EXTERNAL : "-q", "@"},
    };
    int r = ssh_row_start(run, &call);
    return r == 0 ? ssh_row_do(run, "", &took) : r; /* it has logged in when it answers */
}

void ssh_row_stop(struct run *run)
{
    ssh_program_stop(&ssh_load_of(run)->program, run->bench->pool);
}

/* -- what they use -- */

int ssh_row_count_from(struct run *run, struct ssh_program_cpu *ret)
{
    int r = ssh_program_cost(&ssh_load_of(run)->program, run->bench->pool, ret);
    return r < 0 ? run_fail_at(run, "the client's process", r) : 0;
}

void ssh_row_add_cpu(struct sample *s, const struct ssh_program_cpu *from,
                     const struct ssh_program_cpu *to)
{
    usec_t own = to->own_us - from->own_us;
    usec_t others = to->others_us > from->others_us ? to->others_us - from->others_us : 0;
    s->client_cpu_us += own + others;
    s->client_busiest_us += own > others ? own : others;
}

int ssh_row_count_to(struct run *run, const struct ssh_program_cpu *from, struct sample *s)
{
    struct ssh_program_cpu to;
    int r = ssh_row_count_from(run, &to);
    if (r == 0)
        ssh_row_add_cpu(s, from, &to);
    return r;
}

int ssh_row_run(struct run *run, struct ssh_program_call *call, struct sample *s,
                usec_t *ret_us)
{
    struct ssh_program_cpu none = {0}, cpu = {0};
    usec_t began = clock_now();
    int r = ssh_row_start(run, call);
    if (r < 0)
        return r;
    r = ssh_program_wait(&ssh_load_of(run)->program, run->bench->pool, ssh_row_deadline(run),
                         &cpu);
    *ret_us = clock_now() - began;
    if (r < 0)
        return ssh_row_fail_of_program(run, call->path, r);
    ssh_row_add_cpu(s, &none, &cpu);
    return 0;
}
