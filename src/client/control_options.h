/* The arguments of the commands that talk to a running ferryd. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"

struct control_options {
    bool json, help;
    char *state_dir;      /* owned */
    const char *argument; /* the one that is no option; NULL: none */
};

/* What a command takes beside the options of all. */
struct control_usage {
    const char *line;     /* without "ferry" */
    const char *what;     /* it does */
    const char *argument; /* its name for messages; NULL: takes none */
    bool has_json;
};

/* 0, or an exit code when why was printed. Call control_options_done() in any case. */
MUST_CHECK int control_options_parse(int argc, char **argv, const struct control_usage *,
                                     struct control_options *ret);
void control_options_done(struct control_options *);
void control_options_print_help(const struct control_usage *);
