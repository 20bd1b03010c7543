#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>

#include "bench/peers/stage.h"
#include "task/sys.h"

static int open_at(int dir, const char *path, uint64_t flags, mode_t mode)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode};
    return sys_openat2(dir, path, &how);
}

static int make_file(int dir, unsigned index)
{
    char name[32];
    snprintf(name, sizeof(name), "entry-%06u.dat", index);
    int fd = open_at(dir, name, O_CREAT | O_WRONLY, 0644);
    if (fd < 0)
        return fd;
    sys_close(fd);
    return 0;
}

int stage_make_many(const struct stage *s, const char *name, unsigned count)
{
    int files = open_at(AT_FDCWD, s->files, O_RDONLY | O_DIRECTORY, 0);
    if (files < 0)
        return files;
    int dir = -1, r = sys_mkdirat(files, name, 0755);
    bool is_there = r == -EEXIST;
    if (r == 0)
        r = dir = open_at(files, name, O_RDONLY | O_DIRECTORY, 0);
    for (unsigned i = 0; i < count && r >= 0 && !is_there; i++)
        r = make_file(dir, i);
    sys_close(dir);
    sys_close(files);
    return is_there ? 0 : r;
}

int stage_make_cold(const struct stage *s, const char *name)
{
    char path[2 * STAGE_PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", s->disk, name);
    int fd = open_at(AT_FDCWD, path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    int r = sys_fsync(fd); /* pages that are not written yet are not dropped */
    if (r == 0)
        r = sys_forget_pages(fd);
    sys_close(fd);
    return r;
}
