#include "server/settings.h"

#include <assert.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "crypto/random.h"
#include "io/compress.h"
#include "task/sys.h"

/* Those that are planned and not built are refused by name. */
static const struct scheme {
    const char *name;
    bool is_built;
} schemes[] = {
    {"ftp", true},    {"ftps", false}, {"sftp", false}, {"ssh", true},
    {"rsync", false}, {"tar", false},  {"http", false},
};

int refuse(struct refusal *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof(why->text), format, args);
    va_end(args);
    return -EINVAL;
}

int settings_set_text(char **place, const char *text)
{
    char *copy = mem_strdup(text);
    if (copy == NULL)
        return -ENOMEM;
    mem_free(*place);
    *place = copy;
    return 0;
}

int settings_init(struct settings *s)
{
    memset(s, 0, sizeof(*s));
    s->default_rights = RIGHTS_DEFAULT;
    s->vfs = (struct vfs_policy){.sync = VFS_SYNC_NONE,
                                 .atomic_upload = true,
                                 .keep_partial = true,
                                 .sendfile = true,
                                 .file_mode = 0644,
                                 .directory_mode = 0755};
    s->limits = (struct session_limits){.sessions = DEFAULT_SESSIONS,
                                        .per_address = DEFAULT_PER_ADDRESS,
                                        .per_account = DEFAULT_PER_ACCOUNT,
                                        .unauthenticated = DEFAULT_UNAUTHENTICATED};
    s->ban_failures = DEFAULT_BAN_FAILURES;
    s->timeouts = (struct session_timeouts){.login_us = DEFAULT_LOGIN_US,
                                            .idle_us = DEFAULT_IDLE_US,
                                            .stall_us = DEFAULT_STALL_US,
                                            .connect_us = DEFAULT_CONNECT_US};
    s->remember_us = DEFAULT_REMEMBER_US;
    s->ssh.rekey_us = SETTINGS_SSH_REKEY_US;
    s->ssh.compression = COMPRESS_AUTO;
    s->accounts = mem_new(SETTINGS_ACCOUNTS_MAX * sizeof(*s->accounts));
    return s->accounts == NULL ? -ENOMEM : 0;
}

void settings_done(struct settings *s)
{
    for (unsigned i = 0; i < s->account_count; i++) {
        struct account_setting *a = &s->accounts[i];
        mem_free(a->name);
        mem_free(a->hash);
        mem_free(a->root);
        mem_free(a->authorized_keys);
        secret_done(&a->password);
    }
    mem_free(s->accounts);
    mem_free(s->dir);
    mem_free(s->state_dir);
    mem_free(s->user);
    mem_free(s->default_root);
    mem_free(s->authorized_keys);
    mem_free(s->transfers);
    memset(s, 0, sizeof(*s));
}

void settings_forget_passwords(struct settings *s)
{
    for (unsigned i = 0; i < s->account_count; i++)
        secret_done(&s->accounts[i].password);
}

int settings_serve_dir(struct settings *s, const char *dir, struct refusal *why)
{
    if (settings_set_text(&s->dir, dir) < 0 || settings_set_text(&s->default_root, dir) < 0)
        return refuse(why, "out of memory");
    /* One account on loopback: a client with many connections is the same person. */
    s->limits.per_address = 0;
    s->limits.per_account = 0;
    s->limits.unauthenticated = SETTINGS_DIR_UNAUTHENTICATED;
    return 0;
}

/* -- listeners -- */

static const struct scheme *find_scheme(struct bytes name)
{
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (bytes_equal(name, bytes_str(schemes[i].name)))
            return &schemes[i];
    return NULL;
}

bool settings_is_scheme_built(struct bytes name)
{
    const struct scheme *scheme = find_scheme(name);
    return scheme != NULL && scheme->is_built;
}

bool settings_listener_is_ssh(const struct listener_setting *l)
{
    return bytes_equal(bytes_str(l->scheme), BYTES_LIT("ssh"));
}

int settings_add_address(struct settings *s, struct bytes name, const char *address,
                         struct refusal *why, struct listener_setting **ret)
{
    const struct scheme *scheme = find_scheme(name);
    assert(scheme != NULL && scheme->is_built);
    if (s->listener_count == SETTINGS_LISTENERS_MAX)
        return refuse(why, "more than %d listeners", SETTINGS_LISTENERS_MAX);
    struct listener_setting *l = &s->listeners[s->listener_count];
    *l = (struct listener_setting){.scheme = scheme->name};
    if (addr_parse(bytes_str(address), &l->addr) < 0)
        return refuse(why, "'%s' is not a numeric ADDRESS:PORT", address);
    s->listener_count++;
    *ret = l;
    return 0;
}

int settings_add_listener(struct settings *s, const char *url, struct refusal *why)
{
    const char *colon = strstr(url, "://");
    if (colon == NULL)
        return refuse(why, "'%s' is not SCHEME://ADDRESS:PORT", url);
    struct bytes name = bytes_of(url, (size_t)(colon - url));
    const struct scheme *scheme = find_scheme(name);
    if (scheme == NULL)
        return refuse(why, "'%s' has an unknown scheme", url);
    if (!scheme->is_built)
        return refuse(why, "'%s' is not built yet in this release", scheme->name);
    struct listener_setting *l;
    return settings_add_address(s, name, colon + 3, why, &l);
}

/* -- accounts -- */

static bool is_account_name(struct bytes name)
{
    size_t at;
    return name.len > 0 && name.len <= USER_NAME_MAX && name.data[0] != '.' &&
           !text_has_control(name) && !bytes_find(name, '/', &at) &&
           !bytes_find(name, ':', &at);
}

int settings_add_account(struct settings *s, struct bytes name, struct refusal *why,
                         struct account_setting **ret)
{
    char shown[USER_NAME_MAX + 1];
    text_copy_printable(shown, sizeof(shown), name);
    if (!is_account_name(name))
        return refuse(why, "'%s' cannot be the name of an account", shown);
    for (unsigned i = 0; i < s->account_count; i++)
        if (bytes_equal(bytes_str(s->accounts[i].name), name))
            return refuse(why, "the account '%s' is given twice", shown);
    if (s->account_count == SETTINGS_ACCOUNTS_MAX)
        return refuse(why, "more than %d accounts", SETTINGS_ACCOUNTS_MAX);

    struct account_setting *a = &s->accounts[s->account_count];
    *a = (struct account_setting){.quota_bytes = SETTING_UNSET,
                                  .quota_files = SETTING_UNSET,
                                  .rate_bytes_per_s = SETTING_UNSET};
    a->name = mem_strdup(shown); /* no control characters: the copy is exact */
    if (a->name == NULL)
        return refuse(why, "out of memory");
    s->account_count++;
    *ret = a;
    return 0;
}

int settings_set_password(struct account_setting *a, struct bytes password, struct refusal *why)
{
    if (password.len == 0 || password.len > PASSWORD_MAX)
        return refuse(why, "the password of '%s' must have 1 to %d characters", a->name,
                      PASSWORD_MAX);
    /* FTP's PASS ends at the line, crypt(3) at the NUL: no client could send the rest. */
    if (text_has_control(password))
        return refuse(why, "the password of '%s' has a control character", a->name);
    secret_done(&a->password);
    if (secret_copy(password, &a->password) < 0)
        return refuse(why, "out of memory");
    return 0;
}

int settings_generate_password(struct account_setting *a, struct refusal *why)
{
    char password[SETTINGS_PASSWORD_CHARS + 1];
    int r = crypto_random_base32(password, SETTINGS_PASSWORD_CHARS);
    if (r < 0)
        return refuse(why, "no randomness: %s", err_text(r));
    r = settings_set_password(a, bytes_str(password), why);
    mem_wipe(password, sizeof(password));
    a->generated = true;
    return r;
}

int settings_read_password(struct account_setting *a, const char *path, struct refusal *why)
{
    char text[PASSWORD_MAX + 2]; /* one more than allowed, and its newline */
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    ssize_t n = fd < 0 ? fd : sys_read(fd, text, sizeof(text));
    if (fd >= 0)
        sys_close(fd);
    if (n < 0)
        return refuse(why, "password file '%s': %s", path, err_text((int)n));

    struct bytes line = bytes_of(text, (size_t)n);
    size_t end;
    if (bytes_find(line, '\n', &end))
        line = bytes_first(line, end);
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    int r = settings_set_password(a, line, why);
    mem_wipe(text, sizeof(text));
    return r;
}

/* -- what follows from the rest -- */

static int add_anonymous(struct settings *s, struct refusal *why)
{
    /* auth/ knows that "ftp" means it too (RFC 1635, section 2). */
    struct account_setting *a;
    int r = settings_add_account(s, BYTES_LIT("anonymous"), why, &a);
    if (r < 0)
        return r;
    a->anonymous = true;
    a->rights = s->default_rights & RIGHTS_READ_ONLY;
    return 0;
}

static int expand_root(const struct settings *s, struct account_setting *a, struct refusal *why)
{
    const char *pattern = a->root != NULL ? a->root : s->default_root;
    if (pattern == NULL)
        return refuse(why, "the account '%s' has no root", a->name);
    struct buf path;
    buf_init(&path, PATH_LEN_MAX + 1);
    int r = 0;
    for (const char *c = pattern; *c != '\0' && r >= 0; c++) {
        if (c[0] == '%' && c[1] == 'u') {
            r = buf_append_str(&path, a->name);
            c++;
        } else {
            r = buf_append_byte(&path, (uint8_t)*c);
        }
    }
    if (r >= 0)
        r = buf_append_byte(&path, '\0');
    if (r >= 0)
        r = settings_set_text(&a->root, (const char *)path.data);
    buf_done(&path);
    return r < 0 ? refuse(why, "the root of '%s': %s", a->name, err_text(r)) : 0;
}

static void take_default(uint64_t *value, uint64_t fallback)
{
    if (*value == SETTING_UNSET)
        *value = fallback;
}

static int finish_account(const struct settings *s, struct account_setting *a,
                          struct refusal *why)
{
    bool has_keys = a->authorized_keys != NULL || s->authorized_keys != NULL;
    if (a->password.len == 0 && a->hash == NULL && !a->anonymous && !has_keys)
        return refuse(why, "the account '%s' has no hash, password_file or authorized_keys",
                      a->name);
    if (a->rights == 0 && !a->anonymous) /* what is left to anonymous may be nothing */
        a->rights = s->default_rights;
    if (s->read_only)
        a->rights &= RIGHTS_READ_ONLY;
    take_default(&a->quota_bytes, s->default_quota_bytes);
    take_default(&a->quota_files, s->default_quota_files);
    take_default(&a->rate_bytes_per_s, s->default_rate_bytes_per_s);
    if (s->dir != NULL && a->root == NULL) /* as it is: a % in it is a % */
        return settings_set_text(&a->root, s->dir) < 0 ? refuse(why, "out of memory") : 0;
    return expand_root(s, a, why);
}

int settings_finish(struct settings *s, const char *default_state_dir, struct refusal *why)
{
    int r = 0;
    if (s->listener_count == 0 && s->dir != NULL) {
        r = settings_add_listener(s, SETTINGS_DIR_LISTENER, why);
        if (r == 0)
            r = settings_add_listener(s, SETTINGS_DIR_LISTENER_SSH, why);
    }
    if (r == 0 && s->listener_count == 0)
        return refuse(why, "no listener: the configuration has no section listen");
    if (r == 0 && s->account_count == 0 && s->dir != NULL) {
        struct account_setting *a;
        r = settings_add_account(s, BYTES_LIT("ferry"), why, &a);
        if (r == 0)
            r = settings_generate_password(a, why);
    }
    if (r == 0 && s->anonymous)
        r = add_anonymous(s, why);
    if (r == 0 && s->account_count == 0)
        return refuse(why, "no account: nobody could log in");
    for (unsigned i = 0; r == 0 && i < s->account_count; i++)
        r = finish_account(s, &s->accounts[i], why);
    if (r == 0 && s->state_dir == NULL) {
        if (default_state_dir == NULL)
            return refuse(why, "no state directory: HOME is not set; give --state DIR");
        if (settings_set_text(&s->state_dir, default_state_dir) < 0)
            return refuse(why, "out of memory");
    }
    return r;
}
