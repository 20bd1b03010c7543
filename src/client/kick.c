/* ferry kick: ends a session of a running ferryd. */
#include <stdio.h>

#include "base/text.h"
#include "client/command.h"
#include "client/control_client.h"
#include "client/control_options.h"

static void ignore(const json_t *object, void *arg)
{
    (void)object;
    (void)arg;
}

static const struct control_usage kick_usage = {
    .line = "kick [--state DIR] ID",
    .what = "Ends the session ID, a number that ferry who shows.",
    .argument = "the ID of a session (see ferry who)",
};

int command_kick(int argc, char **argv)
{
    struct control_options o;
    uint64_t id;
    int code = control_options_parse(argc, argv, &kick_usage, &o);
    if (code == EXIT_OK && o.help) {
        control_options_print_help(&kick_usage);
    } else if (code == EXIT_OK &&
               (text_u64(bytes_str(o.argument), 10, INT64_MAX, &id) < 0 || id == 0)) {
        fprintf(stderr, "ferry kick: '%s' is not the ID of a session\n", o.argument);
        code = EXIT_USAGE;
    } else if (code == EXIT_OK) {
        code =
            control_ask(o.state_dir, json_pack("{s:s,s:I}", "op", "kick", "id", (json_int_t)id),
                        ignore, NULL);
    }
    control_options_done(&o);
    return code;
}
