#include "vfs/path.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "check.h"

static void parses(const char *cwd, const char *text, const char *expected)
{
    struct vpath p;
    assert_int_equal(vpath_parse(bytes_str(cwd), bytes_str(text), &p), 0);
    assert_string_equal(p.text, expected);
    assert_int_equal(p.len, strlen(expected));
    vpath_done(&p);
    assert_null(p.text);
}

static int refuses(struct bytes cwd, struct bytes text)
{
    struct vpath p = {0};
    int r = vpath_parse(cwd, text, &p);
    assert_null(p.text);
    return r;
}

static void joins_and_normalises(void **state)
{
    (void)state;
    parses("/", "", "/");
    parses("/", "/", "/");
    parses("/", "a", "/a");
    parses("/a/b", "c", "/a/b/c");
    parses("/a/b", "", "/a/b");
    parses("/a/b", "/c", "/c");
    parses("/a/b", "//c///d//", "/c/d");
    parses("/a/b", "./c/.", "/a/b/c");
    parses("/a/b", "..", "/a");
    parses("/a/b", "../../c", "/c");
    parses("/a", "b/../c", "/a/c");
    parses("/", "...", "/...");
    parses("/", "..a/.b", "/..a/.b");
    parses("", "a", "/a");
    parses("/", "a b\t\xff\n", "/a b\t\xff\n");
}

static void stays_at_the_root(void **state)
{
    (void)state;
    parses("/", "..", "/");
    parses("/", "../../../etc/passwd", "/etc/passwd");
    parses("/a", "../../..", "/");
    parses("/a", "/../b", "/b");
}

static void refuses_nul(void **state)
{
    (void)state;
    assert_int_equal(refuses(BYTES_LIT("/"), BYTES_LIT("a\0b")), -FERRY_EBADNAME);
    assert_int_equal(refuses(BYTES_LIT("/a\0"), BYTES_LIT("b")), -FERRY_EBADNAME);
}

static void bounds_names_and_paths(void **state)
{
    (void)state;
    static char name[NAME_LEN_MAX + 2], path[PATH_LEN_MAX + 2];
    struct vpath p;
    memset(name, 'n', sizeof(name));
    assert_int_equal(vpath_parse(BYTES_LIT("/"), bytes_of(name, NAME_LEN_MAX), &p), 0);
    vpath_done(&p);
    assert_int_equal(refuses(BYTES_LIT("/"), bytes_of(name, NAME_LEN_MAX + 1)), -ENAMETOOLONG);
    for (size_t i = 0; i < sizeof(path); i++)
        path[i] = i % 2 ? 'p' : '/';
    assert_int_equal(vpath_parse(BYTES_LIT("/"), bytes_of(path, PATH_LEN_MAX - 1), &p), 0);
    assert_int_equal(p.len, PATH_LEN_MAX - 1);
    vpath_done(&p);
    path[2] = 'p'; /* "/pp/p/p...": ends at an odd length */
    assert_int_equal(refuses(BYTES_LIT("/"), bytes_of(path, PATH_LEN_MAX + 1)), -ENAMETOOLONG);
    /* each half is short enough, the whole is not */
    assert_int_equal(refuses(bytes_of(path, PATH_LEN_MAX - 2), BYTES_LIT("abcd")),
                     -ENAMETOOLONG);
    assert_int_equal(vpath_parse(bytes_of(path, PATH_LEN_MAX - 2), BYTES_LIT("/x"), &p), 0);
    assert_string_equal(p.text, "/x");
    vpath_done(&p);
}

static void hides_the_names_of_uploads(void **state)
{
    (void)state;
    assert_int_equal(refuses(BYTES_LIT("/"), BYTES_LIT(".ferry-up-0")), -ENOENT);
    assert_int_equal(refuses(BYTES_LIT("/"), BYTES_LIT("a/.ferry-part-1/b")), -ENOENT);
    assert_int_equal(refuses(BYTES_LIT("/"), BYTES_LIT(".ferry-up-/..")), -ENOENT);
    parses("/", ".ferry-upload", "/.ferry-upload");
    parses("/", "x.ferry-up-", "/x.ferry-up-");
    assert_true(vfs_name_is_reserved(BYTES_LIT(".ferry-up-")));
    assert_false(vfs_name_is_reserved(BYTES_LIT(".ferry-u")));
}

static void is_taken_apart(void **state)
{
    (void)state;
    struct vpath p, q;
    assert_int_equal(vpath_parse(BYTES_LIT("/"), BYTES_LIT("a/bc"), &p), 0);
    assert_true(bytes_equal(vpath_name(&p), BYTES_LIT("bc")));
    assert_true(bytes_equal(vpath_parent(&p), BYTES_LIT("/a")));
    assert_string_equal(vpath_relative(&p), "a/bc");
    assert_false(vpath_is_root(&p));
    assert_int_equal(vpath_copy(&p, &q), 0);
    vpath_done(&p);
    assert_true(bytes_equal(vpath_bytes(&q), BYTES_LIT("/a/bc")));
    vpath_done(&q);

    assert_int_equal(vpath_parse(BYTES_LIT("/"), BYTES_LIT("a"), &p), 0);
    assert_true(bytes_equal(vpath_parent(&p), BYTES_LIT("/")));
    vpath_done(&p);

    assert_int_equal(vpath_parse(BYTES_LIT("/"), BYTES_LIT("."), &p), 0);
    assert_true(vpath_is_root(&p));
    assert_int_equal(vpath_name(&p).len, 0);
    assert_true(bytes_equal(vpath_parent(&p), BYTES_LIT("/")));
    assert_string_equal(vpath_relative(&p), ".");
    vpath_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_and_normalises),
        cmocka_unit_test(stays_at_the_root),
        cmocka_unit_test(refuses_nul),
        cmocka_unit_test(bounds_names_and_paths),
        cmocka_unit_test(hides_the_names_of_uploads),
        cmocka_unit_test(is_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
