/* ferryd: reads what it is asked to do and does it. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "server/config.h"
#include "server/launch.h"
#include "server/options.h"
#include "server/sftp_command.h"
#include "session/control_path.h"
#include "task/runtime.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static int fail(int code, const struct refusal *why)
{
    fprintf(stderr, "ferryd: %s\n", why->text);
    if (code == EXIT_USAGE)
        fputs("Try 'ferryd --help'.\n", stderr);
    return code;
}

/* What is missing in a configuration has no line. */
static void name_file(const struct options *o, struct refusal *why)
{
    struct refusal of = *why;
    if (o->config != NULL)
        refuse(why, "%s: %s", o->config, of.text);
}

/* The exit code: EXIT_OK, or whose fault it is that the settings do not hold. */
static int read_settings(const struct options *o, struct settings *s, struct refusal *why)
{
    if (settings_init(s) < 0) {
        refuse(why, "out of memory");
        return EXIT_FAILED;
    }
    /* The command line comes last, but what DIR implies comes first: the file may say more. */
    if (o->dir != NULL && settings_serve_dir(s, o->dir, why) < 0)
        return EXIT_FAILED;
    if (o->config != NULL && config_read(o->config, s, why) < 0)
        return EXIT_FAILED;
    if (options_apply(o, s, why) < 0)
        return EXIT_USAGE;
    char *state = NULL;
    (void)!control_state_dir(geteuid() == 0, getenv("XDG_STATE_HOME"), getenv("HOME"), &state);
    int r = settings_finish(s, state, why);
    mem_free(state);
    if (r == 0)
        return EXIT_OK;
    name_file(o, why);
    return o->config != NULL ? EXIT_FAILED : EXIT_USAGE;
}

static int check_config(const struct options *o, struct settings *s, struct refusal *why)
{
    unsigned warnings;
    if (launch_check(s, &warnings, why) < 0) {
        name_file(o, why);
        return fail(EXIT_FAILED, why);
    }
    printf("%s: no fault found%s\n", o->config, warnings > 0 ? ", but see the warnings" : "");
    return EXIT_OK;
}

static int serve(const struct options *o, struct settings *s, struct refusal *why)
{
    if (o->password_was_visible)
        fputs("ferryd: warning: a password on the command line can be seen by other users "
              "(ps); use --user NAME:@FILE\n",
              stderr);
    return launch(s, getenv("NOTIFY_SOCKET"), why) < 0 ? fail(EXIT_FAILED, why) : EXIT_OK;
}

static int act(const struct options *o, struct refusal *why)
{
    if (o->action == OPTIONS_HELP) {
        options_print_help(stdout);
        return EXIT_OK;
    }
    if (o->action == OPTIONS_VERSION) {
        printf("ferryd %s\n", FERRY_VERSION);
        return EXIT_OK;
    }
    static struct settings settings; /* large, and there is one */
    int code = read_settings(o, &settings, why);
    if (code != EXIT_OK)
        code = fail(code, why);
    else if (o->action == OPTIONS_CHECK_CONFIG)
        code = check_config(o, &settings, why);
    else
        code = serve(o, &settings, why);
    settings_done(&settings);
    return code;
}

int main(int argc, char **argv)
{
    struct refusal why;
    int r = runtime_signals_setup();
    if (r < 0) {
        refuse(&why, "signals cannot be blocked");
        return fail(EXIT_FAILED, &why);
    }
    if (argc > 1 && strcmp(argv[1], "sftp-server") == 0)
        return sftp_command(argc - 1, argv + 1);
    json_set_alloc_funcs(mem_raw, mem_free);
    static struct options options; /* large, and there is one */
    int code;
    if (options_parse(argc, argv, &options, &why) < 0)
        code = fail(EXIT_USAGE, &why);
    else
        code = act(&options, &why);
    options_done(&options);
    return code;
}
