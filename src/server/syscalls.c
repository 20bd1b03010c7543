/* The system calls of a serving process: the seccomp half of server/sandbox.h. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/sandbox.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Allowed whatever their arguments. A name that this architecture does not have is skipped. */
static const char *const allowed[] = {
    /* descriptors */
    "read", "write", "writev", "pread64", "pwrite64", "preadv", "preadv2", "pwritev",
    "sendfile", "splice", "pipe2", "lseek", "close", "poll", "ppoll",
    /* files; paths are Landlock's and openat2's business */
    "openat", "openat2", "fstat", "newfstatat", "statx", "fstatfs", "getdents64", "readlinkat",
    "mkdirat", "unlinkat", "renameat", "renameat2", "linkat", "symlinkat", "utimensat",
    "ftruncate", "fsync",
    /* sockets */
    "bind", "listen", "accept4", "connect", "getsockname", "setsockopt", "getsockopt",
    "recvfrom", "sendto", "sendmsg", "shutdown",
    /* the loop */
    "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2",
    "signalfd4",
    /* threads, memory, signals */
    "futex", "exit", "exit_group", "rseq", "set_robust_list", "sched_yield",
    "sched_getaffinity", "getcpu", "membarrier", "munmap", "mremap", "madvise", "brk",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    /* what a process may ask about itself */
    "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getrandom", "clock_gettime",
    "clock_getres", "clock_nanosleep", "gettimeofday", "getrusage", "getpriority", "sysinfo",
    "uname"};

/* Allowed when one argument, masked, has one value. */
static const struct argument_rule {
    const char *name;
    unsigned argument;
    uint64_t mask, value;
} argued[] = {
    {"mmap", 2, PROT_EXEC, 0},
    {"mprotect", 2, PROT_EXEC, 0},
    {"fchmod", 1, S_ISUID, 0},                /* or others could run a file as us */
    {"clone", 0, CLONE_THREAD, CLONE_THREAD}, /* threads, not processes */
    {"fcntl", 1, UINT64_MAX, F_SETPIPE_SZ},
    {"fcntl", 1, UINT64_MAX, F_GET_SEALS}, /* whether a file is of a memory file system */
    {"ioctl", 1, UINT64_MAX, TCGETS},      /* stdio asks whether it is a terminal */
    {"prctl", 0, UINT64_MAX, PR_SET_NAME},
    {"prctl", 0, UINT64_MAX, 0x53564d41}, /* PR_SET_VMA: names of memory, malloc's */
    {"prlimit64", 2, UINT64_MAX, 0},      /* ask, not set */
};

bool sandbox_has_seccomp(void)
{
#ifdef SANITIZED
    return false;
#else
    return true;
#endif
}

static int allow(scmp_filter_ctx filter, const char *name, unsigned count,
                 const struct scmp_arg_cmp *compares)
{
    int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR)
        return 0;
    int r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, count, compares);
    return r == -EDOM ? 0 : r; /* not of this architecture */
}

/* Streams of the default protocol, TCP. Landlock's ports do not bind UDP, and not all kernels'
 * bind MPTCP. */
static int allow_tcp(scmp_filter_ctx filter, int family)
{
    const struct scmp_arg_cmp compares[] = {
        {0, SCMP_CMP_EQ, (scmp_datum_t)family, 0},
        {1, SCMP_CMP_MASKED_EQ, (uint32_t) ~(SOCK_NONBLOCK | SOCK_CLOEXEC), SOCK_STREAM},
        {2, SCMP_CMP_EQ, 0, 0},
    };
    return allow(filter, "socket", ARRAY_LEN(compares), compares);
}

/* abort() and assert() signal the process itself, nobody else. */
static int allow_abort(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp self = {
        .arg = 0, .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)getpid()};
    return allow(filter, "tgkill", 1, &self);
}

/* A thread may lower its own priority; raising it the kernel refuses by itself. */
static int allow_nice(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp self[] = {
        {0, SCMP_CMP_EQ, PRIO_PROCESS, 0},
        {1, SCMP_CMP_EQ, 0, 0},
    };
    return allow(filter, "setpriority", ARRAY_LEN(self), self);
}

/* libc asks for clone3 first, whose flags a filter cannot read; told that there is none, it
 * takes clone. */
static int hide_clone3(scmp_filter_ctx filter)
{
    int call = seccomp_syscall_resolve_name("clone3");
    return call == __NR_SCMP_ERROR ? 0
                                   : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
}

static int fill(scmp_filter_ctx filter)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(allowed); i++)
        r = allow(filter, allowed[i], 0, NULL);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(argued); i++) {
        const struct argument_rule *rule = &argued[i];
        struct scmp_arg_cmp compare = {rule->argument, SCMP_CMP_MASKED_EQ, rule->mask,
                                       rule->value};
        r = allow(filter, rule->name, 1, &compare);
    }
    if (r == 0)
        r = allow_tcp(filter, AF_INET);
    if (r == 0)
        r = allow_tcp(filter, AF_INET6);
    if (r == 0)
        r = allow_abort(filter);
    if (r == 0)
        r = allow_nice(filter);
    return r < 0 ? r : hide_clone3(filter);
}

int sandbox_seccomp(void)
{
    if (!sandbox_has_seccomp())
        return 0;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == NULL)
        return -ENOMEM;
    int r = fill(filter);
    /* A binary search instead of a walk through all rules: sockets' calls are many. */
    if (r == 0)
        r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (r == 0)
        r = seccomp_load(filter);
    seccomp_release(filter);
    return r;
}
