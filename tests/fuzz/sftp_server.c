/* layers: sftp */
/* What a client may send, to a whole server over an empty tree: no answer is malformed, and
 * none comes twice. Lengths are as in the input, cut as a seed of it says. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/check.h"
#include "base/err.h"
#include "invariant.h"
#include "io/memory.h"
#include "sftp/server.h"
#include "sftp/wire/answer.h"
#include "sftp/wire/request.h"
#include "task/runtime.h"

#define QUOTA_BYTES (1024 * 1024)
#define INPUT_MAX   (64 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char root_path[64];

struct one {
    struct bytes input;
    struct stream *client, *server;
    struct vroot *root;
    struct auth *auth;
    struct session_settings settings;
    struct session_shared *shared;
    struct session session;
    unsigned answers;
};

static void clear(int dir)
{
    DIR *d = fdopendir(dir);
    INVARIANT(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(d), e->d_name, 0) == 0)
            continue;
        (void)fchmodat(dirfd(d), e->d_name, 0700, 0);
        int sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            clear(sub);
        (void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
}

static void remove_root(void)
{
    (void)rmdir(root_path);
}

static void make_root(void)
{
    if (root_path[0] == '\0') {
        (void)snprintf(root_path, sizeof(root_path), "/tmp/ferry-fuzz-%d", getpid());
        INVARIANT(mkdir(root_path, 0755) == 0);
        (void)atexit(remove_root);
    }
}

/* -- the client: one task sends, one reads -- */

static void send_all(void *arg)
{
    struct one *o = arg;
    uint8_t init[16];
    struct wire_writer w = wire_writer_of(init, sizeof(init));
    sftp_init_write(&w, SFTP_VERSION);
    if (stream_write_bytes(o->client, bytes_of(init, w.len)) == 0)
        (void)!stream_write_bytes(o->client, o->input);
    (void)(stream_end(o->client, 0) < 0);
}

static bool read_all(struct stream *s, uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = stream_read(s, data + done, len - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static void read_answers(void *arg)
{
    struct one *o = arg;
    static uint8_t message[SFTP_MESSAGE_MAX];
    uint8_t length[SFTP_LENGTH_BYTES];
    while (read_all(o->client, length, sizeof(length))) {
        size_t len = wire_u32(length);
        struct sftp_answer a;
        INVARIANT(len <= SFTP_PACKET_MAX);
        INVARIANT(read_all(o->client, message, len));
        INVARIANT(sftp_answer_parse(bytes_of(message, len), &a) == 0);
        o->answers++;
    }
}

/* -- the server -- */

static void serve(struct one *o, const struct sftp_settings *settings)
{
    struct sftp_server *server;
    INVARIANT(sftp_server_new(&o->session, o->server, settings, &server) == 0);
    int r;
    do {
        r = sftp_server_run(server);
    } while (r == SFTP_DOZES && stream_wait(o->server, NULL, USEC_NEVER) == 0);
    INVARIANT(r == 0 || r == -FERRY_EPROTO || r == -FERRY_ECLOSED);
    (void)sftp_server_free(server);
}

static void open_session(struct one *o)
{
    struct addr peer;
    struct account *a;
    INVARIANT(vroot_open(root_path, VROOT_BENEATH, &o->root) == 0);
    INVARIANT(auth_new(runtime_hash_pool(runtime_self()), &o->auth) == 0);
    INVARIANT(account_new(BYTES_LIT("ann"), &a) == 0);
    INVARIANT(rights_set(&a->rights, BYTES_LIT("/"), RIGHTS_ALL) == 0);
    INVARIANT(quota_new(QUOTA_BYTES, 100, &a->quota) == 0);
    o->settings = (struct session_settings){
        .roots = &o->root,
        .auth = o->auth,
        .files_pool = runtime_files_pool(runtime_self()),
        .vfs = {.atomic_upload = o->input.len % 2 == 0,
                .file_mode = 0644,
                .directory_mode = 0755},
    };
    INVARIANT(session_shared_new(&o->settings, &o->shared) == 0);
    INVARIANT(addr_parse(BYTES_LIT("127.0.0.1:1"), &peer) == 0);
    INVARIANT(session_init(&o->session, o->shared, "sftp", &peer, &peer) == 0);
    INVARIANT(session_login_account(&o->session, a, "fuzz") == 0);
}

static void run_one(void *arg)
{
    struct one *o = arg;
    const struct sftp_settings settings = {.start = BYTES_LIT("/")};
    struct scope scope;
    uint64_t cut = o->input.len > 0 ? o->input.data[o->input.len - 1] % 4 : 0;
    open_session(o);
    INVARIANT(memory_pair_new(4096, cut, &o->client, &o->server) == 0);
    scope_init(&scope);
    INVARIANT(scope_start(&scope, "sends", TASK_NORMAL, send_all, o, NULL) == 0);
    INVARIANT(scope_start(&scope, "reads", TASK_NORMAL, read_answers, o, NULL) == 0);
    serve(o, &settings);
    o->server = stream_free(o->server);
    INVARIANT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    (void)stream_free(o->client);
    session_done(&o->session);
    session_shared_free(o->shared);
    auth_free(o->auth);
    vroot_unref(o->root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct runtime_settings settings = {.deterministic = true, .seed = 1};
    if (len > INPUT_MAX)
        return 0;
    struct one one = {.input = bytes_of(data, len)};
    struct runtime *runtime;
    make_root();
    INVARIANT(runtime_new(&settings, &runtime) == 0);
    INVARIANT(runtime_run(runtime, run_one, &one) == 0);
    (void)runtime_free(runtime);
    INVARIANT(one.answers <= 1 + len / (SFTP_LENGTH_BYTES + 5));
    int dir = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    INVARIANT(dir >= 0);
    clear(dir);
    return 0;
}
