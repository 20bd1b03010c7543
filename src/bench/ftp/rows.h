/* What rows do, by subject; rows.c has the table of them. Each is a member of struct row_kind
 * (engine/row_kind.h), where its contract stands. */
#pragma once
#include "bench/engine/run.h"
#include "bench/ftp/load.h"

/* -- rows_transfer.c: files of one session, and of the crowd -- */
PARKS int row_prepare_stream(struct run *); /* the lone session, and its file */
PARKS int row_prepare_idle(struct run *);   /* the same, beside the crowd */
PARKS int row_stor(struct run *, struct sample *);
PARKS int row_retr(struct run *, struct sample *);
PARKS int row_prepare_disk(struct run *);
PARKS int row_stor_disk(struct run *, struct sample *);
PARKS int row_retr_disk(struct run *, struct sample *);
PARKS int row_before_cold(struct run *);
PARKS int row_retr_cold(struct run *, struct sample *);
PARKS void row_leave_disk(struct run *);
PARKS int row_prepare_retr_many(struct run *);
PARKS int row_retr_many(struct run *, struct sample *);
PARKS int row_prepare_stor_many(struct run *);
PARKS int row_stor_many(struct run *, struct sample *);
PARKS int row_after_stor_many(struct run *);

/* -- rows_login.c -- */
PARKS int row_before_login(struct run *); /* nobody is logged in */
PARKS int row_login(struct run *, struct sample *);
PARKS int row_conclude_login(struct run *); /* the memory of all who are logged in */
PARKS int row_login_window(struct run *, struct sample *);
PARKS int row_before_quit(struct run *); /* everybody is */
PARKS int row_quit(struct run *, struct sample *);
PARKS void row_leave_crowd(struct run *);
PARKS int row_before_login_first(struct run *); /* sessions of rows before are closed */
PARKS int row_login_first(struct run *, struct sample *);
PARKS int row_login_hashed(struct run *, struct sample *);

/* -- rows_idle.c: sessions that do nothing, and readers that do not read -- */
PARKS int row_prepare_memory(struct run *); /* the first of the sessions */
PARKS int row_memory(struct run *, struct sample *);
PARKS int row_conclude_memory(struct run *);
PARKS int row_idle_100k(struct run *, struct sample *);
PARKS int row_before_noop_stopped(struct run *);
PARKS int row_noop_stopped(struct run *, struct sample *);
PARKS int row_after_noop_stopped(struct run *);

/* -- rows_files.c: many small files, and long listings -- */
PARKS int row_before_small_up(struct run *);
PARKS int row_small_up(struct run *, struct sample *);
PARKS int row_before_small_down(struct run *);
PARKS int row_small_down(struct run *, struct sample *);
PARKS void row_leave_small(struct run *);
PARKS int row_prepare_listing(struct run *);
PARKS int row_list(struct run *, struct sample *);
PARKS int row_mlsd(struct run *, struct sample *);

/* -- what rows share (rows_crowd.c) -- */

/* The sessions that are open on the run's server. */
struct load *load_of(const struct run *);
/* run_fail() with load_explain(): what the server said, if the client has that. NULL: nobody's
 * session. */
int row_fail(struct run *, const char *what, const struct ftp_client *, int result);
double row_seconds_since(usec_t began);

/* Logs sessions in up to `count`, in binary type; those that are stay. */
PARKS MUST_CHECK int row_crowd_open(struct run *, unsigned count, unsigned width);
/* Each of `count` sessions, or indices, acts once; `width` at a time. what: the act, for
 * messages. */
PARKS MUST_CHECK int row_crowd_each(struct run *, const char *what,
                                    PARKS int (*act)(void *, unsigned), unsigned count,
                                    unsigned width);
PARKS void row_crowd_close(struct run *); /* QUIT first */
