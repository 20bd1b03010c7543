#include "bench/machine/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/machine/file.h"
#include "check.h"

#define MANY 3000 /* more names than are listed at once */

static char top[64];

static int setup(void **state)
{
    (void)state;
    snprintf(top, sizeof(top), "/tmp/ferry-folder-XXXXXX");
    return mkdtemp(top) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    folder_remove(top);
    return file_exists(top);
}

static const char *in_top(const char *name)
{
    static char path[2][256];
    static unsigned turn;
    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", top, name);
    return path[turn];
}

static void a_folder_has_the_mode_that_was_asked_for(void **state)
{
    (void)state;
    mode_t before = umask(077);
    assert_int_equal(folder_make(in_top("made"), 0711), 0);
    umask(before);
    struct stat st;
    assert_int_equal(stat(in_top("made"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0711);
    assert_int_equal(folder_make(in_top("made"), 0711), -EEXIST);
    assert_int_equal(folder_make_all(in_top("made/a/b/c"), 0755), 0);
    assert_true(file_exists(in_top("made/a/b/c")));
    assert_int_equal(folder_make_all(in_top("made/a/b/c"), 0755), 0);
}

static void a_listing_has_every_name_once(void **state)
{
    (void)state;
    assert_int_equal(folder_make(in_top("list"), 0755), 0);
    for (unsigned i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof(name), "list/%04u", i);
        assert_int_equal(file_write(in_top(name), 0600, BYTES_NONE), 0);
    }
    struct buf names;
    buf_init(&names, 1024 * 1024);
    assert_int_equal(folder_list(in_top("list"), &names), 0);
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
    assert_int_equal(folder_make(in_top("kept"), 0755), 0);
    assert_int_equal(file_write(in_top("kept/file"), 0600, bytes_str("x")), 0);
    assert_int_equal(folder_make_all(in_top("gone/a/b"), 0755), 0);
    assert_int_equal(symlink(in_top("kept"), in_top("gone/a/link")), 0);
    for (unsigned i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof(name), "gone/a/%04u", i);
        assert_int_equal(file_write(in_top(name), 0600, BYTES_NONE), 0);
    }
    folder_remove(in_top("gone"));
    assert_false(file_exists(in_top("gone")));
    assert_true(file_exists(in_top("kept/file")));
    assert_int_equal(symlink(in_top("kept"), in_top("link")), 0);
    folder_remove(in_top("link"));
    assert_false(file_exists(in_top("link")));
    assert_true(file_exists(in_top("kept/file")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_has_the_mode_that_was_asked_for),
        cmocka_unit_test(a_listing_has_every_name_once),
        cmocka_unit_test(removing_leaves_nothing_and_follows_no_link),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
