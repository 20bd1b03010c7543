/* Commands on ssh channels: no shell, but what a shell would be asked for to move files.
 *
 * The text is split into words as a shell does it; the first word names the row of a table, or
 * is an absolute path that ends with its name.
 * Anything else ends with 127 and a line that says what there is. One file for each command.
 */
#pragma once
#include "base/buf.h"
#include "server/exec/words.h"
#include "session/session.h"
#include "ssh/connection.h"

struct exec {
    struct session *session;
    struct ssh_channel *channel;
    struct stream *stream; /* of the channel: standard input and output */
    struct words words;
    const struct exec_command *command;
    struct sftp_server *sftp; /* of exec_sftp_server(), while it dozes too */
};

struct exec_command {
    const char *name;
    const char *help; /* "FILE..." */
    /* Exit status, SSH_SERVICE_DOZES, or a failure of the channel. */
    PARKS int (*run)(struct exec *);
};

/* A row of services_ssh. */
int exec_open(void *arg, struct ssh_channel *, struct bytes text, void **ret);
PARKS int exec_run(void *service);
void exec_close(void *service);
bool exec_is_sftp(const void *service); /* what was opened serves the subsystem sftp */

/* "NAME: PATH: what failed" on standard error. Returns status 1, or the channel's failure; if
 * the error is that already (xfer_lost_peer()), at once. */
PARKS MUST_CHECK int exec_complain(struct exec *, const char *path, int error);
PARKS MUST_CHECK int exec_usage(struct exec *); /* returns 2 */

/* The files that the words from `first` on name, each with a NUL behind it: patterns stand for
 * what matches (relative ones in cwd), or for themselves if nothing does. *ret is the caller's
 * to buf_done(), also after a failure. 0, 1 (complained of: the status), or a failure. */
PARKS MUST_CHECK int exec_names(struct exec *, unsigned first, struct bytes cwd,
                                struct buf *ret);
/* A command without options but "--": serve() each of the files. serve: 0, a status, or a
 * failure that ends it. The last status of a file that was complained of; or what went wrong.
 */
PARKS MUST_CHECK int exec_each_file(struct exec *,
                                    PARKS int (*serve)(struct exec *, const char *name));

PARKS int exec_cat(struct exec *);
PARKS int exec_digest(struct exec *); /* by the command's name */
PARKS int exec_scp(struct exec *);
PARKS int exec_sftp_server(struct exec *);
PARKS int exec_tar(struct exec *);
