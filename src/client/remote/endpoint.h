/* One end of a copy: files of this machine, or of a server by the method that reaches them
 * (remote/local.c, sftp.c, scp.c, ftp.c). Commands and the copy engine know endpoints only.
 *
 * Paths are the endpoint's: of a server as it takes them; of this machine beneath the directory
 * that the endpoint was made for, which nothing leaves. Names in listings have been checked:
 * each is one component that can be a local file's.
 *
 * Results are 0, -errno and -FERRY_E... as elsewhere; endpoint_why() has what a server said of
 * the last failure. -FERRY_ECLOSED, -FERRY_ESTALLED, -FERRY_EPROTO: the connection is gone.
 */
#pragma once
#include "io/chunk.h"
#include "vfs/vfs.h"
#include "xfer/xfer.h"

struct endpoint;
struct ssh_link;
struct ftp_link;

enum endpoint_kind {
    ENDPOINT_FILE,
    ENDPOINT_DIRECTORY,
    ENDPOINT_LINK,
    ENDPOINT_OTHER,
    ENDPOINT_UNKNOWN /* a listing that did not say */
};

struct endpoint_facts {
    enum endpoint_kind kind;
    bool has_size, has_mode, has_times;
    uint64_t size_bytes;
    uint32_t mode; /* permission bits */
    int64_t mtime_us, atime_us;
    uint64_t inode, device; /* 0: not known */
};

/* Takes bytes of a file, in no order if the endpoint says so (is_ordered false). */
typedef PARKS int endpoint_take(void *arg, uint64_t offset, struct chunk *,
                                const struct iovec *pieces, unsigned count);
/* Fills the pieces: bytes, 0: the end. */
typedef PARKS ssize_t endpoint_fill(void *arg, uint64_t offset, struct chunk *,
                                    const struct iovec *pieces, unsigned count);

struct endpoint_get {
    uint64_t offset;
    /* Where the bytes go: into an upload of this machine, by the shortest path that the method
     * has; or, if that is NULL, to take(). */
    struct vupload *upload;
    endpoint_take *take;
    void *arg;
    struct xfer_bucket *bucket;     /* --limit; or NULL */
    struct xfer_progress *progress; /* file bytes; or NULL */
};

struct endpoint_got {
    struct endpoint_facts facts; /* as the server told when it was opened, as far as it did */
    uint64_t bytes;              /* from offset on, without a gap; also on failure */
};

struct endpoint_put {
    uint64_t offset; /* not 0: the file is there, and is continued */
    /* Whence: a file of this machine from `offset` on; or, if that is NULL, fill(). */
    struct vfile *file;
    endpoint_fill *fill;
    void *arg;
    uint64_t size_bytes; /* in all, offset included; UINT64_MAX: not known */
    uint32_t mode;       /* of a new file; 0: the server's usual */
    bool syncs;          /* to the disk, where the server can be asked */
    /* Mode and times that it is to get, for who can set them with the file alone; or NULL. */
    const struct endpoint_facts *keeps;
    struct xfer_bucket *bucket;
    struct xfer_progress *progress;
};

typedef int endpoint_name_fn(void *arg, struct bytes name, const struct endpoint_facts *);

struct endpoint_ops {
    const char *method; /* "local", "sftp", "scp", "ftp" */
    PARKS int (*stat)(struct endpoint *, struct bytes path, bool follow,
                      struct endpoint_facts *ret);
    /* Without "." and ".."; not followed. A negative result of fn ends it with that. fn cannot
     * park. */
    PARKS int (*list)(struct endpoint *, struct bytes path, endpoint_name_fn *, void *arg);
    /* *ret is always written. */
    PARKS int (*get)(struct endpoint *, struct bytes path, const struct endpoint_get *,
                     struct endpoint_got *ret);
    /* 0: stored, and *ret_bytes all of it. On failure: what the server has for certain, from
     * offset on. */
    PARKS int (*put)(struct endpoint *, struct bytes path, const struct endpoint_put *,
                     uint64_t *ret_bytes);
    PARKS int (*mkdir)(struct endpoint *, struct bytes path, uint32_t mode); /* -EEXIST */
    PARKS int (*rmdir)(struct endpoint *, struct bytes path);
    PARKS int (*remove)(struct endpoint *, struct bytes path);
    /* Over what stands there, in one step where the server can. */
    PARKS int (*rename)(struct endpoint *, struct bytes from, struct bytes to);
    /* Mode and times, as far as facts has them. -EOPNOTSUPP. */
    PARKS int (*set)(struct endpoint *, struct bytes path, const struct endpoint_facts *);
    /* SHA-256 of the first so many bytes. -EOPNOTSUPP: the server cannot. */
    PARKS int (*sha256)(struct endpoint *, struct bytes path, uint64_t bytes, uint8_t ret[32]);
    /* Where relative paths begin, as the server names it; at most max bytes with a NUL. */
    PARKS int (*home)(struct endpoint *, char *ret, size_t max);
    /* What the kernel tells of data connections; NULL: they are the ssh link's, or there are
     * none. */
    void (*info)(struct endpoint *, struct stream_info *ret);
    PARKS void (*free)(struct endpoint *);
};

struct endpoint {
    const struct endpoint_ops *ops;
    const char *host;     /* NULL: this machine */
    bool is_ordered;      /* get() calls take() in the order of the file */
    bool stores_whole;    /* a put that breaks leaves the old file: the server has temporary
                             names of its own (ferryd) */
    bool is_whole_only;   /* offsets are 0, nothing is renamed or removed, and set() is for
                             directories; a put has `keeps` */
    unsigned at_once;     /* files that can be on their way at the same time */
    struct ssh_link *ssh; /* of a method over ssh: for further channels; or NULL */
    char why[256];        /* the server's words for the last failure, printable; "" */
};

/* host_directory: "/" for what is read; for what is written the target, which links inside do
 * not leave. */
MUST_CHECK int endpoint_local_new(const char *host_directory, struct pool *,
                                  struct endpoint **ret);
/* The vfs behind a local endpoint, for its files and uploads; NULL: it is not local. */
struct vfs *endpoint_vfs(struct endpoint *);
/* All take the link, also on failure. */
PARKS MUST_CHECK int endpoint_sftp_new(struct ssh_link *, struct endpoint **ret);
PARKS MUST_CHECK int endpoint_scp_new(struct ssh_link *, struct endpoint **ret);
PARKS MUST_CHECK int endpoint_ftp_new(struct ftp_link *, struct endpoint **ret);
PARKS struct endpoint *endpoint_free(struct endpoint *); /* NULL is fine */
