/* The arguments of the commands that talk to file servers: options that all of them have, and
 * flags of each. */
#pragma once
#include <stdio.h>

#include "client/place/login.h"

#define REMOTE_IDENTITIES_MAX 8

struct remote_flag {
    char letter;
    const char *name; /* long; NULL: none */
    const char *help;
};

/* An option of one command that has a value, and no letter. */
struct remote_value {
    const char *name, *argument, *help;
};

#define REMOTE_VALUES_MAX 8

struct remote_usage {
    const char *line;                  /* without "ferry" */
    const char *what;                  /* it does */
    const struct remote_flag *flags;   /* ends with letter 0 */
    const struct remote_value *values; /* ends with name NULL; or NULL */
    unsigned least, most;              /* arguments; 0: any number */
};

struct remote_options {
    struct login_settings login; /* without pool and scope */
    const char *identities[REMOTE_IDENTITIES_MAX + 1];
    unsigned identity_count;
    uint16_t port;
    bool is_quiet, help;
    unsigned flags;                        /* a bit for each of the command's, in their order */
    const char *values[REMOTE_VALUES_MAX]; /* in their order; NULL: not given; of argv */
    unsigned count;                        /* of arguments */

    struct location *at; /* them */
};

/* 0, or an exit code when why was printed. Passwords in URLs are wiped from argv. Call
 * remote_options_done() in any case. */
MUST_CHECK int remote_options_parse(int argc, char **argv, const struct remote_usage *,
                                    struct remote_options *ret);
void remote_options_done(struct remote_options *);
/* What a place of an FTP URL has of a password is not for ps to show. */
void remote_options_wipe(char *argument);
bool remote_options_has(const struct remote_options *, const struct remote_usage *,
                        char letter);
/* "ferry COMMAND: WHAT WORD", and where to read on; EXIT_USAGE. word: or NULL. */
int remote_options_complain(const char *command, const char *what, const char *word);
void remote_options_print_help(const struct remote_usage *, FILE *);
