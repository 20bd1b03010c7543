/* layers: client */
/* scp's client as a program, for tests against other programs that are `scp -f` and `scp -t`:
 *
 *     scp_engine [-r] [-p] [-d] [-g] command get|put PATH...    prints what a server is to run
 *     scp_engine [-r] [-p] [-g] get DIRECTORY PATH...
 *     scp_engine [-p] put PATH
 *
 * The dialogue is on standard input and output. DIRECTORY, and PATH of a put, are local and
 * absolute; -g: the paths are patterns. What is complained of goes to standard error; the
 * status is 1 if something was, and 3 for a dialogue that failed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "io/fd_stream.h"
#include "scp/client.h"
#include "sftp/client.h"
#include "task/runtime.h"
#include "task/sys.h"
#include "vfs/vfs.h"
#include "vfs/walk.h"

#define STALL_US  (30 * USEC_PER_S)
#define PATHS_MAX 16
#define DEPTH_MAX 256

struct engine {
    struct scp_request request;
    struct scp_path paths[PATHS_MAX];
    bool is_pattern;
    const char *verb, *local;

    struct vroot *root;
    struct vfs *vfs;
    struct vfs_policy policy;
    struct rights rights;

    /* get */
    struct scp_file file;
    struct sftp_local writes;
    unsigned depth;
    struct scp_file directories[DEPTH_MAX];
    char path[8192]; /* of the directory that is received into, then of what is in it */
    int result;
};

/* -- local files -- */

static int open_root(struct engine *e)
{
    e->policy = (struct vfs_policy){.file_mode = 0644, .directory_mode = 0755};
    rights_init(&e->rights, RIGHTS_ALL);
    int r = vroot_open("/", VROOT_BENEATH, &e->root);
    if (r == 0)
        r = vfs_new(e->root, &e->rights, &e->policy, NULL, runtime_files_pool(runtime_self()),
                    NULL, &e->vfs);
    return r;
}

static int path_of(struct engine *e, struct bytes name, struct vpath *ret)
{
    (void)snprintf(e->path, sizeof(e->path), "%s/%.*s", e->local, (int)name.len,
                   (const char *)name.data);
    return vpath_parse(BYTES_LIT("/"), bytes_str(e->path), ret);
}

static int set_attributes(struct engine *e, const struct scp_file *f)
{
    const struct vattr attr = {.has_mode = e->request.keeps_times,
                               .mode = f->mode,
                               .has_times = f->has_times,
                               .mtime_us = f->mtime_us,
                               .atime_us = f->atime_us};
    struct vpath path;
    int r = path_of(e, f->name, &path);
    if (r == 0) {
        r = vfs_set(e->vfs, &path, false, &attr);
        vpath_done(&path);
    }
    return r;
}

/* -- get -- */

static int skip(int error, char ret_why[SCP_CLIENT_WHY_MAX])
{
    if (error == 0 || error == -ECANCELED)
        return error;
    (void)snprintf(ret_why, SCP_CLIENT_WHY_MAX, "%s", err_text(error));
    fprintf(stderr, "skipped: %s\n", ret_why);
    return SCP_SKIP;
}

static int on_directory(void *arg, const struct scp_file *f, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct engine *e = arg;
    struct vpath path;
    int r = path_of(e, f->name, &path);
    if (r == 0) {
        r = vfs_mkdir(e->vfs, &path);
        vpath_done(&path);
    }
    if (r == 0)
        e->directories[e->depth++] = *f; /* its name stays where the path is made */
    return skip(r, ret_why);
}

static int on_directory_end(void *arg, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct engine *e = arg;
    return skip(set_attributes(e, &e->directories[--e->depth]), ret_why);
}

static int on_file(void *arg, const struct scp_file *f, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct engine *e = arg;
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE};
    struct vpath path;
    int r = path_of(e, f->name, &path);
    if (r == 0) {
        r = vfs_upload_begin(e->vfs, &path, &request, &e->writes.upload);
        vpath_done(&path);
    }
    if (r == 0) {
        e->file = *f;
        e->writes.file = vupload_file(e->writes.upload);
        e->writes.stall_us = STALL_US;
    }
    return skip(r, ret_why);
}

static int on_data(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                   unsigned count)
{
    struct engine *e = arg;
    return sftp_local_sink(&e->writes, offset, chunk, pieces, count);
}

static int on_file_end(void *arg, int result, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct engine *e = arg;
    if (result < 0) {
        vupload_break(e->writes.upload, 0);
        return 0;
    }
    int r = vupload_commit(e->writes.upload, e->file.size_bytes);
    return skip(r < 0 ? r : set_attributes(e, &e->file), ret_why);
}

static void on_complaint(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "complaint: %s\n", text);
}

static const struct scp_sink_ops sink = {
    .directory_begin = on_directory,
    .directory_end = on_directory_end,
    .file_begin = on_file,
    .data = on_data,
    .file_end = on_file_end,
    .complaint = on_complaint,
};

/* -- put -- */

static struct scp_file file_of(const struct engine *e, const struct vstat *st,
                               struct bytes path)
{
    size_t at;
    while (bytes_find(path, '/', &at))
        path = bytes_skip(path, at + 1);
    return (struct scp_file){.name = path,
                             .size_bytes = st->size_bytes,
                             .mode = st->mode,
                             .has_times = e->request.keeps_times,
                             .mtime_us = st->mtime_us,
                             .atime_us = st->atime_us};
}

static int put_file(struct engine *e, struct scp_put *p, struct bytes name)
{
    struct sftp_local local = {.stall_us = STALL_US};
    struct vpath path;
    int r = vpath_parse(BYTES_LIT("/"), name, &path);
    if (r < 0)
        return r;
    r = vfs_open(e->vfs, &path, &local.file);
    if (r == 0) {
        const struct scp_file file = file_of(e, vfile_stat(local.file), name);
        r = scp_client_put_file(p, &file, sftp_local_source, &local);
        (void)vfile_close(local.file);
    }
    vpath_done(&path);
    return r;
}

static int put_step(struct engine *e, struct scp_put *p, struct vwalk *w,
                    const struct vwalk_step *step)
{
    struct scp_file file;
    int r = 0;
    switch (step->kind) {
    case VWALK_ENTER:
        file = file_of(e, &step->stat, step->path);
        r = scp_client_put_push(p, &file);
        if (r == SCP_SKIP)
            vwalk_skip(w);
        break;
    case VWALK_LEAVE:
        r = scp_client_put_pop(p);
        break;
    case VWALK_ENTRY:
        r = put_file(e, p, step->path);
        break;
    case VWALK_FAILED:
        r = step->error;
    }
    return r < 0 ? r : 0;
}

static int put_tree(struct engine *e, struct scp_put *p, const struct vpath *top)
{
    struct vwalk *w;
    struct vwalk_step step;
    int r = vwalk_new(e->vfs, top, &w);
    if (r < 0)
        return r;
    while ((r = vwalk_next(w, &step)) > 0) {
        r = put_step(e, p, w, &step);
        if (r < 0)
            break;
    }
    (void)vwalk_free(w);
    return r;
}

static int put(struct engine *e, struct stream *stream)
{
    struct scp_put *p;
    struct vpath top;
    int r = scp_client_put_begin(stream, on_complaint, NULL, &p);
    if (r < 0)
        return r;
    r = vpath_parse(BYTES_LIT("/"), bytes_str(e->local), &top);
    if (r == 0) {
        r = put_tree(e, p, &top);
        if (r == -ENOTDIR)
            r = put_file(e, p, bytes_str(e->local));
        vpath_done(&top);
    }
    int all = scp_client_put_end(p);
    return r < 0 ? r : all;
}

/* -- the program -- */

static int print_command(const struct engine *e)
{
    struct buf out;
    buf_init(&out, 65536);
    int r = strcmp(e->local, "get") == 0 ? scp_client_get_command(&e->request, &out)
                                         : scp_client_put_command(&e->request, &out);
    if (r == 0)
        printf("%.*s", (int)out.len, (const char *)out.data);
    buf_done(&out);
    return r;
}

static int talk(struct engine *e)
{
    struct stream *stream;
    int r = fd_stream_new(STDIN_FILENO, STDOUT_FILENO, STALL_US, &stream);
    if (r < 0)
        return r;
    r = strcmp(e->verb, "get") == 0 ? scp_client_get(stream, &e->request, &sink, e)
                                    : put(e, stream);
    (void)stream_free(stream);
    return r;
}

static void engine_main(void *arg)
{
    struct engine *e = arg;
    e->result = open_root(e);
    if (e->result == 0)
        e->result = strcmp(e->verb, "command") == 0 ? print_command(e) : talk(e);
    if (e->result < 0)
        fprintf(stderr, "scp_engine: %s\n", err_text(e->result));
    (void)vfs_free(e->vfs);
    vroot_unref(e->root);
    rights_done(&e->rights);
}

static bool read_options(struct engine *e, int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "rpdg")) != -1) {
        e->request.is_recursive |= option == 'r';
        e->request.keeps_times |= option == 'p';
        e->request.needs_directory |= option == 'd';
        e->is_pattern |= option == 'g';
        if (option == '?')
            return false;
    }
    if (argc - optind < 2 || argc - optind - 2 > PATHS_MAX)
        return false;
    e->verb = argv[optind];
    e->local = argv[optind + 1];
    for (int i = optind + 2; i < argc; i++)
        e->paths[e->request.count++] = (struct scp_path){bytes_str(argv[i]), e->is_pattern};
    e->request.paths = e->paths;
    e->request.entries_max = 100000;
    e->request.bytes_max = INT64_MAX;
    return true;
}

int main(int argc, char **argv)
{
    static struct engine e;
    const struct runtime_settings settings = {.workers = 1};
    struct runtime *runtime;
    if (!read_options(&e, argc, argv)) {
        fputs("usage: scp_engine [-rpdg] command get|put PATH... | get DIRECTORY PATH... | "
              "put PATH\n",
              stderr);
        return 2;
    }
    if (runtime_signals_setup() < 0 || runtime_new(&settings, &runtime) < 0)
        return 3;
    int r = runtime_run(runtime, engine_main, &e);
    (void)runtime_free(runtime);
    return r < 0 || e.result < 0 ? 3 : e.result;
}
