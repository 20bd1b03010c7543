/* A client program of OpenSSH that runs beside us, and what it costs.
 *
 * It reads nothing but the stage's key and known hosts: no configuration, no agent, no master
 * connection. It has a process group of its own, and ends with ssh_program_stop() whatever it
 * does. One task uses it.
 */
#pragma once
#include "base/buf.h"
#include "bench/peers/stage.h"
#include "bench/ssh/suite.h"
#include "io/addr.h"
#include "task/fd.h"
#include "task/pool.h"

#define SSH_PROGRAM_ARGS_MAX 40

/* Processor time so far, of the program itself and of those that it has started: one of the two
 * is what limits a client. */
struct ssh_program_cpu {
    usec_t own_us, others_us;
};

struct ssh_program {
    unsigned pid;                 /* 0: none */
    struct io_fd *input, *output; /* input NULL: it reads nothing from us */
    struct buf said;              /* what it wrote to us and was not looked at yet */
};

void ssh_program_init(struct ssh_program *);

/* What to start. The arguments behind the options that all of them get. */
struct ssh_program_call {
    const char *path; /* "/usr/bin/sftp" */
    const struct stage *stage;
    const struct ssh_row_detail *detail;
    const struct addr *server;
    const char *input; /* a file that it reads; NULL: none */
    bool is_spoken_to; /* its standard input is from ssh_program_ask() */
    bool discards;     /* what it writes goes to /dev/null; only its errors come to us */
    const char
        *args[8]; /* end with NULL. "@": the server as USER@HOST; "@PATH": a path there */
};

/* -ENOENT: there is no such program; -errno. */
MUST_CHECK int ssh_program_start(struct ssh_program *, const struct ssh_program_call *);

/* Says `text` and reads until a line begins with `answer`. -FERRY_ECLOSED: it has ended, and
 * its last words are in `said`; -ETIMEDOUT. */
PARKS MUST_CHECK int ssh_program_ask(struct ssh_program *, const char *text, const char *answer,
                                     usec_t deadline);

/* Reads until it has ended, and what it has cost. 0: it ended with 0; -FERRY_EREFUSED: with
 * anything else, and its last words are in `said`; -ETIMEDOUT. It is stopped in any case. */
PARKS MUST_CHECK int ssh_program_wait(struct ssh_program *, struct pool *, usec_t deadline,
                                      struct ssh_program_cpu *ret);

/* So far. -ENOENT: it is gone. */
PARKS MUST_CHECK int ssh_program_cost(const struct ssh_program *, struct pool *,
                                      struct ssh_program_cpu *ret);

/* Kills it if it still runs. None: nothing. */
PARKS void ssh_program_stop(struct ssh_program *, struct pool *);

/* "what: " and its last words, or the error if it has said nothing. dst is printable. */
void ssh_program_explain(const struct ssh_program *, const char *what, int result, size_t cap,
                         char *dst);
