/* Files that are read and written anywhere while they are open, as SFTP does.
 *
 * A handle that makes a file or truncates one is an upload: with policy.atomic_upload its bytes
 * lie under a temporary name until vhandle_close() puts them into place, and 0 from that means
 * stored (DESIGN 2). One that opens a file which is there is written in place. Rights: READ;
 * WRITE for a new name; OVERWRITE to truncate, or to write before the end of what was there at
 * the open; APPEND to write behind it. Quota is taken before the bytes are written.
 *
 * Bytes move by xfer/; here are opening, facts, and the end. As in vfs.h, system calls run in
 * the pool, but in a memory root on the loop.
 */
#pragma once
#include "vfs/vfs.h"

struct vhandle;

struct vhandle_request {
    bool reads, writes;
    bool append;    /* every write goes to the end */
    bool create;    /* -ENOENT otherwise, if there is none */
    bool exclusive; /* with create: -EEXIST if there is one */
    bool truncate;
    mode_t mode; /* permission bits of a new file; 0: the policy's */
};

/* Borrows the vfs until it is closed. -EINVAL: neither reads nor writes, or makes, truncates or
 * appends without writing; -EISDIR, -FERRY_ENOTREG, -EXDEV as any open. */
PARKS MUST_CHECK int vfs_handle_open(struct vfs *, const struct vpath *,
                                     const struct vhandle_request *, struct vhandle **ret);
struct vfile *vhandle_file(struct vhandle *); /* borrowed: for xfer's moves */
/* It was begun as an upload and has no name yet: who asks for its path's facts in this session
 * gets the handle's. */
bool vhandle_is_hidden(const struct vhandle *);
/* Before bytes are written at [offset, offset + len): the rights, and the quota. Where it
 * appends, *offset becomes the end. -FERRY_ERIGHTS, -FERRY_EQUOTA, -EFBIG; -EBADF: not for
 * writing. */
MUST_CHECK int vhandle_reserve(struct vhandle *, uint64_t *offset, size_t len);
/* A write of reserved bytes failed, from this offset on: an upload is not stored any more
 * (closing it is -EIO), and what is kept of it ends there. */
void vhandle_lost(struct vhandle *, uint64_t offset);
/* These and vhandle_set(): -ECANCELED, and an upload is broken by the pool; nothing but the
 * close is left to do. -EBUSY changes nothing. */
PARKS MUST_CHECK int vhandle_stat(struct vhandle *, struct vstat *ret);
PARKS MUST_CHECK int vhandle_sync(struct vhandle *);

/* The size needs the rights of a write, mode and times RIGHT_SETATTR. Of an upload, mode and
 * times hold in the file that it becomes, whatever is written after them. */
PARKS MUST_CHECK int vhandle_set(struct vhandle *, const struct vattr *);
/* Ends it. keep: what was written becomes the file; else an upload that has no name yet is
 * kept as a partial or removed, by the policy. Meant for a shield. */
PARKS MUST_CHECK int vhandle_close(struct vhandle *, bool keep);
/* The same without keep, left to the pool: cannot park. NULL is fine; returns NULL. */
struct vhandle *vhandle_free(struct vhandle *);
