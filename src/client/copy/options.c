#include "client/copy/options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/text.h"
#include "client/command.h"
#include "io/compress.h"

/* Keys of options that have no letter stand above all letters. */
enum option_key {
    KEY_RECURSIVE = 'r',
    KEY_PRESERVE = 'p',
    KEY_QUIET = 'q',
    KEY_VERBOSE = 'v',
    KEY_ZLIB = 'C',
    KEY_CIPHER = 'c',
    KEY_PORT = 'P',
    KEY_IDENTITY = 'i',
    KEY_CONFIG = 'F',
    KEY_KBITS = 'l',
    KEY_BATCH = 'B',
    KEY_OLD_SCP = 'O',
    KEY_LIMIT = 256,
    KEY_RETRIES,
    KEY_TIMEOUT,
    KEY_CONNECT_TIMEOUT,
    KEY_RESUME,
    KEY_NO_RESUME,
    KEY_VERIFY,
    KEY_METHOD,
    KEY_COMPRESS,
    KEY_EXPLAIN,
    KEY_JSON,
    KEY_NO_PROGRESS,
    KEY_HELP
};

#define LETTERS ":rpqvCc:P:i:F:l:BO"

static const struct option_row {
    enum option_key key;
    const char *name;
    const char *argument;
    const char *help;
} rows[] = {
    {KEY_RECURSIVE, "recursive", NULL, "directories with all that is in them (-r)"},
    {KEY_PRESERVE, "preserve", NULL, "keep times and modes (-p)"},
    {KEY_RESUME, "resume", NULL, "go on with what an earlier try left (the default)"},
    {KEY_NO_RESUME, "no-resume", NULL, "begin each file anew"},
    {KEY_VERIFY, "verify", NULL,
     "compare the SHA-256 of both ends before a file gets its name"},
    {KEY_RETRIES, "retries", "N", "connect again so often in a row (default 3)"},
    {KEY_TIMEOUT, "timeout", "SECONDS", "a connection without a byte for so long is lost"},
    {KEY_CONNECT_TIMEOUT, "connect-timeout", "SECONDS", "to connect and to log in"},
    {KEY_LIMIT, "limit", "RATE", "bytes per second, with K, M or G (-l: in kbit/s)"},
    {KEY_METHOD, "method", "NAME", "auto, sftp, scp, tar or ftp (-O: scp)"},
    {KEY_COMPRESS, "compress", "NAME[:N]", "auto, none, zlib or zstd, and a level (-C: zlib)"},
    {KEY_CIPHER, "cipher", "NAME", "auto, or ssh's name of one (-c)"},
    {KEY_PORT, "port", "PORT", "of the ssh server (-P)"},
    {KEY_IDENTITY, "identity", "FILE", "a private key to log in with (-i)"},
    {KEY_CONFIG, "config", "FILE", "ssh's configuration, or none (-F)"},
    {KEY_BATCH, "batch", NULL, "ask for nothing (-B)"},
    {KEY_EXPLAIN, "explain", NULL, "say afterwards what held the transfer back"},
    {KEY_JSON, "json", NULL, "print one JSON object a line"},
    {KEY_NO_PROGRESS, "no-progress", NULL, "show no progress"},
    {KEY_QUIET, "quiet", NULL, "show neither progress nor a summary (-q)"},
    {KEY_VERBOSE, "verbose", NULL, "show the steps of connecting (-v)"},
    {KEY_HELP, "help", NULL, "this text"},
};

static const char *const methods[] = {
    [COPY_METHOD_AUTO] = "auto", [COPY_METHOD_SFTP] = "sftp", [COPY_METHOD_SCP] = "scp",
    [COPY_METHOD_TAR] = "tar",   [COPY_METHOD_FTP] = "ftp",   [COPY_METHOD_LOCAL] = "local",
};

const char *copy_method_name(enum copy_method method)
{
    return methods[method];
}

void copy_options_print_help(FILE *out)
{
    fputs(
        "usage: ferry cp [OPTION]... SOURCE... TARGET\n"
        "\n"
        "Copies files. Each is a path, [USER@]HOST:PATH, an sftp://, scp:// or ftp:// URL, or\n"
        "- for standard input or output.\n"
        "\n",
        out);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        fprintf(out, "  --%-15s %-8s %s\n", rows[i].name,
                rows[i].argument != NULL ? rows[i].argument : "", rows[i].help);
    command_print_exit_codes(out);
}

static int complain(FILE *err, const char *what, const char *word)
{
    fprintf(err, "ferry cp: %s%s%s\nTry 'ferry cp --help'.\n", what, word != NULL ? " " : "",
            word != NULL ? word : "");
    return -EINVAL;
}

/* -- values: 0, or -EINVAL -- */

static int parse_number(const char *text, uint64_t max, uint64_t *ret)
{
    return text_u64(bytes_str(text), 10, max, ret) < 0 ? -EINVAL : 0;
}

static int parse_seconds(const char *text, usec_t *ret)
{
    uint64_t seconds;
    if (parse_number(text, 86400, &seconds) < 0 || seconds == 0)
        return -EINVAL;
    *ret = seconds * USEC_PER_S;
    return 0;
}

/* As text_size(), and small letters too. */
static int parse_rate(const char *text, uint64_t *ret)
{
    char upper[32];
    size_t len = strlen(text);
    if (len == 0 || len >= sizeof(upper))
        return -EINVAL;
    memcpy(upper, text, len + 1);
    upper[len - 1] = text_upper(upper[len - 1]);
    return text_size(bytes_str(upper), ret) < 0 || *ret == 0 ? -EINVAL : 0;
}

static int parse_kbits(const char *text, uint64_t *ret)
{
    uint64_t kbits;
    if (parse_number(text, UINT64_MAX / 1024, &kbits) < 0 || kbits == 0)
        return -EINVAL;
    *ret = kbits * 1024 / 8;
    return 0;
}

static int parse_method(const char *text, enum copy_method *ret)
{
    for (unsigned i = 0; i < COPY_METHOD_LOCAL; i++)
        if (strcmp(text, methods[i]) == 0) {
            *ret = (enum copy_method)i;
            return 0;
        }
    return -EINVAL;
}

static const struct codec_row {
    const char *name;
    enum codec codec;
    unsigned level_min, level_max; /* 0: it takes none */
} codecs[] = {
    {"none", CODEC_NONE, 0, 0},
    {"auto", CODEC_ZLIB, 0, 0},
    {"zlib", CODEC_ZLIB, 1, CODEC_ZLIB_LEVEL_MAX},
    {"zstd", CODEC_ZSTD, 1, CODEC_ZSTD_LEVEL_MAX},
};

static int parse_compress(const char *text, struct copy_options *o)
{
    struct bytes level = bytes_str(text);
    struct bytes name = bytes_take_until(&level, ':');
    bool has_level = strchr(text, ':') != NULL;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        const struct codec_row *row = &codecs[i];
        uint64_t n = 0;
        if (!bytes_equal(name, bytes_str(row->name)))
            continue;
        if (has_level && (row->level_max == 0 || text_u64(level, 10, row->level_max, &n) < 0 ||
                          n < row->level_min))
            return -EINVAL;
        o->codec = row->codec;
        o->level = has_level ? (int)n : COMPRESS_AUTO;
        o->is_codec_given = true;
        o->is_codec_free = strcmp(row->name, "auto") == 0;
        return 0;
    }
    return -EINVAL;
}

static int add_identity(struct copy_options *o, const char *path)
{
    if (o->identity_count == COPY_IDENTITIES_MAX)
        return -EINVAL;
    o->identities[o->identity_count++] = path;
    return 0;
}

static int take_valued(struct copy_options *o, int key, const char *value)
{
    uint64_t n = 0;
    int r = 0;
    switch (key) {
    case KEY_CIPHER:
        o->cipher = strcmp(value, "auto") == 0 ? NULL : value;
        return value[0] == '\0' ? -EINVAL : 0;
    case KEY_PORT:
        r = parse_number(value, UINT16_MAX, &n);
        o->port = (uint16_t)n;
        return n == 0 ? -EINVAL : r;
    case KEY_IDENTITY:
        return add_identity(o, value);
    case KEY_CONFIG:
        o->config_file = value;
        return 0;
    case KEY_KBITS:
        return parse_kbits(value, &o->rate_bytes_per_s);
    case KEY_LIMIT:
        return parse_rate(value, &o->rate_bytes_per_s);
    case KEY_RETRIES:
        r = parse_number(value, 1000, &n);
        o->retries = (unsigned)n;
        return r;
    case KEY_TIMEOUT:
        return parse_seconds(value, &o->stall_us);
    case KEY_CONNECT_TIMEOUT:
        return parse_seconds(value, &o->connect_us);
    case KEY_METHOD:
        return parse_method(value, &o->method);
    case KEY_COMPRESS:
        return parse_compress(value, o);
    default:
        return -EINVAL;
    }
}

/* The flag that an option sets; NULL: it has a value, or does more. */
static bool *flag_of(struct copy_options *o, int key)
{
    const struct {
        int key;
        bool *flag;
    } flags[] = {
        {KEY_RECURSIVE, &o->is_recursive},
        {KEY_PRESERVE, &o->preserves},
        {KEY_QUIET, &o->is_quiet},
        {KEY_VERBOSE, &o->is_verbose},
        {KEY_BATCH, &o->is_batch},
        {KEY_RESUME, &o->resumes},
        {KEY_VERIFY, &o->verifies},
        {KEY_EXPLAIN, &o->explains},
        {KEY_JSON, &o->json},
        {KEY_HELP, &o->help},
    };

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (flags[i].key == key)
            return flags[i].flag;
    return NULL;
}

static int take(struct copy_options *o, int key)
{
    bool *flag = flag_of(o, key);
    if (flag != NULL) {
        *flag = true;
        return 0;
    }
    switch (key) {
    case KEY_ZLIB:
        return parse_compress("zlib", o);
    case KEY_OLD_SCP:
        o->method = COPY_METHOD_SCP;
        return 0;
    case KEY_NO_RESUME:
        o->resumes = false;
        return 0;
    case KEY_NO_PROGRESS:
        o->shows_progress = false;
        return 0;
    default:
        return take_valued(o, key, optarg);
    }
}

static int complain_of_value(FILE *err, int key)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((int)rows[i].key == key) {
            fprintf(err, "ferry cp: --%s: not what it takes: '%s'\nTry 'ferry cp --help'.\n",
                    rows[i].name, optarg != NULL ? optarg : "");
            return -EINVAL;
        }
    fprintf(err, "ferry cp: -%c: not what it takes: '%s'\nTry 'ferry cp --help'.\n", key,
            optarg != NULL ? optarg : "");
    return -EINVAL;
}

static int take_paths(struct copy_options *o, int argc, char **argv, FILE *err)
{
    int count = argc - optind;
    if (count < 2)
        return complain(err, count == 0 ? "what is to be copied?" : "where to?", NULL);
    o->sources = argv + optind;
    o->source_count = (unsigned)count - 1;
    o->target = argv[argc - 1];
    unsigned inputs = 0;
    for (unsigned i = 0; i < o->source_count; i++) {
        inputs += strcmp(o->sources[i], "-") == 0;
        if (o->sources[i][0] == '\0')
            return complain(err, "a name is empty", NULL);
    }
    if (o->target[0] == '\0')
        return complain(err, "a name is empty", NULL);
    if (inputs > 1 || (inputs == 1 && o->source_count > 1))
        return complain(err, "standard input is a source of its own", NULL);
    if (inputs == 1 && strcmp(o->target, "-") == 0)
        return complain(err, "standard input to standard output: that is cat", NULL);
    if (o->json && strcmp(o->target, "-") == 0)
        return complain(err, "--json: standard output is the target", NULL);
    return 0;
}

int copy_options_parse(int argc, char **argv, FILE *err, struct copy_options *ret)
{
    struct option longs[ARRAY_LEN(rows) + 1] = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        longs[i] = (struct option){
            .name = rows[i].name,
            .has_arg = rows[i].argument != NULL ? required_argument : no_argument,
            .val = (int)rows[i].key,
        };
    *ret = (struct copy_options){
        .resumes = true, .shows_progress = true, .retries = COPY_DEFAULT_RETRIES};
    optind = 0; /* getopt begins anew */
    for (;;) {
        int key = getopt_long(argc, argv, LETTERS, longs, NULL);
        if (key == -1)
            break;
        if (key == '?')
            return complain(
                err, "unknown option, or a value that it does not take:", argv[optind - 1]);
        if (key == ':')
            return complain(err, "a value is missing after", argv[optind - 1]);
        if (take(ret, key) < 0)
            return complain_of_value(err, key);
    }
    return ret->help ? 0 : take_paths(ret, argc, argv, err);
}
