/* links: fuse3 */
/* A file system that can be stopped: a FUSE mount that passes everything on to a directory.
 *
 *     stoppable_fs BACKING MOUNTPOINT
 *
 * runs in the foreground, one thread; SIGSTOP stops the file system as a dead NFS server or
 * disk would, SIGCONT lets it go on. Prints "mounted" when it serves. */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int backing;

static int failed(int r)
{
    return r < 0 ? -errno : 0;
}

static const char *below(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
    (void)fi;
    return failed(fstatat(backing, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int fs_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t off,
                      struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
    (void)off;
    (void)fi;
    (void)flags;
    int fd = openat(backing, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return -errno;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        (void)fill(buf, e->d_name, NULL, 0, 0);
    closedir(d);
    return 0;
}

static int fs_open(const char *path, struct fuse_file_info *fi)
{
    int fd = openat(backing, below(path), fi->flags | O_CLOEXEC);
    fi->fh = (uint64_t)fd;
    return failed(fd);
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    int fd = openat(backing, below(path), fi->flags | O_CREAT | O_CLOEXEC, mode);
    fi->fh = (uint64_t)fd;
    return failed(fd);
}

static int fs_read(const char *path, char *data, size_t len, off_t off,
                   struct fuse_file_info *fi)
{
    (void)path;
    ssize_t n = pread((int)fi->fh, data, len, off);
    return n < 0 ? -errno : (int)n;
}

static int fs_write(const char *path, const char *data, size_t len, off_t off,
                    struct fuse_file_info *fi)
{
    (void)path;
    ssize_t n = pwrite((int)fi->fh, data, len, off);
    return n < 0 ? -errno : (int)n;
}

static int fs_release(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    close((int)fi->fh);
    return 0;
}

static int fs_truncate(const char *path, off_t len, struct fuse_file_info *fi)
{
    if (fi)
        return failed(ftruncate((int)fi->fh, len));
    int fd = openat(backing, below(path), O_WRONLY | O_CLOEXEC);
    int r = failed(fd < 0 ? fd : ftruncate(fd, len));
    if (fd >= 0)
        close(fd);
    return r;
}

static int fs_unlink(const char *path)
{
    return failed(unlinkat(backing, below(path), 0));
}

static int fs_mkdir(const char *path, mode_t mode)
{
    return failed(mkdirat(backing, below(path), mode));
}

static int fs_rename(const char *from, const char *to, unsigned flags)
{
    return failed(renameat2(backing, below(from), backing, below(to), flags));
}

static void *fs_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
    (void)conn;
    config->direct_io =
        1; /* every read must come to us, or a stopped one would not be noticed */
    config->attr_timeout = 0;
    config->entry_timeout = 0;
    printf("mounted\n");
    (void)fflush(stdout);
    return NULL;
}

static const struct fuse_operations operations = {
    .init = fs_init,
    .getattr = fs_getattr,
    .readdir = fs_readdir,
    .open = fs_open,
    .create = fs_create,
    .read = fs_read,
    .write = fs_write,
    .release = fs_release,
    .truncate = fs_truncate,
    .unlink = fs_unlink,
    .mkdir = fs_mkdir,
    .rename = fs_rename,
};

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: stoppable_fs BACKING MOUNTPOINT\n");
        return 2;
    }
    backing = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (backing < 0) {
        perror(argv[1]);
        return 1;
    }
    char foreground[] = "-f", single[] = "-s", option[] = "-o", allow[] = "allow_other";
    char *args[] = {argv[0], foreground, single, option, allow, argv[2], NULL};
    return fuse_main(6, args, &operations, NULL);
}
