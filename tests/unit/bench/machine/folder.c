#include "bench/machine/folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/bench/folder_fixture.h"

#define MANY 3000 /* more names than are listed at once */

static void a_folder_has_the_mode_that_was_asked_for(void **state)
{
    (void)state;
    mode_t before = umask(077);
    assert_int_equal(folder_make(in_folder("made"), 0711), 0);
    umask(before);
    struct stat st;
    assert_int_equal(stat(in_folder("made"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0711);
    assert_int_equal(folder_make(in_folder("made"), 0711), -EEXIST);
    assert_int_equal(folder_make_all(in_folder("made/a/b/c"), 0755), 0);
    assert_true(file_exists(in_folder("made/a/b/c")));
    assert_int_equal(folder_make_all(in_folder("made/a/b/c"), 0755), 0);
}

static void a_listing_has_every_name_once(void **state)
{
    (void)state;
    assert_int_equal(folder_make(in_folder("list"), 0755), 0);
    for (unsigned i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof(name), "list/%04u", i);
        assert_int_equal(file_write(in_folder(name), 0600, BYTES_NONE), 0);
    }
    struct buf names;
    buf_init(&names, 1024 * 1024);
    assert_int_equal(folder_list(in_folder("list"), &names), 0);
    bool seen[MANY] = {false};
    for (size_t at = 0; at < names.len; at += 5) {
        unsigned i = (unsigned)strtoul((const char *)names.data + at, NULL, 10);
        assert_true(i < MANY && !seen[i]);
        seen[i] = true;
    }
    assert_int_equal(names.len, 5 * MANY);
    buf_done(&names);
}

static void removing_leaves_nothing_and_follows_no_link(void **state)
{
    (void)state;
    assert_int_equal(folder_make(in_folder("kept"), 0755), 0);
    assert_int_equal(file_write(in_folder("kept/file"), 0600, bytes_str("x")), 0);
    assert_int_equal(folder_make_all(in_folder("gone/a/b"), 0755), 0);
    assert_int_equal(symlink(in_folder("kept"), in_folder("gone/a/link")), 0);
    for (unsigned i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof(name), "gone/a/%04u", i);
        assert_int_equal(file_write(in_folder(name), 0600, BYTES_NONE), 0);
    }
    folder_remove(in_folder("gone"));
    assert_false(file_exists(in_folder("gone")));
    assert_true(file_exists(in_folder("kept/file")));
    assert_int_equal(symlink(in_folder("kept"), in_folder("link")), 0);
    folder_remove(in_folder("link"));
    assert_false(file_exists(in_folder("link")));
    assert_true(file_exists(in_folder("kept/file")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_has_the_mode_that_was_asked_for),
        cmocka_unit_test(a_listing_has_every_name_once),
        cmocka_unit_test(removing_leaves_nothing_and_follows_no_link),
    };
    return cmocka_run_group_tests(tests, folder_fixture_setup, folder_fixture_teardown);
}
