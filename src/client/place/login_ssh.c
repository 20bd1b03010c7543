/* From a place to a logged-in ssh connection. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/place/ask.h"
#include "client/place/cipher_cache.h"
#include "client/place/ciphers.h"
#include "client/place/files.h"
#include "client/place/host_key.h"
#include "client/place/login.h"
#include "client/place/resolve.h"
#include "client/place/ssh_config_load.h"
#include "io/compress.h"
#include "io/tcp.h"
#include "ssh/agent.h"

#define PERSON_US      (120 * USEC_PER_S) /* to look at a fingerprint */
#define PASSWORD_TRIES 3
#define CIPHERS_CAP    1024

/* What lives as long as the link. */
struct link {
    struct ssh_link link; /* first */
    struct ssh_client_settings settings;
    struct ssh_offer *offer;
    struct crypto_key *host_key; /* that was taken, and has to stay */
};

/* What a login needs while it lasts. On the heap, for its size. */
struct login {
    const struct location *location;
    const struct login_settings *settings;
    char *why;
    struct ssh_config_who who;
    struct ssh_config config;
    const char *host, *user; /* that are connected to, and logged in as */
    uint16_t port;
    usec_t connect_us;
    char *known_hosts[SSH_TRUST_FILES_MAX];
    unsigned known_hosts_count;
    struct host_key host_key;
    struct ssh_keys keys;
    struct ssh_agent *agent;
    struct ssh_signer *signers; /* of the agent, as many as may be used */
    struct buf ciphers;
    struct resolved addresses;
    struct link *link;
};

static void tell(const struct login *l, const char *what, const char *word)
{
    if (l->settings->is_verbose)
        fprintf(stderr, "ferry: %s: %s%s\n", l->location->host, what, word);
}

static int refuse(struct login *l, int result, const char *format, ...) PRINTF_LIKE(3, 4);

static int refuse(struct login *l, int result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = snprintf(l->why, LOGIN_WHY_MAX, "%.128s: ", l->location->host);
    (void)vsnprintf(l->why + n, LOGIN_WHY_MAX - (size_t)n, format, args);
    va_end(args);
    return result;
}

/* -- configuration -- */

static const char *local_user(void)
{
    const char *user = getenv("LOGNAME");
    if (user == NULL || user[0] == '\0')
        user = getenv("USER");
    return user != NULL && user[0] != '\0' ? user : "root";
}

static void tell_notes(const struct login *l)
{
    if (l->settings->is_verbose && l->config.notes.len > 0)
        fprintf(stderr, "%.*s", (int)l->config.notes.len, (const char *)l->config.notes.data);
}

static PARKS int load_config(struct login *l)
{
    const char *home = getenv("HOME");
    char why[LOGIN_WHY_MAX / 2];
    l->who = (struct ssh_config_who){.alias = l->location->host,
                                     .local_user = local_user(),
                                     .home = home != NULL ? home : "/",
                                     .remote_user = l->location->user};
    int r = ssh_config_load(&l->config, l->settings->config_file, l->settings->pool,
                            sizeof(why), why);
    if (r < 0)
        return refuse(l, r, "%s", why[0] != '\0' ? why : err_text(r));
    tell_notes(l);
    const struct ssh_config *c = &l->config;
    if (c->has_proxy)
        return refuse(
            l, -EOPNOTSUPP,
            "ssh's configuration reaches it by ProxyJump or ProxyCommand, which ferry "
            "does not support yet; forward a port with ssh -L, or give -F none");
    l->host = c->host_name != NULL ? c->host_name : l->location->host;
    l->user = l->location->user != NULL ? l->location->user
              : c->user != NULL         ? c->user
                                        : l->who.local_user;
    l->port = l->location->port != 0 ? l->location->port : c->port != 0 ? c->port : SSH_PORT;
    l->connect_us = l->settings->connect_us != 0 ? l->settings->connect_us
                    : c->connect_s != 0          ? c->connect_s * USEC_PER_S
                                                 : DEFAULT_CONNECT_US;
    return 0;
}

/* -- whom to trust -- */

static int read_known_hosts(struct login *l)
{
    const struct ssh_config *c = &l->config;
    struct ssh_trust_settings settings = {.host = l->host, .port = l->port};
    for (unsigned i = 0; i < c->known_hosts_count; i++) {
        int r = ssh_config_expand(c, c->known_hosts[i], &l->known_hosts[i]);
        if (r < 0)
            return refuse(l, r, "UserKnownHostsFile %.100s: %s", c->known_hosts[i],
                          err_text(r));
        l->known_hosts_count++;
    }
    if (l->known_hosts_count > 0) {
        settings.files = (const char *const *)l->known_hosts;
        settings.file_count = l->known_hosts_count;
    } else { /* the usual ones are read; a new key goes to the first of them */
        l->known_hosts[0] = place_at_home("/.ssh/known_hosts");
    }
    l->host_key = (struct host_key){.host = l->host,
                                    .port = l->port,
                                    .strict = c->strict,
                                    .may_ask = !l->settings->is_batch && ask_is_possible(),
                                    .hashes = c->hash_known_hosts == SSH_FLAG_YES,
                                    .file = l->known_hosts[0]};
    int r = host_key_init(&l->host_key, &settings);
    return r < 0 ? refuse(l, r, "known_hosts cannot be read: %s", err_text(r)) : 0;
}

/* -- keys -- */

/* Called by what reads a key file, between two parks of this task. */
static PARKS bool ask_passphrase(void *arg, const char *path, struct buf *ret)
{
    char question[256];
    (void)arg;
    (void)snprintf(question, sizeof(question), "Passphrase of the key %.200s: ", path);
    return ask_line(question, true, ret) == 0;
}

/* A key that the user named must be good; one of the configuration is used if it can be. */
static int add_key(struct login *l, const char *path, bool is_given)
{
    int r = ssh_keys_add_file(&l->keys, path, l->host_key.may_ask ? ask_passphrase : NULL, l);
    if (r == 0 || r == -ENOMEM)
        return r;
    if (is_given)
        return refuse(l, r, "the key %.200s cannot be used: %s", path, ssh_keys_why(r));
    if (r != -ENOENT)
        tell(l, "a key of the configuration is left out: ", ssh_keys_why(r));
    return 0;
}

static int add_configured(struct login *l)
{
    const struct ssh_config *c = &l->config;
    int r = 0;
    for (unsigned i = 0; i < c->identity_count && r == 0; i++) {
        char *path;
        r = ssh_config_expand(c, c->identities[i], &path);
        if (r < 0)
            return r == -EINVAL
                       ? refuse(l, r, "IdentityFile %.100s has an unknown %%", c->identities[i])
                       : r;
        r = add_key(l, path, false);
        mem_free(path);
    }
    return r;
}

/* Encrypted ones are not asked about where an agent has keys: they will be among these. */
static int add_keys(struct login *l)
{
    const char *const *given = l->settings->identities;
    int r = 0;
    if (given != NULL) {
        for (; *given != NULL && r == 0; given++)
            r = add_key(l, *given, true);
        return r;
    }
    if (l->config.identity_count > 0)
        return add_configured(l);
    bool asks = l->host_key.may_ask && l->agent == NULL;
    return ssh_keys_add_usual(&l->keys, asks ? ask_passphrase : NULL, l);
}

static bool is_ours(const struct login *l, const struct crypto_key *key)
{
    for (unsigned i = 0; i < l->keys.count; i++)
        if (crypto_key_equal(l->keys.keys[i], key))
            return true;
    return false;
}

static PARKS void ask_agent(struct login *l)
{
    const char *path = getenv("SSH_AUTH_SOCK");
    if (path == NULL || path[0] == '\0')
        return;
    int r = ssh_agent_connect(path, l->connect_us, &l->agent);
    if (r < 0)
        tell(l, "the agent is left out: ", err_text(r));
}

/* With IdentitiesOnly those keys of the agent that are in the files, too. */
static int take_signers(struct login *l)
{
    unsigned count = 0, taken = 0;
    const struct ssh_signer *all =
        l->agent != NULL ? ssh_agent_signers(l->agent, &count) : NULL;
    if (count == 0)
        return 0;
    l->signers = mem_raw(count * sizeof(*l->signers));
    if (l->signers == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++)
        if (l->config.identities_only != SSH_FLAG_YES || is_ours(l, all[i].key))
            l->signers[taken++] = all[i];
    l->link->settings.signers = l->signers;
    l->link->settings.signer_count = taken;
    return 0;
}

/* -- what is offered -- */

static int make_offer(struct login *l)
{
    const char *given = l->settings->ciphers;
    const char *spec = given != NULL ? given : l->config.ciphers;
    cipher_cache_use();
    struct ssh_offer_settings offer = {
        .nistp256 = true,
        .only_host_keys = ssh_trust_host_keys(l->host_key.trust),
    };
    if (spec != NULL) {
        int r = ciphers_resolve(spec, given != NULL, &l->ciphers);
        if (r == -EINVAL || r == -ENOENT)
            return refuse(l, -EINVAL, "no cipher of '%.100s' is known here; see ssh -Q cipher",
                          spec);
        if (r < 0)
            return r;
        offer.only_ciphers = (const char *)l->ciphers.data;
    }
    return ssh_offer_new(SSH_CLIENT, &offer, &l->link->offer);
}

/* -- the login -- */

static PARKS bool ask_password(void *arg, unsigned tries, struct buf *ret)
{
    struct login *l = arg;
    char question[512];
    if (tries == PASSWORD_TRIES)
        return false;
    (void)snprintf(question, sizeof(question),
                   "%sPassword of %.128s at %.255s: ", tries > 0 ? "That was not it. " : "",
                   l->user, l->host);
    bool has_one = ask_line(question, true, ret) == 0;
    l->link->settings.deadline = clock_after(l->connect_us);
    return has_one;
}

/* As struct ssh_transport_settings has it. */
static int choose_compression(const struct login *l)
{
    if (!l->settings->is_codec_given)
        return l->config.compression == SSH_FLAG_YES ? COMPRESS_AUTO : 0;
    return l->settings->codec == CODEC_ZLIB ? l->settings->level : 0;
}

static void fill_settings(struct login *l)
{
    struct ssh_client_settings *s = &l->link->settings;
    const struct login_settings *settings = l->settings;
    s->user = l->user;
    s->keys = l->keys.keys;
    s->key_count = l->keys.count;
    s->ask_password = l->host_key.may_ask ? ask_password : NULL;
    s->ask_arg = l;
    s->stall_us = settings->stall_us != 0 ? settings->stall_us : DEFAULT_STALL_US;
    s->transport.role = SSH_CLIENT;
    s->transport.offer = l->link->offer;
    s->transport.pool = settings->pool;
    s->transport.compression = choose_compression(l);
    s->transport.codec_pool = runtime_codec_pool(runtime_self());
    s->transport.check_host_key = host_key_check;
    s->transport.check_arg = &l->host_key;
}

static int explain_login(struct login *l, int result, const char *why)
{
    char of_key[LOGIN_WHY_MAX];
    host_key_why(&l->host_key, sizeof(of_key), of_key);
    if (result == -FERRY_EAUTH && of_key[0] != '\0')
        return refuse(l, result, "%s", of_key);
    if (result == -FERRY_EAUTH)
        return refuse(l, result,
                      "the login as %.128s failed: %.128s. Give a key with -i, load one with "
                      "ssh-add, or run it on a terminal for the password",
                      l->user, why);
    return refuse(l, result, "no ssh on port %u: %.200s", l->port,
                  why[0] != '\0' ? why : err_text(result));
}

static PARKS int start(struct login *l, struct io_fd *io)
{
    struct ssh_client_settings *s = &l->link->settings;
    char why[SSH_CLIENT_WHY_MAX] = "";
    struct stream *stream;
    /* a question about the key may have to be answered meanwhile */
    bool may_ask = l->host_key.may_ask && ssh_trust_host_keys(l->host_key.trust) == NULL;
    s->deadline = clock_after(l->connect_us + (may_ask ? PERSON_US : 0));
    (void)(tcp_set_nodelay(io) < 0); /* without it, it is slower and no more */
    int r = tcp_stream_new(io, s->stall_us, &stream);
    if (r == 0)
        r = ssh_client_start(s, stream, l->settings->scope, why, &l->link->link.client);
    if (r < 0)
        return r == -ECANCELED ? r : explain_login(l, r, why);
    return 0;
}

static PARKS int connect_and_log_in(struct login *l)
{
    usec_t deadline = clock_after(l->connect_us);
    const char *why;
    struct io_fd *io;
    int r = resolve(l->settings->pool, l->host, l->port, deadline, &l->addresses, &why);
    if (r < 0)
        return refuse(l, r, "there is no address of %.200s: %s", l->host,
                      why[0] != '\0' ? why : err_text(r));
    r = resolved_connect(&l->addresses, deadline, &io);
    if (r < 0)
        return refuse(l, r, "no connection to port %u: %s", l->port, err_text(r));
    tell(l, "connected", "");
    fill_settings(l);
    return start(l, io);
}

static PARKS int prepare(struct login *l)
{
    l->link->link.host = mem_strdup(l->location->host);
    if (l->link->link.host == NULL)
        return -ENOMEM;
    int r = load_config(l);
    if (r == 0)
        r = read_known_hosts(l);
    if (r == 0) {
        ask_agent(l);
        r = add_keys(l);
    }
    if (r == 0)
        r = take_signers(l);
    return r < 0 ? r : make_offer(l);
}

/* When keys are exchanged anew, nobody is asked again. */
static PARKS int check_same_key(void *arg, const struct crypto_key *key, struct bytes blob)
{
    const struct link *link = arg;
    (void)blob;
    return crypto_key_equal(link->host_key, key) ? 0 : -FERRY_EAUTH;
}

static void pin_host_key(struct login *l)
{
    l->link->host_key = l->host_key.taken;
    l->host_key.taken = NULL;
    l->link->settings.transport.check_host_key = check_same_key;
    l->link->settings.transport.check_arg = l->link;
}

static void describe(struct ssh_link *link)
{
    const struct ssh_transport *t = ssh_client_transport(link->client);
    const struct ssh_chosen *chosen = ssh_transport_chosen(t);
    link->connection = ssh_client_connection(link->client);
    link->cipher = ssh_cipher_name(chosen->cipher[SSH_TO_SERVER]);
    link->compression = chosen->compression[SSH_TO_SERVER] == SSH_COMPRESSION_NONE
                            ? "none"
                            : "zlib@openssh.com";
    link->has_compression = chosen->server_has_zlib;
    link->is_ferry = bytes_start_with(bytes_str(ssh_transport_peer_ident(t)->text),
                                      BYTES_LIT("SSH-2.0-ferry_"));
}

static void login_done(struct login *l)
{
    host_key_done(&l->host_key);
    ssh_keys_done(&l->keys);
    (void)ssh_agent_free(l->agent);
    mem_free(l->signers);
    for (unsigned i = 0; i < ARRAY_LEN(l->known_hosts); i++)
        mem_free(l->known_hosts[i]);
    ssh_config_done(&l->config);
    buf_done(&l->ciphers);
    mem_free(l);
}

int ssh_link_open(const struct location *location, const struct login_settings *settings,
                  char ret_why[LOGIN_WHY_MAX], struct ssh_link **ret)
{
    struct login *l = mem_new(sizeof(*l));
    ret_why[0] = '\0';
    if (l == NULL)
        return -ENOMEM;
    l->location = location;
    l->settings = settings;
    l->why = ret_why;
    ssh_config_init(&l->config, &l->who);
    buf_init(&l->ciphers, CIPHERS_CAP);
    l->link = mem_new(sizeof(*l->link));
    int r = l->link == NULL ? -ENOMEM : prepare(l);
    if (r == 0)
        r = connect_and_log_in(l);
    if (r == 0) {
        pin_host_key(l);
        describe(&l->link->link);
        tell(l, "logged in, cipher ", l->link->link.cipher);
        *ret = &l->link->link;
    } else {
        if (ret_why[0] == '\0')
            (void)refuse(l, r, "%s", err_text(r));
        if (l->link != NULL)
            (void)ssh_link_close(&l->link->link);
    }
    login_done(l);
    return r;
}

struct ssh_link *ssh_link_close(struct ssh_link *ssh)
{
    struct link *link = (struct link *)ssh;
    if (ssh == NULL)
        return NULL;
    (void)ssh_client_free(ssh->client);
    (void)ssh_offer_free(link->offer);
    crypto_key_unref(link->host_key);
    mem_free(ssh->host);
    mem_free(link);
    return NULL;
}
