/* From a place to a logged-in FTP connection. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/place/ask.h"
#include "client/place/features.h"
#include "client/place/files.h"
#include "client/place/login.h"
#include "client/place/netrc.h"
#include "client/place/resolve.h"
#include "io/compress.h"

#define FTP_PORT       21
#define PASSWORD_TRIES 3
#define ANONYMOUS      "anonymous"

struct login {
    const struct location *location;
    const struct login_settings *settings;
    char *why;
    struct ftp_link *link;
    struct buf user, password;
    bool has_password;
    struct resolved addresses;
};

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

/* -- user and password -- */

static int take_entry(struct login *l, const char *path, const struct netrc_entry *entry)
{
    struct buf probe;
    int r = 0;
    if (entry->password.len > PASSWORD_MAX || entry->login.len > USER_NAME_MAX)
        return refuse(l, -FERRY_ELIMIT, "its entry in %.200s is too long", path);
    if (entry->has_login && l->user.len == 0)
        r = buf_append_bytes(&l->user, entry->login);
    if (r < 0 || !entry->has_password)
        return r;
    buf_init(&probe, NETRC_FILE_MAX + 1);
    r = place_file_read(path, S_IRWXG | S_IRWXO, &probe);
    buf_wipe(&probe);
    if (r == -EPERM)
        return refuse(l, r,
                      "the password in %.200s is not used, because others can read the file: "
                      "chmod 600 it, or it is not yours",
                      path);
    if (r < 0)
        return r;
    l->has_password = true;
    return buf_append_bytes(&l->password, entry->password);
}

static int look_in_netrc(struct login *l)
{
    char *path = place_at_home("/.netrc");
    struct netrc_entry entry;
    struct buf text;
    unsigned line = 0;
    if (path == NULL)
        return 0;
    buf_init(&text, NETRC_FILE_MAX + 1);
    int r = buf_reserve(&text, text.cap); /* growing would leave copies */
    if (r == 0)
        r = place_file_read(path, 0, &text);
    if (r == 0)
        r = netrc_find(buf_bytes(&text), bytes_str(l->location->host), buf_bytes(&l->user),
                       &entry, &line);
    if (r == 0)
        r = take_entry(l, path, &entry);
    else if (r == -EINVAL)
        r = refuse(l, r, "%.200s line %u is not understood", path, line);
    else if (r != -ENOMEM)
        r = 0; /* it is not there, or has nothing to say of this host */
    buf_wipe(&text);
    mem_free(path);
    return r;
}

static int find_user(struct login *l)
{
    const struct location *at = l->location;
    int r = buf_reserve(&l->password, PASSWORD_MAX);
    if (r == 0 && at->user != NULL)
        r = buf_append_str(&l->user, at->user);
    if (r == 0 && at->password != NULL) {
        l->has_password = true;
        r = buf_append_str(&l->password, at->password);
    }
    if (r == 0 && !l->has_password)
        r = look_in_netrc(l);
    if (r == 0 && l->user.len == 0)
        r = buf_append_str(&l->user, ANONYMOUS);
    bool is_guest = bytes_equal_nocase(buf_bytes(&l->user), BYTES_LIT(ANONYMOUS)) ||
                    bytes_equal_nocase(buf_bytes(&l->user), BYTES_LIT("ftp"));
    if (r == 0 && is_guest && !l->has_password) {
        l->has_password = true;
        r = buf_append_str(&l->password, "ferry@");
    }
    return r;
}

static PARKS int ask_password(struct login *l, unsigned tries)
{
    char question[512];
    (void)snprintf(question, sizeof(question),
                   "%sPassword of %.*s at %.255s: ", tries > 0 ? "That was not it. " : "",
                   (int)l->user.len, (const char *)l->user.data, l->location->host);
    buf_wipe(&l->password);
    int r = buf_reserve(&l->password, PASSWORD_MAX);
    return r < 0 ? r : ask_line(question, true, &l->password);
}

/* -- the connection -- */

static PARKS int connect_link(struct login *l)
{
    const struct location *at = l->location;
    usec_t deadline = clock_after(l->link->settings.connect_us);
    const char *why;
    int r = resolve(l->settings->pool, at->host, at->port != 0 ? at->port : FTP_PORT, deadline,
                    &l->addresses, &why);
    if (r < 0)
        return refuse(l, r, "there is no address of it: %s",
                      why[0] != '\0' ? why : err_text(r));
    usec_t all_us = l->link->settings.connect_us;
    for (unsigned i = 0; i < l->addresses.count; i++) {
        l->link->settings.connect_us =
            resolved_share(deadline, l->addresses.count - i) - clock_now();
        r = ftp_client_connect(&l->link->client, &l->addresses.at[i], NULL);
        if (r == 0 || r == -ECANCELED || r == -ENOMEM)
            break;
    }
    l->link->settings.connect_us = all_us;
    if (r < 0 && r != -ECANCELED)
        return refuse(l, r, "no FTP on port %u: %.160s", at->port != 0 ? at->port : FTP_PORT,
                      r == -FERRY_EREFUSED ? l->link->client.text : err_text(r));
    return r;
}

static PARKS int try_logins(struct login *l)
{
    bool may_ask = !l->has_password && !l->settings->is_batch && ask_is_possible();
    for (unsigned tries = 0;; tries++) {
        int r = may_ask ? ask_password(l, tries) : 0;
        if (r == 0)
            r = ftp_client_login(&l->link->client, buf_bytes(&l->user),
                                 buf_bytes(&l->password));
        if (r == 0 || r == -ECANCELED || r == -ENOMEM)
            return r;
        bool goes_on = r == -FERRY_EAUTH && may_ask && tries + 1 < PASSWORD_TRIES &&
                       ftp_client_is_open(&l->link->client);
        if (!goes_on)
            return refuse(l, r,
                          "the login as %.*s failed (%.160s). Put name and password into "
                          ".netrc, or run it on a terminal to be asked",
                          (int)l->user.len, (const char *)l->user.data,
                          r == -FERRY_EAUTH ? l->link->client.text : err_text(r));
    }
}

static PARKS int learn_features(struct login *l)
{
    struct ftp_client *c = &l->link->client;
    struct ftp_answer answer;
    int r = ftp_client_command(c, "FEAT", BYTES_NONE, &answer);
    if (r < 0)
        return refuse(l, r, "it went away after the login: %s", err_text(r));
    if (answer.code / 100 == 2) {
        struct ftp_features f = ftp_features_parse(answer.lines);
        struct ftp_link *link = l->link;
        link->has_mlst = f.has_mlst;
        link->has_size = f.has_size;
        link->has_mdtm = f.has_mdtm;
        link->has_mfmt = f.has_mfmt;
        link->has_rest = f.has_rest;
        link->has_mode_z = f.has_mode_z;
        link->has_hash = f.has_hash;
        if (f.has_utf8)
            r = ftp_client_command(c, "OPTS", BYTES_LIT("UTF8 ON"), &answer);
    }
    if (r == 0)
        r = ftp_client_type(c, 'I');
    return r < 0 ? refuse(l, r, "it does not take binary transfers: %.160s", c->text) : 0;
}

static PARKS int begin_compressing(struct login *l)
{
    const struct login_settings *s = l->settings;
    struct ftp_client *c = &l->link->client;
    if (s->codec != CODEC_ZLIB)
        return 0;
    if (!l->link->has_mode_z) {
        if (s->level != COMPRESS_AUTO || s->is_verbose)
            fprintf(stderr, "ferry: %s: it has no MODE Z: nothing is compressed\n",
                    l->location->host);
        return 0;
    }
    int r = ftp_client_mode(c, 'Z', s->level);
    if (r < 0)
        return refuse(l, r, "it does not begin MODE Z: %.160s", c->text);
    l->link->compresses = true;
    return 0;
}

static PARKS int open_link(struct login *l)
{
    const struct login_settings *s = l->settings;
    struct ftp_client_settings *own = &l->link->settings;
    own->connect_us = s->connect_us != 0 ? s->connect_us : DEFAULT_CONNECT_US;
    own->stall_us = s->stall_us != 0 ? s->stall_us : DEFAULT_STALL_US;
    own->answer_us = own->stall_us;
    ftp_client_init(&l->link->client, own);
    l->link->host = mem_strdup(l->location->host);
    if (l->link->host == NULL)
        return -ENOMEM;
    int r = find_user(l);
    if (r == 0)
        r = connect_link(l);
    if (r == 0)
        r = try_logins(l);
    if (r == 0)
        r = learn_features(l);
    return r < 0 ? r : begin_compressing(l);
}

int ftp_link_open(const struct location *location, const struct login_settings *settings,
                  char ret_why[LOGIN_WHY_MAX], struct ftp_link **ret)
{
    struct login l = {.location = location, .settings = settings, .why = ret_why};
    ret_why[0] = '\0';
    buf_init(&l.user, USER_NAME_MAX);
    buf_init(&l.password, PASSWORD_MAX);
    l.link = mem_new(sizeof(*l.link));
    int r = l.link == NULL ? -ENOMEM : open_link(&l);
    buf_wipe(&l.password);
    buf_done(&l.user);
    if (r == 0) {
        *ret = l.link;
        return 0;
    }
    if (ret_why[0] == '\0')
        (void)refuse(&l, r, "%s", err_text(r));
    (void)ftp_link_close(l.link);
    return r;
}

struct ftp_link *ftp_link_close(struct ftp_link *link)
{
    if (link == NULL)
        return NULL;
    if (ftp_client_is_open(&link->client) && !task_is_cancelled())
        (void)(ftp_client_quit(&link->client) < 0); /* closed either way */
    ftp_client_close(&link->client);
    mem_free(link->host);
    mem_free(link);
    return NULL;
}
