/* The door to system calls: every result is a count or -errno, never errno; EINTR is retried;
 * each call is a point where a test can make the n-th call fail (base/fault.h).
 *
 * Used by task/, io/, vfs/, xfer/ and the programs; no protocol calls the system. Wrappers are
 * added here as they are needed, one line each, in the same form.
 */
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/attr.h"

/* descriptors */
MUST_CHECK ssize_t sys_read(int fd, void *data, size_t len);
MUST_CHECK ssize_t sys_write(int fd, const void *data, size_t len);
MUST_CHECK ssize_t sys_preadv2(int fd, const struct iovec *, int count, off_t off, int flags);
MUST_CHECK ssize_t sys_pwritev(int fd, const struct iovec *, int count, off_t off);
MUST_CHECK ssize_t sys_sendfile(int out_fd, int in_fd, off_t *off, size_t len);
/* Does not wait. out_off: where in a file, and moved on; NULL: out_fd is the pipe. */
MUST_CHECK ssize_t sys_splice(int in_fd, int out_fd, off_t *out_off, size_t len);
MUST_CHECK int sys_pipe_resize(int fd, size_t bytes);
/* What it was: 1, or 0. */
MUST_CHECK int sys_set_nonblocking(int fd, bool on);
void sys_close(int fd);     /* -1 is fine; no fault point: a close is never retried */
void sys_fd_close(int *fd); /* closes and sets -1 */

/* sockets; new ones are non-blocking and close-on-exec */
MUST_CHECK int sys_socket(int family, int type, int protocol);
MUST_CHECK int sys_bind(int fd, const struct sockaddr *, socklen_t);
MUST_CHECK int sys_listen(int fd, int backlog);
MUST_CHECK int sys_accept(int fd, struct sockaddr *, socklen_t *);
MUST_CHECK int sys_poll(struct pollfd *, unsigned count, int timeout_ms);
MUST_CHECK int sys_connect(int fd, const struct sockaddr *, socklen_t);
MUST_CHECK int sys_setsockopt(int fd, int level, int name, const void *, socklen_t);
MUST_CHECK int sys_getsockopt(int fd, int level, int name, void *, socklen_t *);
MUST_CHECK int sys_getsockname(int fd, struct sockaddr *, socklen_t *);
MUST_CHECK ssize_t sys_recv(int fd, void *data, size_t len, int flags);
MUST_CHECK ssize_t sys_send(int fd, const void *data, size_t len,
                            int flags); /* MSG_NOSIGNAL added */
MUST_CHECK ssize_t sys_sendmsg(int fd, const struct msghdr *, int flags); /* likewise */
void sys_shutdown(int fd, int how);

/* the loop */
MUST_CHECK int sys_epoll_create(void);
MUST_CHECK int sys_epoll_ctl(int epoll, int op, int fd, struct epoll_event *);
MUST_CHECK int sys_epoll_wait(int epoll, struct epoll_event *, int max,
                              int timeout_ms); /* no fault point */
/* The same in microseconds, for less than a thousand. A kernel without it (before 5.11) waits a
 * millisecond. */
MUST_CHECK int sys_epoll_wait_us(int epoll, struct epoll_event *, int max, unsigned timeout_us);
MUST_CHECK int sys_eventfd(void);
void sys_eventfd_signal(int fd); /* no fault points: a wake-up is never lost */
void sys_eventfd_clear(int fd);

/* files (used by vfs/ and by xfer/move*.c only) */
struct open_how;
MUST_CHECK int sys_openat2(int dir, const char *path, const struct open_how *);
MUST_CHECK int sys_fstat(int fd, struct stat *ret);
/* The device of what is open, as the kernel knows it: no file server is asked. */
MUST_CHECK int sys_device_of(int fd, dev_t *ret);
MUST_CHECK int sys_fstatat(int dir, const char *name, struct stat *ret, int flags);
/* Whether we may, by real uid and gid; a link is followed. */
MUST_CHECK int sys_faccessat(int dir, const char *name, int mode);
MUST_CHECK int sys_mkdirat(int dir, const char *name, mode_t);
MUST_CHECK int sys_unlinkat(int dir, const char *name, int flags);
MUST_CHECK int sys_renameat2(int from_dir, const char *from, int to_dir, const char *to,
                             unsigned flags);
MUST_CHECK int sys_symlinkat(const char *target, int dir, const char *name);
/* A link is linked itself. */
MUST_CHECK int sys_linkat(int from_dir, const char *from, int to_dir, const char *to);
MUST_CHECK int sys_fchmod(int fd, mode_t);
MUST_CHECK int sys_futimens(int fd, const struct timespec times[2]);
MUST_CHECK int sys_utimensat(int dir, const char *name, const struct timespec times[2],
                             int flags);
MUST_CHECK int sys_ftruncate(int fd, off_t len);
MUST_CHECK int sys_fsync(int fd);
MUST_CHECK ssize_t sys_getdents64(int fd, void *data, size_t len);
struct statfs;
MUST_CHECK int sys_fstatfs(int fd, struct statfs *ret);
MUST_CHECK int sys_fstatfs_type(int fd, long *ret);
MUST_CHECK int sys_fstatfs_free(int fd, uint64_t *ret_bytes); /* without the superuser's part */
bool sys_is_in_memory(int fd); /* of tmpfs (or hugetlbfs): only such files have seals */
MUST_CHECK ssize_t sys_readlinkat(int dir, const char *name, char *target, size_t len);

MUST_CHECK ssize_t sys_getrandom(void *data, size_t len);

/* what programs need at their start */
MUST_CHECK int sys_flock(int fd, int operation);
MUST_CHECK int sys_fchownat(int dir, const char *name, uid_t, gid_t, int flags);
MUST_CHECK int sys_signalfd(const sigset_t *); /* non-blocking, close-on-exec */
MUST_CHECK int sys_pidfd_open(pid_t); /* close-on-exec; readable when the process has ended */

/* Lowers the calling thread's priority as nice(2) does; if it cannot be, it stays. No fault
 * point. */
void sys_be_nicer(int by);

/* Columns of the terminal that fd is; 80 if it is none, or says none. No fault point. */
unsigned sys_terminal_width(int fd);

/* what measuring needs */
MUST_CHECK int sys_memfd(const char *name);
MUST_CHECK int sys_forget_pages(int fd); /* the clean ones of a file */
uint64_t sys_own_cpu_us(void);           /* of this process, all threads; no fault point */
uint64_t sys_thread_cpu_ns(void);        /* of the calling thread; likewise */

/* what running other programs needs */
MUST_CHECK int sys_pipe(int ret[2]);        /* close-on-exec */
int sys_close_from(int fd);                 /* all of this number and above */
MUST_CHECK int sys_kill(pid_t, int signal); /* negative: a process group */
MUST_CHECK int sys_waitpid(pid_t, int *ret_status, int options);
struct rusage; /* of it and of all that it has waited for */
MUST_CHECK int sys_wait4(pid_t, int *ret_status, int options, struct rusage *ret);
MUST_CHECK int sys_die_with_parent(void); /* with the thread that made this process */
MUST_CHECK int sys_unshare(int flags);
MUST_CHECK int sys_setns(int fd, int kind); /* of the calling thread */
MUST_CHECK int sys_mount(const char *source, const char *target, const char *type,
                         unsigned long flags, const char *options);
MUST_CHECK int sys_become(uid_t, gid_t); /* for good, without other groups */
