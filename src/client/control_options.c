#include "client/control_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/command.h"
#include "session/control_path.h"

enum option_key { KEY_JSON = 1, KEY_STATE, KEY_HELP };

static const struct option_row {
    enum option_key key;
    const char *name;
    const char *argument;
    const char *help;
} rows[] = {
    {KEY_JSON, "json", NULL, "print one JSON object a line"},
    {KEY_STATE, "state", "DIR", "state directory of the ferryd that is meant"},
    {KEY_HELP, "help", NULL, "this text"},
};

static bool has_row(const struct control_usage *usage, const struct option_row *row)
{
    return row->key != KEY_JSON || usage->has_json;
}

static int complain(const char *command, const char *what, const char *word)
{
    fprintf(stderr, "ferry %s: %s%s%s\nTry 'ferry %s --help'.\n", command, what,
            word != NULL ? " " : "", word != NULL ? word : "", command);
    return EXIT_USAGE;
}

static int set_state_dir(struct control_options *o, const char *given)
{
    if (given != NULL) {
        mem_free(o->state_dir);
        o->state_dir = mem_strdup(given);
        return o->state_dir == NULL ? EXIT_FAILED : EXIT_OK;
    }
    if (o->state_dir != NULL)
        return EXIT_OK;
    int r = control_state_dir(geteuid() == 0, getenv("XDG_STATE_HOME"), getenv("HOME"),
                              &o->state_dir);
    if (r == 0)
        return EXIT_OK;
    fputs("ferry: which state directory? HOME is not set; give --state DIR\n", stderr);
    return EXIT_FAILED;
}

static int take(struct control_options *o, int key)
{
    switch ((enum option_key)key) {
    case KEY_JSON:
        o->json = true;
        return EXIT_OK;
    case KEY_HELP:
        o->help = true;
        return EXIT_OK;
    case KEY_STATE:
        return set_state_dir(o, optarg);
    }
    return EXIT_USAGE;
}

int control_options_parse(int argc, char **argv, const struct control_usage *usage,
                          struct control_options *ret)
{
    struct option longs[ARRAY_LEN(rows) + 1] = {0};
    for (size_t i = 0, count = 0; i < ARRAY_LEN(rows); i++)
        if (has_row(usage, &rows[i]))
            longs[count++] = (struct option){
                .name = rows[i].name,
                .has_arg = rows[i].argument != NULL ? required_argument : no_argument,
                .val = (int)rows[i].key,
            };
    *ret = (struct control_options){0};
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    for (;;) {
        int key = getopt_long(argc, argv, ":", longs, NULL);
        if (key == -1)
            break;
        if (key == ':')
            return complain(argv[0], "a value is missing after", argv[optind - 1]);
        if (key == '?')
            return complain(argv[0], "unknown option", argv[optind - 1]);
        int code = take(ret, key);
        if (code != EXIT_OK)
            return code;
    }
    if (ret->help)
        return EXIT_OK;
    int expected = usage->argument != NULL;
    if (argc - optind > expected)
        return complain(argv[0], "one argument too many:", argv[optind + expected]);
    if (argc - optind < expected)
        return complain(argv[0], "what is missing:", usage->argument);
    ret->argument = expected ? argv[optind] : NULL;
    return set_state_dir(ret, NULL);
}

void control_options_done(struct control_options *o)
{
    mem_free(o->state_dir);
    *o = (struct control_options){0};
}

void control_options_print_help(const struct control_usage *usage)
{
    printf("usage: ferry %s\n\n%s\n\n", usage->line, usage->what);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!has_row(usage, &rows[i]))
            continue;
        char head[32];
        snprintf(head, sizeof(head), "--%s%s%s", rows[i].name,
                 rows[i].argument != NULL ? " " : "",
                 rows[i].argument != NULL ? rows[i].argument : "");
        printf("  %-14s %s\n", head, rows[i].help);
    }
}
