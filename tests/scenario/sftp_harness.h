/* An SFTP server over a pair of streams in memory, in the deterministic runtime, and a client
 * in the same one. What comes is cut anywhere, by the seed. */
#pragma once
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/check.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "sftp/server.h"
#include "sftp/wire/answer.h"
#include "sftp/wire/request.h"

#define AUDIT_MAX 16384

struct harness {
    const char *root; /* a folder that is there */
    uint64_t seed;
    uint64_t cut;    /* 0: nothing is cut */
    size_t cap;      /* of the pair; 0: 64 KB */
    unsigned rights; /* 0: all */
    bool pauses;     /* before each request, so that the server dozes */
    bool is_plain;   /* uploads go to their name at once */
    uint64_t quota_bytes;
    struct sftp_settings settings;
    enum fault_kind fault;
    uint64_t nth;     /* 0: none */
    uint64_t counted; /* calls of that kind */
    void (*client)(struct harness *);
    void *state;

    struct stream *stream; /* the client's end */
    struct sftp_server *server;
    struct stream *server_stream;
    int result; /* of the server's last run */
    unsigned dozed;
    bool has_ended;
    bool is_dropped; /* by the client: the server is freed where it dozes */
    uint32_t last_id;
    struct sftp_answer answer; /* the last one; it lies in message */
    uint8_t message[SFTP_MESSAGE_MAX];
};

static char audit_lines[AUDIT_MAX];
static size_t audit_len;

static inline void note_audit(const char *line, size_t len)
{
    if (audit_len + len < AUDIT_MAX)
        memcpy(audit_lines + audit_len, line, len);
    audit_len += len;
    audit_lines[audit_len < AUDIT_MAX ? audit_len : AUDIT_MAX - 1] = '\0';
}

/* -- the client -- */

static inline bool read_all(struct stream *s, uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = stream_read(s, data + done, len - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* The next answer; false: the server has gone. */
static inline bool client_receive(struct harness *h)
{
    uint8_t length[SFTP_LENGTH_BYTES];
    if (!read_all(h->stream, length, sizeof(length)))
        return false;
    size_t len = wire_u32(length);
    TASK_ASSERT(len <= sizeof(h->message));
    if (!read_all(h->stream, h->message, len))
        return false;
    TASK_ASSERT(sftp_answer_parse(bytes_of(h->message, len), &h->answer) == 0);
    return true;
}

static inline bool client_write(struct harness *h, struct bytes data)
{
    return stream_write_bytes(h->stream, data) == 0;
}

/* Sends a request, which gets an id, without waiting for its answer. */
static inline bool client_send(struct harness *h, struct sftp_request q)
{
    static uint8_t request[SFTP_MESSAGE_MAX + SFTP_LENGTH_BYTES];
    if (h->pauses)
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
    struct wire_writer w = wire_writer_of(request, sizeof(request));
    q.id = ++h->last_id;
    sftp_request_write(&w, &q);
    TASK_ASSERT(wire_write_end(&w) == 0);
    return client_write(h, bytes_of(request, w.len));
}

/* -1: the server has gone; else the type of the answer. */
static inline int client_ask(struct harness *h, struct sftp_request q)
{
    if (!client_send(h, q) || !client_receive(h))
        return -1;
    TASK_ASSERT(h->answer.id == h->last_id);
    return (int)h->answer.type;
}

/* The status of an answer that is one; -1 where it is none or nobody answers. */
static inline int client_status(struct harness *h, struct sftp_request q)
{
    int type = client_ask(h, q);
    return type == SFTP_STATUS ? (int)h->answer.status : -1;
}

static inline bool client_begin(struct harness *h)
{
    uint8_t request[16];
    struct wire_writer w = wire_writer_of(request, sizeof(request));
    sftp_init_write(&w, SFTP_VERSION);
    return client_write(h, bytes_of(request, w.len)) && client_receive(h) &&
           h->answer.type == SFTP_VERSION_ANSWER;
}

struct client_handle {
    uint8_t data[SFTP_HANDLE_BYTES];
};

static inline struct bytes handle_bytes(const struct client_handle *handle)
{
    return bytes_of(handle->data, sizeof(handle->data));
}

static inline int client_open_as(struct harness *h, enum sftp_kind kind, const char *path,
                                 uint32_t flags, struct client_handle *ret)
{
    int type = client_ask(
        h, (struct sftp_request){.kind = kind, .path = bytes_str(path), .flags = flags});
    if (type == SFTP_HANDLE) {
        TASK_ASSERT(h->answer.handle.len == SFTP_HANDLE_BYTES);
        memcpy(ret->data, h->answer.handle.data, SFTP_HANDLE_BYTES);
        return SFTP_OK;
    }
    return type == SFTP_STATUS ? (int)h->answer.status : -1;
}

static inline int client_open(struct harness *h, const char *path, uint32_t flags,
                              struct client_handle *ret)
{
    return client_open_as(h, SFTP_KIND_OPEN, path, flags, ret);
}

#define CLIENT_CREATES (SFTP_OPEN_WRITE | SFTP_OPEN_CREATE | SFTP_OPEN_TRUNCATE)

static inline int client_close(struct harness *h, const struct client_handle *handle)
{
    return client_status(
        h, (struct sftp_request){.kind = SFTP_KIND_CLOSE, .handle = handle_bytes(handle)});
}

static inline int client_put(struct harness *h, const struct client_handle *handle,
                             uint64_t offset, struct bytes data)
{
    return client_status(h, (struct sftp_request){.kind = SFTP_KIND_WRITE,
                                                  .handle = handle_bytes(handle),
                                                  .offset = offset,
                                                  .len = data.len,
                                                  .data = data});
}

/* SFTP_DATA or SFTP_STATUS. */
static inline int client_get(struct harness *h, const struct client_handle *handle,
                             uint64_t offset, uint32_t len)
{
    return client_ask(h, (struct sftp_request){.kind = SFTP_KIND_READ,
                                               .handle = handle_bytes(handle),
                                               .offset = offset,
                                               .len = len});
}

static inline int client_path(struct harness *h, enum sftp_kind kind, const char *path)
{
    return client_ask(h, (struct sftp_request){.kind = kind, .path = bytes_str(path)});
}

static inline int client_paths(struct harness *h, enum sftp_kind kind, const char *path,
                               const char *to)
{
    return client_status(
        h, (struct sftp_request){.kind = kind, .path = bytes_str(path), .to = bytes_str(to)});
}

static inline bool put_file(struct harness *h, const char *path, struct bytes data)
{
    struct client_handle handle;
    return client_open(h, path, CLIENT_CREATES, &handle) == SFTP_OK &&
           client_put(h, &handle, 0, data) == SFTP_OK && client_close(h, &handle) == SFTP_OK;
}

/* -- the server -- */

struct harness_server {
    struct harness *h;
    struct vroot *root;
    struct auth *auth;
    struct session_settings settings;
    struct session_shared *shared;
    struct session session;
    struct scope scope;
};

static inline void serve_end(struct harness *h)
{
    h->has_ended = true;
    h->server = sftp_server_free(h->server);
    h->server_stream = stream_free(h->server_stream);
}

static inline void serve_task(void *arg)
{
    struct harness_server *s = arg;
    struct harness *h = s->h;
    do {
        h->result = sftp_server_run(h->server);
        if (h->result == SFTP_DOZES) {
            h->dozed++;
            if (stream_wait(h->server_stream, NULL, USEC_NEVER) < 0)
                break;
        }
    } while (h->result == SFTP_DOZES && !h->is_dropped);
    serve_end(h);
}

static inline void open_session(struct harness *h, struct harness_server *s)
{
    struct addr peer;
    struct account *a = NULL;
    TASK_ASSERT(vroot_open(h->root, VROOT_BENEATH, &s->root) == 0);
    TASK_ASSERT(auth_new(runtime_hash_pool(runtime_self()), &s->auth) == 0);
    TASK_ASSERT(account_new(BYTES_LIT("ann"), &a) == 0);
    TASK_ASSERT(
        rights_set(&a->rights, BYTES_LIT("/"), h->rights != 0 ? h->rights : RIGHTS_ALL) == 0);
    if (h->quota_bytes != 0)
        TASK_ASSERT(quota_new(h->quota_bytes, 0, &a->quota) == 0);
    s->settings = (struct session_settings){
        .roots = &s->root,
        .auth = s->auth,
        .files_pool = runtime_files_pool(runtime_self()),
        .audit_sink = note_audit,
        .vfs = {.atomic_upload = !h->is_plain,
                .sendfile = true,
                .file_mode = 0644,
                .directory_mode = 0755},
    };
    TASK_ASSERT(session_shared_new(&s->settings, &s->shared) == 0);
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:1"), &peer) == 0);
    TASK_ASSERT(session_init(&s->session, s->shared, "sftp", &peer, &peer) == 0);
    TASK_ASSERT(session_login_account(&s->session, a, "test") == 0);
}

static inline void harness_main(void *arg)
{
    struct harness *h = arg;
    struct harness_server s = {.h = h};
    open_session(h, &s);
    TASK_ASSERT(memory_pair_new(h->cap != 0 ? h->cap : 64 * 1024, h->cut, &h->stream,
                                &h->server_stream) == 0);
    TASK_ASSERT(sftp_server_new(&s.session, h->server_stream, &h->settings, &h->server) == 0);
    scope_init(&s.scope);
    fault_arm(h->fault, h->nth);
    int r = scope_start(&s.scope, "sftp", TASK_NORMAL, serve_task, &s, NULL);
    TASK_ASSERT(r == 0 || h->nth != 0);
    if (r == 0)
        h->client(h);
    else
        serve_end(h);
    h->counted = fault_count(h->fault);
    h->stream = stream_free(h->stream);
    TASK_ASSERT(scope_wait(&s.scope, USEC_NEVER) == 0);
    fault_arm(h->fault, 0);
    scope_leave(&s.scope);
    session_done(&s.session);
    session_shared_free(s.shared);
    auth_free(s.auth);
    vroot_unref(s.root);
}

static inline void harness_run(struct harness *h)
{
    h->dozed = 0;
    h->has_ended = false;
    h->last_id = 0;
    audit_len = 0;
    audit_lines[0] = '\0';
    run_deterministic(h->seed, harness_main, h);
}

/* -- folders -- */

static inline const char *make_root(const char *name)
{
    static char path[64];
    (void)snprintf(path, sizeof(path), "/tmp/ferry-%s-%d", name, getpid());
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

/* Of a folder with files, and folders that are empty. Returns how many names were left. */
static inline unsigned clear_folder(const char *path)
{
    unsigned count = 0;
    DIR *d = opendir(path);
    if (d == NULL)
        return 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (void)(unlinkat(dirfd(d), e->d_name, 0) == 0 ||
               unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR));
        count++;
    }
    closedir(d);
    return count;
}

static inline unsigned remove_root(const char *path)
{
    unsigned count = clear_folder(path);
    assert_int_equal(rmdir(path), 0);
    return count;
}

static inline struct bytes pattern_of(size_t len)
{
    static uint8_t data[2 * 1024 * 1024];
    TASK_ASSERT(len <= sizeof(data));
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)(i * 31 + i / 251);
    return bytes_of(data, len);
}
