/* Folders of a test on disk, and contents for files. */
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "check.h"
#include "runtime_fixture.h"

static inline const char *make_root(const char *name)
{
    static char path[64];
    (void)snprintf(path, sizeof(path), "/tmp/ferry-%s-%d", name, getpid());
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

/* Of a folder with files, and folders that are empty. Returns how many names were left. */
static inline unsigned clear_folder(const char *path)
{
    unsigned count = 0;
    DIR *d = opendir(path);
    if (d == NULL)
        return 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (void)(unlinkat(dirfd(d), e->d_name, 0) == 0 ||
               unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR));
        count++;
    }
    closedir(d);
    return count;
}

static inline unsigned remove_root(const char *path)
{
    unsigned count = clear_folder(path);
    assert_int_equal(rmdir(path), 0);
    return count;
}

static inline struct bytes pattern_of(size_t len)
{
    static uint8_t data[2 * 1024 * 1024];
    TASK_ASSERT(len <= sizeof(data));
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)(i * 31 + i / 251);
    return bytes_of(data, len);
}
