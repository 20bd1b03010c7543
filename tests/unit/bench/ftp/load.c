#include "bench/ftp/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "check.h"

#define MIB 1048576

static void a_source_s_file_is_its_block_again_and_again(void **state)
{
    (void)state;
    const uint64_t len = 2 * MIB + 12345;
    struct load_source s;
    assert_int_equal(load_source_init(&s, len), 0);
    assert_int_equal(s.file_len, len);
    assert_int_equal(lseek(s.file, 0, SEEK_END), len);
    uint8_t *text = malloc(len);
    assert_non_null(text);
    assert_int_equal(pread(s.file, text, len, 0), len);
    for (size_t at = 0; at < len; at += MIB)
        assert_memory_equal(text + at, s.block, len - at < MIB ? len - at : MIB);
    free(text);
    load_source_done(&s);
    assert_int_equal(s.file, -1);
}

static void a_source_s_file_has_a_bound(void **state)
{
    (void)state;
    struct load_source s;
    assert_int_equal(load_source_init(&s, (uint64_t)LOAD_FILE_MAX + 1), 0);
    assert_int_equal(s.file_len, LOAD_FILE_MAX);
    load_source_done(&s);
}

static void two_loads_have_names_of_their_own(void **state)
{
    (void)state;
    struct load_settings settings = {0};
    struct load one, other;
    char name[LOAD_NAME_MAX], small[LOAD_NAME_MAX];
    assert_int_equal(load_init(&one, &settings), 0);
    assert_int_equal(load_init(&other, &settings), 0);
    assert_string_not_equal(one.stem, other.stem);
    load_name(&one, "", 7, name);
    load_name(&one, "small", 7, small);
    assert_memory_equal(name, one.stem, strlen(one.stem));
    assert_string_equal(name + strlen(one.stem), "-7");
    assert_string_equal(small + strlen(one.stem), "-small7");
    load_close(&one);
    load_close(&other);
}

static void sessions_that_are_reserved_stay_when_there_are_more(void **state)
{
    (void)state;
    struct load_settings settings = {0};
    struct load l;
    assert_int_equal(load_init(&l, &settings), 0);
    assert_int_equal(load_reserve(&l, 2), 0);
    l.crowd[1].code = 226;
    assert_int_equal(load_reserve(&l, 5), 0);
    assert_int_equal(l.crowd_count, 5);
    assert_int_equal(l.crowd[1].code, 226);
    assert_false(ftp_client_is_open(&l.crowd[4]));
    assert_int_equal(load_reserve(&l, 3), 0);
    assert_int_equal(l.crowd_count, 5);
    load_close(&l);
    assert_int_equal(l.crowd_count, 0);
}

static void a_failure_is_in_the_server_s_words_if_it_said_any(void **state)
{
    (void)state;

    static const struct {
        int result;
        unsigned code;
        const char *text, *expected;
    } rows[] = {
        {-FERRY_EREFUSED, 550, "No such file.", "login: the server says: 550 No such file."},
        {-FERRY_EAUTH, 530, "No.", "login: the server says: 530 No."},
        {-FERRY_ECLOSED, 421, "Full.", "login: the server says: 421 Full."},
        {-FERRY_EREFUSED, 550, "caf\xe9 \xc3\xa9", "login: the server says: 550 caf? \xc3\xa9"},
        {-ECONNREFUSED, 0, "", "login: connection refused"},
        {-ETIMEDOUT, 226, "Fine.", "login: timed out"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[128];
        struct ftp_client c = {.code = rows[i].code};
        snprintf(c.text, sizeof(c.text), "%s", rows[i].text);
        load_explain(text, sizeof(text), "login", &c, rows[i].result);
        assert_string_equal(text, rows[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_s_file_is_its_block_again_and_again),
        cmocka_unit_test(a_source_s_file_has_a_bound),
        cmocka_unit_test(two_loads_have_names_of_their_own),
        cmocka_unit_test(sessions_that_are_reserved_stay_when_there_are_more),
        cmocka_unit_test(a_failure_is_in_the_server_s_words_if_it_said_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
