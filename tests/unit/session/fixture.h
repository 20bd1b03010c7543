/* What a session needs around it: accounts, a root, the shared object. For tasks of the
 * deterministic runtime. */
#pragma once
#include <crypt.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime_fixture.h"
#include "session/shared.h"

struct fixture {
    char directory[32];
    struct vroot *root;
    struct auth *auth;
    struct session_settings settings;
    struct session_shared *shared;
};

static inline void fixture_add(struct fixture *f, const char *name, const char *password)
{
    struct account *a = NULL;
    TASK_ASSERT(account_new(bytes_str(name), &a) == 0);
    /* a cheap method: what is tested here is not the hash */
    a->hash = mem_strdup(crypt(password, "$5$rounds=1000$ferry"));
    a->rate_bytes_per_s = 1000;
    TASK_ASSERT(auth_add(f->auth, a) == 0);
}

/* settings of the caller stay, but for what is made here. */
static inline void fixture_init(struct fixture *f)
{
    memcpy(f->directory, "/tmp/ferry-session-XXXXXX", sizeof("/tmp/ferry-session-XXXXXX"));
    TASK_ASSERT(mkdtemp(f->directory) != NULL);
    TASK_ASSERT(vroot_open(f->directory, VROOT_BENEATH, &f->root) == 0);
    TASK_ASSERT(auth_new(runtime_hash_pool(runtime_self()), &f->auth) == 0);
    fixture_add(f, "ann", "right");
    fixture_add(f, "bob", "bobs");
    f->settings.roots = &f->root;
    f->settings.auth = f->auth;
    f->settings.files_pool = runtime_files_pool(runtime_self());
    TASK_ASSERT(session_shared_new(&f->settings, &f->shared) == 0);
}

static inline void fixture_done(struct fixture *f)
{
    TASK_ASSERT(f->shared->limits.sessions == 0);
    TASK_ASSERT(f->shared->limits.unauthenticated == 0);
    TASK_ASSERT(f->shared->limits.host_count == 0);
    TASK_ASSERT(session_count_here() == 0);
    session_shared_free(f->shared);
    auth_free(f->auth);
    vroot_unref(f->root);
    (void)rmdir(f->directory);
}

static inline struct addr fixture_peer(unsigned n)
{
    struct addr a = {.len = sizeof(a.u.v4)};
    a.u.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(4000)};
    a.u.v4.sin_addr.s_addr = htonl(0x7f000000u + n);
    return a;
}

static inline int fixture_enter(struct fixture *f, struct session *s, unsigned host)
{
    struct addr peer = fixture_peer(host), local = fixture_peer(1);
    return session_init(s, f->shared, "ftp", &peer, &local);
}

static inline PARKS int fixture_login(struct session *s, const char *user, const char *password)
{
    struct auth_request request = {.password = {0}};
    memcpy(request.user, user, strlen(user) + 1);
    int r = secret_copy(bytes_str(password), &request.password);
    if (r == 0)
        r = session_login(s, &request);
    secret_done(&request.password);
    return r;
}
