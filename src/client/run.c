#include "client/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#include "base/err.h"
#include "client/command.h"
#include "task/fd.h"
#include "task/runtime.h"
#include "task/sys.h"

struct client_run {
    PARKS int (*main_fn)(void *);
    void *arg;
    struct task *task;
    int signal_fd;
    int code;
};

static volatile sig_atomic_t cancelled_by;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void fill(sigset_t *ret)
{
    (void)sigemptyset(ret);
    for (unsigned i = 0; i < ARRAY_LEN(ending); i++)
        (void)sigaddset(ret, ending[i]);
}

/* From now on the signals do what they do to any program. */
static void let_them_end_it(void)
{
    sigset_t signals;
    fill(&signals);
    (void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

/* Stopping and going on is the shell's business. */
static void let_them_stop_it(void)
{
    static const int stopping[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};
    sigset_t signals;
    (void)sigemptyset(&signals);
    for (unsigned i = 0; i < ARRAY_LEN(stopping); i++)
        (void)sigaddset(&signals, stopping[i]);
    (void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

static void signals_main(void *arg)
{
    struct client_run *run = arg;
    struct io_fd *f;
    int r = io_fd_new(run->signal_fd, &f);
    run->signal_fd = -1;
    if (r < 0) {
        let_them_end_it();
        return;
    }
    while (cancelled_by == 0) {
        struct signalfd_siginfo info;
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_read(io_fd_number(f), &info, sizeof(info));
        if (n == (ssize_t)sizeof(info)) {
            cancelled_by = (int)info.ssi_signo;
            task_cancel(run->task);
            let_them_end_it();
            break;
        }
        if (n != -EAGAIN)
            break;
        io_fd_not_ready(f, IO_READ, edges);
        if (io_fd_wait(f, IO_READ, USEC_NEVER) < 0)
            break;
    }
    (void)io_fd_close(f);
}

static void run_main(void *arg)
{
    struct client_run *run = arg;
    struct scope scope;
    run->task = task_self();
    scope_init(&scope);
    if (scope_start(&scope, "signals", TASK_NORMAL, signals_main, run, NULL) < 0)
        let_them_end_it();
    run->code = run->main_fn(run->arg);
    scope_leave(&scope);
}

static int complain(int result)
{
    fprintf(stderr, "ferry: it could not be started: %s\n", err_text(result));
    return EXIT_FAILED;
}

int client_run(PARKS int (*main_fn)(void *), void *arg)
{
    const struct runtime_settings settings = {.workers = 1, .hash_threads = 1};
    struct client_run run = {.main_fn = main_fn, .arg = arg};
    struct runtime *runtime;
    sigset_t signals;
    int r = runtime_signals_setup();
    if (r < 0)
        return complain(r);
    let_them_stop_it();
    fill(&signals);
    run.signal_fd = sys_signalfd(&signals);
    r = run.signal_fd < 0 ? run.signal_fd : runtime_new(&settings, &runtime);
    if (r == 0) {
        r = runtime_run(runtime, run_main, &run);
        (void)runtime_free(runtime);
    }
    sys_fd_close(&run.signal_fd);
    if (r < 0)
        return complain(r);
    return cancelled_by != 0 && run.code != 0 ? 128 + (int)cancelled_by : run.code;
}

int client_run_signal(void)
{
    return (int)cancelled_by;
}
