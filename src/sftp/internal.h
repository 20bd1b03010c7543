/* Between the files of the SFTP server. */
#pragma once
#include "sftp/input.h"
#include "sftp/server.h"
#include "sftp/wire/answer.h"
#include "sftp/wire/request.h"
#include "vfs/handle.h"
#include "xfer/piece.h"

#define SFTP_HANDLES_MAX  256               /* of all channels of a session */
#define SFTP_DIRS_MAX     32                /* of them; each may hold 700 KB */
#define SFTP_JOINED_MAX   32                /* requests that are served at once */
#define SFTP_CLOSE_US     (60 * USEC_PER_S) /* a file may take so long to be stored */
#define SFTP_SMALL_ANSWER 512               /* any but names and data */
#define SFTP_SIZE_UNKNOWN UINT64_MAX

struct sftp_server {
    struct session *session;
    struct stream *stream;
    struct sftp_settings settings;
    struct vpath start;
    uint64_t refused; /* a bit for each kind */
    usec_t stall_us;
    bool has_begun; /* INIT has come */
    struct sftp_input input;
    struct xfer_progress progress;
    struct sftp_open **slots; /* open handles, by index; NULL entries are free */
    unsigned slot_count;
    uint32_t last_generation;
};

/* -- handles (handles.c) -- */

/* An open file or directory. Its handle is index and generation: one that was closed is not
 * taken for the next of the same index. */
struct sftp_open {
    uint32_t index, generation;
    struct vhandle *file; /* or */
    struct vdir *dir;
    const struct ventry *entries; /* the batch that is being listed */
    unsigned entry_count, entry_at;
    struct vpath path;

    /* a file's record */
    usec_t opened_at;
    bool reads, writes;
    uint64_t size_bytes; /* how long the file is known to be; SFTP_SIZE_UNKNOWN */
    uint64_t read_from, read_bytes;
    uint64_t written_from, written_bytes;
    int result; /* the first failure of a transfer */
};

/* A place for one more; its memory is the server's. -EMFILE: the session has too many, or this
 * channel; -ENOMEM. */
MUST_CHECK int sftp_open_new(struct sftp_server *, struct sftp_open **ret);
/* NULL: stale, or never given out. */
struct sftp_open *sftp_open_find(const struct sftp_server *, struct bytes handle);
struct sftp_open *sftp_open_file(const struct sftp_server *, struct bytes handle);
struct sftp_open *sftp_open_dir(const struct sftp_server *, struct bytes handle);
/* The upload of this session that has no name yet and will have this one, or NULL. */
struct sftp_open *sftp_open_hidden(const struct sftp_server *, const struct vpath *);
/* Ends what it is, in a shield, writes its record and frees it. keep: an upload is to become
 * the file. */
PARKS MUST_CHECK int sftp_open_close(struct sftp_server *, struct sftp_open *, bool keep);
/* All of them, without keep; the pool has the work, and nobody waits for it. */
void sftp_open_free_all(struct sftp_server *);
void sftp_handle_bytes(const struct sftp_open *, uint8_t dst[SFTP_HANDLE_BYTES]);

/* -- answers (reply.c): 0, or why the session ends -- */

enum sftp_status sftp_status_of(int result);
PARKS MUST_CHECK int sftp_say_status(struct sftp_server *, uint32_t id, enum sftp_status,
                                     const char *text);
/* What a result of the file system is to the client. A task that is cancelled says nothing. */
PARKS MUST_CHECK int sftp_say_result(struct sftp_server *, uint32_t id, int result);
PARKS MUST_CHECK int sftp_say_handle(struct sftp_server *, uint32_t id,
                                     const struct sftp_open *);
PARKS MUST_CHECK int sftp_say_attributes(struct sftp_server *, uint32_t id,
                                         const struct vstat *);
/* One name without facts: REALPATH and its kin. */
PARKS MUST_CHECK int sftp_say_name(struct sftp_server *, uint32_t id, struct bytes name);
/* What the writer has, if it did not fail. */
PARKS MUST_CHECK int sftp_say(struct sftp_server *, const struct wire_writer *);
struct sftp_attributes sftp_attributes_of(const struct vstat *);

/* -- requests, one file for each group; each answers -- */

/* A path of the client's, from the start directory on. */
MUST_CHECK int sftp_path(const struct sftp_server *, struct bytes, struct vpath *ret);
PARKS void sftp_audit(const struct sftp_server *, const char *operation, const struct vpath *,
                      const struct vpath *to, int result);

typedef int sftp_handler(struct sftp_server *, const struct sftp_request *);

PARKS sftp_handler sftp_on_open, sftp_on_close, sftp_on_fsync, sftp_on_copy_data;
PARKS sftp_handler sftp_on_read, sftp_on_write;
PARKS sftp_handler sftp_on_stat, sftp_on_lstat, sftp_on_fstat, sftp_on_setstat,
    sftp_on_lsetstat, sftp_on_fsetstat, sftp_on_statvfs, sftp_on_fstatvfs;
PARKS sftp_handler sftp_on_opendir, sftp_on_readdir;
PARKS sftp_handler sftp_on_remove, sftp_on_mkdir, sftp_on_rmdir, sftp_on_rename,
    sftp_on_posix_rename, sftp_on_symlink, sftp_on_hardlink, sftp_on_readlink, sftp_on_realpath,
    sftp_on_expand_path, sftp_on_home_directory;
PARKS sftp_handler sftp_on_limits;

/* A WRITE whose head was read and whose body comes: this one, and those that follow it and are
 * here already. */
PARKS MUST_CHECK int sftp_receive_writes(struct sftp_server *, const struct sftp_request *head);
bool sftp_is_refused(const struct sftp_server *, enum sftp_kind);
