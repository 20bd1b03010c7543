#include "server/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "child.h"

static char inside[64], outside[64];

static int setup(void **state)
{
    (void)state;
    strcpy(inside, "/tmp/ferry-inside-XXXXXX");
    strcpy(outside, "/tmp/ferry-outside-XXXXXX");
    if (mkdtemp(inside) == NULL || mkdtemp(outside) == NULL)
        return -1;
    int fd = open(inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = openat(fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    close(file);
    close(fd);
    return file < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {"file", "new", "renamed", "log", "link", "second"};
    int fd = open(inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlinkat(fd, names[i], 0);
    unlinkat(fd, "dir", AT_REMOVEDIR);
    close(fd);
    return rmdir(inside) | rmdir(outside);
}

static struct sandbox_rules rules;

/* Confines the child; its cwd is `inside`. Returns the ABI, 0: this kernel has no Landlock. */
static int confine(enum sandbox_access access)
{
    CHILD_ASSERT(chdir(inside) == 0);
    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    int fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    sandbox_add_tree(&rules, fd, access);
    int r = sandbox_landlock(&rules);
    if (r == -ENOSYS || r == -EOPNOTSUPP)
        return 0;
    CHILD_ASSERT(r > 0);
    return r;
}

/* The errno of a call that must fail. */
#define FAILS_WITH(call, code) CHILD_ASSERT((errno = 0, (call) < 0) && errno == (code))

static int writes_inside(void)
{
    if (confine(SANDBOX_WRITE) == 0)
        return CHILD_SKIPS;
    CHILD_ASSERT(open("new", O_RDWR | O_CREAT, 0600) >= 0);
    CHILD_ASSERT(open("file", O_RDWR | O_TRUNC) >= 0);
    CHILD_ASSERT(rename("new", "renamed") == 0);
    CHILD_ASSERT(mkdir("dir", 0700) == 0);
    CHILD_ASSERT(rename("renamed", "dir/new") == 0);
    CHILD_ASSERT(unlink("dir/new") == 0);
    CHILD_ASSERT(rmdir("dir") == 0);
    return 0;
}

static void inside_a_root_files_are_made_renamed_and_removed(void **state)
{
    (void)state;
    run_in_child(writes_inside);
}

static int opens_nothing_outside(void)
{
    if (confine(SANDBOX_WRITE) == 0)
        return CHILD_SKIPS;
    FAILS_WITH(open("/etc/shadow", O_RDONLY), EACCES);
    FAILS_WITH(open("/etc/passwd", O_RDONLY), EACCES);
    FAILS_WITH(open(outside, O_RDONLY | O_DIRECTORY), EACCES);
    char path[96];
    snprintf(path, sizeof(path), "%s/new", outside);
    FAILS_WITH(open(path, O_WRONLY | O_CREAT, 0600), EACCES);
    FAILS_WITH(rename("file", path), EACCES);
    return 0;
}

static void outside_of_the_roots_nothing_opens(void **state)
{
    (void)state;
    run_in_child(opens_nothing_outside);
}

static int makes_only_files_and_directories(void)
{
    if (confine(SANDBOX_WRITE) == 0)
        return CHILD_SKIPS;
    FAILS_WITH(mkfifo("fifo", 0600), EACCES);
    CHILD_ASSERT(link("file", "second") == 0); /* another name of what is there anyway */
    FAILS_WITH(symlink("/etc/passwd", "link"), EACCES);
    FAILS_WITH(mknod("socket", S_IFSOCK | 0600, 0), EACCES);
    char *const argv[] = {inside, NULL};
    FAILS_WITH(execv("./file", argv), EACCES);
    return 0;
}

static void inside_a_root_no_fifo_socket_or_link_is_made_and_nothing_runs(void **state)
{
    (void)state;
    run_in_child(makes_only_files_and_directories);
}

static int makes_links_too(void)
{
    if (confine(SANDBOX_LINKS) == 0)
        return CHILD_SKIPS;
    char path[96];
    CHILD_ASSERT(symlink("/etc/passwd", "link") == 0);
    FAILS_WITH(open("link", O_RDONLY), EACCES);
    CHILD_ASSERT(open("new", O_RDWR | O_CREAT, 0600) >= 0);
    CHILD_ASSERT(mkdir("dir", 0700) == 0 && link("new", "dir/second") == 0);
    CHILD_ASSERT(unlink("dir/second") == 0);
    snprintf(path, sizeof(path), "%s/new", outside);
    FAILS_WITH(link("file", path), EACCES);
    FAILS_WITH(symlink("file", path), EACCES);
    FAILS_WITH(mkfifo("fifo", 0600), EACCES);
    FAILS_WITH(mknod("socket", S_IFSOCK | 0600, 0), EACCES);
    return 0;
}

static void where_links_may_be_made_they_lead_nowhere_else(void **state)
{
    (void)state;
    run_in_child(makes_links_too);
}

static int only_reads(void)
{
    int abi = confine(SANDBOX_READ);
    if (abi == 0)
        return CHILD_SKIPS;
    CHILD_ASSERT(open("file", O_RDONLY) >= 0);
    CHILD_ASSERT(open(".", O_RDONLY | O_DIRECTORY) >= 0);
    FAILS_WITH(open("file", O_WRONLY), EACCES);
    FAILS_WITH(open("new", O_WRONLY | O_CREAT, 0600), EACCES);
    FAILS_WITH(unlink("file"), EACCES);
    FAILS_WITH(link("file", "second"), EACCES);
    FAILS_WITH(symlink("file", "link"), EACCES);
    FAILS_WITH(mkdir("dir", 0700), EACCES);
    if (abi >= 3)
        FAILS_WITH(truncate("file", 0), EACCES);
    return 0;
}

static void a_root_that_nobody_may_change_is_read_only_for_the_process(void **state)
{
    (void)state;
    run_in_child(only_reads);
}

static int writes_logs_only(void)
{
    if (confine(SANDBOX_FILES) == 0)
        return CHILD_SKIPS;
    CHILD_ASSERT(open("log", O_WRONLY | O_APPEND | O_CREAT, 0600) >= 0);
    FAILS_WITH(open("file", O_RDONLY), EACCES);
    FAILS_WITH(unlink("file"), EACCES);
    return 0;
}

static void a_log_directory_takes_files_and_gives_none(void **state)
{
    (void)state;
    run_in_child(writes_logs_only);
}

static int bind_to(uint16_t port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET,
                               .sin_port = htons(port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHILD_ASSERT(fd >= 0);
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    int r = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
    int code = errno;
    close(fd);
    errno = code;
    return r;
}

static int binds_only_the_list(void)
{
    sandbox_add_ports(&rules, 50100, 50103, 1);
    sandbox_add_ports(&rules, 50111, 50114, 2);
    int abi = confine(SANDBOX_READ);
    if (abi < 4)
        return CHILD_SKIPS;
    CHILD_ASSERT(bind_to(0) == 0);
    for (uint16_t port = 50100; port <= 50103; port++)
        CHILD_ASSERT(bind_to(port) == 0 || errno == EADDRINUSE);
    FAILS_WITH(bind_to(50099), EACCES);
    FAILS_WITH(bind_to(50104), EACCES);
    CHILD_ASSERT(bind_to(50113) == 0 || errno == EADDRINUSE);
    FAILS_WITH(bind_to(50112), EACCES);
    FAILS_WITH(bind_to(50115), EACCES);
    FAILS_WITH(bind_to(2121), EACCES);
    return 0;
}

static void passive_ports_bind_and_other_listeners_do_not(void **state)
{
    (void)state;
    run_in_child(binds_only_the_list);
}

static void *add_one(void *arg)
{
    ++*(int *)arg;
    return arg;
}

static int refuses_what_no_server_does(void)
{
    if (!sandbox_has_seccomp())
        return CHILD_SKIPS;
    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHILD_ASSERT(sandbox_seccomp() == 0);
    char *const argv[] = {inside, NULL};
    FAILS_WITH(execv("/bin/true", argv), EPERM);
    FAILS_WITH(syscall(SYS_execveat, -1, "/bin/true", argv, argv, 0), EPERM);
    FAILS_WITH(fork(), EPERM);
    FAILS_WITH(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), EPERM);
    FAILS_WITH(ptrace(PTRACE_ATTACH, getppid(), 0, 0), EPERM);
    FAILS_WITH(kill(getppid(), 0), EPERM);
    FAILS_WITH(mount("none", "/", "tmpfs", 0, NULL), EPERM);
    FAILS_WITH(unshare(CLONE_NEWNS), EPERM);
    FAILS_WITH(setuid(0), EPERM);
    FAILS_WITH(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
    FAILS_WITH(socket(AF_NETLINK, SOCK_RAW, 0), EPERM);
    CHILD_ASSERT(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                     MAP_FAILED &&
                 errno == EPERM);
    FAILS_WITH(syscall(SYS_io_uring_setup, 1, NULL), EPERM);
    FAILS_WITH(syscall(SYS_bpf, 0, NULL, 0), EPERM);
    FAILS_WITH(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), EPERM);
    FAILS_WITH(setpriority(PRIO_USER, 0, 19), EPERM);
    FAILS_WITH(setpriority(PRIO_PROCESS, (id_t)getppid(), 19), EPERM);
    return 0;
}

static int makes_no_other_sockets(void)
{
    if (!sandbox_has_seccomp())
        return CHILD_SKIPS;
    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHILD_ASSERT(sandbox_seccomp() == 0);
    static const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        FAILS_WITH(socket(families[i], SOCK_DGRAM, 0), EPERM);
        FAILS_WITH(socket(families[i], SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP), EPERM);
        FAILS_WITH(socket(families[i], SOCK_STREAM, IPPROTO_MPTCP), EPERM);
        FAILS_WITH(socket(families[i], SOCK_STREAM, IPPROTO_SCTP), EPERM);
        CHILD_ASSERT(socket(families[i], SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) >= 0);
    }
    return 0;
}

static void a_socket_is_tcp_or_none(void **state)
{
    (void)state;
    run_in_child(makes_no_other_sockets);
}

static int makes_no_file_setuid(void)
{
    if (!sandbox_has_seccomp())
        return CHILD_SKIPS;
    CHILD_ASSERT(chdir(inside) == 0);
    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHILD_ASSERT(sandbox_seccomp() == 0);
    int fd = open("file", O_RDWR);
    CHILD_ASSERT(fd >= 0);
    FAILS_WITH(fchmod(fd, 04755), EPERM);
    FAILS_WITH(chmod("file", 04755), EPERM);
    FAILS_WITH(fchmodat(AT_FDCWD, "file", 04755, 0), EPERM);
    CHILD_ASSERT(fchmod(fd, 0755) == 0);
    return 0;
}

static void no_file_is_made_to_run_as_the_server(void **state)
{
    (void)state;
    run_in_child(makes_no_file_setuid);
}

static void exec_fork_ptrace_and_the_like_fail_with_eperm(void **state)
{
    (void)state;
    run_in_child(refuses_what_no_server_does);
}

static int allows_what_a_server_does(void)
{
    if (!sandbox_has_seccomp())
        return CHILD_SKIPS;
    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHILD_ASSERT(sandbox_seccomp() == 0);
    pthread_t thread;
    int count = 0;
    CHILD_ASSERT(pthread_create(&thread, NULL, add_one, &count) == 0);
    CHILD_ASSERT(pthread_join(thread, NULL) == 0 && count == 1);
    CHILD_ASSERT(setpriority(PRIO_PROCESS, 0, 10) == 0 || errno == EACCES);
    char byte;
    CHILD_ASSERT(getrandom(&byte, 1, 0) == 1);
    CHILD_ASSERT(socket(AF_INET, SOCK_STREAM, 0) >= 0);
    CHILD_ASSERT(socket(AF_INET6, SOCK_STREAM, 0) >= 0);
    void *memory =
        mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHILD_ASSERT(memory != MAP_FAILED && mprotect(memory, 4096, PROT_NONE) == 0);
    CHILD_ASSERT(open("/etc/passwd", O_RDONLY) >= 0);
    return 0;
}

static int handles_files(void)
{
    struct statfs fs;
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};
    char target[16];
    if (!sandbox_has_seccomp())
        return CHILD_SKIPS;
    CHILD_ASSERT(chdir(inside) == 0);
    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHILD_ASSERT(sandbox_seccomp() == 0);
    int fd = open("file", O_RDWR);
    CHILD_ASSERT(fd >= 0 && pwrite(fd, "contents", 8, 0) == 8 && ftruncate(fd, 4) == 0);
    CHILD_ASSERT(fchmod(fd, 0600) == 0 && futimens(fd, times) == 0 && fsync(fd) == 0);
    CHILD_ASSERT(fstatfs(fd, &fs) == 0);
    CHILD_ASSERT(linkat(AT_FDCWD, "file", AT_FDCWD, "second", 0) == 0);
    CHILD_ASSERT(symlinkat("file", AT_FDCWD, "link") == 0);
    CHILD_ASSERT(readlinkat(AT_FDCWD, "link", target, sizeof(target)) == 4);
    CHILD_ASSERT(utimensat(AT_FDCWD, "link", times, AT_SYMLINK_NOFOLLOW) == 0);
    FAILS_WITH(mknodat(AT_FDCWD, "fifo", S_IFIFO | 0600, 0), EPERM);
    FAILS_WITH(fchown(fd, 0, 0), EPERM);
    return 0;
}

static void what_sftp_does_to_files_works(void **state)
{
    (void)state;
    run_in_child(handles_files);
}

static void threads_memory_and_tcp_work(void **state)
{
    (void)state;
    run_in_child(allows_what_a_server_does);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(inside_a_root_files_are_made_renamed_and_removed),
        TEST(outside_of_the_roots_nothing_opens),
        TEST(inside_a_root_no_fifo_socket_or_link_is_made_and_nothing_runs),
        TEST(where_links_may_be_made_they_lead_nowhere_else),
        TEST(a_root_that_nobody_may_change_is_read_only_for_the_process),
        TEST(a_log_directory_takes_files_and_gives_none),
        TEST(passive_ports_bind_and_other_listeners_do_not),
        TEST(exec_fork_ptrace_and_the_like_fail_with_eperm),
        TEST(a_socket_is_tcp_or_none),
        TEST(no_file_is_made_to_run_as_the_server),
        TEST(what_sftp_does_to_files_works),
        TEST(threads_memory_and_tcp_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
