#include "bench/options/options.h"

#include <getopt.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define DEFAULT_CLIENTS        200 /* of ftpbench */
#define DEFAULT_CLIENTS_STAGED 300 /* servers side by side: what the goals ask for */
#define DEFAULT_CLIENTS_QUICK  50
#define DEFAULT_PAIRS          21
#define DEFAULT_PAIRS_QUICK    3
#define DEFAULT_WINDOW         40 /* below every server's backlog */
#define DEFAULT_TIMEOUT_S      60
#define DEFAULT_FTP_PORT       21

enum option_key {
    KEY_HOST = 'H',
    KEY_PORT = 'P',
    KEY_USER = 'u',
    KEY_PASS = 'p',
    KEY_BENCHMARK = 'b',
    KEY_CLIENTS = 'n',
    KEY_FILESIZE = 's',
    KEY_PID = 'k',
    KEY_TIMEOUT = 't',
    KEY_SSL = 'S',
    KEY_URL = 256,
    KEY_WINDOW,
    KEY_PAIRS,
    KEY_ROW,
    KEY_PEERS,
    KEY_DISK,
    KEY_QUICK,
    KEY_COMPAT,
    KEY_JSON,
    KEY_BASELINE,
    KEY_HELP,
};

/* What an option takes for granted. */
enum { ANY, TELLS_SERVER, NEEDS_SERVER, NEEDS_NONE };

static const struct option_row {
    int key; /* a character: the short option */
    unsigned about;
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *help;
} rows[] = {
    {KEY_URL, TELLS_SERVER, "url", "URL", "the server: ftp://USER:PASSWORD@HOST:PORT"},
    {KEY_HOST, TELLS_SERVER, "host", "HOST", "or each part alone: its name (localhost)"},
    {KEY_PORT, TELLS_SERVER, "port", "PORT", "its port (21)"},
    {KEY_USER, TELLS_SERVER, "user", "NAME", "an account that may write"},
    {KEY_PASS, TELLS_SERVER, "pass", "PASSWORD", "its password"},
    {KEY_PID, TELLS_SERVER, "pid", "PID", "its process: shows its memory and CPU"},
    {KEY_SSL, NEEDS_SERVER, "ssl", NULL, "explicit TLS; the certificate is not checked"},
    {KEY_COMPAT, NEEDS_SERVER, "compat", NULL, "as ftpbench measures and prints, faults too"},
    {KEY_PEERS, NEEDS_NONE, "peers", "NAMES", "vsftpd,proftpd: beside these alone"},
    {KEY_DISK, NEEDS_NONE, "disk", "DIR", "for the rows about a disk (/var/tmp)"},
    {KEY_BENCHMARK, ANY, "benchmark", "KIND", "transfer, download, upload, concurrence, all"},
    {KEY_ROW, ANY, "row", "NAMES", "stor,retr: these rows alone; help: lists them"},
    {KEY_CLIENTS, ANY, "clients", "N", "concurrent clients (300; with a server: 200)"},
    {KEY_FILESIZE, ANY, "filesize", "SIZE", "of a file, as 64K or 10M (10M)"},
    {KEY_WINDOW, ANY, "window", "N", "logins at once, where not one by one (40)"},
    {KEY_PAIRS, ANY, "pairs", "N", "samples of each server in a row (21, at most 41)"},
    {KEY_TIMEOUT, ANY, "timeout", "SECONDS", "without an answer, then give up (60)"},
    {KEY_QUICK, ANY, "quick", NULL, "shorter and less exact: 50 clients, 3 pairs"},
    {KEY_JSON, ANY, "json", "FILE", "the results as JSON too; -: standard output"},
    {KEY_BASELINE, ANY, "baseline", "FILE", "beside the JSON of an earlier run"},
    {KEY_HELP, ANY, "help", NULL, "this text"},
};

static const char *const kinds[] = {
    [BENCH_TRANSFER] = "transfer", [BENCH_DOWNLOAD] = "download",
    [BENCH_UPLOAD] = "upload",     [BENCH_CONCURRENCE] = "concurrence",
    [BENCH_ALL] = "all",
};
_Static_assert(ARRAY_LEN(kinds) == BENCH_KIND_COUNT, "each has a name");

const char *bench_kind_name(enum bench_kind kind)
{
    return kinds[kind];
}

bool bench_list_has(const char *list, const char *name)
{
    if (list == NULL)
        return true;
    struct bytes rest = bytes_str(list), wanted = bytes_str(name);
    for (bool is_last = false; !is_last;) {
        size_t end = rest.len;
        is_last = !bytes_find(rest, ',', &end);
        if (bytes_equal(bytes_first(rest, end), wanted))
            return true;
        rest = bytes_skip(rest, end + 1);
    }
    return false;
}

static int complain(FILE *err, const char *what, const char *word)
{
    fprintf(err, "ferry bench ftp: %s%s%s\nTry 'ferry bench ftp --help'.\n", what,
            word[0] != '\0' ? " " : "", word);
    return -1;
}

/* Overwrites what other users would see in the list of processes. */
static void hide(char *word)
{
    mem_wipe(word, strlen(word));
}

static int take_text(FILE *err, const char *what, char *dst, size_t cap)
{
    if (strlen(optarg) >= cap)
        return complain(err, "too long:", what);
    text_copy(dst, cap, bytes_str(optarg));
    return 0;
}

/* What the URL leaves out keeps what other options said. */
static int take_url(FILE *err, struct bench_url *server)
{
    struct bench_url u;
    const char *wrong = bench_url_parse(bytes_str(optarg), &u);
    hide(optarg);
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
    return wrong == NULL ? 0 : complain(err, "the URL is not usable:", wrong);
}

static int take_number(FILE *err, const char *name, uint64_t max, unsigned *ret)
{
    uint64_t value;
    if (text_u64(bytes_str(optarg), 10, max, &value) < 0 || value == 0) {
        char what[96];
        snprintf(what, sizeof(what), "--%s takes a number from 1 to %llu, not", name,
                 (unsigned long long)max);
        return complain(err, what, optarg);
    }
    *ret = (unsigned)value;
    return 0;
}

/* ftpbench wants a letter behind the digits, B for bytes, in either case. */
static int take_size(FILE *err, uint64_t *ret)
{
    char text[24];
    size_t len = text_copy(text, sizeof(text), bytes_str(optarg));
    if (len > 0)
        text[len - 1] = text_upper(text[len - 1]);
    if (len > 1 && text[len - 1] == 'B' && text[len - 2] <= '9')
        len--;
    if (strlen(optarg) >= sizeof(text) || text_size(bytes_of(text, len), ret) < 0 ||
        *ret == 0 || *ret > INT64_MAX)
        return complain(err, "--filesize takes a size such as 64K or 10M, not", optarg);
    return 0;
}

static int find_kind(FILE *err, const char *name, struct bench_options *o)
{
    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(name, kinds[i]) == 0) {
            o->kind = (enum bench_kind)i;
            o->has_kind = true;
            return 0;
        }
    if (!o->compat)
        return complain(err, "there is no benchmark", name);
    fprintf(err, "invalid 'benchmark' parameter '%s'\n", name);
    return -1;
}

static int take_list(FILE *err, const char *option, const char **ret)
{
    if (optarg[0] == '\0')
        return complain(err, "names are missing after", option);
    *ret = optarg;
    return 0;
}

/* What can only be judged when all options are known. */
struct words {
    const char *kind;
    const char *needs[NEEDS_NONE + 1]; /* by what an option is about: the last such one */
};

static int take(FILE *err, struct bench_options *o, struct words *w, int key)
{
    unsigned number;
    int r = 0;
    switch ((enum option_key)key) {
    case KEY_URL:
        return take_url(err, &o->server);
    case KEY_HOST:
        return take_text(err, "the host", o->server.host, sizeof(o->server.host));
    case KEY_USER:
        return take_text(err, "the user's name", o->server.user, sizeof(o->server.user));
    case KEY_PASS:
        r = take_text(err, "the password", o->server.password, sizeof(o->server.password));
        hide(optarg);
        return r;
    case KEY_PORT:
        r = take_number(err, "port", UINT16_MAX, &number);
        if (r == 0)
            o->server.port = (uint16_t)number;
        return r;
    case KEY_BENCHMARK:
        w->kind = optarg;
        return 0;
    case KEY_CLIENTS:
        return take_number(err, "clients", BENCH_CLIENTS_MAX, &o->clients);
    case KEY_FILESIZE:
        return take_size(err, &o->file_bytes);
    case KEY_PID:
        return take_number(err, "pid", INT32_MAX, &o->pid);
    case KEY_TIMEOUT:
        r = take_number(err, "timeout", 86400, &number);
        if (r == 0)
            o->timeout_us = number * USEC_PER_S;
        return r;
    case KEY_WINDOW:
        return take_number(err, "window", BENCH_WINDOW_MAX, &o->window);
    case KEY_PAIRS:
        return take_number(err, "pairs", BENCH_PAIRS_MAX, &o->pairs);
    case KEY_ROW:
        return take_list(err, "--row", &o->rows);
    case KEY_PEERS:
        return take_list(err, "--peers", &o->peers);
    case KEY_DISK:
        o->disk = optarg;
        return 0;
    case KEY_JSON:
        o->json = optarg;
        return 0;
    case KEY_BASELINE:
        o->baseline = optarg;
        return 0;
    case KEY_SSL:
        o->tls = true;
        return 0;
    case KEY_COMPAT:
        o->compat = true;
        return 0;
    case KEY_QUICK:
        o->quick = true;
        return 0;
    case KEY_HELP:
        o->help = true;
        return 0;
    }
    return -1;
}

static int check_server(FILE *err, struct bench_url *server)
{
    if (server->user[0] == '\0')
        return complain(err, "which account? Give --url or --user", "");
    if (server->password[0] == '\0')
        return complain(err, "a password is missing: give --url or --pass", "");
    if (server->host[0] == '\0')
        text_copy(server->host, sizeof(server->host), BYTES_LIT("localhost"));
    if (server->port == 0)
        server->port = DEFAULT_FTP_PORT;
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

static int finish(FILE *err, struct bench_options *o, const struct words *w)
{
    char what[96];
    const char *needs_server = w->needs[NEEDS_SERVER], *needs_none = w->needs[NEEDS_NONE];
    o->has_server = w->needs[TELLS_SERVER] != NULL;
    o->list_rows = o->rows != NULL && strcmp(o->rows, "help") == 0;
    if (o->list_rows)
        return 0;
    if (w->kind != NULL && find_kind(err, w->kind, o) < 0)
        return -1;
    if (!o->has_server && needs_server != NULL) {
        snprintf(what, sizeof(what), "--%s is for a server that runs: give --url",
                 needs_server);
        return complain(err, what, "");
    }
    if (o->has_server && needs_none != NULL) {
        snprintf(what, sizeof(what), "--%s and --%s: the one starts servers, the other has one",
                 needs_none, w->needs[TELLS_SERVER]);
        return complain(err, what, "");
    }
    if (o->has_server && check_server(err, &o->server) < 0)
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
            .val = rows[i].key,
        };
        if (rows[i].key < KEY_URL) {
            *shorts++ = (char)rows[i].key;
            if (rows[i].argument != NULL)
                *shorts++ = ':';
        }
    }
    *shorts = '\0';
}

static const struct option_row *find_row(int key)
{
    size_t i = 0;
    while (rows[i].key != key)
        i++;
    return &rows[i];
}

int bench_options_parse(int argc, char **argv, FILE *err, struct bench_options *ret)
{
    struct option longs[ARRAY_LEN(rows) + 1] = {0};
    struct words words = {0};
    char shorts[2 * ARRAY_LEN(rows) + 2];
    make_tables(longs, shorts);
    *ret = (struct bench_options){
        .file_bytes = 10 * 1024 * 1024,
        .window = DEFAULT_WINDOW,
        .timeout_us = DEFAULT_TIMEOUT_S * USEC_PER_S,
    };
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    int key;
    while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (key == ':')
            return complain(err, "a value is missing after", argv[optind - 1]);
        if (key == '?')
            return complain(err, "unknown option", argv[optind - 1]);
        const struct option_row *row = find_row(key);
        words.needs[row->about] = row->name;
        if (take(err, ret, &words, key) < 0)
            return -1;
    }
    if (ret->help)
        return 0;
    if (optind < argc)
        return complain(err, "one argument too many:", argv[optind]);
    return finish(err, ret, &words);
}

void bench_options_done(struct bench_options *o)
{
    mem_wipe(o, sizeof(*o));
}

void bench_options_print_help(FILE *out)
{
    fputs("usage: ferry bench ftp [OPTION]...\n"
          "       ferry bench ftp --url ftp://USER:PASSWORD@HOST:PORT [OPTION]...\n"
          "       ferry bench peers\n"
          "\n"
          "The first form starts ferryd, and beside it each FTP server that is installed,\n"
          "with the same files and accounts, and measures them in turn. It needs root, and\n"
          "changes nothing outside its own folder. The second measures a server that is\n"
          "running: it writes files named ferry-bench-* to the folder of the login and\n"
          "removes them. The third tells which servers are installed.\n"
          "\n",
          out);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char head[40];
        char letter[] = ", -?";
        letter[3] = (char)rows[i].key;
        snprintf(head, sizeof(head), "--%s%s%s%s", rows[i].name,
                 rows[i].key < KEY_URL ? letter : "", rows[i].argument != NULL ? " " : "",
                 rows[i].argument != NULL ? rows[i].argument : "");
        fprintf(out, "  %-23s %s\n", head, rows[i].help);
    }
}
