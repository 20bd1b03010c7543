/* A directory tree of a test's own: base/root is what a vfs serves, base/outside is what nobody
 * may reach. Test code makes and inspects it with plain calls. */
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "runtime_fixture.h"
#include "task/pool.h"
#include "vfs/vfs.h"

struct tree {
    char base[64];
    struct vroot *root;
    struct rights rights;
    struct vfs_policy policy;
    struct vfs *vfs;
};

static inline const char *tree_path(const struct tree *t, const char *name)
{
    static char path[2][512];
    static unsigned turn;
    char *at = path[turn++ % 2];
    TASK_ASSERT(snprintf(at, sizeof(path[0]), "%s/%s", t->base, name) < (int)sizeof(path[0]));
    return at;
}

static inline void tree_file(const struct tree *t, const char *name, const char *contents)
{
    int fd = open(tree_path(t, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    TASK_ASSERT(fd >= 0);
    TASK_ASSERT(write(fd, contents, strlen(contents)) == (ssize_t)strlen(contents));
    (void)close(fd);
}

static inline void tree_dir(const struct tree *t, const char *name)
{
    TASK_ASSERT(mkdir(tree_path(t, name), 0755) == 0);
}

static inline void tree_link(const struct tree *t, const char *target, const char *name)
{
    TASK_ASSERT(symlink(target, tree_path(t, name)) == 0);
}

static inline bool tree_has(const struct tree *t, const char *name)
{
    struct stat st;
    return lstat(tree_path(t, name), &st) == 0;
}

static inline off_t tree_size(const struct tree *t, const char *name)
{
    struct stat st;
    return lstat(tree_path(t, name), &st) == 0 ? st.st_size : -1;
}

static inline bool tree_holds(const struct tree *t, const char *name, const char *contents)
{
    char data[256];
    int fd = open(tree_path(t, name), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, data, sizeof(data));
    (void)close(fd);
    return n == (ssize_t)strlen(contents) && memcmp(data, contents, (size_t)n) == 0;
}

/* How many names in a directory start so. */
static inline unsigned tree_count(const struct tree *t, const char *directory,
                                  const char *prefix)
{
    DIR *d = opendir(tree_path(t, directory));
    TASK_ASSERT(d);
    unsigned count = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    (void)closedir(d);
    return count;
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type,
                                  struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void tree_init_in(struct tree *t, const char *directory)
{
    *t = (struct tree){0};
    (void)snprintf(t->base, sizeof(t->base), "%s/ferry-vfs-XXXXXX", directory);
    TASK_ASSERT(mkdtemp(t->base));
    tree_dir(t, "root");
    tree_dir(t, "outside");
    rights_init(&t->rights, RIGHTS_DEFAULT);
    t->policy = (struct vfs_policy){.atomic_upload = true,
                                    .keep_partial = true,
                                    .sendfile = true,
                                    .file_mode = 0644,
                                    .directory_mode = 0755};
}

/* In memory, where many trees and fsync cost nothing. */
static inline void tree_init(struct tree *t)
{
    tree_init_in(t, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

/* Inside a task: the vfs needs the runtime's pool. */
static inline void tree_serve(struct tree *t, struct quota *quota)
{
    TASK_ASSERT(vroot_open(tree_path(t, "root"), VROOT_BENEATH, &t->root) == 0);
    TASK_ASSERT(vfs_new(t->root, &t->rights, &t->policy, quota,
                        runtime_files_pool(runtime_self()), NULL, &t->vfs) == 0);
}

static inline void tree_done(struct tree *t)
{
    t->vfs = vfs_free(t->vfs);
    vroot_unref(t->root);
    rights_done(&t->rights);
    TASK_ASSERT(nftw(t->base, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* -- paths and uploads in a line -- */

static inline struct vpath vpath_of(const char *text)
{
    struct vpath p;
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(text), &p);
    if (r == -ENOMEM) /* on purpose: the next is not hit */
        r = vpath_parse(BYTES_LIT("/"), bytes_str(text), &p);
    TASK_ASSERT(r == 0);
    return p;
}

#define WITH_PATH(text, call)                                                                  \
    ({                                                                                         \
        struct vpath path = vpath_of(text);                                                    \
        int with_result = (call);                                                              \
        vpath_done(&path);                                                                     \
        with_result;                                                                           \
    })

#define REPLACE  ((struct vupload_request){.kind = VUPLOAD_REPLACE})
#define UNIQUE   ((struct vupload_request){.kind = VUPLOAD_UNIQUE})
#define APPENDED ((struct vupload_request){.kind = VUPLOAD_APPEND})
#define TOLD     ((struct vupload_request){.kind = VUPLOAD_APPEND, .take_partial = true})
#define FROM(n)  ((struct vupload_request){.kind = VUPLOAD_RESUME, .offset = (n)})

static inline int begin(struct tree *t, const char *path, struct vupload_request request,
                        struct vupload **ret)
{
    struct vpath p = vpath_of(path);
    int r = vfs_upload_begin(t->vfs, &p, &request, ret);
    vpath_done(&p);
    return r;
}

/* Reserves and writes as a transfer does; adds to *at. */
static inline int upload_write(struct vupload *u, uint64_t *at, const char *text)
{
    size_t len = strlen(text);
    int r = vupload_reserve(u, *at + len);
    if (r < 0)
        return r;
    TASK_ASSERT(pwrite(vfile_fd(vupload_file(u)), text, len, (off_t)*at) == (ssize_t)len);
    *at += len;
    return 0;
}

/* Begins and writes; *ret_upload stays NULL where begin failed. */
static inline int begin_and_write(struct tree *t, const char *path,
                                  struct vupload_request request, const char *text,
                                  struct vupload **ret_upload, uint64_t *ret_at)
{
    *ret_upload = NULL;
    int r = begin(t, path, request, ret_upload);
    if (r < 0)
        return r;
    *ret_at = vupload_offset(*ret_upload);
    return upload_write(*ret_upload, ret_at, text);
}

static inline int store(struct tree *t, const char *path, struct vupload_request request,
                        const char *text)
{
    struct vupload *u;
    uint64_t at = 0;
    int r = begin_and_write(t, path, request, text, &u, &at);
    if (r == 0)
        return vupload_commit(u, at);
    if (u != NULL)
        vupload_break(u, at);
    return r;
}

/* Writes and breaks. */
static inline int break_after(struct tree *t, const char *path, struct vupload_request request,
                              const char *text)
{
    struct vupload *u;
    uint64_t at = 0;
    int r = begin_and_write(t, path, request, text, &u, &at);
    if (u != NULL)
        vupload_break(u, at);
    return r;
}
