#include "client/copy/options.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "io/compress.h"

#define ARGUMENTS_MAX 24

static struct copy_options options;
static char complaint[512];

/* "-r a b": words with a blank between them. */
static int parse(const char *line)
{
    static char name[] = "cp", copy[256];
    static char *argv[ARGUMENTS_MAX + 1]; /* the options borrow it */
    int argc = 1;
    argv[0] = name;
    strcpy(copy, line);
    for (char *at = copy, *word; (word = strsep(&at, " ")) != NULL && argc < ARGUMENTS_MAX;)
        if (word[0] != '\0')
            argv[argc++] = word;
    memset(complaint, 0, sizeof(complaint));
    FILE *err = fmemopen(complaint, sizeof(complaint) - 1, "w");
    int r = copy_options_parse(argc, argv, err, &options);
    (void)fclose(err);
    return r;
}

static void options_mean_what_they_mean_in_scp(void **state)
{
    (void)state;
    assert_int_equal(
        parse("-rpq -P 2222 -i key -i other -F none -c aes128-ctr -l 800 -C a b h:"), 0);
    assert_true(options.is_recursive && options.preserves && options.is_quiet);
    assert_int_equal(options.port, 2222);
    assert_int_equal(options.identity_count, 2);
    assert_string_equal(options.identities[1], "other");
    assert_null(options.identities[2]);
    assert_string_equal(options.config_file, "none");
    assert_string_equal(options.cipher, "aes128-ctr");
    assert_int_equal(options.rate_bytes_per_s, 800 * 1024 / 8);
    assert_int_equal(options.codec, CODEC_ZLIB);
    assert_int_equal(options.source_count, 2);
    assert_string_equal(options.sources[1], "b");
    assert_string_equal(options.target, "h:");
    assert_true(options.resumes && options.shows_progress);
    assert_int_equal(options.retries, COPY_DEFAULT_RETRIES);
    /* an option may stand behind the names, as everywhere */
    assert_int_equal(parse("a b -r"), 0);
    assert_true(options.is_recursive);
    assert_int_equal(parse("-- -r b"), 0);
    assert_string_equal(options.sources[0], "-r");
}

static void long_options_have_their_values(void **state)
{
    (void)state;
    assert_int_equal(parse("--limit 2m --retries 0 --timeout 9 --connect-timeout 8 --verify "
                           "--no-resume --method tar --compress zlib:9 a b"),
                     0);
    assert_int_equal(options.rate_bytes_per_s, 2 << 20);
    assert_int_equal(options.retries, 0);
    assert_int_equal(options.stall_us, 9 * USEC_PER_S);
    assert_int_equal(options.connect_us, 8 * USEC_PER_S);
    assert_true(options.verifies && !options.resumes);
    assert_int_equal(options.method, COPY_METHOD_TAR);
    assert_int_equal(options.codec, CODEC_ZLIB);
    assert_int_equal(options.level, 9);
    assert_int_equal(parse("--compress auto --cipher auto a b"), 0);
    assert_int_equal(options.level, COMPRESS_AUTO);
    assert_true(options.is_codec_free);
    assert_null(options.cipher);
    assert_int_equal(parse("--compress zstd:19 a b"), 0);
    assert_true(options.codec == CODEC_ZSTD && !options.is_codec_free);
    assert_int_equal(options.level, 19);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;

    static const struct {
        const char *line, *word;
    } rows[] = {
        {"", "what is to be copied"},
        {"a", "where to"},
        {"-x a b", "-x"},
        {"--nothing a b", "--nothing"},
        {"-P 0 a b", "--port"},
        {"-P 65536 a b", "--port"},
        {"-P", "-P"},
        {"--limit 1.5M a b", "--limit"},
        {"--limit 0 a b", "--limit"},
        {"-l x a b", "-l"},
        {"--retries -1 a b", "--retries"},
        {"--timeout 0 a b", "--timeout"},
        {"--method local a b", "--method"},
        {"--compress zlib:0 a b", "--compress"},
        {"--compress zlib:10 a b", "--compress"},
        {"--compress none:1 a b", "--compress"},
        {"--compress zstd:20 a b", "--compress"},
        {"--compress zstd:0 a b", "--compress"},
        {"--compress lz4 a b", "--compress"},
        {"- a b", "standard input"},
        {"- -", "standard input"},
        {"--json a -", "--json"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(parse(rows[i].line), -EINVAL);
        assert_non_null(strstr(complaint, rows[i].word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_mean_what_they_mean_in_scp),
        cmocka_unit_test(long_options_have_their_values),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
