#include "client/remote_options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/command.h"
#include "client/place/cipher_cache.h"
#include "client/place/ciphers.h"
#include "io/compress.h"

#define LONGS_MAX  32
#define SHORTS_MAX 64

enum key {
    KEY_PORT = 'P',
    KEY_IDENTITY = 'i',
    KEY_CONFIG = 'F',
    KEY_CIPHER = 'c',
    KEY_COMPRESS = 'C',
    KEY_QUIET = 'q',
    KEY_VERBOSE = 'v',
    KEY_BATCH = 'B',
    KEY_TIMEOUT = 256,
    KEY_HELP,
    KEY_VALUES = 512 /* and on: the command's own */
};

static const struct row {
    enum key key;
    const char *name, *argument, *help;
} rows[] = {
    {KEY_PORT, "port", "PORT", "of the servers whose place names none"},
    {KEY_IDENTITY, "identity", "FILE", "a private key for ssh; may be given more than once"},
    {KEY_CONFIG, "config", "FILE", "ssh's configuration; 'none': no file"},
    {KEY_CIPHER, "cipher", "LIST", "of ssh, best first; default: what is fastest here"},
    {KEY_COMPRESS, "compress", NULL, "compress what ssh carries"},
    {KEY_QUIET, "quiet", NULL, "no word but of failures"},
    {KEY_VERBOSE, "verbose", NULL, "the steps of a login"},
    {KEY_TIMEOUT, "timeout", "SECONDS", "for a connection and its login, and for an answer"},
    {KEY_BATCH, "batch", NULL, "ask nobody: fail instead"},
    {KEY_HELP, "help", NULL, "this text"},
};

int remote_options_complain(const char *command, const char *what, const char *word)
{
    fprintf(stderr, "ferry %s: %s%s%s\nTry 'ferry %s --help'.\n", command, what,
            word != NULL ? " " : "", word != NULL ? word : "", command);
    return EXIT_USAGE;
}

static int take_number(const char *command, const char *what, uint64_t max, uint64_t *ret)
{
    if (text_u64(bytes_str(optarg), 10, max, ret) < 0 || *ret == 0)
        return remote_options_complain(command, what, optarg);
    return EXIT_OK;
}

static int take_identity(struct remote_options *o, const char *command)
{
    if (o->identity_count == REMOTE_IDENTITIES_MAX)
        return remote_options_complain(command, "one key too many:", optarg);
    o->identities[o->identity_count++] = optarg;
    o->login.identities = o->identities;
    return EXIT_OK;
}

static int take_ciphers(struct remote_options *o, const char *command)
{
    struct buf list;
    buf_init(&list, 1024);
    cipher_cache_use();
    int r = ciphers_resolve(optarg, true, &list);
    buf_done(&list);
    o->login.ciphers = optarg;
    return r < 0 ? remote_options_complain(command, "no cipher that is known here:", optarg)
                 : EXIT_OK;
}

static int take(struct remote_options *o, const char *command, enum key key)
{
    uint64_t n = 0;
    int code = EXIT_OK;
    switch (key) {
    case KEY_PORT:
        code = take_number(command, "this is no port:", UINT16_MAX, &n);
        o->port = (uint16_t)n;
        break;
    case KEY_IDENTITY:
        return take_identity(o, command);
    case KEY_CONFIG:
        o->login.config_file = optarg;
        break;
    case KEY_CIPHER:
        return take_ciphers(o, command);
    case KEY_COMPRESS:
        o->login.codec = CODEC_ZLIB;
        o->login.level = COMPRESS_AUTO;
        o->login.is_codec_given = true;
        break;
    case KEY_QUIET:
        o->is_quiet = true;
        break;
    case KEY_VERBOSE:
        o->login.is_verbose = true;
        break;
    case KEY_TIMEOUT:
        code = take_number(command, "this is no number of seconds:", 86400, &n);
        o->login.connect_us = o->login.stall_us = n * USEC_PER_S;
        break;
    case KEY_BATCH:
        o->login.is_batch = true;
        break;
    case KEY_HELP:
        o->help = true;
        break;
    case KEY_VALUES:
        break;
    }
    return code;
}

/* -- getopt's tables -- */

struct tables {
    struct option longs[LONGS_MAX];
    char shorts[SHORTS_MAX];
    unsigned long_count;
    size_t short_len;
};

static void add_option(struct tables *t, int key, const char *name, bool has_argument)
{
    if (name != NULL && t->long_count + 1 < LONGS_MAX)
        t->longs[t->long_count++] =
            (struct option){.name = name, .has_arg = has_argument, .val = key};
    if (key < 256 && t->short_len + 3 < SHORTS_MAX) {
        t->shorts[t->short_len++] = (char)key;
        if (has_argument)
            t->shorts[t->short_len++] = ':';
    }
}

static void fill_tables(const struct remote_usage *usage, struct tables *t)
{
    *t = (struct tables){.shorts = ":", .short_len = 1};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        add_option(t, (int)rows[i].key, rows[i].name, rows[i].argument != NULL);
    for (const struct remote_flag *f = usage->flags; f->letter != 0; f++)
        add_option(t, f->letter, f->name, false);
    for (int i = 0; usage->values != NULL && usage->values[i].name != NULL; i++)
        add_option(t, KEY_VALUES + i, usage->values[i].name, true);
}

static int flag_index(const struct remote_usage *usage, int letter)
{
    for (int i = 0; usage->flags[i].letter != 0; i++)
        if (usage->flags[i].letter == letter)
            return i;
    return -1;
}

void remote_options_wipe(char *argument)
{
    char *scheme = strstr(argument, "://");
    if (scheme == NULL)
        return;
    char *host = scheme + 3, *end = strchr(host, '/');
    size_t len = end != NULL ? (size_t)(end - host) : strlen(host);
    size_t at = len;
    while (at > 0 && host[at - 1] != '@')
        at--;
    char *colon = at > 0 ? memchr(host, ':', at) : NULL;
    if (colon != NULL)
        memset(colon + 1, 'x', (size_t)(host + at - 1 - (colon + 1)));
}

static int take_places(struct remote_options *o, const char *command, char **arguments,
                       unsigned count)
{
    o->at = count > 0 ? mem_new(count * sizeof(*o->at)) : NULL;
    if (count > 0 && o->at == NULL)
        return remote_options_complain(command, err_text(-ENOMEM), NULL);
    for (; o->count < count; o->count++) {
        char why[LOCATION_WHY_MAX];
        char *argument = arguments[o->count];
        struct location *l = &o->at[o->count];
        int r = location_parse(argument, l, why);
        remote_options_wipe(argument);
        if (r < 0) {
            fprintf(stderr, "ferry %s: %s: %s\n", command, argument,
                    why[0] != '\0' ? why : err_text(r));
            return EXIT_USAGE;
        }
        if (l->host != NULL && l->port == 0)
            l->port = o->port;
    }
    return EXIT_OK;
}

int remote_options_parse(int argc, char **argv, const struct remote_usage *usage,
                         struct remote_options *ret)
{
    struct tables t;
    fill_tables(usage, &t);
    *ret = (struct remote_options){.count = 0};
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    for (;;) {
        int key = getopt_long(argc, argv, t.shorts, t.longs, NULL);
        if (key == -1)
            break;
        if (key == ':')
            return remote_options_complain(argv[0], "a value is missing after",
                                           argv[optind - 1]);
        if (key == '?')
            return remote_options_complain(argv[0], "unknown option", argv[optind - 1]);
        if (key >= KEY_VALUES) {
            ret->values[key - KEY_VALUES] = optarg;
            continue;
        }
        int index = flag_index(usage, key);
        if (index >= 0)
            ret->flags |= 1u << index;
        int code = index >= 0 ? EXIT_OK : take(ret, argv[0], (enum key)key);
        if (code != EXIT_OK)
            return code;
    }
    unsigned count = (unsigned)(argc - optind);
    if (ret->help)
        return EXIT_OK;
    if (count < usage->least)
        return remote_options_complain(argv[0], "an argument is missing", NULL);
    if (usage->most != 0 && count > usage->most)
        return remote_options_complain(
            argv[0], "one argument too many:", argv[optind + (int)usage->most]);
    return take_places(ret, argv[0], argv + optind, count);
}

void remote_options_done(struct remote_options *o)
{
    for (unsigned i = 0; i < o->count; i++)
        location_done(&o->at[i]);
    mem_free(o->at);
    *o = (struct remote_options){.count = 0};
}

bool remote_options_has(const struct remote_options *o, const struct remote_usage *usage,
                        char letter)
{
    int index = flag_index(usage, letter);
    return index >= 0 && (o->flags & 1u << index) != 0;
}

static void print_row(FILE *out, int letter, const char *name, const char *argument,
                      const char *help)
{
    char head[40];
    (void)snprintf(head, sizeof(head), "%s%.1s%s%s%s%s%s", letter < 256 ? "-" : "",
                   letter < 256 ? (const char[]){(char)letter, '\0'} : "",
                   letter < 256 && name != NULL ? ", " : "", name != NULL ? "--" : "",
                   name != NULL ? name : "", argument != NULL ? " " : "",
                   argument != NULL ? argument : "");
    fprintf(out, "  %-22s %s\n", head, help);
}

void remote_options_print_help(const struct remote_usage *usage, FILE *out)
{
    fprintf(out,
            "usage: ferry %s\n\n%s\n\n"
            "A place is PATH, [USER@]HOST:PATH, sftp://[USER@]HOST[:PORT]/PATH, scp:// or\n"
            "ftp://[USER@]HOST[:PORT]/PATH.\n\n",
            usage->line, usage->what);
    for (const struct remote_flag *f = usage->flags; f->letter != 0; f++)
        print_row(out, f->letter, f->name, NULL, f->help);
    for (int i = 0; usage->values != NULL && usage->values[i].name != NULL; i++)
        print_row(out, KEY_VALUES, usage->values[i].name, usage->values[i].argument,
                  usage->values[i].help);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        print_row(out, (int)rows[i].key, rows[i].name, rows[i].argument, rows[i].help);
    command_print_exit_codes(out);
}
