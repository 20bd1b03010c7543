#include "bench/peers/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "auth/password.h"
#include "base/mem.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "crypto/random.h"
#include "task/sys.h"

#define OWNER          61987 /* of the range that Debian gives to nobody for good */
#define PASSWORD_CHARS 20
#define NAME_PREFIX    "ferry-bench-"
#define NAME_CHARS     8
#define MEMORY_BYTES   (UINT64_C(1) << 30) /* below this a tmpfs is too small for the rows */
#define NAMES_BYTES    (1024 * 1024)
#define STATE_FILE     "stage"

const char *stage_account(unsigned n, char dst[STAGE_NAME_MAX])
{
    if (n == 0)
        snprintf(dst, STAGE_NAME_MAX, STAGE_USER);
    else
        snprintf(dst, STAGE_NAME_MAX, STAGE_USER "%u", n);
    return dst;
}

/* -- what a killed run left -- */

static int open_path(const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC | O_NOFOLLOW};
    return sys_openat2(AT_FDCWD, path, &how);
}

static bool is_ours(const char *path, mode_t type)
{
    struct stat st;
    return sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == 0 &&
           (st.st_mode & S_IFMT) == type;
}

static void remove_disk(const char *base)
{
    struct stage *old = mem_new(sizeof(*old));
    if (old != NULL && stage_read(base, old) == 0 && strstr(old->disk, "/" NAME_PREFIX) != NULL)
        folder_remove(old->disk);
    mem_free(old);
}

/* Its owner holds the lock for as long as he lives. */
static void remove_if_left(const char *parent, const char *name)
{
    char base[STAGE_PATH_MAX], file[STAGE_PATH_MAX + 16];
    int n = snprintf(base, sizeof(base), "%s/%s", parent, name);
    if (n < 0 || (size_t)n >= sizeof(base) || !is_ours(base, S_IFDIR))
        return;
    snprintf(file, sizeof(file), "%s/" STATE_FILE, base);
    int lock = is_ours(file, S_IFREG) ? open_path(file, O_RDONLY) : -ENOENT;
    if (lock < 0)
        return;
    if (sys_flock(lock, LOCK_EX | LOCK_NB) == 0) {
        remove_disk(base);
        folder_remove(base);
    }
    sys_close(lock);
}

static void remove_left(const char *parent)
{
    struct buf names;
    buf_init(&names, NAMES_BYTES);
    size_t len;
    if (folder_list(parent, &names) == 0) {
        for (size_t at = 0; at < names.len; at += len + 1) {
            const char *name = (const char *)names.data + at;
            len = strlen(name);
            if (strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0)
                remove_if_left(parent, name);
        }
    }
    buf_done(&names);
}

/* -- making it -- */

/* Where there is memory for files that is seen by all processes: nothing is mounted for it. */
static const char *choose_parent(bool *ret_is_memory)
{
    static const char *const parents[] = {"/dev/shm", "/tmp"};
    for (unsigned i = 0; i < ARRAY_LEN(parents); i++) {
        int fd = open_path(parents[i], O_RDONLY | O_DIRECTORY);
        long type = 0;
        uint64_t room = 0;
        bool fits = fd >= 0 && sys_fstatfs_type(fd, &type) == 0 && type == TMPFS_MAGIC &&
                    sys_fstatfs_free(fd, &room) == 0 && room >= MEMORY_BYTES;
        sys_close(fd);
        if (fits) {
            *ret_is_memory = true;
            return parents[i];
        }
    }
    *ret_is_memory = false;
    return "/var/tmp";
}

static int make_owned(const char *path, unsigned uid, unsigned gid)
{
    int r = folder_make(path, 0755);
    return r == 0 ? sys_fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW) : r;
}

static int take_lock(struct stage *s)
{
    char path[STAGE_PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/" STATE_FILE, s->base);
    int r = file_write(path, 0600, BYTES_NONE);
    if (r == 0)
        r = s->lock = open_path(path, O_RDONLY);
    return r < 0 ? r : sys_flock(s->lock, LOCK_EX | LOCK_NB);
}

static int make_folders(struct stage *s, const char *parent, const char *disk)
{
    char name[NAME_CHARS + 1];
    int r = crypto_random_base32(name, NAME_CHARS);
    if (r < 0)
        return r;
    int n = snprintf(s->disk, sizeof(s->disk), "%s/" NAME_PREFIX "%s", disk, name);
    if (n < 0 || (size_t)n >= sizeof(s->disk)) {
        s->disk[0] = '\0';
        return -ENAMETOOLONG;
    }
    snprintf(s->base, sizeof(s->base), "%s/" NAME_PREFIX "%s%s", parent, name,
             s->is_memory ? "" : "-m"); /* the disk's may lie beside it */
    /* What the servers are told lies in it; its folder of files is for everybody to reach. */
    r = folder_make(s->base, 0711);
    if (r == 0)
        r = take_lock(s);
    snprintf(s->files, sizeof(s->files), "%.240s/files", s->base);
    char mount_point[STAGE_PATH_MAX + 8];
    snprintf(mount_point, sizeof(mount_point), "%s/disk", s->files);
    if (r == 0)
        r = make_owned(s->files, s->uid, s->gid);
    if (r == 0)
        r = make_owned(mount_point, s->uid, s->gid);
    return r;
}

static int make_accounts(struct stage *s)
{
    int r = crypto_random_base32(s->password, PASSWORD_CHARS);
    for (unsigned i = 0; r == 0 && i < STAGE_ACCOUNTS; i++) {
        char *hash;
        r = password_hash(bytes_str(s->password), &hash);
        if (r < 0)
            break;
        if (strlen(hash) < STAGE_HASH_MAX)
            memcpy(s->hashes[i], hash, strlen(hash) + 1);
        else
            r = -ENAMETOOLONG;
        mem_free(hash);
    }
    return r;
}

static int save(const struct stage *s)
{
    char path[STAGE_PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/" STATE_FILE, s->base);
    return file_write(path, 0600, bytes_of(s, sizeof(*s)));
}

int stage_open(struct stage *s, const char *disk, bool *ret_of_disk)
{
    *ret_of_disk = false;
    memset(s, 0, sizeof(*s)); /* a literal of it would stand on the stack */
    s->uid = s->gid = OWNER;
    s->lock = -1;
    if (geteuid() != 0)
        return -EPERM;
    const char *parent = choose_parent(&s->is_memory);
    remove_left(parent);
    int r = make_folders(s, parent, disk != NULL ? disk : "/var/tmp");
    if (r == 0) {
        r = make_owned(s->disk, s->uid, s->gid);
        *ret_of_disk = r < 0;
    }
    if (r == 0)
        r = save(s); /* hashing takes a while, and it may be killed meanwhile */
    if (r == 0)
        r = make_accounts(s);
    return r == 0 ? save(s) : r;
}

void stage_close(struct stage *s)
{
    if (s->disk[0] != '\0')
        folder_remove(s->disk);
    if (s->base[0] != '\0')
        folder_remove(s->base);
    sys_fd_close(&s->lock);
    mem_wipe(s, sizeof(*s));
    s->lock = -1;
}

/* The same program wrote it, so it is read as it lies in memory. */
int stage_read(const char *base, struct stage *ret)
{
    char path[STAGE_PATH_MAX + 16];
    snprintf(path, sizeof(path), "%.255s/" STATE_FILE, base);
    struct buf text;
    buf_init(&text, sizeof(*ret));
    int r = file_read(path, &text);
    if (r == 0 && text.len != sizeof(*ret))
        r = -EINVAL;
    if (r == 0) {
        memcpy(ret, text.data, sizeof(*ret));
        ret->lock = -1;
    }
    buf_wipe(&text);
    return r;
}
