#include "bench/peers/peer_install.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "bench/peers/peer_place.h"
#include "bench/peers/peer_program.h"
#include "task/sys.h"

#define OUTPUT_MAX  (1024 * 1024)
#define NAMES_MAX   64
#define PATH_BYTES  (STAGE_PATH_MAX + 256)
#define UPDATE_US   (300 * USEC_PER_S)
#define DOWNLOAD_US (600 * USEC_PER_S)
#define SIMULATE_US (60 * USEC_PER_S)
#define UNPACK_US   (120 * USEC_PER_S)
#define APT_GET     "/usr/bin/apt-get"
#define DPKG_DEB    "/usr/bin/dpkg-deb"
#define PYTHON      "/usr/bin/python3"

/* One peer on its way: NAME.tmp holds what is unpacked, NAME.tmp/packages what was fetched. */
struct install {
    const struct recipe *recipe;
    char target[PATH_BYTES], tmp[PATH_BYTES], packages[PATH_BYTES];
    struct buf output; /* of the program that ran last */
    const char *names[NAMES_MAX];
    unsigned count;
    char *error;
};

static int say(struct install *in, const char *what, int r)
{
    char last[256];
    text_copy_printable(last, sizeof(last), peer_program_last_words(buf_bytes(&in->output)));
    bool has_words = r == -ECANCELED && last[0] != '\0';
    snprintf(in->error, PEER_INSTALL_ERROR_MAX, "%.200s: %s", what,
             has_words ? last : err_text(r));
    return r;
}

static int run(struct install *in, const char *const argv[], const char *folder, usec_t timeout)
{
    buf_clear(&in->output);
    int r = peer_program_run(argv, folder, timeout, &in->output);
    return r < 0 ? say(in, argv[0], r) : 0;
}

/* -- which packages -- */

/* "Inst NAME (VERSION ...)" is a line of apt's simulation for each that would be installed: the
 * package and what it depends on beyond what this system has. */
static int read_names(struct install *in)
{
    struct bytes rest = buf_bytes(&in->output);
    while (rest.len > 0) {
        struct bytes line = bytes_take_until(&rest, '\n');
        if (!bytes_start_with(line, BYTES_LIT("Inst ")))
            continue;
        line = bytes_skip(line, 5);
        size_t name_end;
        if (in->count == NAMES_MAX || !bytes_find(line, ' ', &name_end))
            return -FERRY_ELIMIT;
        char *name = mem_new(name_end + 1);
        if (name == NULL)
            return -ENOMEM;
        memcpy(name, line.data, name_end);
        in->names[in->count++] = name;
    }
    return 0;
}

static int simulate(struct install *in)
{
    const char *const argv[] = {
        APT_GET, "install", "--simulate", "-qq", "--no-install-recommends", in->recipe->package,
        NULL};
    int r = run(in, argv, "/", SIMULATE_US);
    if (r == 0)
        r = read_names(in);
    if (r == 0 && in->count == 0) {
        buf_clear(&in->output);
        r = say(in, "apt-get names no package", -ENOENT);
    }
    return r;
}

/* A system whose lists are missing or old finds nothing, or what is no longer there. */
static int find_names(struct install *in, FILE *out)
{
    if (simulate(in) == 0)
        return 0;
    const char *const argv[] = {APT_GET, "update", "-qq", NULL};
    fprintf(out, "  apt-get update\n");
    fflush(out);
    int r = run(in, argv, "/", UPDATE_US);
    return r == 0 ? simulate(in) : r;
}

/* -- fetching and unpacking -- */

static int download_once(struct install *in)
{
    const char *argv[NAMES_MAX + 5] = {APT_GET, "download", "-q", "-oAPT::Sandbox::User=root"};
    memcpy(argv + 4, in->names, in->count * sizeof(in->names[0]));
    return run(in, argv, in->packages, DOWNLOAD_US);
}

static int download(struct install *in, FILE *out)
{
    fprintf(out, "  apt-get download");
    for (unsigned i = 0; i < in->count; i++)
        fprintf(out, " %s", in->names[i]);
    fprintf(out, "\n");
    fflush(out);
    if (download_once(in) == 0)
        return 0;
    /* Debian's mirrors forget a version when there is a newer one. */
    const char *const argv[] = {APT_GET, "update", "-qq", NULL};
    int r = run(in, argv, "/", UPDATE_US);
    return r == 0 ? download_once(in) : r;
}

static int unpack_one(struct install *in, const char *file)
{
    char path[PATH_BYTES + 256];
    snprintf(path, sizeof(path), "%s/%s", in->packages, file);
    const char *const argv[] = {DPKG_DEB, "--extract", path, in->tmp, NULL};
    return run(in, argv, "/", UNPACK_US);
}

static int unpack(struct install *in)
{
    struct buf files; /* names, each with its NUL */
    buf_init(&files, OUTPUT_MAX);
    int r = folder_list(in->packages, &files);
    size_t name_len;
    for (size_t at = 0; r == 0 && at < files.len; at += name_len + 1) {
        const char *name = (const char *)files.data + at;
        name_len = strlen(name);
        r = unpack_one(in, name);
    }
    buf_done(&files);
    return r;
}

/* -- the peer as a whole -- */

static int write_version(struct install *in)
{
    const char *const argv[] = {"/usr/bin/apt-cache", "show", "--no-all-versions",
                                in->recipe->package, NULL};
    int r = run(in, argv, "/", SIMULATE_US);
    if (r < 0)
        return r;
    struct bytes rest = buf_bytes(&in->output), version = BYTES_LIT("unknown");
    while (rest.len > 0) {
        struct bytes line = bytes_take_until(&rest, '\n');
        if (bytes_start_with(line, BYTES_LIT("Version: ")))
            version = bytes_skip(line, 9);
    }
    char path[PATH_BYTES + 16];
    snprintf(path, sizeof(path), "%s/" PEERS_VERSION_FILE, in->tmp);
    return file_write(path, 0644, version);
}

/* What installing does for modules of Python; else each start would translate them anew, and
 * keep what that leaves in memory. */
static int compile_modules(struct install *in)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof(path), "%s/usr/lib/python3/dist-packages", in->tmp);
    if (!file_exists(path))
        return 0;
    const char *const argv[] = {PYTHON,  "-m", "compileall", "-q", "-s",
                                in->tmp, "-p", in->target,   path, NULL};
    return run(in, argv, "/", UNPACK_US);
}

static int put_in_place(struct install *in)
{
    char program[2 * PATH_BYTES];
    snprintf(program, sizeof(program), "%s/%s", in->tmp, in->recipe->program);
    buf_clear(&in->output);
    if (!file_exists(program))
        return say(in, in->recipe->program, -ENOENT);
    folder_remove(in->packages);
    folder_remove(in->target);
    int r = sys_renameat2(AT_FDCWD, in->tmp, AT_FDCWD, in->target, 0);
    return r < 0 ? say(in, in->target, r) : 0;
}

static int install(struct install *in, FILE *out)
{
    folder_remove(in->tmp);
    buf_clear(&in->output);
    int r = folder_make_all(in->packages, 0755);
    if (r < 0)
        return say(in, in->packages, r);
    r = find_names(in, out);
    if (r == 0)
        r = download(in, out);
    if (r == 0)
        r = unpack(in);
    if (r == 0)
        r = compile_modules(in);
    if (r == 0)
        r = write_version(in);
    return r == 0 ? put_in_place(in) : r;
}

int peer_install(const struct recipe *recipe, FILE *out, char error[PEER_INSTALL_ERROR_MAX])
{
    struct install *in = mem_new(sizeof(*in));
    if (in == NULL)
        return -ENOMEM;
    in->recipe = recipe;
    in->error = error;
    buf_init(&in->output, OUTPUT_MAX);
    snprintf(in->target, sizeof(in->target), PEERS_FOLDER "/%s", recipe->name);
    snprintf(in->tmp, sizeof(in->tmp), PEERS_FOLDER "/%s.tmp", recipe->name);
    snprintf(in->packages, sizeof(in->packages), PEERS_FOLDER "/%s.tmp/packages", recipe->name);
    error[0] = '\0';
    int r = 0;
    if (geteuid() != 0)
        r = say(in, "only root can write " PEERS_FOLDER, -EPERM);
    else if (!file_exists(APT_GET) || !file_exists(DPKG_DEB))
        r = say(in, "apt-get and dpkg-deb are needed", -ENOENT);
    else
        r = install(in, out);
    folder_remove(in->tmp);
    for (unsigned i = 0; i < in->count; i++)
        mem_free((void *)(uintptr_t)in->names[i]);
    buf_done(&in->output);
    mem_free(in);
    return r;
}
