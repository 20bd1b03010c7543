#include "task/sys.h"

#include <errno.h>
#include <grp.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"

/* The failure that is injected: one that every caller must expect from every call. */
#define FAULT_RESULT (-EIO)

/* A call as a value: count or -errno, EINTR retried, the n-th failed on request. */
#define SYS(call)                                                                              \
    ({                                                                                         \
        ssize_t sys_result = FAULT_RESULT;                                                     \
        if (!fault_hits(FAULT_SYSCALL)) {                                                      \
            do {                                                                               \
                sys_result = (ssize_t)(call);                                                  \
                if (sys_result < 0)                                                            \
                    sys_result = -errno;                                                       \
            } while (sys_result == -EINTR);                                                    \
        }                                                                                      \
        sys_result;                                                                            \
    })

/* -- descriptors -- */

ssize_t sys_read(int fd, void *data, size_t len)
{
    return SYS(read(fd, data, len));
}

ssize_t sys_write(int fd, const void *data, size_t len)
{
    return SYS(write(fd, data, len));
}

ssize_t sys_preadv2(int fd, const struct iovec *iov, int count, off_t off, int flags)
{
    return SYS(preadv2(fd, iov, count, off, flags));
}

ssize_t sys_pwritev(int fd, const struct iovec *iov, int count, off_t off)
{
    return SYS(pwritev(fd, iov, count, off));
}

ssize_t sys_sendfile(int out_fd, int in_fd, off_t *off, size_t len)
{
    return SYS(sendfile(out_fd, in_fd, off, len));
}

ssize_t sys_splice(int in_fd, int out_fd, off_t *out_off, size_t len)
{
    return SYS(splice(in_fd, NULL, out_fd, out_off, len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK));
}

int sys_pipe_resize(int fd, size_t bytes)
{
    return (int)SYS(fcntl(fd, F_SETPIPE_SZ, (int)bytes));
}

bool sys_is_in_memory(int fd)
{
    return SYS(fcntl(fd, F_GET_SEALS)) >= 0;
}

int sys_set_nonblocking(int fd, bool on)
{
    int flags = (int)SYS(fcntl(fd, F_GETFL));
    if (flags < 0)
        return flags;
    int r = (int)SYS(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
    return r < 0 ? r : (flags & O_NONBLOCK) != 0;
}

void sys_close(int fd)
{
    if (fd >= 0)
        (void)close(fd); /* EINTR too means closed on Linux */
}

void sys_fd_close(int *fd)
{
    sys_close(*fd);
    *fd = -1;
}

/* -- sockets -- */

int sys_socket(int family, int type, int protocol)
{
    return (int)SYS(socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

int sys_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    return (int)SYS(bind(fd, addr, len));
}

int sys_listen(int fd, int backlog)
{
    return (int)SYS(listen(fd, backlog));
}

int sys_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    return (int)SYS(accept4(fd, addr, len, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int sys_poll(struct pollfd *fds, unsigned count, int timeout_ms)
{
    return (int)SYS(poll(fds, count, timeout_ms));
}

int sys_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    return (int)SYS(connect(fd, addr, len));
}

int sys_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    return (int)SYS(setsockopt(fd, level, name, value, len));
}

int sys_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    return (int)SYS(getsockopt(fd, level, name, value, len));
}

int sys_getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
    return (int)SYS(getsockname(fd, addr, len));
}

ssize_t sys_recv(int fd, void *data, size_t len, int flags)
{
    return SYS(recv(fd, data, len, flags));
}

ssize_t sys_send(int fd, const void *data, size_t len, int flags)
{
    return SYS(send(fd, data, len, flags | MSG_NOSIGNAL));
}

ssize_t sys_sendmsg(int fd, const struct msghdr *message, int flags)
{
    return SYS(sendmsg(fd, message, flags | MSG_NOSIGNAL));
}

void sys_shutdown(int fd, int how)
{
    (void)shutdown(fd, how);
}

/* -- the loop -- */

int sys_epoll_create(void)
{
    return (int)SYS(epoll_create1(EPOLL_CLOEXEC));
}

int sys_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    return (int)SYS(epoll_ctl(epoll, op, fd, event));
}

int sys_epoll_wait(int epoll, struct epoll_event *events, int max, int timeout_ms)
{
    int r = epoll_wait(epoll, events, max, timeout_ms);
    return r < 0 ? -errno : r;
}

int sys_epoll_wait_us(int epoll, struct epoll_event *events, int max, unsigned timeout_us)
{
    const struct timespec time = {.tv_nsec = (long)timeout_us * 1000};
    int r = epoll_pwait2(epoll, events, max, &time, NULL);
    if (r < 0 && errno == ENOSYS)
        return sys_epoll_wait(epoll, events, max, 1);
    return r < 0 ? -errno : r;
}

int sys_eventfd(void)
{
    return (int)SYS(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

void sys_eventfd_signal(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof(one)); /* EAGAIN: it is signalled already */
    (void)n;
}

void sys_eventfd_clear(int fd)
{
    uint64_t count;
    ssize_t n = read(fd, &count, sizeof(count));
    (void)n;
}

/* -- files -- */

int sys_openat2(int dir, const char *path, const struct open_how *how)
{
    return (int)SYS(syscall(SYS_openat2, dir, path, how, sizeof(*how)));
}

int sys_fstat(int fd, struct stat *ret)
{
    return (int)SYS(fstat(fd, ret));
}

int sys_device_of(int fd, dev_t *ret)
{
    struct statx st;
    int r = (int)SYS(statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st));
    if (r == 0)
        *ret = makedev(st.stx_dev_major, st.stx_dev_minor);
    return r;
}

int sys_fstatat(int dir, const char *name, struct stat *ret, int flags)
{
    return (int)SYS(fstatat(dir, name, ret, flags));
}

int sys_faccessat(int dir, const char *name, int mode)
{
    return (int)SYS(faccessat(dir, name, mode, 0));
}

int sys_mkdirat(int dir, const char *name, mode_t mode)
{
    return (int)SYS(mkdirat(dir, name, mode));
}

int sys_unlinkat(int dir, const char *name, int flags)
{
    return (int)SYS(unlinkat(dir, name, flags));
}

int sys_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return (int)SYS(renameat2(from_dir, from, to_dir, to, flags));
}

int sys_symlinkat(const char *target, int dir, const char *name)
{
    return (int)SYS(symlinkat(target, dir, name));
}

int sys_linkat(int from_dir, const char *from, int to_dir, const char *to)
{
    return (int)SYS(linkat(from_dir, from, to_dir, to, 0));
}

int sys_fchmod(int fd, mode_t mode)
{
    return (int)SYS(fchmod(fd, mode));
}

int sys_futimens(int fd, const struct timespec times[2])
{
    return (int)SYS(futimens(fd, times));
}

int sys_utimensat(int dir, const char *name, const struct timespec times[2], int flags)
{
    return (int)SYS(utimensat(dir, name, times, flags));
}

int sys_ftruncate(int fd, off_t len)
{
    return (int)SYS(ftruncate(fd, len));
}

int sys_fsync(int fd)
{
    return (int)SYS(fsync(fd));
}

int sys_forget_pages(int fd)
{
    int r = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* returns the error */
    return -r;
}

ssize_t sys_getdents64(int fd, void *data, size_t len)
{
    return SYS(getdents64(fd, data, len));
}

int sys_fstatfs(int fd, struct statfs *ret)
{
    return (int)SYS(fstatfs(fd, ret));
}

int sys_fstatfs_type(int fd, long *ret)
{
    struct statfs fs;
    int r = sys_fstatfs(fd, &fs);
    if (r == 0)
        *ret = fs.f_type;
    return r;
}

int sys_fstatfs_free(int fd, uint64_t *ret_bytes)
{
    struct statfs fs;
    int r = sys_fstatfs(fd, &fs);
    if (r == 0)
        *ret_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
    return r;
}

ssize_t sys_readlinkat(int dir, const char *name, char *target, size_t len)
{
    return SYS(readlinkat(dir, name, target, len));
}

ssize_t sys_getrandom(void *data, size_t len)
{
    return SYS(getrandom(data, len, 0));
}

/* -- start -- */

int sys_flock(int fd, int operation)
{
    return (int)SYS(flock(fd, operation));
}

int sys_fchownat(int dir, const char *name, uid_t uid, gid_t gid, int flags)
{
    return (int)SYS(fchownat(dir, name, uid, gid, flags));
}

int sys_signalfd(const sigset_t *signals)
{
    return (int)SYS(signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC));
}

int sys_pidfd_open(pid_t pid)
{
    return (int)SYS(syscall(SYS_pidfd_open, pid, 0));
}

void sys_be_nicer(int by)
{
    /* of the thread, on Linux: sched(7). A failure looks like -1, and is none worth telling. */
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + by);
}

unsigned sys_terminal_width(int fd)
{
    struct winsize size = {0};
    bool is_told = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_told ? size.ws_col : 80;
}

/* -- measuring -- */

int sys_memfd(const char *name)
{
    return (int)SYS(memfd_create(name, MFD_CLOEXEC));
}

uint64_t sys_own_cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

uint64_t sys_thread_cpu_ns(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* -- other programs -- */

int sys_pipe(int ret[2])
{
    return (int)SYS(pipe2(ret, O_CLOEXEC));
}

int sys_close_from(int fd)
{
    return (int)SYS(close_range((unsigned)fd, ~0U, 0));
}

int sys_kill(pid_t pid, int signal)
{
    return (int)SYS(kill(pid, signal));
}

int sys_waitpid(pid_t pid, int *ret_status, int options)
{
    return (int)SYS(waitpid(pid, ret_status, options));
}

int sys_wait4(pid_t pid, int *ret_status, int options, struct rusage *ret)
{
    return (int)SYS(wait4(pid, ret_status, options, ret));
}

int sys_die_with_parent(void)
{
    return (int)SYS(prctl(PR_SET_PDEATHSIG, SIGKILL));
}

int sys_unshare(int flags)
{
    return (int)SYS(unshare(flags));
}

int sys_setns(int fd, int kind)
{
    return (int)SYS(setns(fd, kind));
}

int sys_mount(const char *source, const char *target, const char *type, unsigned long flags,
              const char *options)
{
    return (int)SYS(mount(source, target, type, flags, options));
}

static int become_group(gid_t gid)
{
    int r = (int)SYS(setgroups(0, NULL));
    return r == 0 ? (int)SYS(setresgid(gid, gid, gid)) : r;
}

int sys_become(uid_t uid, gid_t gid)
{
    int r = become_group(gid);
    return r == 0 ? (int)SYS(setresuid(uid, uid, uid)) : r;
}
