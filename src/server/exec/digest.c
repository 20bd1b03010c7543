/* md5sum, sha1sum, sha256sum, sha512sum: digests of files, in the lines of GNU coreutils. */
#include "crypto/digest.h"

#include <errno.h>
#include <sys/uio.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "server/exec/exec.h"
#include "task/sys.h"

#define PIECE_BYTES    (256 * 1024)
#define LINE_BYTES_MAX (2 * CRYPTO_DIGEST_MAX + 2 * PATH_LEN_MAX + 8)

static const struct {
    const char *name;
    enum crypto_digest_kind kind;
} commands[] = {
    {"md5sum", CRYPTO_MD5},
    {"sha1sum", CRYPTO_SHA1},
    {"sha256sum", CRYPTO_SHA256},
    {"sha512sum", CRYPTO_SHA512},
};

static enum crypto_digest_kind kind_of(const struct exec *e)
{
    unsigned i = 0;
    while (strcmp(commands[i].name, e->command->name) != 0)
        i++;
    return commands[i].kind;
}

/* -- in the pool -- */

/* Reads and adds some of the file; it may be left behind, so it owns all it touches. */
struct digest_job {
    struct job job;
    struct vfile *file;
    struct crypto_hash *hash;
    uint64_t offset, left;
    int result;
    uint8_t data[PIECE_BYTES];
};

static int add_piece(struct digest_job *j)
{
    size_t want = j->left < PIECE_BYTES ? (size_t)j->left : PIECE_BYTES;
    struct iovec to = {j->data, want};
    ssize_t n = sys_preadv2(vfile_fd(j->file), &to, 1, (off_t)j->offset, 0);
    if (n <= 0)
        return n < 0 ? (int)n : -FERRY_ETRUNCATED;
    j->offset += (uint64_t)n;
    j->left -= (uint64_t)n;
    return crypto_hash_add(j->hash, bytes_of(j->data, (size_t)n));
}

static void run_job(struct job *job)
{
    struct digest_job *j = (struct digest_job *)job;
    uint64_t stop = j->left > MOVE_JOB_BYTES ? j->left - MOVE_JOB_BYTES : 0;
    j->result = 0;
    while (j->result == 0 && j->left > stop)
        j->result = add_piece(j);
}

static void free_job(struct job *job)
{
    struct digest_job *j = (struct digest_job *)job;
    vfile_unref(j->file);
    crypto_hash_free(j->hash);
    mem_free(j);
}

static int new_job(struct vfile *file, enum crypto_digest_kind kind, struct digest_job **ret)
{
    struct digest_job *j = mem_raw(sizeof(*j));
    if (j == NULL)
        return -ENOMEM;
    memset(&j->job, 0, sizeof(j->job));
    j->job.run = run_job;
    j->job.free = free_job;
    j->offset = 0;
    j->left = vfile_stat(file)->size_bytes;
    int r = crypto_hash_new(kind, &j->hash);
    if (r < 0) {
        mem_free(j);
        return r;
    }
    j->file = vfile_ref(file);
    *ret = j;
    return 0;
}

/* -- in the channel's task -- */

static PARKS int digest_file(struct exec *e, struct vfile *file, uint8_t ret[CRYPTO_DIGEST_MAX])
{
    usec_t stall_us = session_timeouts(e->session->shared)->stall_us;
    struct digest_job *j;
    int r = new_job(file, kind_of(e), &j);
    if (r < 0)
        return r;
    do {
        r = job_run(vfile_pool(file), &j->job, vfile_shares(file), clock_after(stall_us));
        if (r < 0)
            return r; /* the job is left behind */
        r = j->result;
    } while (r == 0 && j->left > 0);
    if (r == 0)
        r = crypto_hash_end(j->hash, ret);
    free_job(&j->job);
    return r;
}

/* coreutils: a line whose name has been escaped begins with a backslash. */
static int append_name(struct buf *line, const char *name)
{
    static const char special[] = "\\\n\r", letters[] = "\\nr";
    int r = 0;
    for (; *name != '\0' && r == 0; name++) {
        const char *found = strchr(special, *name);
        if (found != NULL)
            r = buf_append_byte(line, '\\');
        if (r == 0)
            r = buf_append_byte(line, (uint8_t)(found ? letters[found - special] : *name));
    }
    return r;
}

static int append_line(struct buf *line, const uint8_t *digest, size_t len, const char *name)
{
    int r = 0;
    if (strpbrk(name, "\\\n\r") != NULL)
        r = buf_append_byte(line, '\\');
    for (size_t i = 0; i < len && r == 0; i++)
        r = buf_printf(line, "%02x", digest[i]);
    if (r == 0)
        r = buf_append_str(line, "  ");
    if (r == 0)
        r = append_name(line, name);
    return r < 0 ? r : buf_append_byte(line, '\n');
}

static PARKS int say_digest(struct exec *e, const uint8_t *digest, const char *name)
{
    struct buf line;
    buf_init(&line, LINE_BYTES_MAX);
    int r = append_line(&line, digest, crypto_digest_len(kind_of(e)), name);
    if (r == 0)
        r = stream_write_bytes(e->stream, buf_bytes(&line));
    buf_done(&line);
    return r;
}

static PARKS int digest_named(struct exec *e, const char *name,
                              uint8_t digest[CRYPTO_DIGEST_MAX])
{
    struct vpath path;
    struct vfile *file;
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(name), &path);
    if (r < 0)
        return r;
    r = vfs_open(e->session->vfs, &path, &file);
    vpath_done(&path);
    if (r < 0)
        return r;
    e->session->doing = e->command->name;
    r = digest_file(e, file, digest);
    e->session->doing = "idle";
    (void)vfile_close(file);
    return r;
}

static PARKS int say_digest_of(struct exec *e, const char *name)
{
    uint8_t digest[CRYPTO_DIGEST_MAX];
    int r = digest_named(e, name, digest);
    return r < 0 ? exec_complain(e, name, r) : say_digest(e, digest, name);
}

int exec_digest(struct exec *e)
{
    return exec_each_file(e, say_digest_of);
}
