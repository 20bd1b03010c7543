#include "client/places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/command.h"
#include "client/run.h"

#define PLACE_TEXT 1024

struct run {
    struct places *places;
    PARKS void (*main_fn)(struct places *);
};

bool places_has(const struct places *p, char letter)
{
    return remote_options_has(&p->options, p->usage, letter);
}

bool places_is_over(int result)
{
    return result == -ECANCELED || result == -FERRY_ECLOSED || result == -FERRY_ESTALLED ||
           result == -FERRY_EPROTO || result == -ENOMEM;
}

void places_fail(struct places *p, const char *path, int result)
{
    char text[PLACE_TEXT];
    if (result == -ECANCELED) {
        p->code = EXIT_FAILED;
        return;
    }
    location_text(p->location, bytes_str(path), sizeof(text), text);
    fprintf(stderr, "ferry %s: %s: %s\n", p->command, text, remotes_words(p->endpoint, result));
    if (p->code == EXIT_OK)
        p->code = EXIT_FAILED;
}

bool places_enter(struct places *p, const struct location *l)
{
    char why[REMOTES_WHY_MAX];
    p->location = l;
    p->endpoint = NULL;
    int r = remotes_get(&p->remotes, l, why, &p->endpoint);
    if (r == 0)
        return true;
    if (r != -ECANCELED)
        fprintf(stderr, "ferry %s: %s\n", p->command, why);
    p->code = l->host != NULL ? EXIT_NO_LOGIN : EXIT_FAILED;
    return false;
}

struct each {
    struct places *places;
    places_fn *fn;
};

static PARKS int on_path(void *arg, const char *path)
{
    struct each *each = arg;
    int r = each->fn(each->places, path);
    if (r < 0)
        places_fail(each->places, path, r);
    return places_is_over(r) ? r : 0;
}

void places_each(struct places *p, places_fn *fn)
{
    struct each each = {p, fn};
    int r = 0;
    for (unsigned i = 0; i < p->options.count && r != -ECANCELED; i++) {
        const struct location *l = &p->options.at[i];
        if (!places_enter(p, l))
            continue;
        char *path = remotes_path(l);
        r = path != NULL ? remotes_expand(p->endpoint, path, on_path, &each) : -ENOMEM;
        if (r < 0 && !places_is_over(r))
            places_fail(p, l->path, r);
        mem_free(path);
    }
}

static PARKS int run_main(void *arg)
{
    struct run *run = arg;
    struct places *p = run->places;
    remotes_init(&p->remotes, &p->options.login);
    run->main_fn(p);
    remotes_done(&p->remotes);
    if (fflush(stdout) != 0 && p->code == EXIT_OK) {
        fprintf(stderr, "ferry %s: standard output cannot be written\n", p->command);
        p->code = EXIT_FAILED;
    }
    return p->code;
}

int places_run(int argc, char **argv, const struct remote_usage *usage,
               PARKS void (*main_fn)(struct places *))
{
    struct places *p = mem_new(sizeof(*p));
    if (p == NULL) {
        fprintf(stderr, "ferry %s: %s\n", argv[0], err_text(-ENOMEM));
        return EXIT_FAILED;
    }
    p->command = argv[0];
    p->usage = usage;
    struct run run = {p, main_fn};
    int code = remote_options_parse(argc, argv, usage, &p->options);
    if (code == EXIT_OK && p->options.help)
        remote_options_print_help(usage, stdout);
    else if (code == EXIT_OK)
        code = client_run(run_main, &run);
    remote_options_done(&p->options);
    mem_free(p);
    return code;
}

/* What a terminal would take for a command of its own is shown as \ooo. */
void places_print_name(const char *name)
{
    if (isatty(STDOUT_FILENO) != 1) {
        fputs(name, stdout);
        return;
    }
    struct bytes rest = bytes_str(name);
    while (rest.len > 0) {
        size_t len = text_utf8_len(rest);
        bool is_c1 = len == 2 && rest.data[0] == 0xc2 && rest.data[1] < 0xa0;
        if (len == 0 || is_c1 || rest.data[0] < ' ' || rest.data[0] == 0x7f) {
            len = len == 2 ? 2 : 1;
            for (size_t i = 0; i < len; i++)
                printf("\\%03o", rest.data[i]);
        } else {
            fwrite(rest.data, 1, len, stdout);
        }
        rest = bytes_skip(rest, len);
    }
}
