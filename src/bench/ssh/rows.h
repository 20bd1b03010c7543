/* What rows do, by subject; rows.c has the table of them. Each is a member of struct row_kind
 * (engine/row_kind.h), where its contract stands. */
#pragma once
#include "bench/engine/run.h"
#include "bench/ssh/load.h"

/* -- rows_stream.c: one big file by a client of OpenSSH -- */
PARKS int
ssh_row_prepare_sftp(struct run *); /* a session that stays, through the relay if any */
PARKS int ssh_row_sftp_get(struct run *, struct sample *);
PARKS int ssh_row_sftp_put(struct run *, struct sample *);
PARKS int ssh_row_prepare_scp(struct run *);
PARKS int ssh_row_scp_get(struct run *, struct sample *); /* a login each time */
PARKS int ssh_row_scp_put(struct run *, struct sample *);
PARKS void ssh_row_leave_stream(struct run *);

/* -- rows_cat.c: one big file on a channel -- */
PARKS int ssh_row_prepare_cat_ssh(struct run *);
PARKS int ssh_row_cat_ssh(struct run *, struct sample *); /* OpenSSH's client, with a login */
PARKS int ssh_row_prepare_cat(struct run *);
PARKS int ssh_row_cat(struct run *, struct sample *); /* ferry's */
PARKS int ssh_row_prepare_both_ends(struct run *);
PARKS int ssh_row_both_ends(struct run *, struct sample *); /* each server's own client */
PARKS void ssh_row_leave_cat(struct run *);

/* -- rows_own.c: one big file by ferry's sftp client, which stays -- */
PARKS int ssh_row_prepare_own(struct run *);
PARKS int ssh_row_own_get(struct run *, struct sample *);
PARKS int ssh_row_own_put(struct run *, struct sample *);
PARKS int ssh_row_prepare_both(struct run *); /* each server's own client */
PARKS int ssh_row_both_get(struct run *, struct sample *);
PARKS int ssh_row_both_put(struct run *, struct sample *);
PARKS void ssh_row_leave_own(struct run *);

/* -- rows_session.c: logins, and sessions that do nothing -- */
PARKS int ssh_row_before_login(struct run *);
PARKS int ssh_row_login(struct run *, struct sample *);
PARKS int ssh_row_login_window(struct run *, struct sample *);
PARKS int ssh_row_prepare_memory(struct run *);
PARKS int ssh_row_memory(struct run *, struct sample *);
PARKS int ssh_row_conclude_memory(struct run *);
PARKS void ssh_row_leave_crowd(struct run *);

/* -- rows_small.c: many small files, by OpenSSH's sftp -- */
PARKS int ssh_row_prepare_small(struct run *);
PARKS int ssh_row_before_small(struct run *); /* where they go is removed */
PARKS int ssh_row_small_get(struct run *, struct sample *);
PARKS int ssh_row_small_put(struct run *, struct sample *);
PARKS int ssh_row_after_small_get(struct run *); /* all of them have arrived */
PARKS int ssh_row_after_small_put(struct run *);
PARKS void ssh_row_leave_small(struct run *);
PARKS int ssh_row_prepare_tar_get(struct run *);
PARKS int ssh_row_tar_get(struct run *, struct sample *); /* tar as a command, with a login */
PARKS int ssh_row_prepare_tar_put(struct run *);
PARKS int ssh_row_tar_put(struct run *, struct sample *);

/* -- what rows share (rows_run.c) -- */

struct ssh_load *ssh_load_of(const struct run *);
const struct ssh_row_detail *ssh_detail_of(const struct run *);
/* run_fail() with ssh_load_explain(), or ssh_program_explain(). */
int ssh_row_fail(struct run *, const char *what, int result);
int ssh_row_fail_of_program(struct run *, const char *what, int result);
double ssh_row_seconds_since(usec_t began);

/* A path of the stage's files, and of our own side's. Returns dst. */
const char *ssh_row_remote(const struct run *, const char *name, char dst[STAGE_SSH_PATH_MAX]);
const char *ssh_row_local(const struct run *, const char *name, char dst[STAGE_SSH_PATH_MAX]);
usec_t ssh_row_deadline(const struct run *);

/* The file that a row moves to and fro; it lies in the servers' folder, where our own side
 * reads it, too. */
struct ssh_big {
    const char *name;
    uint64_t len;
};
struct ssh_big ssh_row_big(const struct run *);
PARKS MUST_CHECK int ssh_row_make_big(struct run *);
const char *ssh_row_uploaded(const struct run *); /* where it is put */
PARKS MUST_CHECK int ssh_row_remove_uploaded(struct run *);
/* What a row measures is what was stored. */
PARKS MUST_CHECK int ssh_row_verify(struct run *);
/* ferryd's: both ends are of one house. */
bool ssh_row_is_ours(const struct run *);
void ssh_row_note_client(struct run *); /* whose it is then */
/* Moves it once; *ret_us without what is done beside it. What a program used is added to the
 * sample. */
typedef int ssh_move_fn(struct run *, struct sample *, usec_t *ret_us);
/* Again and again, until the sample is long enough. */
PARKS MUST_CHECK int ssh_row_stream(struct run *, bool upload, ssh_move_fn *,
                                    struct sample *ret);

/* One of OpenSSH's programs, told where the server or the relay is. */
PARKS MUST_CHECK int ssh_row_start(struct run *, struct ssh_program_call *);
/* OpenSSH's sftp, which stays until it is stopped. */
PARKS MUST_CHECK int ssh_row_start_sftp(struct run *);
/* Lets it do what `command` says, and times that. -FERRY_EREFUSED, -FERRY_ECLOSED ... */
PARKS MUST_CHECK int ssh_row_do(struct run *, const char *command, usec_t *ret_us);
PARKS void ssh_row_stop(struct run *);
/* Starts a program, waits for its end, and adds what it used to the sample. */
PARKS MUST_CHECK int ssh_row_run(struct run *, struct ssh_program_call *, struct sample *,
                                 usec_t *ret_us);

/* The program that runs now, before a sample and behind it: what it used is the sample's. */
PARKS MUST_CHECK int ssh_row_count_from(struct run *, struct ssh_program_cpu *ret);
PARKS MUST_CHECK int ssh_row_count_to(struct run *, const struct ssh_program_cpu *from,
                                      struct sample *);
void ssh_row_add_cpu(struct sample *, const struct ssh_program_cpu *from,
                     const struct ssh_program_cpu *to);
