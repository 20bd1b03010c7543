/* The tree that hostile paths are for, and whether anything outside was touched:
 *
 *     base/root      what is served
 *     base/outside   what nobody may reach, make or change
 */
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "hostile_paths.h"
#include "runtime_fixture.h"

#define HOSTILE_SECRET "what nobody may read" /* in outside/secret */

/* -- the tree -- */

static inline const char *hostile_at(const char *base, const char *name)
{
    static char path[2][512];
    static unsigned turn;
    char *at = path[turn++ % 2];
    TASK_ASSERT(snprintf(at, sizeof(path[0]), "%s/%s", base, name) < (int)sizeof(path[0]));
    return at;
}

static inline void hostile_file(const char *base, const char *name, const char *contents)
{
    int fd = open(hostile_at(base, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    TASK_ASSERT(fd >= 0 && write(fd, contents, strlen(contents)) == (ssize_t)strlen(contents));
    (void)close(fd);
}

static inline void hostile_socket(const char *base, const char *name)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *path = hostile_at(base, name);
    TASK_ASSERT(strlen(path) < sizeof(addr.sun_path));
    memcpy(addr.sun_path, path, strlen(path) + 1);
    TASK_ASSERT(fd >= 0 && bind(fd, (void *)&addr, sizeof(addr)) == 0);
    (void)close(fd);
}

/* base/root is there and empty. */
static inline void hostile_fill_root(const char *base)
{
    static const char *const files[] = {"root/file", "root/ctl\n\r\x01\x1b[2Jname",
                                        "root/not\xffutf8", "root/dir/file"};

    static const struct {
        const char *target, *name;
    } links[] = {
        {"dir/file", "root/link-in"},
        {"dir/../file", "root/link-in-up"},
        {"link-in", "root/link-in-chain"},
        {"dir", "root/link-dir"},
        {"/file", "root/link-in-abs"},
        {"..", "root/link-up"},
        {"../outside/secret", "root/link-out"},
        {"dir/../link-out", "root/link-out-chain"},
        {"../outside", "root/link-out-dir"},
        {"../outside/new", "root/link-out-new"},
        {"../root/file", "root/link-out-and-in"},
        {"/proc/self/root", "root/link-proc"},
        {"link-loop", "root/link-loop"},
        {"nothing", "root/link-none"},
        {"fifo", "root/link-fifo"},
    };

    TASK_ASSERT(mkdir(hostile_at(base, "root/dir"), 0755) == 0);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        hostile_file(base, files[i], "inside");
    hostile_file(base, "root/other", "other");
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        TASK_ASSERT(symlink(links[i].target, hostile_at(base, links[i].name)) == 0);
    TASK_ASSERT(symlink(hostile_at(base, "outside/secret"),
                        hostile_at(base, "root/link-out-abs")) == 0);
    TASK_ASSERT(mkfifo(hostile_at(base, "root/fifo"), 0644) == 0);
    hostile_socket(base, "root/socket");
}

/* base/outside is there and empty. */
static inline void hostile_fill_outside(const char *base)
{
    hostile_file(base, "outside/secret", HOSTILE_SECRET);
    TASK_ASSERT(mkdir(hostile_at(base, "outside/sub"), 0755) == 0);
}

static inline int hostile_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw)
{
    (void)st;
    (void)type;
    return ftw->level == 0 ? 0 : remove(path);
}

static inline void hostile_empty(const char *folder)
{
    TASK_ASSERT(nftw(folder, hostile_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* -- what is outside -- */

#define HOSTILE_TEXT 1024

/* Everything that a change outside would show in; the secret has its contents. */
static inline void hostile_snapshot(const char *base, char ret[HOSTILE_TEXT])
{
    static const char *const names[] = {".", "outside", "outside/secret", "outside/sub"};
    size_t len = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct stat st;
        unsigned count = 0;
        TASK_ASSERT(lstat(hostile_at(base, names[i]), &st) == 0);
        DIR *d = opendir(hostile_at(base, names[i])); /* NULL: the secret */
        while (d != NULL && readdir(d) != NULL)
            count++;
        if (d != NULL)
            (void)closedir(d);
        if (i == 0) /* its times are those of root's coming and going */
            st.st_mtim = st.st_ctim = (struct timespec){0};
        len += (size_t)snprintf(ret + len, HOSTILE_TEXT - len,
                                "%s: %o %u:%u %ld links %ld bytes %ld.%09ld %ld.%09ld %u\n",
                                names[i], st.st_mode, st.st_uid, st.st_gid, (long)st.st_nlink,
                                (long)st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                                st.st_ctim.tv_sec, st.st_ctim.tv_nsec, count);
    }
    char data[sizeof(HOSTILE_SECRET)];
    int fd = open(hostile_at(base, "outside/secret"), O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, data, sizeof(data));
    (void)close(fd);
    TASK_ASSERT(n == sizeof(HOSTILE_SECRET) - 1 &&
                memcmp(data, HOSTILE_SECRET, (size_t)n) == 0);
}

/* A tree for who walks through the table by a protocol. It stands for all of the walk, since a
 * server has its root open; what is in it is made anew before each request. */
struct hostile_ground {
    char base[64];
    int watch; /* tells of what is opened outside */
    char before[HOSTILE_TEXT];
};

static inline void hostile_hear(struct hostile_ground *g, unsigned *ret_events)
{
    char events[4096];
    *ret_events = 0;
    while (read(g->watch, events, sizeof(events)) > 0)
        (*ret_events)++;
}

static inline void hostile_init(struct hostile_ground *g)
{
    static const char *const watched[] = {"outside", "outside/secret", "outside/sub"};
    (void)snprintf(g->base, sizeof(g->base), "%s/ferry-hostile-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    TASK_ASSERT(mkdtemp(g->base) != NULL);
    TASK_ASSERT(mkdir(hostile_at(g->base, "root"), 0755) == 0);
    TASK_ASSERT(mkdir(hostile_at(g->base, "outside"), 0755) == 0);
    hostile_fill_outside(g->base);
    g->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        TASK_ASSERT(
            inotify_add_watch(g->watch, hostile_at(g->base, watched[i]), IN_ALL_EVENTS) >= 0);
}

/* Before each request. */
static inline void hostile_reset(struct hostile_ground *g)
{
    unsigned ignored;
    hostile_empty(hostile_at(g->base, "root"));
    hostile_fill_root(g->base);
    hostile_snapshot(g->base, g->before);
    hostile_hear(g, &ignored);
}

/* After it: nothing outside was opened, made or changed, or this aborts. */
static inline void hostile_check(struct hostile_ground *g, const char *what, const char *path)
{
    char after[HOSTILE_TEXT];
    unsigned events;
    hostile_hear(g, &events);
    hostile_snapshot(g->base, after);
    if (events == 0 && strcmp(g->before, after) == 0)
        return;
    (void)fprintf(stderr, "%s of %s: %s\n%s%s", what, path,
                  events > 0 ? "opened what is outside" : "changed what is outside", g->before,
                  after);
    abort();
}

static inline void hostile_done(struct hostile_ground *g)
{
    (void)close(g->watch);
    hostile_empty(g->base);
    TASK_ASSERT(rmdir(g->base) == 0);
}
