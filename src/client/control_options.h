/* The arguments of the commands that talk to a running ferryd. */
#pragma once
#include <stdbool.h>

#include "base/attr.h"

struct control_options {
    bool json, help;
    char *state_dir;      /* owned */
    const char *argument; /* the one that is no option; NULL: none */
};

/* 0, or an exit code when why was printed. takes_argument: its name for messages, or NULL.
 * Call control_options_done() in any case. */
MUST_CHECK int control_options_parse(int argc, char **argv, const char *takes_argument,
                                     struct control_options *ret);
void control_options_done(struct control_options *);
void control_options_print_help(const char *usage, const char *what);
