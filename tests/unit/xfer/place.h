/* A directory of its own with a vfs on it, and a stream to a peer in the same worker. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/ascii.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "unit/io/tcp_fixture.h"
#include "vfs/vfs.h"
#include "xfer/xfer.h"

#define STALL_US (5 * USEC_PER_S)

enum way { WAY_TCP, WAY_MEMORY, WAY_MEMORY_CUT, WAY_COUNT };

struct place {
    char directory[40];
    struct vroot *root;
    struct rights rights;
    struct vfs_policy policy;
    struct quota *quota;
    struct vfs *vfs;
    struct stream *ours, *peers;
};

static inline uint8_t pattern(uint64_t off)
{
    return (uint8_t)(off * 13 + off / 255);
}

static inline void place_open(struct place *p, const char *parent, uint64_t quota_bytes)
{
    memset(p, 0, sizeof(*p));
    (void)snprintf(p->directory, sizeof(p->directory), "%s/ferry-xfer-XXXXXX", parent);
    TASK_ASSERT(mkdtemp(p->directory) != NULL);
    rights_init(&p->rights, RIGHTS_ALL);
    p->policy = (struct vfs_policy){
        .atomic_upload = true, .sendfile = true, .file_mode = 0644, .directory_mode = 0755};
    TASK_ASSERT(vroot_open(p->directory, VROOT_BENEATH, &p->root) == 0);
    TASK_ASSERT(quota_new(quota_bytes, 0, &p->quota) == 0);
    TASK_ASSERT(vfs_new(p->root, &p->rights, &p->policy, p->quota,
                        runtime_files_pool(runtime_self()), NULL, &p->vfs) == 0);
}

static inline const char *place_path(const struct place *p)
{
    static char path[64];
    (void)snprintf(path, sizeof(path), "%s/file", p->directory);
    return path;
}

static inline void place_close(struct place *p)
{
    (void)vfs_free(p->vfs);
    quota_unref(p->quota);
    vroot_unref(p->root);
    rights_done(&p->rights);
    (void)unlink(place_path(p));
    TASK_ASSERT(rmdir(p->directory) == 0); /* no temporary file stayed */
}

static inline void place_connect(struct place *p, enum way way)
{
    if (way == WAY_TCP) {
        struct tcp_pair pair;
        tcp_pair_open(&pair, STALL_US);
        p->ours = pair.server;
        p->peers = pair.client;
        return;
    }
    uint64_t seed = way == WAY_MEMORY_CUT ? 7 : 0;
    TASK_ASSERT(memory_pair_new(30000, seed, &p->ours, &p->peers) == 0);
    p->ours->stall_us = p->peers->stall_us = STALL_US;
}

static inline void place_disconnect(struct place *p)
{
    p->ours = stream_free(p->ours);
    p->peers = stream_free(p->peers);
}

/* "/file" with bytes [0, size) of the pattern. */
static inline void place_write(const struct place *p, uint64_t size)
{
    uint8_t block[1000];
    int fd = open(place_path(p), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    TASK_ASSERT(fd >= 0);
    for (uint64_t off = 0; off < size;) {
        size_t len = size - off < sizeof(block) ? (size_t)(size - off) : sizeof(block);
        for (size_t i = 0; i < len; i++)
            block[i] = pattern(off + i);
        TASK_ASSERT(write(fd, block, len) == (ssize_t)len);
        off += len;
    }
    TASK_ASSERT(close(fd) == 0);
}

/* Whether "/file" is exactly that. */
static inline bool place_holds(const struct place *p, uint64_t size)
{
    uint8_t block[1000];
    uint64_t off = 0;
    ssize_t n;
    bool right = true;
    int fd = open(place_path(p), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((n = read(fd, block, sizeof(block))) > 0) {
        for (ssize_t i = 0; i < n; i++)
            right = right && block[i] == pattern(off++);
    }
    (void)close(fd);
    return right && off == size;
}

static inline struct vfile *place_file(struct place *p)
{
    struct vpath path;
    struct vfile *file;
    TASK_ASSERT(vpath_parse(BYTES_LIT("/"), BYTES_LIT("file"), &path) == 0);
    TASK_ASSERT(vfs_open(p->vfs, &path, &file) == 0);
    vpath_done(&path);
    return file;
}

static inline struct vupload *place_upload(struct place *p, uint64_t offset)
{
    struct vpath path;
    struct vupload *upload;
    const struct vupload_request request = {
        .kind = offset != 0 ? VUPLOAD_RESUME : VUPLOAD_REPLACE, .offset = offset};
    TASK_ASSERT(vpath_parse(BYTES_LIT("/"), BYTES_LIT("file"), &path) == 0);
    TASK_ASSERT(vfs_upload_begin(p->vfs, &path, &request, &upload) == 0);
    vpath_done(&path);
    return upload;
}
