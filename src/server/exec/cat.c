/* cat: files to standard output, as fast as the channel takes them. */
#include "server/exec/exec.h"
#include "session/transfer.h"

static void audit(struct exec *e, const struct vpath *path, const struct xfer_result *moved,
                  int result)
{
    const struct audit record = {.operation = "download",
                                 .path = vpath_bytes(path),
                                 .bytes = moved->file_bytes,
                                 .wire_bytes = moved->wire_bytes,
                                 .seconds_us = moved->seconds_us,
                                 .result = result};
    session_audit(e->session, &record);
}

/* 0, what is wrong with the file (positive: a status), or the channel's failure. */
static PARKS int send_file(struct exec *e, const char *name)
{
    struct vpath path;
    int r = vpath_parse(BYTES_LIT("/"), bytes_str(name), &path);
    if (r < 0)
        return exec_complain(e, name, r);
    struct vfile *file;
    r = vfs_open(e->session->vfs, &path, &file);
    if (r < 0) {
        vpath_done(&path);
        return exec_complain(e, name, r);
    }
    struct xfer_progress progress = {0};
    struct xfer_result moved;
    const struct xfer_request request =
        session_transfer_begin(e->session, "cat", UINT64_MAX, &progress);
    r = xfer_send(file, e->stream, &request, &moved);
    session_transfer_end(e->session, &progress);
    audit(e, &path, &moved, r);
    (void)vfile_close(file);
    vpath_done(&path);
    return r < 0 ? exec_complain(e, name, r) : 0;
}

int exec_cat(struct exec *e)
{
    return exec_each_file(e, send_file);
}
