#include "session/session.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "session/shared.h"
#include "session/table.h"

_Static_assert(sizeof(struct session) <= 256, "an idle session costs about a kilobyte in all");

static struct host host_of_peer(const struct session *s)
{
    return host_of(&s->peer.u.any);
}

/* -- what many sessions took goes back to the system when most have gone -- */

#define TRIM_FROM 256 /* sessions of a worker; below that the heap may keep it */

static _Thread_local unsigned most_sessions; /* since memory was given back */

static void run_trim(struct job *job)
{
    (void)job;
    mem_trim();
}

static void free_trim(struct job *job)
{
    mem_free(job);
}

static void give_memory_back(struct pool *pool)
{
    unsigned now = session_count_here();
    if (most_sessions < TRIM_FROM || now > most_sessions / 4)
        return;
    most_sessions = now;
    struct job *job = mem_new(sizeof(*job));
    if (job == NULL)
        return;
    job->run = run_trim;
    job->free = free_trim;
    if (job_post(pool, job, NULL) < 0)
        mem_free(job);
}

/* -- life -- */

int session_init(struct session *s, struct session_shared *shared, const char *protocol,
                 const struct addr *peer, const struct addr *local)
{
    usec_t now = clock_now();
    *s = (struct session){.protocol = protocol, .peer = *peer, .local = *local};
    addr_unmap(&s->peer);
    addr_unmap(&s->local);
    struct host host = host_of_peer(s);
    if (bans_has(shared->bans, &host, now))
        return -FERRY_EBANNED;
    int r = limits_enter(&shared->limits, &host);
    if (r < 0)
        return r;
    s->shared = shared;
    s->id = atomic_fetch_add_explicit(&shared->last_id, 1, memory_order_relaxed) + 1;
    s->started_at = s->active_at = now;
    s->login_deadline = clock_after(shared->settings.timeouts.login_us);
    s->doing = "login";
    table_add(s);
    if (session_count_here() > most_sessions)
        most_sessions = session_count_here();
    return 0;
}

/* What session_login() gave. The account goes last: the vfs borrows its rights. */
static void drop_account(struct session *s)
{
    s->vfs = vfs_free(s->vfs);
    pool_share_unref(s->share);
    s->share = NULL;
    account_unref(s->account);
    s->account = NULL;
    mem_free(s->command);
    s->command = NULL;
}

void session_done(struct session *s)
{
    if (s->shared == NULL)
        return;
    if (s->account != NULL)
        session_logout(s);
    struct host host = host_of_peer(s);
    limits_leave(&s->shared->limits, &host);
    table_remove(s);
    give_memory_back(s->shared->settings.files_pool);
    s->shared = NULL;
}

/* -- login -- */

static int open_view(struct session *s, struct account *a)
{
    const struct session_settings *settings = &s->shared->settings;
    int r = pool_share_new(POOL_SESSION_SHARE, &s->share);
    if (r < 0)
        return r;
    struct pool_shares shares = {.session = s->share, .account = a->share};
    return vfs_new(settings->roots[a->root_index], &a->rights, &settings->vfs, a->quota,
                   settings->files_pool, &shares, &s->vfs);
}

/* Takes the account. */
static int enter_account(struct session *s, struct account *a)
{
    int r = open_view(s, a);
    if (r == 0)
        r = limits_login(&s->shared->limits, a);
    s->account = a;
    if (r < 0)
        drop_account(s);
    else
        s->doing = "idle";
    return r;
}

/* One record per outcome; a cancelled login is the end of the session, which has its own. */
static void log_login(const struct session *s, const char *user, const char *how, int result,
                      bool is_banned)
{
    struct log_record r;
    if (result == 0) {
        session_log_begin(s, &r, LOG_INFO, "login");
        log_text(&r, "how", how);
    } else {
        session_log_begin(s, &r, LOG_WARNING, "login-failed");
        log_text(&r, "user", user);
        log_text(&r, "how", how);
        log_err(&r, result);
    }
    log_end(&r);
    if (is_banned) {
        session_log_begin(s, &r, LOG_WARNING, "banned");
        log_us(&r, "seconds", BAN_US);
        log_end(&r);
    }
}

static void tell_login(struct session *s, const char *user, const char *how, int result)
{
    bool is_banned = false;
    if (result == -FERRY_EAUTH) {
        struct host host = host_of_peer(s);
        is_banned = bans_fail(s->shared->bans, &host, clock_now());
    }
    log_login(s, user, how, result, is_banned);
}

int session_login(struct session *s, const struct auth_request *request)
{
    if (s->account != NULL)
        session_logout(s);
    struct account *a;
    struct host host = host_of_peer(s);
    /* a host may have opened many connections before its first guess */
    int r = bans_has(s->shared->bans, &host, clock_now()) ? -FERRY_EBANNED : 0;
    if (r == 0)
        r = auth_check(s->shared->settings.auth, request, &a);
    if (r == -ECANCELED)
        return r;
    if (r == 0)
        r = enter_account(s, a);
    tell_login(s, request->user, "password", r);
    return r;
}

int session_login_account(struct session *s, struct account *a, const char *how)
{
    if (s->account != NULL)
        session_logout(s);
    char user[USER_NAME_MAX + 1];
    text_copy(user, sizeof(user), bytes_str(a->name));
    int r = enter_account(s, a);
    tell_login(s, user, how, r);
    return r;
}

void session_login_failed(struct session *s, const char *user, const char *how)
{
    tell_login(s, user, how, -FERRY_EAUTH);
}

void session_logout(struct session *s)
{
    if (s->account == NULL)
        return;
    limits_logout(&s->shared->limits, s->account);
    drop_account(s);
    s->doing = "login";
    s->login_deadline = clock_after(s->shared->settings.timeouts.login_us);
}

struct pool_share *session_host_share(struct session *s)
{
    struct host host = host_of_peer(s);
    return limits_share(&s->shared->limits, &host);
}
