#include "bench/peers/peer_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/floor/floor.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "bench/peers/peer.h"
#include "bench/peers/peer_etc.h"
#include "bench/peers/recipe_text.h"
#include "task/runtime.h"
#include "task/sys.h"

#define PATH_BYTES (STAGE_PATH_MAX + 64)

struct inside {
    const struct recipe *recipe;
    struct stage stage;
    struct peer_place place;
    char work[PATH_BYTES];
    struct recipe_words words;
    struct buf args; /* of the program, each with its NUL */
};

const char *peer_work_path(const struct recipe *recipe, enum recipe_variant variant,
                           const char *base, size_t cap, char *dst)
{
    snprintf(dst, cap, "%s/%s-%s", base, recipe->name, recipe_variant_name(variant));
    return dst;
}

/* Standard error is the log, and its last line becomes peer->error. */
static int complain(const char *what, int r)
{
    fprintf(stderr, "%s: %s\n", what, err_text(r));
    return r;
}

/* -- its surroundings -- */

static int mount_memory(const char *path)
{
    int r = sys_mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
    return r < 0 ? complain(path, r) : 0;
}

static int mount_over(const char *source, const char *path)
{
    int r = sys_mount(source, path, NULL, MS_BIND, NULL);
    return r < 0 ? complain(path, r) : 0;
}

/* From here on nothing that is mounted is seen outside. */
static int make_mounts(const struct inside *in)
{
    char etc[PATH_BYTES + 8], disk[PATH_BYTES];
    snprintf(etc, sizeof(etc), "%s/etc", in->work);
    snprintf(disk, sizeof(disk), "%s/disk", in->stage.files);
    int r = sys_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    if (r < 0)
        return complain("/", r);
    r = mount_over(etc, "/etc");
    if (r == 0)
        r = mount_over(in->stage.disk, disk);
    if (r == 0)
        r = mount_memory("/run");
    if (r == 0)
        r = mount_memory("/var/log");
    /* The host's log is no place for a benchmark; most have the socket in /run. */
    if (r == 0 && file_exists("/dev/log"))
        r = mount_over("/dev/null", "/dev/log");
    if (r == 0)
        r = folder_make_all("/run/lock", 0755);
    for (unsigned i = 0; r == 0 && i < RECIPE_FOLDERS_MAX; i++)
        if (in->recipe->folders[i] != NULL)
            r = folder_make_all(in->recipe->folders[i], 0755);
    return r;
}

static int raise_limits(void)
{
    static const enum __rlimit_resource kinds[] = {RLIMIT_NOFILE, RLIMIT_NPROC};

    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
        struct rlimit limit;
        if (getrlimit(kinds[i], &limit) < 0)
            return complain("limits", -EINVAL);
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(kinds[i], &limit) < 0)
            return complain("limits", -EPERM);
    }
    return 0;
}

static int write_files(const struct inside *in)
{
    struct buf text;
    buf_init(&text, RECIPE_TEXT_MAX);
    int r = 0;
    for (unsigned i = 0; r == 0 && i < RECIPE_FILES_MAX; i++) {
        const struct recipe_file *file = &in->recipe->files[i];
        if (file->name == NULL)
            break;
        char path[PATH_BYTES + 64];
        snprintf(path, sizeof(path), "%s/%s", in->work, file->name);
        buf_clear(&text);
        r = recipe_text_fill(file->text, &in->words, &text);
        if (r == 0)
            r = file_write(path, 0600, buf_bytes(&text));
        if (r == 0 && in->recipe->runs_as_owner)
            r = sys_fchownat(AT_FDCWD, path, in->stage.uid, in->stage.gid, 0);
        if (r < 0)
            (void)complain(file->name, r);
    }
    buf_wipe(&text);
    return r;
}

/* Our /proc is of the name space outside, and tells the number that counts there. */
static int write_pid(const struct inside *in)
{
    char path[PATH_BYTES + 16], pid[24];
    snprintf(path, sizeof(path), "%s/" PEER_PID_FILE, in->work);
    ssize_t n = sys_readlinkat(AT_FDCWD, "/proc/self", pid, sizeof(pid));
    int r = n < 0 ? (int)n : file_write(path, 0600, bytes_of(pid, (size_t)n));
    return r < 0 ? complain("its process id", r) : 0;
}

/* -- the server -- */

static int set_default_signals(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    return pthread_sigmask(SIG_SETMASK, &none, NULL) == 0 ? 0 : -EINVAL;
}

static int run_floor(const struct inside *in)
{
    const struct floor_settings settings = {.folder = in->stage.files,
                                            .listen = *in->words.listen};
    int r = runtime_signals_setup();
    return r == 0 ? floor_run(&settings) : r;
}

/* The arguments, each with its NUL, in in->args. */
static int fill_args(struct inside *in, char *argv[RECIPE_ARGS_MAX + 1])
{
    size_t at[RECIPE_ARGS_MAX];
    unsigned count = 0;
    int r = 0;
    for (; r == 0 && count < RECIPE_ARGS_MAX && in->recipe->args[count] != NULL; count++) {
        at[count] = in->args.len;
        r = recipe_text_fill(in->recipe->args[count], &in->words, &in->args);
        if (r == 0)
            r = buf_append_byte(&in->args, '\0');
    }
    for (unsigned i = 0; i < count; i++)
        argv[i] = (char *)in->args.data + at[i];
    argv[count] = NULL;
    return r;
}

static int run_program(struct inside *in)
{
    char *argv[RECIPE_ARGS_MAX + 1];
    int r = fill_args(in, argv);
    if (r < 0)
        return r;
    /* The libraries of an unpacked package are found by these. */
    const char *root = in->words.root;
    bool is_unpacked = in->recipe->package != NULL && root[0] != '\0';
    char libraries[3 * PATH_BYTES], modules[PATH_BYTES];
    snprintf(libraries, sizeof(libraries),
             "LD_LIBRARY_PATH=%s/usr/lib/x86_64-linux-gnu:%s/usr/lib/aarch64-linux-gnu", root,
             root);
    snprintf(modules, sizeof(modules), "PYTHONPATH=%s/usr/lib/python3/dist-packages", root);
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", language[] = "LANG=C.UTF-8",
         clean[] = "PYTHONDONTWRITEBYTECODE=1";
    char *env[] = {path, language, clean, is_unpacked ? libraries : NULL, modules, NULL};
    (void)execve(argv[0], argv, env);
    return -errno;
}

/* Returns only on failure, or when the floor was stopped. */
static int become_server(struct inside *in)
{
    int r = write_files(in);
    if (r == 0)
        r = peer_etc_write(&in->stage, in->recipe, in->work);
    if (r < 0)
        return complain("its settings", r);
    r = make_mounts(in);
    if (r == 0)
        r = raise_limits();
    if (r == 0)
        r = write_pid(in);
    if (r < 0)
        return r;
    (void)sys_close_from(3);
    if (chdir("/") < 0)
        return complain("/", -errno);
    (void)umask(022);
    if (in->recipe->runs_as_owner)
        r = sys_become(in->stage.uid, in->stage.gid);
    if (r == 0)
        r = set_default_signals();
    if (r == 0)
        r = in->recipe->args[0] == NULL ? run_floor(in) : run_program(in);
    return r < 0 ? complain(in->recipe->name, r) : 0;
}

/* -- the processes around it -- */

/* Takes in orphans until the server itself has ended. */
static int reap(pid_t server)
{
    for (;;) {
        int status;
        int pid = sys_waitpid(-1, &status, 0);
        if (pid < 0 || pid == server)
            return pid < 0 || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
    }
}

/* The first process of the name space, with whose end all others end. It changes no
 * credentials, so that the kernel does not forget to end it with the keeper. */
static int be_first(struct inside *in)
{
    int r = sys_die_with_parent();
    if (r < 0)
        return complain("prctl", r);
    pid_t server = fork();
    if (server < 0)
        return complain("fork", -errno);
    if (server == 0)
        _exit(become_server(in) < 0);
    return reap(server);
}

/* Until the lifeline or the first process ends. */
static int keep(int signals, pid_t first)
{
    int epoll = sys_epoll_create();
    if (epoll < 0)
        return epoll;
    struct epoll_event ended = {.events = EPOLLIN, .data.fd = signals};
    struct epoll_event cut = {.events = EPOLLIN, .data.fd = STDIN_FILENO};
    int r = sys_epoll_ctl(epoll, EPOLL_CTL_ADD, signals, &ended);
    if (r == 0)
        r = sys_epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &cut);
    int n = 0, status;
    struct epoll_event event;
    while (r == 0 && (n == 0 || n == -EINTR))
        n = sys_epoll_wait(epoll, &event, 1, -1);
    sys_close(epoll);
    (void)!sys_kill(first, SIGKILL);
    int waited = sys_waitpid(first, &status, 0);
    return r < 0 ? r : waited < 0 ? waited : 0;
}

static int start_first(struct inside *in)
{
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    if (pthread_sigmask(SIG_BLOCK, &child, NULL) != 0)
        return -EINVAL;
    int signals = sys_signalfd(&child);
    if (signals < 0)
        return complain("signalfd", signals);
    int r = sys_unshare(CLONE_NEWNS | CLONE_NEWPID);
    if (r < 0)
        (void)complain("a name space of its own", r);
    pid_t first = r == 0 ? fork() : -1;
    if (r == 0 && first < 0)
        r = complain("fork", -errno);
    if (first == 0)
        _exit(be_first(in));
    if (first > 0)
        r = keep(signals, first);
    sys_close(signals);
    return r;
}

int peer_inside_run(const struct recipe *recipe, enum recipe_variant variant, const char *base,
                    const struct addr *listen)
{
    struct inside *in = mem_new(sizeof(*in));
    if (in == NULL)
        return complain(recipe->name, -ENOMEM);
    in->recipe = recipe;
    buf_init(&in->args, RECIPE_TEXT_MAX);
    peer_place_find(recipe, &in->place);
    peer_work_path(recipe, variant, base, sizeof(in->work), in->work);
    int r = stage_read(base, &in->stage);
    if (r == 0) {
        in->words = (struct recipe_words){
            .stage = &in->stage,
            .variant = variant,
            .work = in->work,
            .root = in->place.root,
            .listen = listen,
            .accounts = STAGE_ACCOUNTS,
        };
        r = start_first(in);
    } else {
        (void)complain(base, r);
    }
    buf_done(&in->args);
    mem_wipe_free(in, sizeof(*in));
    return r;
}
