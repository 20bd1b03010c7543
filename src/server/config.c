#include "server/config.h"

#include <confuse.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "server/config_text.h"
#include "server/config_value.h"

/* libconfuse hands no argument to its callbacks. Set while config_read() runs. */
static struct {
    const char *path;
    struct refusal *why;
} reading;

#define TWICE "found duplicate title '" /* libconfuse 3.3 */

/* libconfuse says neither whose title it is nor what to do. The first one is parsed by now. */
static void explain_twice(cfg_t *top, char *text, size_t size)
{
    char title[128];
    text_copy_printable(title, sizeof(title), bytes_str(text + strlen(TWICE)));
    title[strcspn(title, "'")] = '\0';
    if (cfg_gettsec(top, "listen", title) != NULL && cfg_gettsec(top, "account", title) == NULL)
        snprintf(text, size,
                 "a second section listen \"%s\": put all addresses into the list of one",
                 title);
    else
        snprintf(text, size, "a second section \"%s\"", title);
}

PRINTF_LIKE(2, 0) static void note_error(cfg_t *cfg, const char *format, va_list args)
{
    char text[384];
    vsnprintf(text, sizeof(text), format, args);
    if (strncmp(text, TWICE, strlen(TWICE)) == 0)
        explain_twice(cfg, text, sizeof(text));
    refuse(reading.why, "%s:%d: %s", reading.path, cfg->line, text);
}

/* -- what is not built -- */

static int refuse_key(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    (void)value;
    (void)ret;
    cfg_error(cfg, "%s: not built yet in this release", opt->name);
    return -1;
}

static int refuse_section(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_error(cfg, "%s: not built yet in this release", opt->name);
    return -1;
}

static int check_listen(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *scheme = cfg_title(cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1));
    if (settings_is_scheme_built(bytes_str(scheme)))
        return 0;
    cfg_error(cfg, "listen \"%s\": not built yet in this release", scheme);
    return -1;
}

/* -- the keys -- */

#define TEXT(name)        CFG_STR(name, NULL, CFGF_NODEFAULT)
#define CHECKED(name, cb) CFG_STR_CB(name, NULL, CFGF_NODEFAULT, cb)
#define LIST(name, cb)    CFG_STR_LIST_CB(name, NULL, CFGF_NODEFAULT, cb)
#define NUMBER(name, cb)  CFG_INT_CB(name, 0, CFGF_NODEFAULT, cb)
#define FLAG(name)        CFG_BOOL(name, cfg_false, CFGF_NODEFAULT)
#define NOT_BUILT(name)   CHECKED(name, refuse_key)

static cfg_opt_t listen_keys[] = {
    LIST("address", config_value_address),
    CHECKED("passive_ports", config_value_ports),
    CHECKED("masquerade", config_value_masquerade),
    FLAG("nistp256"),
    FLAG("legacy"),
    NUMBER("compression", config_value_compression),
    NUMBER("rekey_bytes", config_value_rekey_bytes),
    NUMBER("rekey_time_s", config_value_seconds),
    NOT_BUILT("tls"),
    CFG_END(),
};

static cfg_opt_t account_keys[] = {
    CHECKED("hash", config_value_hash),
    CHECKED("password_file", config_value_path),
    CHECKED("authorized_keys", config_value_path),
    CHECKED("root", config_value_path),
    LIST("rights", config_value_right),
    NUMBER("quota_bytes", config_value_size),
    NUMBER("quota_files", config_value_count),
    NUMBER("rate_bytes_per_s", config_value_size),
    CFG_END(),
};

static cfg_opt_t defaults_keys[] = {
    CHECKED("root", config_value_path),
    LIST("rights", config_value_right),
    NUMBER("quota_bytes", config_value_size),
    NUMBER("quota_files", config_value_count),
    NUMBER("rate_bytes_per_s", config_value_size),
    NUMBER("sync", config_value_sync),
    NUMBER("links", config_value_links),
    FLAG("atomic_upload"),
    FLAG("keep_partial"),
    FLAG("sendfile"),
    CFG_END(),
};

static cfg_opt_t limits_keys[] = {
    NUMBER("sessions", config_value_count),     NUMBER("per_address", config_value_count),
    NUMBER("per_account", config_value_count),  NUMBER("unauthenticated", config_value_count),
    NUMBER("ban_failures", config_value_count), CFG_END(),
};

static cfg_opt_t timeouts_keys[] = {
    NUMBER("login_s", config_value_seconds),    NUMBER("idle_s", config_value_seconds),
    NUMBER("stall_s", config_value_seconds),    NUMBER("connect_s", config_value_seconds),
    NUMBER("remember_s", config_value_seconds), CFG_END(),
};

static cfg_opt_t log_keys[] = {
    NUMBER("format", config_value_log_format),
    CHECKED("transfers", config_value_path),
    NOT_BUILT("xferlog"),
    CFG_END(),
};

static cfg_opt_t free_keys[] = {CFG_END()};

static cfg_opt_t top_keys[] = {
    CHECKED("state", config_value_path),
    TEXT("user"),
    FLAG("anonymous"),
    CFG_SEC("listen", listen_keys, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
    CFG_SEC("account", account_keys, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
    CFG_SEC("defaults", defaults_keys, CFGF_NONE),
    CFG_SEC("limits", limits_keys, CFGF_NONE),
    CFG_SEC("timeouts", timeouts_keys, CFGF_NONE),
    CFG_SEC("log", log_keys, CFGF_NONE),
    CFG_SEC("tls", free_keys, CFGF_KEYSTRVAL),
    CFG_SEC("accounts", free_keys, CFGF_KEYSTRVAL),
    CFG_END(),
};

/* Where each number of a section goes. */
enum number_kind { NUMBER_UNSIGNED, NUMBER_WIDE, NUMBER_SECONDS, NUMBER_ENUM, NUMBER_FLAG };

struct number_row {
    const char *section, *key;
    size_t offset;
    enum number_kind kind;
};

#define AT(section, key, field, kind)                                                          \
    {                                                                                          \
        section, key, offsetof(struct settings, field), kind                                   \
    }

static const struct number_row numbers[] = {
    AT("limits", "sessions", limits.sessions, NUMBER_UNSIGNED),
    AT("limits", "per_address", limits.per_address, NUMBER_UNSIGNED),
    AT("limits", "per_account", limits.per_account, NUMBER_UNSIGNED),
    AT("limits", "unauthenticated", limits.unauthenticated, NUMBER_UNSIGNED),
    AT("limits", "ban_failures", ban_failures, NUMBER_UNSIGNED),
    AT("timeouts", "login_s", timeouts.login_us, NUMBER_SECONDS),
    AT("timeouts", "idle_s", timeouts.idle_us, NUMBER_SECONDS),
    AT("timeouts", "stall_s", timeouts.stall_us, NUMBER_SECONDS),
    AT("timeouts", "connect_s", timeouts.connect_us, NUMBER_SECONDS),
    AT("timeouts", "remember_s", remember_us, NUMBER_SECONDS),
    AT("defaults", "quota_bytes", default_quota_bytes, NUMBER_WIDE),
    AT("defaults", "quota_files", default_quota_files, NUMBER_WIDE),
    AT("defaults", "rate_bytes_per_s", default_rate_bytes_per_s, NUMBER_WIDE),
    AT("defaults", "sync", vfs.sync, NUMBER_ENUM),
    AT("defaults", "links", links, NUMBER_ENUM),
    AT("defaults", "atomic_upload", vfs.atomic_upload, NUMBER_FLAG),
    AT("defaults", "keep_partial", vfs.keep_partial, NUMBER_FLAG),
    AT("defaults", "sendfile", vfs.sendfile, NUMBER_FLAG),
    AT("log", "format", log_format, NUMBER_ENUM),
};

/* Of listen "ssh" alone, whose sections are many. */
static const struct number_row ssh_numbers[] = {
    AT("listen", "nistp256", ssh.nistp256, NUMBER_FLAG),
    AT("listen", "legacy", ssh.legacy, NUMBER_FLAG),
    AT("listen", "compression", ssh.compression, NUMBER_ENUM),
    AT("listen", "rekey_bytes", ssh.rekey_bytes, NUMBER_WIDE),
    AT("listen", "rekey_time_s", ssh.rekey_us, NUMBER_SECONDS),
};
#undef AT

/* -- from the parsed file into settings -- */

static int put_text(cfg_t *from, const char *key, char **place, struct refusal *why)
{
    const char *value = cfg_getstr(from, key);
    if (value == NULL)
        return 0;
    return settings_set_text(place, value) < 0 ? refuse(why, "out of memory") : 0;
}

static void put_wide(cfg_t *from, const char *key, uint64_t *place)
{
    if (cfg_size(from, key) > 0)
        *place = (uint64_t)cfg_getint(from, key);
}

static void put_number(cfg_t *from, const struct number_row *row, struct settings *s)
{
    if (from == NULL || cfg_size(from, row->key) == 0)
        return;
    void *place = (char *)s + row->offset;
    switch (row->kind) {
    case NUMBER_UNSIGNED:
    case NUMBER_ENUM:
        *(unsigned *)place = (unsigned)cfg_getint(from, row->key);
        break;
    case NUMBER_WIDE:
        *(uint64_t *)place = (uint64_t)cfg_getint(from, row->key);
        break;
    case NUMBER_SECONDS:
        *(usec_t *)place = (usec_t)cfg_getint(from, row->key) * USEC_PER_S;
        break;
    case NUMBER_FLAG:
        *(bool *)place = cfg_getbool(from, row->key) == cfg_true;
        break;
    }
}

/* An empty list is no wish for the default, which would be nearly everything. */
static int put_rights(cfg_t *from, unsigned *place, struct refusal *why)
{
    unsigned all = 0, right;
    if (cfg_size(from, "rights") == 0 &&
        (cfg_getopt(from, "rights")->flags & CFGF_MODIFIED) != 0)
        return refuse(why, "rights: the list is empty");
    for (unsigned i = 0; i < cfg_size(from, "rights"); i++)
        if (right_parse(bytes_str(cfg_getnstr(from, "rights", i)), &right) == 0)
            all |= right;
    if (all != 0)
        *place = all;
    return 0;
}

/* Says in which section it was; the section's last line is what libconfuse remembers. */
static int refuse_in(const cfg_t *section, struct refusal *why)
{
    struct refusal inner = *why;
    return refuse(why, "%s:%d: %.384s", reading.path, section->line, inner.text);
}

static int put_ssh(cfg_t *section, struct settings *s, struct refusal *why)
{
    bool is_ssh = bytes_equal(bytes_str(cfg_title(section)), BYTES_LIT("ssh"));
    for (size_t i = 0; i < ARRAY_LEN(ssh_numbers); i++) {
        if (!is_ssh && cfg_size(section, ssh_numbers[i].key) > 0)
            return refuse(why, "%s is for listen \"ssh\"", ssh_numbers[i].key);
        put_number(section, &ssh_numbers[i], s);
    }
    return 0;
}

static int put_listener(cfg_t *section, struct settings *s, struct refusal *why)
{
    if (cfg_size(section, "address") == 0)
        return refuse(why, "listen \"%s\" has no address", cfg_title(section));
    for (unsigned i = 0; i < cfg_size(section, "address"); i++) {
        struct listener_setting *l;
        int r = settings_add_address(s, bytes_str(cfg_title(section)),
                                     cfg_getnstr(section, "address", i), why, &l);
        if (r < 0)
            return r;
        const char *ports = cfg_getstr(section, "passive_ports");
        const char *masquerade = cfg_getstr(section, "masquerade");
        if ((ports != NULL || masquerade != NULL) && settings_listener_is_ssh(l))
            return refuse(why, "passive_ports and masquerade are for listen \"ftp\"");
        if (ports != NULL && config_ports_parse(ports, &l->passive_first, &l->passive_last) < 0)
            return refuse(why, "passive_ports");
        if (masquerade != NULL && config_masquerade_parse(masquerade, &l->masquerade) < 0)
            return refuse(why, "masquerade");
    }
    return put_ssh(section, s, why);
}

static int put_defaults(cfg_t *section, struct settings *s, struct refusal *why)
{
    int r = put_text(section, "root", &s->default_root, why);
    return r < 0 ? r : put_rights(section, &s->default_rights, why);
}

static int put_account(cfg_t *section, struct settings *s, struct refusal *why)
{
    struct account_setting *a;
    int r = settings_add_account(s, bytes_str(cfg_title(section)), why, &a);
    if (r < 0)
        return r;
    r = put_text(section, "hash", &a->hash, why);
    if (r == 0)
        r = put_text(section, "root", &a->root, why);
    if (r == 0)
        r = put_text(section, "authorized_keys", &a->authorized_keys, why);
    const char *file = cfg_getstr(section, "password_file");
    bool has_both = file != NULL && a->hash != NULL;
    bool has_none = file == NULL && a->hash == NULL && a->authorized_keys == NULL;
    if (r == 0 && (has_both || has_none))
        r = refuse(why, "account \"%s\" needs either hash or password_file%s", a->name,
                   has_none ? ", or authorized_keys" : "");
    if (r == 0 && file != NULL)
        r = settings_read_password(a, file, why);
    if (r == 0)
        r = put_rights(section, &a->rights, why);
    put_wide(section, "quota_bytes", &a->quota_bytes);
    put_wide(section, "quota_files", &a->quota_files);
    put_wide(section, "rate_bytes_per_s", &a->rate_bytes_per_s);
    return r;
}

static int put_sections(cfg_t *top, const char *name, struct settings *s, struct refusal *why,
                        int (*put)(cfg_t *, struct settings *, struct refusal *))
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < cfg_size(top, name); i++) {
        cfg_t *section = cfg_getnsec(top, name, i);
        r = put(section, s, why);
        if (r < 0)
            r = refuse_in(section, why);
    }
    return r;
}

static int put_all(cfg_t *top, struct settings *s, struct refusal *why)
{
    int r = put_text(top, "state", &s->state_dir, why);
    if (r == 0)
        r = put_text(top, "user", &s->user, why);
    if (r == 0)
        r = put_text(cfg_getsec(top, "log"), "transfers", &s->transfers, why);
    if (r == 0)
        r = put_sections(top, "defaults", s, why, put_defaults);
    if (r < 0)
        return r;
    if (cfg_size(top, "anonymous") > 0)
        s->anonymous = cfg_getbool(top, "anonymous") == cfg_true;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        put_number(cfg_getsec(top, numbers[i].section), &numbers[i], s);
    r = put_sections(top, "listen", s, why, put_listener);
    return r < 0 ? r : put_sections(top, "account", s, why, put_account);
}

static int parse(const char *text, struct settings *s, struct refusal *why)
{
    cfg_t *top = cfg_init(top_keys, CFGF_NONE);
    if (top == NULL)
        return refuse(why, "out of memory");
    cfg_set_error_function(top, note_error);
    cfg_set_validate_func(top, "listen", check_listen);
    cfg_set_validate_func(top, "tls", refuse_section);
    cfg_set_validate_func(top, "accounts", refuse_section);
    int r = cfg_parse_buf(top, text) == CFG_SUCCESS ? put_all(top, s, why) : -EINVAL;
    cfg_free(top);
    return r;
}

int config_read(const char *path, struct settings *s, struct refusal *why)
{
    struct buf text;
    int r = config_text_read(path, &text, why);
    if (r == 0) {
        /* What libconfuse refuses without a word is said here. */
        refuse(why, "%s: cannot be read", path);
        reading.path = path;
        reading.why = why;
        r = parse((const char *)text.data, s, why);
    }
    buf_done(&text);
    return r;
}
