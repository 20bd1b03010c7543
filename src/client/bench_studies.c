#include "client/bench_studies.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/study/options.h"
#include "bench/study/report.h"
#include "bench/study/shaper.h"
#include "client/command.h"
#include "task/runtime.h"
#include "task/sys.h"

enum { JSON, MARKDOWN, HTML, OUTPUTS };

struct outputs {
    FILE *files[OUTPUTS]; /* NULL: not asked for */
};

static const struct study_suite *const suites[] = {&study_compression, &study_levels,
                                                   &study_methods, &study_ciphers};

static int complain(const char *suite, const char *what, const char *why)
{
    fprintf(stderr, "ferry bench %s: %s: %s\n", suite, what, why);
    return EXIT_FAILED;
}

/* Where a line can be written anew. */
static void show_progress(const char *what)
{
    if (isatty(STDERR_FILENO) != 1)
        return;
    int room = (int)sys_terminal_width(STDERR_FILENO) - (int)sizeof(" ...");
    if (what == NULL)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r%.*s ...\033[K", room > 0 ? room : 0, what);
}

/* -- files -- */

static int open_output(const char *path, FILE **ret)
{
    if (strcmp(path, "-") == 0) {
        *ret = stdout;
        return 0;
    }
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

/* Nobody waits hours to hear that they cannot be written. */
static int open_outputs(const char *suite, const struct study_options *o, struct outputs *out)
{
    const char *const paths[] = {o->json, o->md, o->html};
    *out = (struct outputs){0};
    for (unsigned i = 0; i < OUTPUTS; i++) {
        int r = paths[i] != NULL ? open_output(paths[i], &out->files[i]) : 0;
        if (r < 0)
            return complain(suite, paths[i], err_text(r));
    }
    return EXIT_OK;
}

static int close_outputs(const char *suite, struct outputs *out)
{
    int code = EXIT_OK;
    for (unsigned i = 0; i < OUTPUTS; i++) {
        FILE *f = out->files[i];
        bool is_good = f == NULL || (fflush(f) == 0 && ferror(f) == 0);
        if (f != NULL && f != stdout)
            is_good = fclose(f) == 0 && is_good;
        if (!is_good)
            code = complain(suite, "a report", "it cannot be written");
    }
    return code;
}

static int write_json(const struct study *s, FILE *out)
{
    json_t *o = study_json(s);
    char *text = o != NULL ? json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(o);
    if (text == NULL)
        return complain(s->suite->name, "JSON", err_text(-ENOMEM));
    fprintf(out, "%s\n", text);
    mem_free(text);
    return EXIT_OK;
}

static int write_all(const struct study *s, const json_t *baseline, const struct outputs *out)
{
    bool is_taken = false; /* a file on standard output stands there alone */
    for (unsigned i = 0; i < OUTPUTS; i++)
        is_taken = is_taken || out->files[i] == stdout;
    study_text_print(s, baseline, is_taken ? stderr : stdout);
    if (out->files[MARKDOWN] != NULL)
        study_markdown_print(s, baseline, out->files[MARKDOWN]);
    if (out->files[HTML] != NULL)
        study_html_print(s, baseline, out->files[HTML]);
    return out->files[JSON] != NULL ? write_json(s, out->files[JSON]) : EXIT_OK;
}

/* -- the run -- */

static int say_failure(const struct study *s, int result)
{
    if (result == -EPERM)
        return complain(s->suite->name, "it must be root",
                        "servers are started in name spaces of their own");
    return complain(s->suite->name, "it could not be run to its end",
                    s->error[0] != '\0' ? s->error : err_text(result));
}

static int measure(const struct study_suite *suite, const struct study_options *o,
                   const json_t *baseline, const struct outputs *out)
{
    struct study *s = NULL;
    int r = study_new(suite, o, &s);
    if (r < 0)
        return complain(suite->name, "it could not be run", err_text(r));
    s->progress = show_progress;
    r = runtime_signals_setup();
    if (r == 0)
        r = study_run(s);
    bool has_failed = r < 0;
    int code = has_failed ? say_failure(s, r) : EXIT_OK;
    for (unsigned i = 0; i < s->cell_count; i++)
        if (s->cells[i].state == STUDY_FAILED)
            code = EXIT_FAILED;
    if (s->cell_count > 0 && (!has_failed || r == -ECANCELED)) {
        int written = write_all(s, baseline, out);
        code = written != EXIT_OK ? written : code;
    }
    (void)study_free(s);
    return code;
}

static int run(const struct study_suite *suite, const struct study_options *o)
{
    json_t *baseline = NULL;
    int r = o->baseline != NULL ? study_baseline_load(o->baseline, &baseline) : 0;
    if (r < 0)
        return complain(suite->name, o->baseline,
                        r == -EINVAL ? "it is no study's JSON" : err_text(r));
    struct outputs out;
    int code = open_outputs(suite->name, o, &out);
    if (code == EXIT_OK)
        code = measure(suite, o, baseline, &out);
    int closed = close_outputs(suite->name, &out);
    json_decref(baseline);
    return code != EXIT_OK ? code : closed;
}

int command_bench_study(int argc, char **argv)
{
    const struct study_suite *suite = suites[0];
    for (size_t i = 0; i < ARRAY_LEN(suites); i++)
        if (strcmp(suites[i]->name, argv[0]) == 0)
            suite = suites[i];
    struct study_options o;
    if (study_options_parse(suite->name, argc, argv, stderr, &o) < 0)
        return EXIT_USAGE;
    if (o.help) {
        study_options_print_help(suite, stdout);
        return EXIT_OK;
    }
    return run(suite, &o);
}

int command_bench_relay(int argc, char **argv)
{
    struct addr to;
    struct shaper_path path;
    uint64_t trip_us;
    if (argc != 4 || addr_parse(bytes_str(argv[1]), &to) < 0 ||
        text_u64(bytes_str(argv[2]), 10, UINT64_MAX / 1024, &path.bytes_per_s) < 0 ||
        text_u64(bytes_str(argv[3]), 10, USEC_PER_S, &trip_us) < 0 || path.bytes_per_s == 0) {
        fputs("ferry bench run-relay: for ferry's own use\n", stderr);
        return EXIT_USAGE;
    }
    path.round_trip_us = trip_us;
    return shaper_run(&to, &path) < 0 ? EXIT_FAILED : EXIT_OK;
}
