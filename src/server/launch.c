#include "server/launch.h"

#include <errno.h>
#include <signal.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "crypto/mac.h"
#include "server/banner.h"
#include "server/control.h"
#include "server/journal.h"
#include "server/notify.h"
#include "server/own_ports.h"
#include "server/privileges.h"
#include "server/sandbox.h"
#include "server/server.h"
#include "server/services.h"
#include "server/ssh_keys.h"
#include "server/state_dir.h"
#include "task/sys.h"

struct launch {
    struct server server;
    struct identity identity;
    struct state_dir state;
    struct sandbox_rules rules;
    struct own_ports own_ports; /* for listeners without a range */
};

static void on_lag(const char *task_name, usec_t us)
{
    struct log_record r;
    log_begin(&r, LOG_WARNING, "lag");
    log_text(&r, "task", task_name);
    log_us(&r, "seconds", us);
    log_end(&r);
}

/* -- opening -- */

static int open_signals(struct server *server, struct refusal *why)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGHUP);
    server->signal_fd = sys_signalfd(&signals);
    return server->signal_fd < 0 ? refuse(why, "signals: %s", err_text(server->signal_fd)) : 0;
}

static int open_runtime(struct server *server, struct refusal *why)
{
    const struct runtime_settings settings = {.workers = server->settings->workers};
    int r = runtime_new(&settings, &server->runtime);
    if (r < 0)
        return refuse(why, "runtime: %s", err_text(r));
    runtime_on_lag(server->runtime, on_lag);
    return 0;
}

static struct ftp_service service_of(const struct listener_setting *l,
                                     const struct own_ports *own)
{
    bool is_own = l->passive_first == 0;
    return (struct ftp_service){.passive_first = is_own ? own->first : l->passive_first,
                                .passive_last = is_own ? own->last : l->passive_last,
                                .passive_step = is_own ? OWN_PORTS_STEP : 1,
                                .passive_is_hint = is_own,
                                .masquerade = l->masquerade};
}

static int open_sessions(struct launch *launch, struct refusal *why)
{
    struct server *server = &launch->server;
    const struct settings *s = server->settings;
    const struct session_settings sessions = {
        .limits = s->limits,
        .ban_failures = s->ban_failures,
        .timeouts = s->timeouts,
        .vfs = s->vfs,
        .roots = server->roots.at,
        .files_pool = runtime_files_pool(server->runtime),
        .auth = server->auth,
        .audit_sink = journal_audit,
    };
    int r = session_shared_new(&sessions, &server->shared);
    if (r < 0)
        return refuse(why, "sessions: %s", err_text(r));
    for (unsigned i = 0; i < s->listener_count; i++) {
        server->services[i] = service_of(&s->listeners[i], &launch->own_ports);
        server->services[i].shared = server->shared;
    }
    return 0;
}

static bool has_ssh(const struct settings *s)
{
    for (unsigned i = 0; i < s->listener_count; i++)
        if (settings_listener_is_ssh(&s->listeners[i]))
            return true;
    return false;
}

static int open_ssh(struct launch *l, struct refusal *why)
{
    struct server *server = &l->server;
    const struct ssh_setting *ssh = &server->settings->ssh;
    const struct ssh_offer_settings offer = {.nistp256 = ssh->nistp256, .legacy = ssh->legacy};
    if (!has_ssh(server->settings))
        return 0;
    int r = ssh_host_keys_load(l->state.fd, ssh, &server->host_keys, why);
    if (r < 0)
        return r;
    r = ssh_offer_new(SSH_SERVER, &offer, &server->offer);
    if (r < 0)
        return refuse(why, "ssh: %s", err_text(r));
    if (ssh->legacy)
        log_event(LOG_WARNING, "legacy_ssh", "reason",
                  "old clients are let choose CBC and SHA-1: who is between may read or change "
                  "what they send");
    server->ssh = (struct ssh_server){
        .shared = server->shared,
        .auth = server->auth,
        .transport = {.role = SSH_SERVER,
                      .offer = server->offer,
                      .pool = runtime_files_pool(server->runtime),
                      .compression = ssh->compression,
                      .codec_pool = runtime_codec_pool(server->runtime),
                      .host_keys = &server->host_keys,
                      .rekey_bytes = ssh->rekey_bytes,
                      .rekey_us = ssh->rekey_us},
        .services = services_ssh,
    };
    return 0;
}

static int open_all(struct launch *l, struct refusal *why)
{
    struct server *server = &l->server;
    struct settings *s = server->settings;
    int r = privileges_choose(s, &l->identity, why);
    if (r == 0)
        r = journal_open(s, &l->identity, why);
    if (r == 0)
        r = state_dir_open(s->state_dir, &l->identity, &l->state, why);
    if (r == 0)
        r = open_runtime(server, why);
    if (r == 0)
        r = listeners_open(s, runtime_workers(server->runtime), &server->listeners, why);
    if (r == 0)
        r = control_listen(l->state.fd, &l->identity, &server->control_fd, why);
    if (r == 0)
        r = roots_open(s, &server->roots, why);
    if (r == 0)
        r = accounts_load(s, runtime_hash_pool(server->runtime), &server->auth, why);
    if (r == 0)
        r = open_sessions(l, why);
    if (r == 0)
        r = open_ssh(l, why);
    if (r == 0)
        r = open_signals(server, why);
    return r;
}

static void log_capacity(unsigned descriptors)
{
    struct log_record r;
    log_begin(&r, LOG_INFO, "capacity");
    log_u64(&r, "descriptors", descriptors);
    log_u64(&r, "tasks_awake", privileges_tasks_awake());
    log_end(&r);
}

static void warn_descriptors(const struct server *server, unsigned have)
{
    unsigned listening = server->listeners.count * server->listeners.workers;
    unsigned need = privileges_descriptors_for(server->settings->limits.sessions, listening);
    if (need <= have)
        return;
    struct log_record r;
    log_begin(&r, LOG_WARNING, "few_descriptors");
    log_u64(&r, "sessions", server->settings->limits.sessions);
    log_u64(&r, "needed", need);
    log_u64(&r, "limit", have);
    log_end(&r);
}

/* -- giving up rights -- */

static void fill_rules(struct launch *l)
{
    const struct settings *s = l->server.settings;
    roots_allow(&l->server.roots, &l->rules);
    sandbox_add_tree(&l->rules, l->state.fd, SANDBOX_WRITE);
    journal_allow(&l->rules);
    bool needs_own = false;
    for (unsigned i = 0; i < s->listener_count; i++) {
        const struct ftp_service *service = &l->server.services[i];
        if (settings_listener_is_ssh(&s->listeners[i]))
            continue;
        if (service->passive_is_hint)
            needs_own = true;
        else
            sandbox_add_ports(&l->rules, service->passive_first, service->passive_last, 1);
    }
    if (needs_own && l->own_ports.first != 0)
        sandbox_add_ports(&l->rules, l->own_ports.first, l->own_ports.last, OWN_PORTS_STEP);
}

/* libcrypto reads its configuration at first use, which must not be after the sandbox. */
static int wake_crypto(void)
{
    const struct bytes part = BYTES_LIT("");
    uint8_t mac[CRYPTO_MAC_BYTES];
    struct crypto_mac_key *key;
    int r = crypto_mac_key_new(BYTES_LIT("key"), &key);
    if (r < 0)
        return r;
    r = crypto_mac(key, &part, 1, mac);
    crypto_mac_key_free(key);
    return r;
}

/* What was opened by one user may be of no use to another. */
static int become(const struct identity *who, const struct roots *roots,
                  const struct settings *s, unsigned *ret_warnings, struct refusal *why)
{
    int r = privileges_drop(who);
    if (r < 0)
        return refuse(why, "giving up privileges: %s", err_text(r));
    *ret_warnings = roots_warn_access(roots, s) + journal_warn_access();
    return 0;
}

static int confine(struct launch *l, struct refusal *why)
{
    fill_rules(l);
    int r = wake_crypto();
    if (r < 0)
        return refuse(why, "libcrypto: %s", err_text(r));
    unsigned warnings;
    r = become(&l->identity, &l->server.roots, l->server.settings, &warnings, why);
    if (r < 0)
        return r;
    int landlock = sandbox_landlock(&l->rules);
    if (landlock == -ENOSYS || landlock == -EOPNOTSUPP)
        log_event(LOG_WARNING, "no_landlock", "reason", err_text(landlock));
    else if (landlock < 0)
        return refuse(why, "Landlock: %s", err_text(landlock));
    r = sandbox_seccomp();
    if (r < 0)
        return refuse(why, "seccomp: %s", err_text(r));

    struct log_record record;
    log_begin(&record, LOG_INFO, "sandbox");
    log_u64(&record, "uid", l->identity.uid);
    log_u64(&record, "landlock", landlock < 0 ? 0 : (uint64_t)landlock);
    log_text(&record, "seccomp", sandbox_has_seccomp() ? "on" : "off in a sanitizer build");
    log_text(&record, "core", privileges_leave_core() ? "on in a debug build" : "off");
    log_end(&record);
    return 0;
}

/* -- running -- */

static void warn_beyond_loopback(const struct settings *s)
{
    bool ftp = false, ssh = false;
    for (unsigned i = 0; i < s->listener_count; i++) {
        if (addr_is_loopback(&s->listeners[i].addr))
            continue;
        ftp |= !settings_listener_is_ssh(&s->listeners[i]);
        ssh |= settings_listener_is_ssh(&s->listeners[i]);
    }
    if (ftp)
        log_event(LOG_WARNING, "cleartext", "reason",
                  "a listener is beyond loopback and there is no TLS in this release: "
                  "passwords and files cross the network in clear");
    if (ssh)
        log_event(LOG_WARNING, "not_audited", "reason",
                  "this ssh is a new implementation that nobody has audited yet");
}

static int run(struct server *server, struct refusal *why)
{
    warn_beyond_loopback(server->settings);
    banner_print(stdout, server->settings);
    settings_forget_passwords(server->settings);
    int r = journal_start();
    if (r == 0)
        r = runtime_run(server->runtime, worker_main, server);
    return r < 0 ? refuse(why, "threads: %s", err_text(r)) : 0;
}

static void close_all(struct launch *l)
{
    struct server *server = &l->server;
    control_done(server);
    server->shared = session_shared_free(server->shared);
    server->offer = ssh_offer_free(server->offer);
    ssh_host_keys_done(&server->host_keys);
    server->auth = auth_free(server->auth);
    roots_close(&server->roots);
    listeners_close(&server->listeners);
    server->runtime = runtime_free(server->runtime);
    if (l->state.lock >= 0)
        control_remove(l->state.fd);
    sys_fd_close(&server->control_fd);
    sys_fd_close(&server->signal_fd);
    sys_fd_close(&server->notify_fd);
    state_dir_close(&l->state);
    identity_done(&l->identity);
    journal_close();
}

int launch(struct settings *settings, const char *notify_socket, struct refusal *why)
{
    struct launch *l = mem_new(sizeof(*l));
    if (l == NULL)
        return refuse(why, "out of memory");
    l->state = (struct state_dir){-1, -1};
    l->server.settings = settings;
    l->server.control_fd = l->server.signal_fd = l->server.notify_fd = -1;
    list_init(&l->server.asks);
    l->own_ports = own_ports_choose();
    worker_parts_init(&l->server);

    unsigned descriptors = privileges_raise_descriptors();
    int r = open_all(l, why);
    if (r == 0) {
        l->server.notify_fd = notify_open(notify_socket);
        log_capacity(descriptors);
        warn_descriptors(&l->server, descriptors);
        r = confine(l, why);
    }
    if (r == 0)
        r = run(&l->server, why);
    close_all(l);
    mem_free(l);
    return r;
}

int launch_check(struct settings *s, unsigned *ret_warnings, struct refusal *why)
{
    struct roots roots = {0};
    struct identity who = {0};
    int r = roots_open(s, &roots, why);
    if (r == 0)
        r = privileges_choose(s, &who, why);
    if (r == 0)
        r = journal_check(s, &who, why);
    if (r == 0)
        r = accounts_check_keys(s, why);
    if (r == 0)
        r = become(&who, &roots, s, ret_warnings, why);
    identity_done(&who);
    roots_close(&roots);
    journal_close();
    return r;
}
