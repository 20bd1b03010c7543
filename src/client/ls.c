/* ferry ls: names, or what is known of each, as a table or as JSON lines. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/command.h"
#include "client/places.h"
#include "sftp/client.h"

static const struct remote_flag flags[] = {
    {'l', "long", "mode, size and time (UTC) of each"},
    {'a', "all", "also names that begin with a dot"},
    {'d', "directory", "a directory itself, not what is in it"},
    {'j', "json", "one JSON object a line: name, kind, size, mode, time"},
    {0, NULL, NULL},
};

static const struct remote_usage usage = {
    .line = "ls [-l] [-a] [-d] [--json] [OPTION]... PLACE...",
    .what = "Lists directories, in the order of their names' bytes.",
    .flags = flags,
    .least = 1};

struct entry {
    struct endpoint_facts facts;
    char *name;
};

struct entries {
    struct entry *at;
    size_t count, room;
    bool shows_hidden;
};

static void entries_done(struct entries *e)
{
    for (size_t i = 0; i < e->count; i++)
        mem_free(e->at[i].name);
    mem_free(e->at);
}

static int on_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct entries *e = arg;
    if (name.data[0] == '.' && !e->shows_hidden)
        return 0;
    if (e->count == SFTP_LISTING_MAX)
        return -FERRY_ELIMIT;
    if (e->count == e->room) {
        size_t room = e->room != 0 ? 2 * e->room : 64;
        struct entry *more = mem_resize(e->at, room * sizeof(*more));
        if (more == NULL)
            return -ENOMEM;
        e->at = more;
        e->room = room;
    }
    struct entry *entry = &e->at[e->count];
    entry->facts = *facts;
    entry->name = remotes_join("", name);
    if (entry->name == NULL)
        return -ENOMEM;
    e->count++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* -- printing -- */

static const struct {
    char letter;
    const char *name;
} kinds[] = {
    [ENDPOINT_FILE] = {'-', "file"},  [ENDPOINT_DIRECTORY] = {'d', "directory"},
    [ENDPOINT_LINK] = {'l', "link"},  [ENDPOINT_OTHER] = {'?', "other"},
    [ENDPOINT_UNKNOWN] = {'?', NULL},
};

static void print_mode(const struct endpoint_facts *f)
{
    static const char letters[] = "rwxrwxrwx";
    char text[] = "?---------";
    text[0] = kinds[f->kind].letter;
    for (unsigned i = 0; i < 9; i++)
        if (!f->has_mode)
            text[i + 1] = '?';
        else if ((f->mode >> (8 - i) & 1u) != 0)
            text[i + 1] = letters[i];
    printf("%s ", text);
}

static void print_long(const struct endpoint_facts *f)
{
    struct civil c;
    print_mode(f);
    if (f->has_size)
        printf("%12llu ", (unsigned long long)f->size_bytes);
    else
        printf("%12s ", "?");
    if (!f->has_times) {
        printf("%16s ", "?");
        return;
    }
    clock_utc(f->mtime_us, &c);
    printf("%04u-%02u-%02u %02u:%02u ", c.year, c.month, c.day, c.hour, c.minute);
}

/* A name that is no UTF-8 is told with the bytes that are none replaced: JSON has no other. */
static int print_json(const char *name, const struct endpoint_facts *f)
{
    char *text = NULL;
    json_t *object = json_object();
    struct buf clean;
    struct bytes rest = bytes_str(name);
    buf_init(&clean, 4 * strlen(name) + 1);
    int r = 0;
    while (r == 0 && rest.len > 0) {
        size_t len = text_utf8_len(rest);
        r = len > 0 ? buf_append_bytes(&clean, bytes_first(rest, len))
                    : buf_append_str(&clean, "\xef\xbf\xbd");
        rest = bytes_skip(rest, len > 0 ? len : 1);
    }
    if (r == 0)
        (void)json_object_set_new(object, "name",
                                  json_stringn((const char *)clean.data, clean.len));
    buf_done(&clean);
    if (kinds[f->kind].name != NULL)
        (void)json_object_set_new(object, "kind", json_string(kinds[f->kind].name));
    if (f->has_size)
        (void)json_object_set_new(object, "size", json_integer((json_int_t)f->size_bytes));
    if (f->has_mode)
        (void)json_object_set_new(object, "mode", json_integer(f->mode));
    if (f->has_times)
        (void)json_object_set_new(object, "time", json_real((double)f->mtime_us / 1e6));
    if (r == 0)
        text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(16));
    json_decref(object);
    if (text == NULL)
        return -ENOMEM;
    puts(text);
    mem_free(text);
    return 0;
}

static int print(const struct places *p, const char *name, const struct endpoint_facts *f)
{
    if (places_has(p, 'j'))
        return print_json(name, f);
    if (places_has(p, 'l'))
        print_long(f);
    places_print_name(name);
    putchar('\n');
    return 0;
}

static PARKS int list_directory(struct places *p, const char *path)
{
    struct endpoint *e = p->endpoint;
    struct entries entries = {.shows_hidden = places_has(p, 'a')};
    int r = e->ops->list(e, bytes_str(path), on_name, &entries);
    if (entries.count > 1)
        qsort(entries.at, entries.count, sizeof(*entries.at), by_name);
    for (size_t i = 0; i < entries.count && r == 0; i++)
        r = print(p, entries.at[i].name, &entries.at[i].facts);
    entries_done(&entries);
    return r;
}

/* A link to a directory is looked into, as it is by ls(1). */
static PARKS int list_path(struct places *p, const char *path)
{
    struct endpoint *e = p->endpoint;
    struct endpoint_facts facts;
    bool is_itself = places_has(p, 'd');
    int r = e->ops->stat(e, bytes_str(path), !is_itself, &facts);
    if (r < 0)
        return r;
    if (facts.kind != ENDPOINT_DIRECTORY || is_itself)
        return print(p, path, &facts);
    if (p->options.count > 1 && !places_has(p, 'j')) {
        places_print_name(path);
        puts(":");
    }
    return list_directory(p, path);
}

static PARKS void ls_main(struct places *p)
{
    places_each(p, list_path);
}

int command_ls(int argc, char **argv)
{
    return places_run(argc, argv, &usage, ls_main);
}
