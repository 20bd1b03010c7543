/* The command line of ferryd: one table of options, from which the help text is made.
 *
 * options_parse() only reads the vector; options_apply() writes what it found into settings
 * that hold defaults or a configuration file, so that the command line wins (but for DIR, which
 * settings_serve_dir() takes first). Values point into the vector, but for passwords, which are
 * copied and wiped there at once.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "base/secret.h"
#include "server/settings.h"

#define OPTIONS_USERS_MAX   64
#define OPTIONS_CONFIG_FILE "/etc/ferryd.conf" /* of --check-config alone */

enum options_action { OPTIONS_SERVE, OPTIONS_CHECK_CONFIG, OPTIONS_HELP, OPTIONS_VERSION };

struct options_user {
    struct bytes name;
    struct secret password; /* len 0: see file */
    const char *file;       /* NULL: a password is made */
};

struct options {
    enum options_action action;
    const char *dir; /* exactly one of dir and config when serving */
    const char *config;
    const char *listen[SETTINGS_LISTENERS_MAX];
    unsigned listen_count;
    const char *authorized_keys;
    struct options_user users[OPTIONS_USERS_MAX];
    unsigned user_count;
    bool password_was_visible; /* --user NAME:PASSWORD: another process could see it */
    bool anonymous, read_only;
    bool log_format_given;
    enum log_format log_format;
    unsigned workers; /* 0: not given */
    const char *state;
};

/* -EINVAL and why; then too options_done() is called. argv[0] is not looked at. */
MUST_CHECK int options_parse(int argc, char **argv, struct options *ret, struct refusal *);
void options_done(struct options *);
MUST_CHECK int options_apply(const struct options *, struct settings *, struct refusal *);

void options_print_help(FILE *);
