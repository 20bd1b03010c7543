/* An SFTP server over a pair of streams in memory, in the deterministic runtime, and a client
 * in the same one. What comes is cut anywhere, by the seed. */
#pragma once
#include "auth/check.h"
#include "base/mem.h"
#include "runtime_fixture.h"
#include "sftp_asks.h"
#include "sftp_folder.h"

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
