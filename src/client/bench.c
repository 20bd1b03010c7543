/* ferry bench: measures a server and prints what it found. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/run.h"
#include "client/command.h"
#include "task/runtime.h"

/* Where the table goes, and whether something of the progress line stands before it. */
struct screen {
    const struct bench_options *options;
    FILE *out;
    bool has_progress;
};

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "ferry bench ftp: %s: %s\n", what, why);
    return EXIT_FAILED;
}

/* -- while it runs -- */

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
    report_head_print(s->options, s->out);
    report_memory_print(results, s->out);
    fflush(s->out);
}

static void on_ended(void *arg, const struct bench_row *row)
{
    struct screen *s = arg;
    clear_progress(s);
    report_row_print(row, s->out);
    fflush(s->out);
}

static void on_tick(void *arg, const char *label)
{
    struct screen *s = arg;
    fprintf(stderr, "\r%s ...\033[K", label);
    s->has_progress = true;
}

/* -- before and after -- */

static int resolve(const struct bench_url *server, struct addr *ret)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    int r = getaddrinfo(server->host, NULL, &hints, &found);
    if (r != 0 || found->ai_addrlen > sizeof(ret->u))
        return complain(server->host, r != 0 ? gai_strerror(r) : "an unknown kind of address");
    *ret = (struct addr){.len = found->ai_addrlen};
    memcpy(&ret->u, found->ai_addr, found->ai_addrlen);
    addr_set_port(ret, server->port);
    freeaddrinfo(found);
    return EXIT_OK;
}

/* A client has two descriptors while it moves a file. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

static int write_json(const struct bench_options *o, const struct bench_results *results,
                      FILE *out)
{
    json_t *report = report_json(o, results);
    char *text =
        report != NULL ? json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(report);
    if (text == NULL)
        return complain(o->json, err_text(-ENOMEM));
    bool is_written = fprintf(out, "%s\n", text) >= 0 && fflush(out) == 0;
    mem_free(text);
    return is_written ? EXIT_OK : complain(o->json, "cannot be written");
}

static int run(const struct bench_options *o, FILE *json)
{
    bool is_json_shown = json == stdout;
    struct screen screen = {.options = o, .out = is_json_shown ? stderr : stdout};
    const struct bench_watcher watcher = {
        .began = on_began,
        .ended = on_ended,
        .tick = isatty(STDERR_FILENO) == 1 ? on_tick : NULL,
        .arg = &screen,
    };
    struct addr server;
    if (resolve(&o->server, &server) != EXIT_OK)
        return EXIT_FAILED;
    struct bench_results *results = mem_new(sizeof(*results));
    int r = results != NULL ? runtime_signals_setup() : -ENOMEM;
    if (r == 0)
        r = bench_run(o, &server, &watcher, results);
    clear_progress(&screen);
    int code = EXIT_OK;
    if (r < 0) {
        code = complain("it could not be run", err_text(r));
    } else {
        if (results->notice[0] != '\0')
            fprintf(stderr, "ferry bench ftp: %s\n", results->notice);
        if (results->error[0] != '\0')
            fprintf(stderr, "ferry bench ftp: %s\n", results->error);
        code = results->is_complete ? EXIT_OK : EXIT_FAILED;
        if (json != NULL && write_json(o, results, json) != EXIT_OK)
            code = EXIT_FAILED;
    }
    mem_free(results);
    return code;
}

/* The file is opened first: nobody waits minutes to hear that it cannot be. */
static int run_with_json(const struct bench_options *o)
{
    if (o->json == NULL)
        return run(o, NULL);
    if (strcmp(o->json, "-") == 0)
        return run(o, stdout);
    FILE *json = fopen(o->json, "we");
    if (json == NULL)
        return complain(o->json, "cannot be written");
    int code = run(o, json);
    if (fclose(json) != 0)
        code = complain(o->json, "cannot be written");
    return code;
}

int command_bench(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
        bench_options_print_help(stdout);
        return EXIT_OK;
    }
    if (argc < 2 || strcmp(argv[1], "ftp") != 0) {
        fprintf(stderr,
                "ferry bench: what is to be measured? ftp\nTry 'ferry bench --help'.\n");
        return EXIT_USAGE;
    }
    struct bench_options *o = mem_new(sizeof(*o));
    if (o == NULL)
        return complain("it could not be run", err_text(-ENOMEM));
    int code = EXIT_USAGE;
    if (bench_options_parse(argc - 1, argv + 1, stderr, o) == 0) {
        if (o->help) {
            bench_options_print_help(stdout);
            code = EXIT_OK;
        } else {
            raise_descriptors();
            code = run_with_json(o);
        }
    }
    bench_options_done(o);
    mem_free(o);
    return code;
}
