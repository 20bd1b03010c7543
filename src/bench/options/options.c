#include "bench/options/options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "bench/suite.h"

#define DEFAULT_CLIENTS        200 /* of ftpbench */
#define DEFAULT_CLIENTS_STAGED 300 /* servers side by side: what the goals ask for */
#define DEFAULT_CLIENTS_QUICK  50
#define DEFAULT_PAIRS          21
#define DEFAULT_PAIRS_QUICK    3
#define DEFAULT_WINDOW         40 /* below every server's backlog */
#define DEFAULT_TIMEOUT_S      60
#define TIMEOUT_MAX_S          86400

/* What an option takes for granted; OURS: not --compat. */
enum { ANY, OURS, TELLS_SERVER, NEEDS_SERVER, NEEDS_NONE };

/* An option under way. */
struct parse {
    FILE *err;
    struct bench_options *options;
    /* what can only be judged when all options are known */
    const char *kind;
    const char *needs[NEEDS_NONE + 1]; /* by what an option is about: the last such one */
};

struct option_row;
typedef int take_fn(struct parse *, const struct option_row *, char *value);

static take_fn take_url, take_text, take_password, take_port, take_kind, take_number,
    take_seconds, take_size, take_list, take_word, take_flag;

#define AT(member)   offsetof(struct bench_options, member)
#define TEXT(member) AT(member), sizeof(((struct bench_options *)NULL)->member)
#define FIRST_LONG   256 /* below: a character, the short option */

static const struct option_row {
    int letter; /* 0: none */
    unsigned about;
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *help;
    take_fn *take;
    size_t at;    /* in the options */
    uint64_t max; /* of a number; of a text, the bytes it has room for */
} rows[] = {
    {0, TELLS_SERVER, "url", "URL", "the server: ftp://USER:PASSWORD@HOST:PORT", take_url,
     AT(server), 0},
    {'H', TELLS_SERVER, "host", "HOST", "or each part alone: its name (localhost)", take_text,
     TEXT(server.host)},
    {'P', TELLS_SERVER, "port", "PORT", "its port (21)", take_port, AT(server.port),
     UINT16_MAX},
    {'u', TELLS_SERVER, "user", "NAME", "an account that may write", take_text,
     TEXT(server.user)},
    {'p', TELLS_SERVER, "pass", "PASSWORD", "its password", take_password,
     TEXT(server.password)},
    {'k', TELLS_SERVER, "pid", "PID", "its process: shows its memory and CPU", take_number,
     AT(pid), INT32_MAX},
    {'S', NEEDS_SERVER, "ssl", NULL, "explicit TLS; the certificate is not checked", take_flag,
     AT(tls), 0},
    {0, NEEDS_SERVER, "compat", NULL, "as ftpbench measures and prints, faults too", take_flag,
     AT(compat), 0},
    {0, NEEDS_NONE, "peers", "NAMES", "vsftpd,proftpd: beside these alone", take_list,
     AT(peers), 0},
    {0, NEEDS_NONE, "disk", "DIR", "for the rows about a disk (/var/tmp)", take_word, AT(disk),
     0},
    {'b', ANY, "benchmark", "KIND", "transfer, download, upload, concurrence, all", take_kind,
     0, 0},
    {0, OURS, "row", "NAMES", "stor,retr: these rows alone; help: lists them", take_list,
     AT(rows), 0},
    {'n', ANY, "clients", "N", "concurrent clients (300; with a server: 200)", take_number,
     AT(clients), BENCH_CLIENTS_MAX},
    {'s', ANY, "filesize", "SIZE", "of a file, as 64K or 10M (10M)", take_size, AT(file_bytes),
     0},
    {0, OURS, "window", "N", "logins at once, where not one by one (40)", take_number,
     AT(window), BENCH_WINDOW_MAX},
    {0, OURS, "pairs", "N", "samples of each server in a row (21, at most 41)", take_number,
     AT(pairs), BENCH_PAIRS_MAX},
    {'t', ANY, "timeout", "SECONDS", "without an answer, then give up (60)", take_seconds,
     AT(timeout_us), TIMEOUT_MAX_S},
    {0, OURS, "quick", NULL, "shorter and less exact: 50 clients, 3 pairs", take_flag,
     AT(quick), 0},
    {0, OURS, "json", "FILE", "the results as JSON too; -: standard output", take_word,
     AT(json), 0},
    {0, OURS, "baseline", "FILE", "beside the JSON of an earlier run", take_word, AT(baseline),
     0},
    {0, ANY, "help", NULL, "this text", take_flag, AT(help), 0},
};

/* -- values -- */

static int complain(const struct parse *p, const char *what, const char *word)
{
    const char *suite = p->options->suite->name;
    fprintf(p->err, "ferry bench %s: %s%s%s\nTry 'ferry bench %s --help'.\n", suite, what,
            word[0] != '\0' ? " " : "", word, suite);
    return -1;
}

static void *member(const struct parse *p, const struct option_row *row)
{
    return (char *)p->options + row->at;
}

/* Overwrites what other users would see in the list of processes. */
static void hide(char *word)
{
    mem_wipe(word, strlen(word));
}

static int take_text(struct parse *p, const struct option_row *row, char *value)
{
    if (text_copy(member(p, row), row->max, bytes_str(value)) < strlen(value))
        return complain(p, "too long: the value of option", row->name);
    return 0;
}

static int take_password(struct parse *p, const struct option_row *row, char *value)
{
    int r = take_text(p, row, value);
    hide(value);
    return r;
}

/* What the URL leaves out keeps what other options said. */
static int take_url(struct parse *p, const struct option_row *row, char *value)
{
    struct bench_url u, *server = member(p, row);
    const char *wrong = bench_url_parse(bytes_str(value), &u);
    hide(value);
    if (wrong == NULL) {
        memcpy(server->host, u.host, sizeof(u.host));
        if (u.port != 0)
            server->port = u.port;
        if (u.user[0] != '\0')
            memcpy(server->user, u.user, sizeof(u.user));
        if (u.password[0] != '\0')
            memcpy(server->password, u.password, sizeof(u.password));
    }
    mem_wipe(&u, sizeof(u));
    return wrong == NULL ? 0 : complain(p, "the URL is not usable:", wrong);
}

static int read_number(struct parse *p, const struct option_row *row, const char *value,
                       unsigned *ret)
{
    uint64_t number;
    if (text_u64(bytes_str(value), 10, row->max, &number) < 0 || number == 0) {
        char what[96];
        snprintf(what, sizeof(what), "--%s takes a number from 1 to %llu, not", row->name,
                 (unsigned long long)row->max);
        return complain(p, what, value);
    }
    *ret = (unsigned)number;
    return 0;
}

static int take_number(struct parse *p, const struct option_row *row, char *value)
{
    return read_number(p, row, value, member(p, row));
}

static int take_port(struct parse *p, const struct option_row *row, char *value)
{
    unsigned port;
    int r = read_number(p, row, value, &port);
    if (r == 0)
        *(uint16_t *)member(p, row) = (uint16_t)port;
    return r;
}

static int take_seconds(struct parse *p, const struct option_row *row, char *value)
{
    unsigned seconds;
    int r = read_number(p, row, value, &seconds);
    if (r == 0)
        *(usec_t *)member(p, row) = seconds * USEC_PER_S;
    return r;
}

/* ftpbench wants a letter behind the digits, B for bytes, in either case. */
static int take_size(struct parse *p, const struct option_row *row, char *value)
{
    char text[24];
    uint64_t *ret = member(p, row);
    size_t len = text_copy(text, sizeof(text), bytes_str(value));
    if (len > 0)
        text[len - 1] = text_upper(text[len - 1]);
    if (len > 1 && text[len - 1] == 'B' && text[len - 2] <= '9')
        len--;
    if (strlen(value) >= sizeof(text) || text_size(bytes_of(text, len), ret) < 0 || *ret == 0 ||
        *ret > INT64_MAX)
        return complain(p, "--filesize takes a size such as 64K or 10M, not", value);
    return 0;
}

static int take_kind(struct parse *p, const struct option_row *row, char *value)
{
    (void)row;
    p->kind = value;
    return 0;
}

static int take_list(struct parse *p, const struct option_row *row, char *value)
{
    char option[32];
    snprintf(option, sizeof(option), "--%s", row->name);
    if (value[0] == '\0')
        return complain(p, "names are missing after", option);
    return take_word(p, row, value);
}

static int take_word(struct parse *p, const struct option_row *row, char *value)
{
    *(const char **)member(p, row) = value;
    return 0;
}

static int take_flag(struct parse *p, const struct option_row *row, char *value)
{
    (void)value;
    *(bool *)member(p, row) = true;
    return 0;
}

/* -- all of them together -- */

static int find_kind(const struct parse *p, const char *name)
{
    struct bench_options *o = p->options;
    o->has_kind = bench_kind_find(name, &o->kind);
    if (o->has_kind)
        return 0;
    if (!o->compat)
        return complain(p, "there is no benchmark", name);
    fprintf(p->err, "invalid 'benchmark' parameter '%s'\n", name);
    return -1;
}

static int check_server(const struct parse *p)
{
    struct bench_url *server = &p->options->server;
    if (server->user[0] == '\0')
        return complain(p, "which account? Give --url or --user", "");
    if (server->password[0] == '\0')
        return complain(p, "a password is missing: give --url or --pass", "");
    if (server->host[0] == '\0')
        text_copy(server->host, sizeof(server->host), BYTES_LIT("localhost"));
    if (server->port == 0)
        server->port = (uint16_t)p->options->suite->port;
    return 0;
}

static void fill_in(struct bench_options *o)
{
    unsigned clients = o->has_server ? DEFAULT_CLIENTS : DEFAULT_CLIENTS_STAGED;
    if (!o->has_kind)
        o->kind = o->has_server ? BENCH_TRANSFER : BENCH_ALL;
    if (o->clients == 0)
        o->clients = o->quick ? DEFAULT_CLIENTS_QUICK : clients;
    if (o->pairs == 0)
        o->pairs = o->quick ? DEFAULT_PAIRS_QUICK : DEFAULT_PAIRS;
    if (o->window > o->clients)
        o->window = o->clients;
}

static int finish(const struct parse *p)
{
    char what[96];
    struct bench_options *o = p->options;
    const char *needs_server = p->needs[NEEDS_SERVER], *needs_none = p->needs[NEEDS_NONE];
    o->has_server = p->needs[TELLS_SERVER] != NULL;
    o->list_rows = o->rows != NULL && strcmp(o->rows, "help") == 0;
    if (o->list_rows)
        return 0;
    if (p->kind != NULL && find_kind(p, p->kind) < 0)
        return -1;
    if (!o->has_server && needs_server != NULL) {
        snprintf(what, sizeof(what), "--%s is for a server that runs: give --url",
                 needs_server);
        return complain(p, what, "");
    }
    if (o->has_server && needs_none != NULL) {
        snprintf(what, sizeof(what), "--%s and --%s: the one starts servers, the other has one",
                 needs_none, p->needs[TELLS_SERVER]);
        return complain(p, what, "");
    }
    if (o->compat && p->needs[OURS] != NULL) {
        snprintf(what, sizeof(what), "--%s and --compat: ftpbench has no such thing",
                 p->needs[OURS]);
        return complain(p, what, "");
    }
    if (o->has_server && check_server(p) < 0)
        return -1;
    fill_in(o);
    return 0;
}

/* The forms that getopt wants, from the table. */
static void make_tables(struct option *longs, char *shorts)
{
    *shorts++ = ':'; /* a missing value is told from an unknown option */
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        *longs++ = (struct option){
            .name = rows[i].name,
            .has_arg = rows[i].argument != NULL ? required_argument : no_argument,
            .val = FIRST_LONG + (int)i,
        };
        if (rows[i].letter != 0) {
            *shorts++ = (char)rows[i].letter;
            if (rows[i].argument != NULL)
                *shorts++ = ':';
        }
    }
    *shorts = '\0';
}

/* By what getopt returned. */
static const struct option_row *find_row(int key)
{
    size_t i = key >= FIRST_LONG ? (size_t)(key - FIRST_LONG) : 0;
    while (key < FIRST_LONG && rows[i].letter != key)
        i++;
    return &rows[i];
}

/* What the suite cannot do is not taken in silence. */
static bool is_refused(const struct parse *p, const char *name)
{
    const struct bench_refusal *refusal = p->options->suite->refusals;
    for (; refusal != NULL && refusal->option != NULL; refusal++) {
        if (strcmp(refusal->option, name) != 0)
            continue;
        char what[160];
        snprintf(what, sizeof(what), "--%s: %s", name, refusal->why);
        (void)complain(p, what, "");
        return true;
    }
    return false;
}

int bench_options_parse(const struct bench_suite *suite, int argc, char **argv, FILE *err,
                        struct bench_options *ret)
{
    struct option longs[ARRAY_LEN(rows) + 1] = {0};
    struct parse p = {.err = err, .options = ret};
    char shorts[2 * ARRAY_LEN(rows) + 2];
    make_tables(longs, shorts);
    *ret = (struct bench_options){
        .suite = suite,
        .file_bytes = 10 * 1024 * 1024,
        .window = DEFAULT_WINDOW,
        .timeout_us = DEFAULT_TIMEOUT_S * USEC_PER_S,
    };
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    int key;
    while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (key == ':')
            return complain(&p, "a value is missing after", argv[optind - 1]);
        if (key == '?')
            return complain(&p, "unknown option", argv[optind - 1]);
        const struct option_row *row = find_row(key);
        if (is_refused(&p, row->name))
            return -1;
        p.needs[row->about] = row->name;
        if (row->take(&p, row, optarg) < 0)
            return -1;
    }
    if (ret->help)
        return 0;
    if (optind < argc)
        return complain(&p, "one argument too many:", argv[optind]);
    return finish(&p);
}

void bench_options_done(struct bench_options *o)
{
    mem_wipe(o, sizeof(*o));
}

void bench_options_print_help(FILE *out)
{
    fputs("usage: ferry bench ftp [OPTION]...\n"
          "       ferry bench ftp --url ftp://USER:PASSWORD@HOST:PORT [OPTION]...\n"
          "       ferry bench ssh [OPTION]...\n"
          "       ferry bench peers [--install | --run NAME]\n"
          "\n"
          "The first form starts ferryd, and beside it each FTP server that is installed,\n"
          "with the same files and accounts, and measures them in turn. It needs root, and\n"
          "changes nothing outside its own folder. The second measures a server that is\n"
          "running: it writes files named ferry-bench-* to the folder of the login and\n"
          "removes them. The third is the first for servers of ssh; it has no option about\n"
          "a server that is running. The fourth tells which servers are installed.\n"
          "\n",
          out);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char head[40];
        char letter[] = ", -?";
        letter[3] = (char)rows[i].letter;
        snprintf(head, sizeof(head), "--%s%s%s%s", rows[i].name,
                 rows[i].letter != 0 ? letter : "", rows[i].argument != NULL ? " " : "",
                 rows[i].argument != NULL ? rows[i].argument : "");
        fprintf(out, "  %-23s %s\n", head, rows[i].help);
    }
}
