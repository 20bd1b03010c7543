#include "bench/machine/file.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/err.h"
#include "unit/bench/folder_fixture.h"

static void a_file_is_replaced_as_a_whole(void **state)
{
    (void)state;
    assert_int_equal(file_write(in_folder("file"), 0600, bytes_str("a longer text")), 0);
    assert_int_equal(file_write(in_folder("file"), 0640, bytes_str("short")), 0);
    struct stat st;
    assert_int_equal(stat(in_folder("file"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    struct buf text;
    buf_init(&text, 65536);
    assert_int_equal(file_read(in_folder("file"), &text), 0);
    assert_true(bytes_equal(buf_bytes(&text), bytes_str("short")));
    buf_done(&text);
    assert_int_equal(file_read(in_folder("none"), &text), -ENOENT);
    assert_true(file_exists(in_folder("file")));
    assert_false(file_exists(in_folder("none")));
}

static void a_file_that_fills_the_cap_is_read_and_a_longer_one_refused(void **state)
{
    (void)state;
    static uint8_t large[65536];
    assert_int_equal(file_write(in_folder("large"), 0600, bytes_of(large, sizeof(large))), 0);
    struct buf text;
    buf_init(&text, sizeof(large));
    assert_int_equal(file_read(in_folder("large"), &text), 0);
    assert_int_equal(text.len, sizeof(large));
    buf_done(&text);
    buf_init(&text, sizeof(large) - 1);
    assert_int_equal(file_read(in_folder("large"), &text), -FERRY_ELIMIT);
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_as_a_whole),
        cmocka_unit_test(a_file_that_fills_the_cap_is_read_and_a_longer_one_refused),
    };
    return cmocka_run_group_tests(tests, folder_fixture_setup, folder_fixture_teardown);
}
