/* A user's view of one directory tree: the only part of ferry that opens, makes, renames or
 * removes files.
 *
 * Every path is a struct vpath and is resolved by the kernel beneath the root's descriptor
 * (vfs/beneath.c); nothing outside can be reached, whatever the links inside say. Only regular
 * files and directories are opened. Each operation checks the account's rights first
 * (-FERRY_ERIGHTS), and its system calls run in the pool as one composite job; a read-only open
 * that the kernel can answer from its cache stays in the loop.
 *
 * A vfs belongs to one session on one worker. A vfile and an upload keep what they need alive.
 * Errors: -ENOENT, -EACCES, -ENOTDIR, -EISDIR, -EEXIST, -ENOTEMPTY, -ENOSPC, -EROFS ... as the
 * system says; -EXDEV: the path leaves the root (a link); -FERRY_ENOTREG: FIFO, socket or
 * device; -FERRY_EQUOTA; -ECANCELED, -EBUSY (pool queue full, or the path kept moving).
 *
 * Links are followed within the root by stat, open, list, chmod, set_mtime and by uploads that
 * continue a file; a new upload, rename, unlink, rmdir and mkdir act on the link itself.
 * Quota counts every name as a file, directories too, and gives a file's bytes back with its
 * last name; a kept partial counts in bytes alone.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/clock.h"
#include "task/pool.h"
#include "vfs/path.h"
#include "vfs/quota.h"
#include "vfs/rights.h"

struct vroot;
struct vfs;
struct vfile;
struct vdir;
struct vupload;

/* -- roots: opened before the process gives up its rights; shared by all sessions -- */

enum vroot_links { VROOT_BENEATH, VROOT_IN_ROOT }; /* links out: an error; re-rooted */

MUST_CHECK int vroot_open(const char *host_path, enum vroot_links, struct vroot **ret);
struct vroot *vroot_ref(struct vroot *); /* thread-safe */
void vroot_unref(struct vroot *);        /* NULL is fine */
int vroot_fd(const struct vroot *);

/* -- one session's view -- */

enum vfs_sync { VFS_SYNC_NONE, VFS_SYNC_FILE }; /* DESIGN 2, "Stored" */

struct vfs_policy {
    enum vfs_sync sync;
    bool atomic_upload; /* temporary name and rename; the default */
    bool keep_partial;  /* a broken upload can be resumed; else it is removed */
    bool sendfile;      /* false: contents are read and sent, where sendfile(2) misbehaves */
    bool owns_root;     /* its mode can be set; else nobody's, as others may share it */
    mode_t file_mode, directory_mode; /* 0644, 0755 */
};

/* Borrows rights and policy, which must outlive it and its files; references root, quota and
 * shares. */
MUST_CHECK int vfs_new(struct vroot *, const struct rights *, const struct vfs_policy *,
                       struct quota *, struct pool *, const struct pool_shares *,
                       struct vfs **ret);
struct vfs *vfs_free(struct vfs *); /* NULL is fine; returns NULL */
unsigned vfs_rights_at(const struct vfs *, const struct vpath *);
unsigned vfs_rights_at_name(const struct vfs *, const struct vpath *directory,
                            struct bytes name);
/* The permission bits that new files and directories can have: the policy's directory_mode. */
mode_t vfs_mode_mask(const struct vfs *);

/* -- what is there -- */

enum vstat_kind { VSTAT_FILE, VSTAT_DIRECTORY, VSTAT_LINK, VSTAT_OTHER };

struct vstat {
    enum vstat_kind kind;
    uint32_t mode; /* permission bits */
    uint32_t uid, gid, links;
    uint64_t size_bytes, inode, device;
    int64_t mtime_us, atime_us; /* since 1970, UTC; the nearest that fits */
};

PARKS MUST_CHECK int vfs_stat(struct vfs *, const struct vpath *, bool follow,
                              struct vstat *ret);

/* As vfs_stat() for a regular file; if there is none but a partial upload of that name is kept,
 * its size with *ret_partial true. What SIZE answers, so that clients can resume. */
PARKS MUST_CHECK int vfs_stat_resumable(struct vfs *, const struct vpath *, struct vstat *ret,
                                        bool *ret_partial);

/* Opens a directory for listing; entries come in batches of bounded memory, each with its facts
 * (not followed), without "." and "..", without reserved names, in the order of the file
 * system. While the caller has one batch, the next one is read. */
struct ventry {
    const char *name; /* raw bytes, terminated; valid until the next batch */
    size_t name_len;
    struct vstat stat;
    const char *link_target; /* for VSTAT_LINK, cut at 255 bytes; else NULL */
};

PARKS MUST_CHECK int vfs_dir_open(struct vfs *, const struct vpath *, struct vdir **ret);
/* The same where names are enough: of the facts only the kind is there, and no target. */
PARKS MUST_CHECK int vfs_dir_open_names(struct vfs *, const struct vpath *, struct vdir **ret);
PARKS MUST_CHECK int vdir_next(struct vdir *,
                               const struct ventry **ret_entries); /* count, 0: end */
PARKS struct vdir *vdir_close(struct vdir *);

/* -- reading -- */

PARKS MUST_CHECK int vfs_open(struct vfs *, const struct vpath *,
                              struct vfile **ret); /* regular only */
/* The same of a name that a listing has just told to be a regular file of this device, which is
 * not looked at once more before it is opened. */
PARKS MUST_CHECK int vfs_open_listed(struct vfs *, const struct vpath *, uint64_t device,
                                     struct vfile **ret);
/* Closes in the pool if that may block, else at once. Cannot park. Returns NULL. */
struct vfile *vfile_close(struct vfile *);
struct vfile *vfile_ref(struct vfile *); /* for move jobs; thread-safe */
void vfile_unref(struct vfile *);
int vfile_fd(const struct vfile *); /* for xfer/move*.c */
/* Around each write, on the thread that writes. A job that its task left behind may be in one
 * while the upload is broken, which waits until it is out. */
void vfile_write_begin(struct vfile *);
void vfile_write_end(struct vfile *);
const struct vstat *vfile_stat(const struct vfile *);   /* as it was at the open */
bool vfile_reads_without_waiting(const struct vfile *); /* RWF_NOWAIT, or tmpfs */
/* Whether these bytes are in the page cache, as a few of them tell; false where the file system
 * cannot say. What is asked for and is not there begins to be read. */
bool vfile_is_cached(const struct vfile *, uint64_t offset, uint64_t len);
/* The root's own memory file system: neither a read nor a write of it waits for a disk. */
bool vfile_is_in_memory(const struct vfile *);
bool vfile_may_sendfile(const struct vfile *); /* as the policy was at the open */
const struct pool_shares *vfile_shares(const struct vfile *);
struct pool *vfile_pool(const struct vfile *);

/* -- writing: an upload is begun, written through its vfile by xfer, then committed or broken
 * -- */

enum vupload_kind {
    VUPLOAD_REPLACE, /* STOR: new contents under a temporary name */
    VUPLOAD_UNIQUE,  /* STOU: like REPLACE, but never over an existing file; the name gets a
                        suffix */
    VUPLOAD_RESUME,  /* REST n, STOR: keeps the first n bytes of the file (in place) or of the
                        kept partial */
    VUPLOAD_APPEND,  /* APPE: at the end of the file, or of the kept partial if take_partial */
};

struct vupload_request {
    enum vupload_kind kind;
    uint64_t offset;       /* RESUME only; beyond the size: -EINVAL */
    bool take_partial;     /* APPEND only: the client was told the partial's size */
    uint64_t expect_bytes; /* ALLO: size at the end; 0: unknown. Too many: refused now */
    mode_t mode;           /* REPLACE: of a file with a new name; 0: the policy's */
};

PARKS MUST_CHECK int vfs_upload_begin(struct vfs *, const struct vpath *,
                                      const struct vupload_request *, struct vupload **ret);
struct vfile *vupload_file(struct vupload *);             /* borrowed; open for writing */
uint64_t vupload_offset(const struct vupload *);          /* where the first byte goes */
const struct vpath *vupload_path(const struct vupload *); /* final name (STOU tells it) */
/* Whether the commit puts a new file in the place of one that stood there at the start. */
bool vupload_replaces(const struct vupload *);
/* Takes quota for the next bytes before they are written. By the upload's task: a job may
 * outlive the upload. */
MUST_CHECK int vupload_reserve(struct vupload *, uint64_t end_offset);
/* Both end the upload and free it, and are meant for a shield. commit: [fsync] close, rename,
 * [fsync of the directory]; 0 means stored, on failure nothing of the old file is lost.
 * `written_end`: the offset after the last byte. break: the partial is kept (if no file stands
 * under the name) or removed, for certain with 0; what stood under the name stays, unless it
 * was written in place.
 * Where the task is cancelled, or the pool too full, outside a shield, a commit is a break that
 * the pool does later. */
PARKS MUST_CHECK int vupload_commit(struct vupload *, uint64_t written_end);
PARKS void vupload_break(struct vupload *, uint64_t written_end);

/* -- names -- */

PARKS MUST_CHECK int vfs_mkdir(struct vfs *, const struct vpath *);
PARKS MUST_CHECK int vfs_rmdir(struct vfs *, const struct vpath *);
PARKS MUST_CHECK int vfs_unlink(struct vfs *,
                                const struct vpath *); /* a link itself, never its target */
PARKS MUST_CHECK int vfs_rename(struct vfs *, const struct vpath *from, const struct vpath *to);
/* -EEXIST if `to` is there: what SFTP's plain RENAME is (draft-ietf-secsh-filexfer-02 6.5). */
PARKS MUST_CHECK int vfs_rename_new(struct vfs *, const struct vpath *from,
                                    const struct vpath *to);
/* Links need RIGHT_LINK. target is stored as it is, relative to the link; what leads out of the
 * root is not followed later. A second name is one of a regular file, and may not allow what
 * the first does not. */
PARKS MUST_CHECK int vfs_symlink(struct vfs *, struct bytes target, const struct vpath *link);
PARKS MUST_CHECK int vfs_link(struct vfs *, const struct vpath *from, const struct vpath *to);
/* At most size - 1 bytes and a NUL. */
PARKS MUST_CHECK int vfs_readlink(struct vfs *, const struct vpath *, char *ret, size_t size);

/* -- attributes -- */

PARKS MUST_CHECK int vfs_chmod(struct vfs *, const struct vpath *,
                               mode_t); /* never setuid, setgid, sticky; -EPERM: the root */
PARKS MUST_CHECK int vfs_set_mtime(struct vfs *, const struct vpath *, int64_t mtime_us);

/* What is to be set; the other fields stay as they are. Ownership is never changed. */
struct vattr {
    bool has_size, has_mode, has_times;
    uint64_t size_bytes;
    mode_t mode; /* never setuid, setgid, sticky */
    int64_t atime_us, mtime_us;
};

/* follow false: a link has times of its own, and -EOPNOTSUPP for the rest. -EPERM: the mode of
 * the root, however it is reached. */
PARKS MUST_CHECK int vfs_set(struct vfs *, const struct vpath *, bool follow,
                             const struct vattr *);

/* -- room -- */

struct vspace {
    uint64_t block_bytes, blocks, blocks_free, blocks_available;
    uint64_t files, files_free, id;
    uint32_t name_max;
    bool read_only;
};

/* Of the file system, or of the account's quota where that is less. */
PARKS MUST_CHECK int vfs_space(struct vfs *, const struct vpath *, struct vspace *ret);
