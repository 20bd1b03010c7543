#include "bench/machine/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "bench/machine/folder.h"
#include "crypto/random.h"
#include "task/sys.h"

#define PATH_BYTES  512
#define NAMES_BYTES (1024 * 1024)

static int open_file(const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC | O_NOFOLLOW,
                           .mode = (flags & O_CREAT) != 0 ? 0644 : 0};
    return sys_openat2(AT_FDCWD, path, &how);
}

static bool has_length(const char *path, uint64_t len)
{
    struct stat st;
    return sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == len;
}

static int fill(int fd, const uint8_t *block, uint64_t len)
{
    while (len > 0) {
        ssize_t n = sys_write(fd, block, len < NOISE_BLOCK_BYTES ? len : NOISE_BLOCK_BYTES);
        if (n <= 0)
            return n < 0 ? (int)n : -ENOSPC;
        len -= (uint64_t)n;
    }
    return 0;
}

static int write_noise(const char *path, const uint8_t *block, uint64_t len,
                       struct noise_owner owner)
{
    int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return fd;
    int r = fill(fd, block, len);
    sys_close(fd);
    return r == 0 ? sys_fchownat(AT_FDCWD, path, owner.uid, owner.gid, AT_SYMLINK_NOFOLLOW) : r;
}

static int make_block(uint8_t **ret)
{
    *ret = mem_raw(NOISE_BLOCK_BYTES);
    return *ret != NULL ? crypto_random(*ret, NOISE_BLOCK_BYTES) : -ENOMEM;
}

int noise_file(const char *path, uint64_t len, struct noise_owner owner)
{
    uint8_t *block = NULL;
    if (has_length(path, len))
        return 0;
    int r = make_block(&block);
    if (r == 0)
        r = write_noise(path, block, len, owner);
    mem_free(block);
    return r;
}

int noise_folder(const char *path, unsigned count, uint64_t len, struct noise_owner owner)
{
    uint8_t *block = NULL;
    int r = folder_make(path, 0755);
    if (r == -EEXIST)
        return 0;
    if (r == 0)
        r = sys_fchownat(AT_FDCWD, path, owner.uid, owner.gid, AT_SYMLINK_NOFOLLOW);
    if (r == 0)
        r = make_block(&block);
    for (unsigned i = 0; r == 0 && i < count; i++) { /* each another piece of it */
        char file[PATH_BYTES];
        snprintf(file, sizeof(file), "%.400s/file-%06u.dat", path, i);
        r = write_noise(file, block + i % 4096, len, owner);
    }
    mem_free(block);
    return r;
}

/* -- whether it has arrived -- */

/* Up to a whole block. */
static ssize_t read_block(int fd, uint8_t *block)
{
    size_t len = 0;
    while (len < NOISE_BLOCK_BYTES) {
        ssize_t n = sys_read(fd, block + len, NOISE_BLOCK_BYTES - len);
        if (n <= 0)
            return n < 0 ? n : (ssize_t)len;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

int noise_read_block(const char *path, uint8_t *ret)
{
    int fd = open_file(path, O_RDONLY);
    if (fd < 0)
        return fd;
    ssize_t n = read_block(fd, ret);
    sys_close(fd);
    if (n < 0)
        return (int)n;
    return n == NOISE_BLOCK_BYTES ? 0 : -FERRY_ETRUNCATED;
}

static int compare_open(int a, int b, uint8_t *blocks)
{
    for (;;) {
        ssize_t n = read_block(a, blocks),
                m = n < 0 ? n : read_block(b, blocks + NOISE_BLOCK_BYTES);
        if (n < 0 || m < 0)
            return n < 0 ? (int)n : (int)m;
        if (n != m || memcmp(blocks, blocks + NOISE_BLOCK_BYTES, (size_t)n) != 0)
            return -FERRY_EPROTO;
        if (n < NOISE_BLOCK_BYTES)
            return 0;
    }
}

int noise_compare(const char *a, const char *b)
{
    uint8_t *blocks = mem_raw(2 * NOISE_BLOCK_BYTES);
    int one = open_file(a, O_RDONLY), other = open_file(b, O_RDONLY);
    int r = blocks == NULL ? -ENOMEM : one < 0 ? one : other < 0 ? other : 0;
    if (r == 0)
        r = compare_open(one, other, blocks);
    sys_close(one);
    sys_close(other);
    mem_free(blocks);
    return r;
}

static unsigned count_names(const struct buf *names)
{
    unsigned count = 0;
    for (size_t i = 0; i < names->len; i++)
        count += names->data[i] == '\0';
    return count;
}

int noise_compare_folders(const char *a, const char *b)
{
    struct buf ours, theirs;
    buf_init(&ours, NAMES_BYTES);
    buf_init(&theirs, NAMES_BYTES);
    int r = folder_list(a, &ours);
    if (r == 0)
        r = folder_list(b, &theirs);
    if (r == 0 && count_names(&ours) != count_names(&theirs))
        r = -FERRY_EPROTO;
    size_t len;
    for (size_t at = 0; r == 0 && at < ours.len; at += len + 1) {
        char one[PATH_BYTES], other[PATH_BYTES];
        const char *name = (const char *)ours.data + at;
        len = strlen(name);
        snprintf(one, sizeof(one), "%.255s/%.255s", a, name);
        snprintf(other, sizeof(other), "%.255s/%.255s", b, name);
        r = noise_compare(one, other);
    }
    buf_done(&ours);
    buf_done(&theirs);
    return r;
}

int noise_remove(const char *path)
{
    int r = sys_unlinkat(AT_FDCWD, path, 0);
    return r == -ENOENT ? 0 : r;
}
