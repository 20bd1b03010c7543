/* layers: tar */
/* What an archive may hold, into a tree of its own: it ends, whatever it is, nothing outside of
 * the directory is made, no temporary file is left, and whom nobody trusts makes files and
 * directories alone. The first byte cuts the stream and says who is trusted. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "invariant.h"
#include "io/memory.h"
#include "tar/tar.h"
#include "task/runtime.h"

#define QUOTA_BYTES (1024 * 1024)
#define QUOTA_FILES 1000
#define INPUT_MAX   (64 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char base[64];

struct one {
    struct bytes input;
    bool is_plain;
    struct stream *ours, *theirs;
    struct vpath directory;
    unsigned complaints;
    uint64_t stored;
};

/* -- the tree -- */

static void clear(int dir, bool is_plain)
{
    DIR *d = fdopendir(dir);
    INVARIANT(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        INVARIANT(strncmp(e->d_name, VFS_TEMP_PREFIX, sizeof(VFS_TEMP_PREFIX) - 1) != 0);
        INVARIANT(fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0);
        INVARIANT((st.st_mode & (S_ISUID | S_ISGID | S_ISVTX)) == 0 || S_ISLNK(st.st_mode));
        INVARIANT(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
                  (!is_plain && S_ISLNK(st.st_mode)));
        if (unlinkat(dirfd(d), e->d_name, 0) == 0)
            continue;
        (void)fchmodat(dirfd(d), e->d_name, 0700, 0);
        int sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            clear(sub, is_plain);
        (void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

static int open_below(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", base, name);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void remove_base(void)
{
    int dir = open_below(".");
    if (dir >= 0)
        clear(dir, false);
    (void)rmdir(base);
}

static void make_directory(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", base, name);
    INVARIANT(mkdir(path, 0755) == 0);
}

static void make_tree(void)
{
    if (base[0] == '\0') {
        (void)snprintf(base, sizeof(base), "%s/ferry-fuzz-XXXXXX",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        INVARIANT(mkdtemp(base) != NULL);
        INVARIANT(atexit(remove_base) == 0);
        make_directory("root");
    }
    make_directory("root/t");
}

/* Beside the directory there is nothing. */
static void check_and_clear(bool is_plain)
{
    DIR *d = fdopendir(open_below("root"));
    INVARIANT(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        INVARIANT(e->d_name[0] == '.' || strcmp(e->d_name, "t") == 0);
    closedir(d);
    clear(open_below("root/t"), is_plain);
    int root = open_below("root");
    INVARIANT(unlinkat(root, "t", AT_REMOVEDIR) == 0);
    (void)close(root);
}

/* -- who watches -- */

static void check_path(struct bytes path)
{
    INVARIANT(bytes_start_with(path, BYTES_LIT("/t")));
    INVARIANT(path.len == 2 || path.data[2] == '/');
    while (path.len > 0)
        INVARIANT(!bytes_equal(bytes_take_until(&path, '/'), BYTES_LIT("..")));
}

static struct xfer_request begin(void *arg, uint64_t length, struct xfer_progress *progress)
{
    (void)arg;
    return (struct xfer_request){
        .length = length, .stall_us = 60 * USEC_PER_S, .progress = progress};
}

static void end(void *arg, const struct xfer_progress *progress)
{
    (void)arg, (void)progress;
}

static void moved(void *arg, const char *operation, struct bytes path,
                  const struct xfer_result *result, int error)
{
    struct one *o = arg;
    (void)operation;
    check_path(path);
    o->stored += error == 0 ? result->file_bytes : 0;
}

static void made(void *arg, struct bytes path, bool is_new)
{
    (void)arg, (void)is_new;
    check_path(path);
}

static int complain(void *arg, const char *path, int error)
{
    struct one *o = arg;
    INVARIANT(path != NULL && error < 0);
    o->complaints++;
    return 0;
}

static int on_link(void *arg, const char *path)
{
    struct one *o = arg;
    struct vpath at;
    INVARIANT(o->is_plain && path[0] != '/' && path[0] != '\0');
    INVARIANT(vpath_parse(vpath_bytes(&o->directory), bytes_str(path), &at) == 0);
    check_path(vpath_bytes(&at));
    vpath_done(&at);
    return 0;
}

/* -- one archive -- */

static void say_all(void *arg)
{
    struct one *o = arg;
    (void)(stream_write_bytes(o->theirs, o->input) < 0); /* it may have gone */
    (void)(stream_end(o->theirs, 0) < 0);
}

static void unpack(struct one *o, struct vfs *vfs)
{
    static const struct tar_watch watch = {
        .begin = begin, .end = end, .moved = moved, .made = made};
    const struct tar_request request = {
        .vfs = vfs,
        .stream = o->ours,
        .watch = &watch,
        .watch_arg = o,
        .complain = complain,
        .arg = o,
        .directory = &o->directory,
        .keeps_modes = true,
        .trust = o->is_plain ? TAR_PLAIN_ONLY : TAR_AS_ASKED,
        .link = on_link,
    };
    int r = tar_extract(&request);
    INVARIANT(r <= 1 && (r != 0 || o->complaints == 0) && (r != 1 || o->complaints > 0));
}

static void run_one(void *arg)
{
    struct one *o = arg;
    char path[128];
    struct vroot *root;
    struct vfs *vfs;
    struct quota *quota;
    struct rights rights;
    struct scope scope;
    const struct vfs_policy policy = {
        .atomic_upload = true, .file_mode = 0644, .directory_mode = 0755};
    uint64_t cut = o->input.len > 0 ? o->input.data[0] % 4 : 0;
    o->is_plain = o->input.len > 0 && (o->input.data[0] & 4) != 0;
    o->input = bytes_skip(o->input, 1);
    (void)snprintf(path, sizeof(path), "%s/root", base);
    rights_init(&rights, RIGHTS_ALL);
    INVARIANT(vroot_open(path, VROOT_BENEATH, &root) == 0);
    INVARIANT(quota_new(QUOTA_BYTES, QUOTA_FILES, &quota) == 0);
    INVARIANT(vfs_new(root, &rights, &policy, quota, runtime_files_pool(runtime_self()), NULL,
                      &vfs) == 0);
    INVARIANT(vpath_parse(BYTES_LIT("/"), BYTES_LIT("t"), &o->directory) == 0);
    INVARIANT(memory_pair_new(4096, cut, &o->ours, &o->theirs) == 0);
    scope_init(&scope);
    INVARIANT(scope_start(&scope, "says", TASK_NORMAL, say_all, o, NULL) == 0);
    unpack(o, vfs);
    (void)stream_free(o->ours);
    INVARIANT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    (void)stream_free(o->theirs);
    vpath_done(&o->directory);
    (void)vfs_free(vfs);
    quota_unref(quota);
    vroot_unref(root);
    rights_done(&rights);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct runtime_settings settings = {.deterministic = true, .seed = 1};
    if (len > INPUT_MAX)
        return 0;
    struct one one = {.input = bytes_of(data, len)};
    struct runtime *runtime;
    make_tree();
    INVARIANT(runtime_new(&settings, &runtime) == 0);
    INVARIANT(runtime_run(runtime, run_one, &one) == 0);
    (void)runtime_free(runtime);
    check_and_clear(one.is_plain);
    return 0;
}
