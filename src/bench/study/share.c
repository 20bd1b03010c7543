#include "bench/study/share.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "task/sys.h"

#define PERIOD_US 10000 /* short: a transfer is not to go by fits and starts */

static const struct kind {
    const char *parent, *proof; /* where groups are made, and a file that is there then */
    const char *quota;          /* names of files: the quota, and the period of version 1 */
    const char *period;
} kinds[] = {
    {"/sys/fs/cgroup", "/sys/fs/cgroup/cgroup.controllers", "cpu.max", NULL},
    {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "cpu.cfs_quota_us",
     "cpu.cfs_period_us"},
};

static int write_to(const char *folder, const char *name, const char *text)
{
    char path[SHARE_PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    struct open_how how = {.flags = O_WRONLY | O_CLOEXEC};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return fd;
    ssize_t n = sys_write(fd, text, strlen(text));
    sys_close(fd);
    return n < 0 ? (int)n : 0;
}

static int set_quota(const struct share *s, const struct kind *kind, unsigned percent)
{
    char text[64];
    unsigned quota_us = PERIOD_US * percent / 100;
    int r = 0;
    if (kind->period != NULL) {
        snprintf(text, sizeof(text), "%u", PERIOD_US);
        r = write_to(s->folder, kind->period, text);
        snprintf(text, sizeof(text), "%u", quota_us);
    } else {
        snprintf(text, sizeof(text), "%u %u", quota_us, PERIOD_US);
        (void)!write_to(kind->parent, "cgroup.subtree_control", "+cpu"); /* it may be on */
    }
    return r == 0 ? write_to(s->folder, kind->quota, text) : r;
}

int share_open(struct share *s, unsigned percent)
{
    *s = (struct share){.folder = ""};
    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!file_exists(kinds[i].proof))
            continue;
        snprintf(s->folder, sizeof(s->folder), "%s/ferry-bench-%d", kinds[i].parent,
                 (int)getpid());
        int r = folder_make(s->folder, 0755);
        if (r < 0)
            s->folder[0] = '\0';
        return r < 0 ? r : set_quota(s, &kinds[i], percent);
    }
    return -ENOENT;
}

const char *share_door(const struct share *s, char dst[SHARE_PATH_MAX + 16])
{
    snprintf(dst, SHARE_PATH_MAX + 16, "%s/cgroup.procs", s->folder);
    return s->folder[0] != '\0' ? dst : NULL;
}

void share_close(struct share *s)
{
    if (s->folder[0] == '\0')
        return;
    (void)!sys_unlinkat(AT_FDCWD, s->folder, AT_REMOVEDIR);
    s->folder[0] = '\0';
}
