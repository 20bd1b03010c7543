#include "ftp/reply.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "check.h"

#define ERRNO_LAST 133

typedef struct ftp_failure failure_fn(int result);

static void assert_tells_a_peer(struct ftp_failure failure, int result)
{
    if (failure.code < 400 || failure.code > 599)
        fail_msg("%s: code %u", err_name(result), failure.code);
    if (strlen(failure.text) == 0 || strchr(failure.text, '/') != NULL ||
        text_has_control(bytes_str(failure.text)))
        fail_msg("%s: text \"%s\"", err_name(result), failure.text);
    if (failure.text[strlen(failure.text) - 1] == '.')
        fail_msg("%s: the reply ends the sentence, not the text", err_name(result));
}

static void assert_complete(failure_fn *fn)
{
    for (int result = -1; result >= -ERRNO_LAST; result--)
        assert_tells_a_peer(fn(result), result);
    for (int result = -FERRY_EPROTO; result > -FERRY_ERR_END; result--) {
        assert_tells_a_peer(fn(result), result);
        assert_string_not_equal(fn(result).text, "unknown error");
    }
    assert_tells_a_peer(fn(-99999), -99999);
}

static void every_failure_has_an_answer(void **state)
{
    (void)state;
    assert_complete(ftp_failure_of_command);
    assert_complete(ftp_failure_of_connecting);
    assert_complete(ftp_failure_of_transfer);
}

static void a_broken_transfer_says_whose_fault_it_was(void **state)
{
    (void)state;

    static const struct {
        int result;
        unsigned code;
    } rows[] = {
        {-FERRY_ECLOSED, 426}, {-FERRY_ESTALLED, 426},   {-ECANCELED, 426},
        {-ENOSPC, 452},        {-FERRY_EQUOTA, 552},     {-EDQUOT, 552},
        {-EFBIG, 552},         {-EACCES, 550},           {-EPERM, 550},
        {-EROFS, 550},         {-FERRY_ERIGHTS, 550},    {-EIO, 451},
        {-ENOMEM, 451},        {-FERRY_ETRUNCATED, 451}, {-FERRY_ELIMIT, 451},
    };

    for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
        if (ftp_failure_of_transfer(rows[i].result).code != rows[i].code)
            fail_msg("%s", err_name(rows[i].result));
}

static void a_connection_that_is_not_made_is_425(void **state)
{
    (void)state;
    for (int result = -1; result >= -ERRNO_LAST; result--)
        assert_int_equal(ftp_failure_of_connecting(result).code, 425);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failure_has_an_answer),
        cmocka_unit_test(a_broken_transfer_says_whose_fault_it_was),
        cmocka_unit_test(a_connection_that_is_not_made_is_425),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
