#include "client/place/cipher_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static const struct crypto_speeds some = {
    .gcm128 = 5, .gcm256 = 4, .chacha = UINT64_MAX, .ctr_hmac = 0};

static void what_was_written_is_read_again_on_the_same_machine(void **state)
{
    char line[CIPHER_CACHE_LINE_MAX];
    struct crypto_speeds is;
    (void)state;
    size_t len = cipher_cache_format(&some, BYTES_LIT("A CPU,lib 3"), line);
    assert_int_equal(cipher_cache_parse(bytes_of(line, len), BYTES_LIT("A CPU,lib 3"), &is), 0);
    assert_true(is.gcm128 == 5 && is.gcm256 == 4 && is.chacha == UINT64_MAX &&
                is.ctr_hmac == 0);
    assert_int_equal(cipher_cache_parse(bytes_of(line, len), BYTES_LIT("A CPU,lib 4"), &is),
                     -EINVAL);
}

static void what_is_no_such_line_is_measured_anew(void **state)
{
    static const char *const lines[] = {
        "", "\n", "1 2 3 m\n", "1 2 3 x m\n", "1 2 3 -4 m\n", "1 2 3 4\n"};
    struct crypto_speeds is;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_int_equal(cipher_cache_parse(bytes_str(lines[i]), BYTES_LIT("m"), &is), -EINVAL);
}

/* The speeds of this process are what the file of an earlier one says, and no file that others
 * can write to is believed. */
static void the_file_is_written_once_and_then_read(void **state)
{
    char folder[] = "/tmp/ferry-cache-XXXXXX", path[64], text[CIPHER_CACHE_LINE_MAX] = "";
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)setenv("XDG_CACHE_HOME", folder, 1);
    cipher_cache_use();
    (void)snprintf(path, sizeof(path), "%s/ferry/ciphers", folder);
    FILE *f = fopen(path, "r+e");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    rewind(f);
    (void)fprintf(f, "7%s", text); /* other numbers, for the same machine */
    (void)fclose(f);
    uint64_t measured = crypto_speeds().gcm128;
    assert_int_equal(chmod(path, 0666), 0);
    cipher_cache_use();
    assert_int_equal(crypto_speeds().gcm128, measured);
    assert_int_equal(unlink(path), 0); /* it was written over: make the other one again */
    f = fopen(path, "we");
    (void)fprintf(f, "7%s", text);
    (void)fclose(f);
    assert_int_equal(chmod(path, 0600), 0);
    cipher_cache_use();
    assert_true(crypto_speeds().gcm128 != measured);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s/ferry", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_again_on_the_same_machine),
        cmocka_unit_test(what_is_no_such_line_is_measured_anew),
        cmocka_unit_test(the_file_is_written_once_and_then_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
