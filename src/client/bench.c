/* ferry bench: measures servers and prints what it found. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/compat/compat.h"
#include "bench/engine/benchmark.h"
#include "bench/engine/choice.h"
#include "bench/ftp/suite.h"
#include "bench/machine/descriptors.h"
#include "bench/options/options.h"
#include "bench/report/report.h"
#include "bench/ssh/suite.h"
#include "client/bench_peers.h"
#include "client/bench_studies.h"
#include "client/command.h"
#include "task/runtime.h"
#include "task/sys.h"

/* Where the table goes, and whether something of the progress line stands before it. */
struct screen {
    struct report report;
    bool has_progress;
    unsigned width; /* of the terminal on standard error */
};

static int complain(const struct bench_options *o, const char *what, const char *why)
{
    fprintf(stderr, "ferry bench %s: %s: %s\n", o->suite->name, what, why);
    return EXIT_FAILED;
}

/* -- while it runs -- */

static bool has_colour(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == NULL &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* Progress goes where a line can be written anew. */
static bool has_screen(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static void clear_progress(struct screen *s)
{
    if (s->has_progress)
        fputs("\r\033[K", stderr);
    s->has_progress = false;
}

static void on_began(void *arg, const struct bench_results *results)
{
    struct screen *s = arg;
    clear_progress(s);
    report_head_print(&s->report, results);
    fflush(s->report.out);
}

static void on_ended(void *arg, const struct bench_row *row)
{
    struct screen *s = arg;
    clear_progress(s);
    report_row_print(&s->report, row);
    fflush(s->report.out);
}

static void on_tick(void *arg, const char *label)
{
    struct screen *s = arg;
    int room = (int)s->width - (int)sizeof(" ...");
    fprintf(stderr, "\r%.*s ...\033[K", room > 0 ? room : 0, label);
    s->has_progress = true;
}

/* -- before and after -- */

static int resolve(const struct bench_options *o, struct addr *ret)
{
    const struct bench_url *server = &o->server;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    int r = getaddrinfo(server->host, NULL, &hints, &found);
    if (r != 0 || found->ai_addrlen > sizeof(ret->u))
        return complain(o, server->host,
                        r != 0 ? gai_strerror(r) : "an unknown kind of address");
    *ret = (struct addr){.len = found->ai_addrlen};
    memcpy(&ret->u, found->ai_addr, found->ai_addrlen);
    addr_set_port(ret, server->port);
    freeaddrinfo(found);
    return EXIT_OK;
}

static int write_json(const struct bench_options *o, const struct bench_results *results,
                      FILE *out)
{
    json_t *report = report_json(o, results);
    char *text =
        report != NULL ? json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(report);
    if (text == NULL)
        return complain(o, o->json, err_text(-ENOMEM));
    bool is_written = fprintf(out, "%s\n", text) >= 0 && fflush(out) == 0;
    mem_free(text);
    return is_written ? EXIT_OK : complain(o, o->json, "cannot be written");
}

static void say(const struct bench_options *o, const char *text)
{
    if (text[0] != '\0')
        fprintf(stderr, "ferry bench %s: %s\n", o->suite->name, text);
}

static int say_results(struct screen *screen, const struct bench_results *results, FILE *json)
{
    const struct bench_options *o = screen->report.options;
    if (results->count > 0)
        report_summary_print(&screen->report, results);
    say(o, results->notice);
    say(o, results->error);
    if (o->baseline != NULL && results->count > 0 &&
        !report_has_baseline(&screen->report, results))
        (void)complain(o, o->baseline, "it has no row and server of this run");
    int code = results->is_complete ? EXIT_OK : EXIT_FAILED;
    if (json != NULL && write_json(o, results, json) != EXIT_OK)
        code = EXIT_FAILED;
    return code;
}

static int complain_of_run(const struct bench_options *o, const char *why, int result)
{
    if (why[0] != '\0')
        say(o, why);
    else if (result == -EPERM)
        fprintf(stderr,
                "ferry bench %s: it must be root to start ferryd and its peers side by side,\n"
                "each in a mount name space of its own; give --url for a server that runs\n"
                "already.\n",
                o->suite->name);
    else
        return complain(o, "it could not be run", err_text(result));
    return EXIT_FAILED;
}

static int run_rows(const struct bench_options *o, const struct addr *server,
                    const struct baseline *baseline, FILE *json)
{
    struct screen screen = {
        .report = {.options = o,
                   .baseline = baseline,
                   .out = json == stdout ? stderr : stdout,
                   .has_colour = json != stdout && has_colour()},
        .width = sys_terminal_width(STDERR_FILENO),
    };
    const struct bench_watcher watcher = {
        .began = on_began,
        .ended = on_ended,
        .tick = has_screen() ? on_tick : NULL,
        .arg = &screen,
    };
    struct bench_results *results = mem_new(sizeof(*results));
    if (results == NULL)
        return complain_of_run(o, "", -ENOMEM);
    int r = bench_run(o, server, &watcher, results);
    clear_progress(&screen);
    int code =
        r < 0 ? complain_of_run(o, results->error, r) : say_results(&screen, results, json);
    bench_results_done(results);
    mem_free(results);
    return code;
}

static int run(const struct bench_options *o, const struct baseline *baseline, FILE *json)
{
    struct addr server;
    if (o->has_server && resolve(o, &server) != EXIT_OK)
        return EXIT_FAILED;
    int r = runtime_signals_setup();
    if (r < 0)
        return complain(o, "it could not be run", err_text(r));
    if (o->compat)
        return compat_run(o, &server, stdout, has_colour(), stderr) == 0 ? EXIT_OK
                                                                         : EXIT_FAILED;
    return run_rows(o, o->has_server ? &server : NULL, baseline, json);
}

static int open_json(const char *path, FILE **ret)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, .mode = 0666};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return fd;
    *ret = fdopen(fd, "w");
    if (*ret != NULL)
        return 0;
    sys_close(fd);
    return -ENOMEM;
}

/* Files are opened first: nobody waits minutes to hear that they cannot be. */
static int run_with_json(const struct bench_options *o, const struct baseline *baseline)
{
    if (o->json == NULL)
        return run(o, baseline, NULL);
    if (strcmp(o->json, "-") == 0)
        return run(o, baseline, stdout);
    FILE *json;
    int r = open_json(o->json, &json);
    if (r < 0) {
        char why[96];
        snprintf(why, sizeof(why), "cannot be written: %s", err_text(r));
        return complain(o, o->json, why);
    }
    int code = run(o, baseline, json);
    if (fclose(json) != 0)
        code = complain(o, o->json, "cannot be written");
    return code;
}

static int run_with_baseline(const struct bench_options *o)
{
    struct baseline *baseline = NULL;
    char why[BENCH_ERROR_MAX] = "";
    if (o->baseline != NULL) {
        int r = baseline_load(o->baseline, why, &baseline);
        if (r < 0)
            return complain(o, o->baseline, why[0] != '\0' ? why : err_text(r));
    }
    int code = run_with_json(o, baseline);
    baseline_free(baseline);
    return code;
}

static void list_rows(const struct row_table *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        printf("%-16s %s\n", rows->kinds[i].name, rows->kinds[i].label);
    puts("\n# clients, @ a file's size, & the window; as the options say");
}

/* -- the command -- */

static const char *row_name(const struct bench_suite *suite, size_t i)
{
    return i < suite->rows->count ? suite->rows->kinds[i].name : NULL;
}

static const char *peer_name(const struct bench_suite *suite, size_t i)
{
    return i < suite->recipes->count ? suite->recipes->recipes[i].name : NULL;
}

/* "none" is a peer's name, too: ferryd and the floor alone. */
static int check_names(const struct bench_suite *suite, const char *what, const char *list,
                       const char *(*name)(const struct bench_suite *, size_t), const char *see)
{
    while (list != NULL && *list != '\0') {
        size_t len = strcspn(list, ",");
        bool is_known = len == 4 && name == peer_name && memcmp(list, "none", 4) == 0;
        for (size_t i = 0; !is_known && name(suite, i) != NULL; i++)
            is_known = strlen(name(suite, i)) == len && memcmp(name(suite, i), list, len) == 0;
        if (!is_known) {
            fprintf(stderr, "ferry bench %s: there is no %s '%.*s'; see '%s'.\n", suite->name,
                    what, (int)len, list, see);
            return EXIT_USAGE;
        }
        list += len + (list[len] == ',');
    }
    return EXIT_OK;
}

/* ferryd and the floor are no peers: they always take part. */
static int check_peers(const struct bench_options *o)
{
    const struct recipe_list *list = o->suite->recipes;
    for (size_t i = 0; o->peers != NULL && i < list->count; i++) {
        const struct recipe *recipe = &list->recipes[i];
        if (recipe->package == NULL && bench_list_has(o->peers, recipe->name)) {
            fprintf(stderr, "ferry bench %s: %s is no peer: it takes part in any case.\n",
                    o->suite->name, recipe->name);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

/* A row that was asked for by name is not left out in silence. */
static int check_rows_of_server(const struct bench_options *o)
{
    const struct row_table *rows = o->suite->rows;
    for (size_t i = 0; o->rows != NULL && i < rows->count; i++) {
        const struct row_kind *kind = &rows->kinds[i];
        const char *why = choice_refusal(o, kind);
        if (why != NULL && bench_list_has(o->rows, kind->name)) {
            fprintf(stderr, "ferry bench %s: row '%s' %s.\n", o->suite->name, kind->name, why);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

static int check_disk(const struct bench_options *o)
{
    const char *path = o->disk;
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    int fd = path != NULL ? sys_openat2(AT_FDCWD, path, &how) : -1;
    sys_close(fd);
    return path == NULL || fd >= 0 ? EXIT_OK : complain(o, path, err_text(fd));
}

static int run_checked(const struct bench_options *o)
{
    char help[48];
    descriptors_raise(); /* a client has two while it moves a file */
    snprintf(help, sizeof(help), "ferry bench %s --row help", o->suite->name);
    int code = check_names(o->suite, "row", o->rows, row_name, help);
    if (code == EXIT_OK)
        code = check_names(o->suite, "peer", o->peers, peer_name, "ferry bench peers");
    if (code == EXIT_OK)
        code = check_peers(o);
    if (code == EXIT_OK)
        code = check_rows_of_server(o);
    if (code == EXIT_OK)
        code = check_disk(o);
    if (code != EXIT_OK)
        return code;
    return run_with_baseline(o);
}

static int measure(const struct bench_suite *suite, int argc, char **argv)
{
    struct bench_options *o = mem_new(sizeof(*o));
    if (o == NULL) {
        fprintf(stderr, "ferry bench %s: %s\n", suite->name, err_text(-ENOMEM));
        return EXIT_FAILED;
    }
    int code = EXIT_USAGE;
    if (bench_options_parse(suite, argc, argv, stderr, o) == 0) {
        code = EXIT_OK;
        if (o->help) {
            bench_options_print_help(stdout);
        } else if (o->list_rows) {
            list_rows(suite->rows);
        } else {
            code = run_checked(o);
        }
    }
    bench_options_done(o);
    mem_free(o);
    return code;
}

static int bench_ftp(int argc, char **argv)
{
    return measure(&bench_suite_ftp, argc, argv);
}

static int bench_ssh(int argc, char **argv)
{
    return measure(&bench_suite_ssh, argc, argv);
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} suites[] = {
    {"ftp", bench_ftp},
    {"ssh", bench_ssh},
    {"compression", command_bench_study},
    {"levels", command_bench_study},
    {"methods", command_bench_study},
    {"ciphers", command_bench_study},
    {"peers", command_bench_peers},
    {"run-relay", command_bench_relay}, /* a process of a study */
    {"run-peer", command_bench_inside}, /* what a peer's process begins with */
};

int command_bench(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
        bench_options_print_help(stdout);
        fputs("\n'ferry bench compression', levels, methods and ciphers repeat public studies "
              "of\n"
              "client programs; each has a --help of its own.\n",
              stdout);
        return EXIT_OK;
    }
    for (size_t i = 0; argc >= 2 && i < ARRAY_LEN(suites); i++)
        if (strcmp(argv[1], suites[i].name) == 0)
            return suites[i].run(argc - 1, argv + 1);
    fprintf(stderr,
            "ferry bench: what is to be measured? ftp, ssh, compression, levels, methods or\n"
            "ciphers; or list its peers: peers\n"
            "Try 'ferry bench --help'.\n");
    return EXIT_USAGE;
}
