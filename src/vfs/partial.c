#include "vfs/partial.h"

#include <dirent.h>
#include <errno.h>

#include "base/err.h"
#include "task/sys.h"
#include "vfs/beneath.h"

static void write_hex(uint64_t value, char *ret)
{
    for (int i = 15; i >= 0; i--, value >>= 4)
        ret[i] = "0123456789abcdef"[value & 15];
    ret[16] = '\0';
}

int temp_name(char ret[TEMP_NAME_SIZE])
{
    uint64_t random = 0;
    ssize_t n = sys_getrandom(&random, sizeof(random));
    if (n < 0)
        return (int)n;
    memcpy(ret, VFS_TEMP_PREFIX, sizeof(VFS_TEMP_PREFIX));
    write_hex(random, ret + sizeof(VFS_TEMP_PREFIX) - 1);
    return 0;
}

/* FNV-1a, 64 bits. Who could make two names collide could as well upload under either. */
void partial_name(const char *leaf, char ret[PARTIAL_NAME_SIZE])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *at = leaf; *at; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    memcpy(ret, VFS_PART_PREFIX, sizeof(VFS_PART_PREFIX));
    write_hex(hash, ret + sizeof(VFS_PART_PREFIX) - 1);
}

/* Under our names stand regular files of ours; whatever else somebody put there is not one. */
static int stat_regular(int dir, const char *name, struct stat *ret)
{
    int r = leaf_stat(dir, name, ret);
    return r == 0 && !S_ISREG(ret->st_mode) ? -ENOENT : r;
}

int partial_stat(int dir, const char *leaf, struct stat *ret)
{
    char name[PARTIAL_NAME_SIZE];
    partial_name(leaf, name);
    return stat_regular(dir, name, ret);
}

static int remove_name(int dir, const char *name, struct quota *quota)
{
    struct stat st;
    int r = stat_regular(dir, name, &st);
    if (r == 0)
        r = leaf_unlink(dir, name);
    if (r == 0)
        quota_give(quota, (uint64_t)st.st_size, 0);
    return r;
}

int partial_remove(int dir, const char *leaf, struct quota *quota)
{
    char name[PARTIAL_NAME_SIZE];
    partial_name(leaf, name);
    return remove_name(dir, name, quota);
}

int partial_keep(int dir, const char *leaf, const char *temp, struct quota *quota)
{
    char name[PARTIAL_NAME_SIZE];
    struct stat old;
    partial_name(leaf, name);
    bool had_old = stat_regular(dir, name, &old) == 0;
    int r = leaf_rename(dir, temp, dir, name, true);
    if (r == 0 && had_old)
        quota_give(quota, (uint64_t)old.st_size, 0);
    return r;
}

int partial_adopt(int dir, const char *leaf, const char *temp)
{
    char name[PARTIAL_NAME_SIZE];
    partial_name(leaf, name);
    return leaf_rename(dir, name, dir, temp, false);
}

/* One pass over a directory: 0, or -ENOTEMPTY at the first name that is no partial. */
static int walk(int fd, bool removes, struct quota *quota)
{
    _Alignas(struct dirent64) char raw[1024];
    ssize_t n;
    while ((n = sys_getdents64(fd, raw, sizeof(raw))) > 0) {
        for (size_t at = 0; at < (size_t)n;) {
            const struct dirent64 *e = (const void *)(raw + at);
            struct bytes name = bytes_str(e->d_name);
            at += e->d_reclen;
            if (bytes_equal(name, BYTES_LIT(".")) || bytes_equal(name, BYTES_LIT("..")))
                continue;
            if (!bytes_start_with(name, BYTES_LIT(VFS_PART_PREFIX)))
                return -ENOTEMPTY;
            int r = removes ? remove_name(fd, e->d_name, quota) : 0;
            if (r < 0)
                return r;
        }
    }
    return (int)n;
}

int partial_clear(int parent, const char *leaf, struct quota *quota)
{
    int r = 0;
    for (int pass = 0; r == 0 && pass < 2; pass++) {
        int fd = leaf_open_directory(parent, leaf);
        if (fd < 0)
            return fd;
        r = walk(fd, pass == 1, quota);
        sys_close(fd);
    }
    return r;
}
