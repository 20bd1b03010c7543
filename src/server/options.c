#include "server/options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

struct option_row {
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *help;
    int (*take)(struct options *, char *value, struct refusal *);
};

static int take_listen(struct options *o, char *value, struct refusal *why)
{
    if (o->listen_count == SETTINGS_LISTENERS_MAX)
        return refuse(why, "--listen: more than %d of them", SETTINGS_LISTENERS_MAX);
    o->listen[o->listen_count++] = value;
    return 0;
}

static int take_user(struct options *o, char *value, struct refusal *why)
{
    if (o->user_count == OPTIONS_USERS_MAX)
        return refuse(why, "--user: more than %d of them", OPTIONS_USERS_MAX);
    struct options_user *user = &o->users[o->user_count];
    struct bytes text = bytes_str(value);
    size_t colon;
    if (!bytes_find(text, ':', &colon)) {
        user->name = text;
        o->user_count++;
        return 0;
    }
    user->name = bytes_first(text, colon);
    char *password = value + colon + 1;
    if (password[0] == '@') {
        user->file = password + 1;
    } else {
        struct bytes secret = bytes_str(password);
        int r = secret.len == 0 ? -EINVAL : secret_copy(secret, &user->password);
        mem_wipe(password, secret.len);
        if (r < 0)
            return refuse(why, "--user %s the password is empty", value);
        o->password_was_visible = true;
    }
    o->user_count++;
    return 0;
}

static int take_authorized_keys(struct options *o, char *value, struct refusal *why)
{
    if (o->authorized_keys != NULL)
        return refuse(why, "--authorized-keys is given twice");
    o->authorized_keys = value;
    return 0;
}

static int take_anonymous(struct options *o, char *value, struct refusal *why)
{
    (void)value;
    (void)why;
    o->anonymous = true;
    return 0;
}

static int take_read_only(struct options *o, char *value, struct refusal *why)
{
    (void)value;
    (void)why;
    o->read_only = true;
    return 0;
}

static int take_workers(struct options *o, char *value, struct refusal *why)
{
    uint64_t n;
    if (text_u64(bytes_str(value), 10, WORKERS_MAX, &n) < 0 || n == 0)
        return refuse(why, "--workers: '%s' is not a number from 1 to %d", value, WORKERS_MAX);
    o->workers = (unsigned)n;
    return 0;
}

static int take_state(struct options *o, char *value, struct refusal *why)
{
    if (value[0] == '\0')
        return refuse(why, "--state: the directory's name is empty");
    o->state = value;
    return 0;
}

static int take_log_format(struct options *o, char *value, struct refusal *why)
{
    bool is_json = bytes_equal(bytes_str(value), BYTES_LIT("json"));
    if (!is_json && !bytes_equal(bytes_str(value), BYTES_LIT("text")))
        return refuse(why, "--log-format: '%s' is neither text nor json", value);
    o->log_format = is_json ? LOG_JSON : LOG_TEXT;
    o->log_format_given = true;
    return 0;
}

static int take_config(struct options *o, char *value, struct refusal *why)
{
    if (o->config != NULL)
        return refuse(why, "--config is given twice");
    o->config = value;
    return 0;
}

static int take_check_config(struct options *o, char *value, struct refusal *why)
{
    (void)value;
    (void)why;
    if (o->action == OPTIONS_SERVE)
        o->action = OPTIONS_CHECK_CONFIG;
    return 0;
}

static int take_help(struct options *o, char *value, struct refusal *why)
{
    (void)value;
    (void)why;
    o->action = OPTIONS_HELP;
    return 0;
}

static int take_version(struct options *o, char *value, struct refusal *why)
{
    (void)value;
    (void)why;
    if (o->action != OPTIONS_HELP)
        o->action = OPTIONS_VERSION;
    return 0;
}

static const struct option_row rows[] = {
    {"listen", "URL",
     "listen on SCHEME://ADDRESS:PORT instead of " SETTINGS_DIR_LISTENER
     "\nand " SETTINGS_DIR_LISTENER_SSH " (repeatable; port 0 picks a free one)",
     take_listen},
    {"user", "NAME[:PASSWORD]",
     "add an account (repeatable); NAME:@FILE reads the password\n"
     "from FILE, NAME alone makes one",
     take_user},
    {"authorized-keys", "FILE",
     "ssh keys that let in, to each account of this run\n(authorized_keys of sshd(8))",
     take_authorized_keys},
    {"anonymous", NULL, "also let anonymous read, with any password", take_anonymous},
    {"read-only", NULL, "nobody may change anything", take_read_only},
    {"workers", "N", "threads that serve (default: one per core, at most 8)", take_workers},
    {"state", "DIR",
     "directory of lock and control socket (default: /var/lib/ferryd\n"
     "for root, ~/.local/state/ferryd for others)",
     take_state},
    {"log-format", "FORMAT", "text (the default) or json, to standard error", take_log_format},
    {"config", "FILE", "serve what FILE says, see ferryd.conf(5)", take_config},
    {"check-config", NULL,
     "say what is wrong with the configuration; exit 0 or 1\n"
     "(without --config: of " OPTIONS_CONFIG_FILE ")",
     take_check_config},
    {"help", NULL, "this text", take_help},
    {"version", NULL, "the version", take_version},
};

#define ROWS ARRAY_LEN(rows)

/* getopt_long() keeps to itself which word it disliked; this names it. */
static int refuse_word(int result, char **argv, struct refusal *why)
{
    const char *word = argv[optind - 1];
    if (optopt > 0 && optopt <= (int)ROWS)
        return refuse(why, result == ':' ? "--%s needs a value" : "--%s takes no value",
                      rows[optopt - 1].name);
    if (optopt != 0)
        return refuse(why, "unknown option -%c", optopt);
    return refuse(why, "unknown option %s", word);
}

static int check_action(struct options *o, struct refusal *why)
{
    switch (o->action) {
    case OPTIONS_HELP:
    case OPTIONS_VERSION:
        return 0;
    case OPTIONS_CHECK_CONFIG:
        if (o->dir != NULL)
            return refuse(why,
                          "--check-config takes no directory; the file goes after --config");
        if (o->config == NULL)
            o->config = OPTIONS_CONFIG_FILE;
        return 0;
    case OPTIONS_SERVE:
        break;
    }
    if (o->dir == NULL && o->config == NULL)
        return refuse(why, "what to serve? give a directory, or --config FILE");
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret, struct refusal *why)
{
    struct option longs[ROWS + 1] = {0};
    for (size_t i = 0; i < ROWS; i++)
        longs[i] = (struct option){
            .name = rows[i].name,
            .has_arg = rows[i].argument != NULL ? required_argument : no_argument,
            .val = (int)i + 1,
        };
    memset(ret, 0, sizeof(*ret));
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    for (;;) {
        int at = getopt_long(argc, argv, ":", longs, NULL);
        if (at == -1)
            break;
        if (at == ':' || at == '?')
            return refuse_word(at, argv, why);
        int r = rows[at - 1].take(ret, optarg, why);
        if (r < 0)
            return r;
    }
    if (argc - optind > 1)
        return refuse(why, "one directory only: '%s' is one too many", argv[optind + 1]);
    if (optind < argc)
        ret->dir = argv[optind];
    return check_action(ret, why);
}

void options_done(struct options *o)
{
    for (unsigned i = 0; i < OPTIONS_USERS_MAX; i++)
        secret_done(&o->users[i].password);
}

static int apply_user(const struct options_user *user, struct settings *s, struct refusal *why)
{
    struct account_setting *a;
    int r = settings_add_account(s, user->name, why, &a);
    if (r < 0)
        return r;
    if (user->file != NULL)
        return settings_read_password(a, user->file, why);
    if (user->password.len > 0)
        return settings_set_password(a, bytes_of(user->password.data, user->password.len), why);
    return settings_generate_password(a, why);
}

int options_apply(const struct options *o, struct settings *s, struct refusal *why)
{
    int r = 0;
    if (o->listen_count > 0)
        s->listener_count = 0;
    for (unsigned i = 0; r == 0 && i < o->listen_count; i++)
        r = settings_add_listener(s, o->listen[i], why);
    for (unsigned i = 0; r == 0 && i < o->user_count; i++)
        r = apply_user(&o->users[i], s, why);
    if (r == 0 && o->state != NULL && settings_set_text(&s->state_dir, o->state) < 0)
        r = refuse(why, "out of memory");
    if (r == 0 && o->authorized_keys != NULL &&
        settings_set_text(&s->authorized_keys, o->authorized_keys) < 0)
        r = refuse(why, "out of memory");
    s->anonymous |= o->anonymous;
    s->read_only |= o->read_only;
    if (o->workers > 0)
        s->workers = o->workers;
    if (o->log_format_given)
        s->log_format = o->log_format;
    return r;
}

static void print_row(FILE *out, const struct option_row *row)
{
    char head[64];
    snprintf(head, sizeof(head), "--%s%s%s", row->name, row->argument != NULL ? " " : "",
             row->argument != NULL ? row->argument : "");
    fprintf(out, "  %-24s  ", head);
    for (const char *c = row->help; *c != '\0'; c++) {
        fputc(*c, out);
        if (*c == '\n')
            fprintf(out, "%-28s", "");
    }
    fputc('\n', out);
}

void options_print_help(FILE *out)
{
    fputs("usage: ferryd [OPTION]... DIR\n"
          "       ferryd [OPTION]... --config FILE [DIR]\n"
          "       ferryd --check-config [--config FILE]\n"
          "       ferryd sftp-server [-h]\n"
          "\n"
          "Serves files over FTP and ssh (sftp, scp). With DIR: on loopback, with a generated "
          "password.\n"
          "\n",
          out);
    for (size_t i = 0; i < ROWS; i++)
        print_row(out, &rows[i]);
}
