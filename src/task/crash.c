/* The last words of a process that crashes: which task, and whether its stack overflowed.
 * Everything here runs in a signal handler on an alternate stack: only write(2) and plain
 * memory. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "task/internal.h"

#define ALTERNATE_BYTES (64 * 1024) /* AMX machines need 11 KB for the frame alone */

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

static const char *signal_word(int number)
{
    switch (number) {
    case SIGSEGV:
        return "invalid memory access";
    case SIGBUS:
        return "bus error";
    case SIGABRT:
        return "abort";
    default:
        return "fatal signal";
    }
}

static void on_crash(int number, siginfo_t *info, void *machine_context)
{
    (void)machine_context;
    struct task *t = task_self();
    say("ferry: ");
    if (t && number != SIGABRT && stack_guard_holds(&t->stack, info->si_addr))
        say("stack overflow");
    else
        say(signal_word(number));
    say(t ? " in task \"" : " outside of any task");
    if (t) {
        say(t->name);
        say("\"");
    }
    say("\n");
    /* SA_RESETHAND: the second time is the system's, with a core */
    (void)raise(number);
}

int crash_thread_setup(char **ret_stack)
{
    char *p =
        mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    stack_t stack = {.ss_sp = p, .ss_size = ALTERNATE_BYTES};
    (void)sigaltstack(&stack, NULL);
    *ret_stack = p;
    return 0;
}

void crash_thread_done(char *stack)
{
    if (!stack)
        return;
    stack_t off = {.ss_flags = SS_DISABLE};
    (void)sigaltstack(&off, NULL);
    (void)munmap(stack, ALTERNATE_BYTES);
}

int runtime_signals_setup(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
    for (unsigned i = 0; i < ARRAY_LEN(fatal); i++)
        (void)sigdelset(&all, fatal[i]);
    if (pthread_sigmask(SIG_SETMASK, &all, NULL) != 0)
        return -EINVAL;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore,
                    NULL); /* sendfile, splice and OpenSSL have no MSG_NOSIGNAL */
#if !defined(FERRY_ASAN) && !defined(FERRY_TSAN)
    struct sigaction crash = {
        .sa_sigaction = on_crash,
        .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER,
    };
    (void)sigemptyset(&crash.sa_mask);
    for (unsigned i = 0; i < 3; i++) { /* SIGSEGV, SIGBUS, SIGABRT */
        if (sigaction(fatal[i], &crash, NULL) < 0)
            return -errno;
    }
#else
    (void)on_crash; /* the sanitizer's own handler says more */
#endif
    return 0;
}
