#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/attr.h"
#include "check.h"

static const int common_errnos[] = {
    EPERM,         ENOENT,      ESRCH,        EINTR,        EIO,          ENXIO,
    E2BIG,         EBADF,       EAGAIN,       ENOMEM,       EACCES,       EFAULT,
    EBUSY,         EEXIST,      EXDEV,        ENODEV,       ENOTDIR,      EISDIR,
    EINVAL,        ENFILE,      EMFILE,       ETXTBSY,      EFBIG,        ENOSPC,
    ESPIPE,        EROFS,       EMLINK,       EPIPE,        ERANGE,       EDEADLK,
    ENAMETOOLONG,  ENOSYS,      ENOTEMPTY,    ELOOP,        EOVERFLOW,    EBADMSG,
    EILSEQ,        ENOTSOCK,    EMSGSIZE,     EOPNOTSUPP,   EAFNOSUPPORT, EADDRINUSE,
    EADDRNOTAVAIL, ENETDOWN,    ENETUNREACH,  ECONNABORTED, ECONNRESET,   ENOBUFS,
    EISCONN,       ENOTCONN,    ESHUTDOWN,    ETIMEDOUT,    ECONNREFUSED, EHOSTDOWN,
    EHOSTUNREACH,  EINPROGRESS, EALREADY,     ESTALE,       EDQUOT,       ECANCELED,
    EPROTO,        ENOPROTOOPT, EDESTADDRREQ, ENODATA,      ENETRESET,    EPROTONOSUPPORT,
    ELIBACC,
};

/* A text ends up in replies: one line, no full stop, nothing that needs escaping. */
static void check_row(int result)
{
    const char *text = err_text(result);
    const char *name = err_name(result);
    assert_string_not_equal(text, "unknown error");
    assert_string_not_equal(name, "?");
    assert_in_range(strlen(text), 4, 60);
    for (const char *c = text; *c != '\0'; c++)
        assert_true(isalpha((unsigned char)*c) || *c == ' ' || *c == ',' || *c == '-');
    for (const char *c = name; *c != '\0'; c++)
        assert_true(isupper((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
}

static void every_code_of_ours_has_a_row(void **state)
{
    (void)state;
    for (int code = FERRY_EPROTO; code < FERRY_ERR_END; code++) {
        check_row(-code);
        assert_memory_equal(err_name(-code), "FERRY_E", 7);
    }
}

static void every_common_errno_has_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(common_errnos); i++)
        check_row(-common_errnos[i]);
}

static void no_two_codes_share_a_text(void **state)
{
    (void)state;
    for (int a = 1; a < FERRY_ERR_END; a++) {
        if (err_name(-a)[0] == '?')
            continue;
        for (int b = 1; b < a; b++)
            assert_string_not_equal(err_text(-a), err_text(-b));
    }
}

static void names_and_texts_are_as_people_know_them(void **state)
{
    (void)state;
    assert_string_equal(err_name(-ENOENT), "ENOENT");
    assert_string_equal(err_text(-ENOSPC), "no space left on device");
    assert_string_equal(err_name(-FERRY_EQUOTA), "FERRY_EQUOTA");
}

static void anything_else_is_named_too(void **state)
{
    (void)state;
    static const int unknown[] = {-FERRY_ERR_END, -999, -100000, INT32_MIN};
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++) {
        assert_string_equal(err_text(unknown[i]), "unknown error");
        assert_string_equal(err_name(unknown[i]), "?");
    }
    assert_string_equal(err_text(0), "success");
    assert_string_equal(err_text(ENOENT), "success");
    assert_string_equal(err_name(0), "OK");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_of_ours_has_a_row),
        cmocka_unit_test(every_common_errno_has_a_row),
        cmocka_unit_test(no_two_codes_share_a_text),
        cmocka_unit_test(names_and_texts_are_as_people_know_them),
        cmocka_unit_test(anything_else_is_named_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
