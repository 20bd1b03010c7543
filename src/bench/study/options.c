#include "bench/study/options.h"

#include <getopt.h>
#include <string.h>

#include "base/text.h"

#define DEFAULT_RUNS  3
#define SHARE_MAX     100
#define OPTIONS_COUNT 11

enum key {
    KEY_SIZE = 's',
    KEY_RUNS = 256,
    KEY_SHARE,
    KEY_ONLY,
    KEY_QUICK,
    KEY_FULL,
    KEY_JSON,
    KEY_MD,
    KEY_HTML,
    KEY_BASELINE,
    KEY_HELP
};

static const struct row {
    enum key key;
    const char *name, *argument, *help;
} rows[OPTIONS_COUNT] = {
    {KEY_RUNS, "runs", "N", "each cell so often, all of them in turn (3; --quick: 1)"},
    {KEY_SIZE, "size", "SIZE", "of what is moved, as 64K or 10M; default: the study's"},
    {KEY_QUICK, "quick", NULL, "less of everything: minutes instead of hours"},
    {KEY_FULL, "full", NULL, "levels: whole groups over each link, as the study did"},
    {KEY_SHARE, "cpu-share", "N", "percent of one core for the sender, by a control group"},
    {KEY_ONLY, "only", "TEXT", "cells whose TABLE / ROW / COLUMN holds this"},
    {KEY_JSON, "json", "FILE", "all results as JSON; -: standard output"},
    {KEY_MD, "md", "FILE", "the tables in Markdown"},
    {KEY_HTML, "html", "FILE", "one page with tables and charts"},
    {KEY_BASELINE, "baseline", "FILE", "beside the JSON of an earlier run"},
    {KEY_HELP, "help", NULL, "this text"},
};

static int complain(const char *suite, FILE *err, const char *what, const char *word)
{
    fprintf(err, "ferry bench %s: %s %s\nTry 'ferry bench %s --help'.\n", suite, what, word,
            suite);
    return -1;
}

static int take_number(const char *value, uint64_t max, unsigned *ret)
{
    uint64_t n;
    if (text_u64(bytes_str(value), 10, max, &n) < 0 || n == 0)
        return -1;
    *ret = (unsigned)n;
    return 0;
}

static int take(struct study_options *o, enum key key, const char *value)
{
    switch (key) {
    case KEY_RUNS:
        return take_number(value, STUDY_RUNS_MAX, &o->runs);
    case KEY_SIZE:
        return text_size(bytes_str(value), &o->bytes) < 0 || o->bytes == 0 ? -1 : 0;
    case KEY_SHARE:
        return take_number(value, SHARE_MAX, &o->cpu_share);
    case KEY_ONLY:
        o->only = value;
        break;
    case KEY_QUICK:
        o->quick = true;
        break;
    case KEY_FULL:
        o->full = true;
        break;
    case KEY_JSON:
        o->json = value;
        break;
    case KEY_MD:
        o->md = value;
        break;
    case KEY_HTML:
        o->html = value;
        break;
    case KEY_BASELINE:
        o->baseline = value;
        break;
    case KEY_HELP:
        o->help = true;
        break;
    }
    return 0;
}

int study_options_parse(const char *suite, int argc, char **argv, FILE *err,
                        struct study_options *ret)
{
    struct option longs[OPTIONS_COUNT + 1] = {0};
    *ret = (struct study_options){.runs = 0};
    for (unsigned i = 0; i < OPTIONS_COUNT; i++)
        longs[i] = (struct option){
            .name = rows[i].name, .has_arg = rows[i].argument != NULL, .val = rows[i].key};
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":s:", longs, NULL)) != -1) {
        if (c == ':')
            return complain(suite, err, "a value is missing for", argv[optind - 1]);
        if (c == '?')
            return complain(suite, err, "unknown option", argv[optind - 1]);
        if (take(ret, (enum key)c, optarg) < 0)
            return complain(suite, err, "this value will not do:", optarg);
    }
    if (optind < argc)
        return complain(suite, err, "one argument too many:", argv[optind]);
    if (ret->full && ret->quick)
        return complain(suite, err, "one or the other:", "--full and --quick");
    if (ret->runs == 0)
        ret->runs = ret->quick ? 1 : DEFAULT_RUNS;
    return 0;
}

void study_options_print_help(const struct study_suite *suite, FILE *out)
{
    fprintf(out,
            "usage: ferry bench %s [OPTION]...\n\n"
            "Repeats a study on this machine, as root, and prints its table:\n"
            "%s.\n"
            "Programs and servers that are not installed are left out by name.\n\n",
            suite->name, suite->origin);
    for (unsigned i = 0; i < OPTIONS_COUNT; i++) {
        char left[32];
        snprintf(left, sizeof(left), "--%s%s%s", rows[i].name,
                 rows[i].argument != NULL ? " " : "",
                 rows[i].argument != NULL ? rows[i].argument : "");
        fprintf(out, "  %-18s %s%s\n", left, rows[i].help,
                rows[i].key == KEY_SIZE ? " (-s)" : "");
    }
}
