#include "client/place/location.h"

#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "check.h"

static const struct row {
    const char *text;
    enum location_scheme scheme;
    const char *user, *password, *host;
    unsigned port;
    const char *path;
    bool is_directory;
    const char *shown; /* NULL: as it was given */
} rows[] = {
    {"a", LOCATION_LOCAL, NULL, NULL, NULL, 0, "a", false, NULL},
    {"a/", LOCATION_LOCAL, NULL, NULL, NULL, 0, "a/", true, NULL},
    {"./a:b", LOCATION_LOCAL, NULL, NULL, NULL, 0, "./a:b", false, NULL},
    {"/srv/a:b", LOCATION_LOCAL, NULL, NULL, NULL, 0, "/srv/a:b", false, NULL},
    {":a", LOCATION_LOCAL, NULL, NULL, NULL, 0, ":a", false, NULL},
    {"me@home", LOCATION_LOCAL, NULL, NULL, NULL, 0, "me@home", false, NULL},
    {"a%41", LOCATION_LOCAL, NULL, NULL, NULL, 0, "a%41", false, NULL},
    {"[a]", LOCATION_LOCAL, NULL, NULL, NULL, 0, "[a]", false, NULL},
    {"[ab]*.c", LOCATION_LOCAL, NULL, NULL, NULL, 0, "[ab]*.c", false, NULL},
    {"-", LOCATION_STANDARD, NULL, NULL, NULL, 0, "-", false, NULL},
    {"./-", LOCATION_LOCAL, NULL, NULL, NULL, 0, "./-", false, NULL},
    {"h:", LOCATION_SSH, NULL, NULL, "h", 0, "", true, NULL},
    {"C:x", LOCATION_SSH, NULL, NULL, "C", 0, "x", false, NULL},
    {"C:\\x", LOCATION_SSH, NULL, NULL, "C", 0, "\\x", false, NULL},
    {"h:/a b", LOCATION_SSH, NULL, NULL, "h", 0, "/a b", false, NULL},
    {"h:a%20b", LOCATION_SSH, NULL, NULL, "h", 0, "a%20b", false, NULL},
    {"h:~/x", LOCATION_SSH, NULL, NULL, "h", 0, "x", false, "h:x"},
    {"h:~", LOCATION_SSH, NULL, NULL, "h", 0, "", true, "h:"},
    {"h:~ann/x", LOCATION_SSH, NULL, NULL, "h", 0, "~ann/x", false, NULL},
    {"ann@h:x:y@z", LOCATION_SSH, "ann", NULL, "h", 0, "x:y@z", false, NULL},
    {"h:x@y", LOCATION_SSH, NULL, NULL, "h", 0, "x@y", false, NULL},
    {"h:x@[y", LOCATION_SSH, NULL, NULL, "h", 0, "x@[y", false, NULL},
    {"[::1]:x", LOCATION_SSH, NULL, NULL, "::1", 0, "x", false, NULL},
    {"ann@[fe80::1%eth0]:", LOCATION_SSH, "ann", NULL, "fe80::1%eth0", 0, "", true, NULL},
    {"sftp://h", LOCATION_SFTP, NULL, NULL, "h", 0, "", true, NULL},
    {"sftp://h/", LOCATION_SFTP, NULL, NULL, "h", 0, "/", true, NULL},
    {"sftp://h/a/b", LOCATION_SFTP, NULL, NULL, "h", 0, "/a/b", false, NULL},
    {"sftp://h/~/a", LOCATION_SFTP, NULL, NULL, "h", 0, "a", false, NULL},
    {"sftp://h/~", LOCATION_SFTP, NULL, NULL, "h", 0, "", true, "sftp://h"},
    {"sftp://h/~/", LOCATION_SFTP, NULL, NULL, "h", 0, "", true, "sftp://h"},
    {"SFTP://ann@h:2222/a%20b%2f", LOCATION_SFTP, "ann", NULL, "h", 2222, "/a b/", true,
     "sftp://ann@h:2222/a b/"},
    {"scp://[::1]:22/x", LOCATION_SCP, NULL, NULL, "::1", 22, "/x", false, NULL},
    {"ftp://h", LOCATION_FTP, NULL, NULL, "h", 0, "", true, "ftp://h/"},
    {"ftp://h/", LOCATION_FTP, NULL, NULL, "h", 0, "", true, NULL},
    {"ftp://h/a/b", LOCATION_FTP, NULL, NULL, "h", 0, "a/b", false, NULL},
    {"ftp://h//a", LOCATION_FTP, NULL, NULL, "h", 0, "/a", false, NULL},
    {"ftp://h/%2Fa", LOCATION_FTP, NULL, NULL, "h", 0, "/a", false, "ftp://h//a"},
    {"ftp://ann:se@cr%40t@h:21/", LOCATION_FTP, "ann", "se@cr@t", "h", 21, "", true,
     "ftp://ann@h:21/"},
    {"ftp://ann:@h/x", LOCATION_FTP, "ann", "", "h", 0, "x", false, "ftp://ann@h/x"},
    {"ftp://[fe80::1%25eth0]/x", LOCATION_FTP, NULL, NULL, "fe80::1%eth0", 0, "x", false,
     "ftp://[fe80::1%eth0]/x"},
};

static void same(const char *is, const char *expected, const char *text)
{
    if ((is == NULL) != (expected == NULL) || (is != NULL && strcmp(is, expected) != 0))
        fail_msg("%s: '%s' for '%s'", text, is != NULL ? is : "none",
                 expected != NULL ? expected : "none");
}

static void each_form_is_read_and_shown_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        char why[LOCATION_WHY_MAX], shown[256];
        struct location l;
        int r = location_parse(row->text, &l, why);
        if (r != 0)
            fail_msg("%s: %s", row->text, why);
        if (l.scheme != row->scheme || l.port != row->port ||
            l.is_directory != row->is_directory)
            fail_msg("%s: scheme %d, port %u, directory %d", row->text, l.scheme, l.port,
                     l.is_directory);
        same(l.user, row->user, row->text);
        same(l.password, row->password, row->text);
        same(l.host, row->host, row->text);
        same(l.path, row->path, row->text);
        location_text(&l, bytes_str(l.path), sizeof(shown), shown);
        same(shown, row->shown != NULL ? row->shown : row->text, row->text);
        location_done(&l);
    }
}

static const struct {
    const char *text, *why; /* part of it */
} refused[] = {
    {"", "empty"},
    {"rsync://h/x", "rsync:// is not built yet"},
    {"ftps://h/x", "ftps:// is not built yet"},
    {"gopher://h/x", "gopher:// is no scheme"},
    {"sftp:///x", "no host"},
    {"sftp://ann@/x", "no host"},
    {"sftp://@h/x", "no user"},
    {"@h:x", "no user"},
    {"sftp://ann:secret@h/x", "password"},
    {"sftp://h:0/x", "port"},
    {"sftp://h:65536/x", "port"},
    {"sftp://h:/x", "port"},
    {"sftp://[::1/x", "bracket"},
    {"sftp://[::1]x/x", "port"},
    {"sftp://h/%", "path"},
    {"sftp://h/%4", "path"},
    {"sftp://h/a%00b", "path"},
    {"sftp://%zz/", "host"},
    {"ftp://a%0ab@h/", "user"},
    {"ftp://a%/", "host"},
    {"ftp://a%@h/", "login"},
    {"-oProxyCommand=x:y", "no name of a host"},
    {"a b:c", "no name of a host"},
    {"a*:c", "no name of a host"},
    {"[[a]:c", "no name of a host"},
    {"ann@[::1]x]:y", "no ':'"},
};

static void what_is_none_is_refused_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        char why[LOCATION_WHY_MAX];
        struct location l;
        int r = location_parse(refused[i].text, &l, why);
        if (r != -EINVAL || strstr(why, refused[i].why) == NULL)
            fail_msg("%s: %d, %s", refused[i].text, r, why);
    }
}

static void what_is_too_long_is_refused(void **state)
{
    static char text[20000];
    char why[LOCATION_WHY_MAX];
    struct location l;
    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    assert_int_equal(location_parse(text, &l, why), -EINVAL);
    memcpy(text, "sftp://", 7);
    text[8] = '/';
    text[5000] = '\0';
    assert_int_equal(location_parse(text, &l, why), -EINVAL);
    text[8] = 'a';
    text[7 + LOCATION_HOST_MAX + 1] = '\0';
    assert_int_equal(location_parse(text, &l, why), -EINVAL);
    text[7 + LOCATION_HOST_MAX] = '\0';
    assert_int_equal(location_parse(text, &l, why), 0);
    location_done(&l);
}

static void is_told_when_there_is_no_memory(void **state)
{
    char why[LOCATION_WHY_MAX];
    struct location l;
    (void)state;
    for (uint64_t n = 1; n <= 4; n++) {
        fault_arm(FAULT_ALLOC, n);
        assert_int_equal(location_parse("ftp://ann:x@h/p", &l, why), -ENOMEM);
    }
    fault_arm(FAULT_ALLOC, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_is_read_and_shown_again),
        cmocka_unit_test(what_is_none_is_refused_in_words),
        cmocka_unit_test(what_is_too_long_is_refused),
        cmocka_unit_test(is_told_when_there_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
