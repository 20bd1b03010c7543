#include "bench/peers/peer_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "task/sys.h"

#define READ_AT_ONCE 4096

/* Programs that people read are asked for English, which is parsed here. */
static char *const environment[] = {
    (char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
    (char[]){"LC_ALL=C"},
    (char[]){"DEBIAN_FRONTEND=noninteractive"},
    NULL,
};

/* No signal blocked or ignored, and a process group of its own. */
static void set_apart(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_setsigmask(attributes, &none);
    (void)posix_spawnattr_setsigdefault(attributes, &all);
    (void)posix_spawnattr_setpgroup(attributes, 0);
    (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                   POSIX_SPAWN_SETPGROUP);
}

static int set_files(posix_spawn_file_actions_t *files, const struct peer_program *p)
{
    const char *path = p->input_path != NULL ? p->input_path : "/dev/null";
    int r = p->input < 0
                ? posix_spawn_file_actions_addopen(files, STDIN_FILENO, path, O_RDONLY, 0)
                : posix_spawn_file_actions_adddup2(files, p->input, STDIN_FILENO);
    if (r == 0 && p->discards)
        r = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    else if (r == 0)
        r = posix_spawn_file_actions_adddup2(files, p->output, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(files, p->output, STDERR_FILENO);
    if (r == 0 && p->folder != NULL)
        r = posix_spawn_file_actions_addchdir_np(files, p->folder);
    return r;
}

int peer_program_start(const struct peer_program *p, unsigned *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid;
    int r = posix_spawn_file_actions_init(&files);
    if (r != 0)
        return -r;
    r = posix_spawnattr_init(&attributes);
    if (r == 0) {
        set_apart(&attributes);
        r = set_files(&files, p);
        if (r == 0) /* it copies the words and changes none */
            r = posix_spawn(&pid, p->path, &files, &attributes,
                            (char *const *)(uintptr_t)p->argv, p->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    if (r == 0)
        *ret_pid = (unsigned)pid;
    return -r;
}

/* What does not fit is read all the same, so that the program is not stopped by it. */
static ssize_t read_some(int fd, struct buf *output)
{
    uint8_t lost[READ_AT_ONCE / 4];
    if (buf_reserve(output, READ_AT_ONCE) < 0)
        return sys_read(fd, lost, sizeof(lost));
    ssize_t n = sys_read(fd, output->data + output->len, READ_AT_ONCE);
    if (n > 0)
        buf_added(output, (size_t)n);
    return n;
}

/* Until its end of the pipe is closed, which its end is also. */
static int read_all(int fd, usec_t until, struct buf *output)
{
    int epoll = sys_epoll_create();
    if (epoll < 0)
        return epoll;
    struct epoll_event event = {.events = EPOLLIN};
    int r = sys_epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    ssize_t n = 1;
    while (r == 0 && n > 0) {
        usec_t now = clock_now();
        if (now >= until) {
            r = -ETIMEDOUT;
            break;
        }
        int ready = sys_epoll_wait(epoll, &event, 1, (int)((until - now) / USEC_PER_MS) + 1);
        if (ready > 0)
            n = read_some(fd, output);
        else if (ready < 0 && ready != -EINTR)
            r = ready;
    }
    sys_close(epoll);
    return r < 0 ? r : (int)n;
}

int peer_program_run(const char *const argv[], const char *folder, usec_t timeout_us,
                     struct buf *output)
{
    int ends[2];
    int r = sys_pipe(ends);
    if (r < 0)
        return r;
    const struct peer_program program = {
        .path = argv[0],
        .argv = argv,
        .environment = environment,
        .folder = folder,
        .input = -1,
        .output = ends[1],
    };
    unsigned pid;
    r = peer_program_start(&program, &pid);
    sys_close(ends[1]);
    if (r == 0) {
        r = read_all(ends[0], clock_after(timeout_us), output);
        if (r < 0)
            (void)!sys_kill(-(pid_t)pid, SIGKILL);
        int status = 0, waited = sys_waitpid((pid_t)pid, &status, 0);
        if (r == 0)
            r = waited < 0                                      ? waited
                : WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0
                                                                : -ECANCELED;
    }
    sys_close(ends[0]);
    return r;
}

struct bytes peer_program_last_words(struct bytes output)
{
    while (output.len > 0 && output.data[output.len - 1] <= ' ')
        output.len--;
    size_t start = output.len;
    while (start > 0 && output.data[start - 1] != '\n')
        start--;
    return bytes_skip(output, start);
}
