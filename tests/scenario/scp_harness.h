/* The server's end of scp, or of what a test serves instead, over a pair of streams in memory,
 * in the deterministic runtime, and a client that says and expects what the test's script
 * holds. What comes is cut anywhere, by the seed. */
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "scp/scp.h"

#define AUDIT_MAX 8192

struct harness;

struct step {
    struct bytes says, hears;
    void (*does)(struct harness *);
};

#define SAYS(text)                                                                             \
    {                                                                                          \
        .says = {(const uint8_t *)("" text), sizeof(text) - 1 }                                \
    }
#define HEARS(text)                                                                            \
    {                                                                                          \
        .hears = {(const uint8_t *)("" text), sizeof(text) - 1 }                               \
    }
#define DOES(fn)                                                                               \
    {                                                                                          \
        .does = (fn)                                                                           \
    }

struct harness {
    struct scp_options options;
    /* NULL: scp, as the next two say */
    PARKS int (*serves)(struct harness *, struct session *);
    const char *target; /* of `scp -t`; NULL: names, of `scp -f` */
    struct bytes names;
    const struct step *steps;
    unsigned count;
    bool leaves; /* the client goes away instead of reading what is left */
    uint64_t quota_bytes;
    uint64_t seed, cut; /* cut 0: nothing is cut */
    enum fault_kind fault;
    uint64_t nth; /* 0: none */

    char root[32];
    struct quota *quota;
    size_t rest;    /* bytes that came behind the last step */
    uint8_t *keeps; /* the first of them, so many; or NULL */
    size_t keeps_max;
    unsigned heard;   /* steps that came to pass */
    uint64_t counted; /* calls of the fault's kind */
    int result;
    struct stream *ours, *peers;
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

/* -- files of the tree -- */

static inline const char *path_of(const struct harness *h, const char *name)
{
    static char path[2][128];
    static unsigned turn;
    char *at = path[turn++ % 2];
    (void)snprintf(at, sizeof(path[0]), "%s/%s", h->root, name);
    return at;
}

static inline void put(const struct harness *h, const char *name, struct bytes contents)
{
    int fd = open(path_of(h, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    TASK_ASSERT(fd >= 0 && write(fd, contents.data, contents.len) == (ssize_t)contents.len);
    (void)close(fd);
}

static inline bool holds(const struct harness *h, const char *name, struct bytes contents)
{
    uint8_t data[4096];
    int fd = open(path_of(h, name), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, data, sizeof(data));
    (void)close(fd);
    return n == (ssize_t)contents.len && memcmp(data, contents.data, contents.len) == 0;
}

static inline bool exists(const struct harness *h, const char *name)
{
    struct stat st;
    return lstat(path_of(h, name), &st) == 0;
}

/* Whether an upload that broke off is kept. */
static inline bool has_partial(const struct harness *h)
{
    bool found = false;
    DIR *d = opendir(h->root);
    TASK_ASSERT(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        found = found || strncmp(e->d_name, ".ferry-", 7) == 0;
    closedir(d);
    return found;
}

static inline void root_new(struct harness *h)
{
    memcpy(h->root, "/tmp/ferry-scp-XXXXXX", sizeof("/tmp/ferry-scp-XXXXXX"));
    assert_non_null(mkdtemp(h->root));
}

static inline void root_remove(struct harness *h)
{
    char command[64];
    (void)snprintf(command, sizeof(command), "rm -rf %s", h->root);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* -- both ends -- */

static inline bool hears(struct harness *h, struct bytes what)
{
    while (what.len > 0) {
        uint8_t data[256];
        ssize_t n =
            stream_read(h->peers, data, what.len < sizeof(data) ? what.len : sizeof(data));
        if (n <= 0 || memcmp(data, what.data, (size_t)n) != 0)
            return false;
        what = bytes_skip(what, (size_t)n);
    }
    return true;
}

static inline void note_rest(struct harness *h, const uint8_t *data, size_t len)
{
    size_t room = h->keeps != NULL && h->rest < h->keeps_max ? h->keeps_max - h->rest : 0;
    if (room > 0)
        memcpy(h->keeps + h->rest, data, len < room ? len : room);
    h->rest += len;
}

/* Ends with the first step that does not come to pass; then the rest of what is said is read.
 */
static inline void client_task(void *arg)
{
    struct harness *h = arg;
    for (; h->heard < h->count; h->heard++) {
        const struct step *step = &h->steps[h->heard];
        if (step->does)
            step->does(h);
        if (stream_write_bytes(h->peers, step->says) < 0 || !hears(h, step->hears))
            break;
    }
    if (h->leaves) {
        h->peers = stream_free(h->peers);
        return;
    }
    (void)(stream_end(h->peers, 0) < 0);
    uint8_t rest[256];
    ssize_t n;
    while ((n = stream_read(h->peers, rest, sizeof(rest))) > 0)
        note_rest(h, rest, (size_t)n);
}

static inline void dialogue(void *arg)
{
    struct harness *h = arg;
    struct vroot *root;
    struct auth *auth;
    struct session_shared *shared;
    struct session session;
    struct account *a;
    struct addr peer;
    struct scope scope;
    TASK_ASSERT(vroot_open(h->root, VROOT_BENEATH, &root) == 0);
    TASK_ASSERT(auth_new(runtime_hash_pool(runtime_self()), &auth) == 0);
    TASK_ASSERT(account_new(BYTES_LIT("ann"), &a) == 0);
    if (h->quota_bytes != 0)
        TASK_ASSERT(quota_new(h->quota_bytes, 0, &a->quota) == 0);
    h->quota = a->quota;
    const struct session_settings settings = {
        .roots = &root,
        .auth = auth,
        .files_pool = runtime_files_pool(runtime_self()),
        .audit_sink = note_audit,
        .vfs = {.atomic_upload = true,
                .keep_partial = true,
                .file_mode = 0644,
                .directory_mode = 0755},
    };
    TASK_ASSERT(session_shared_new(&settings, &shared) == 0);
    TASK_ASSERT(addr_parse(BYTES_LIT("127.0.0.1:1"), &peer) == 0);
    TASK_ASSERT(session_init(&session, shared, "ssh", &peer, &peer) == 0);
    TASK_ASSERT(session_login_account(&session, a, "test") == 0);
    TASK_ASSERT(memory_pair_new(700, h->cut, &h->ours, &h->peers) == 0);
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "client", TASK_NORMAL, client_task, h, NULL) == 0);
    fault_arm(h->fault, h->nth);
    h->result = h->serves   ? h->serves(h, &session)
                : h->target ? scp_receive(&session, h->ours, &h->options, h->target)
                            : scp_send(&session, h->ours, &h->options, h->names);
    h->counted = fault_count(h->fault);
    fault_arm(h->fault, 0);
    h->ours = stream_free(h->ours);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    h->peers = stream_free(h->peers);
    session_done(&session);
    session_shared_free(shared);
    auth_free(auth);
    vroot_unref(root);
}

static inline void play(struct harness *h)
{
    h->heard = 0;
    h->rest = 0;
    audit_len = 0;
    run_deterministic(h->seed, dialogue, h);
}
