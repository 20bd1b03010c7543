#include "client/copy/plan.h"

#include <errno.h>

#include "check.h"

static const struct copy_sample one_big = {.files = 1, .bytes = UINT64_C(3900000000)};
static const struct copy_sample many_small = {
    .files = 20000, .bytes = 20000 * 4096, .is_tree = true, .is_all = true};
static const struct copy_sample many_big = {
    .files = 200, .bytes = UINT64_C(2000000000), .is_tree = true};
static const struct copy_sample few_small = {.files = 3, .bytes = 30, .is_tree = true};
static const struct copy_sample nothing = {.is_tree = true};

#define SSH   COPY_PLACE_SSH
#define FTP   COPY_PLACE_FTP
#define LOCAL COPY_PLACE_LOCAL

static void the_method_follows_from_what_is_asked_the_ends_and_the_source(void **state)
{
    (void)state;

    const struct {
        enum copy_method wanted;
        enum copy_place source, target;
        bool has_tar;
        const struct copy_sample *sample;
        int result;
        enum copy_method method;
    } rows[] = {
        {COPY_METHOD_AUTO, LOCAL, SSH, true, &one_big, 0, COPY_METHOD_SFTP},
        {COPY_METHOD_AUTO, LOCAL, SSH, true, &many_small, 0, COPY_METHOD_TAR},
        {COPY_METHOD_AUTO, SSH, LOCAL, true, &many_small, 0, COPY_METHOD_TAR},
        {COPY_METHOD_AUTO, LOCAL, SSH, false, &many_small, 0, COPY_METHOD_SFTP},
        {COPY_METHOD_AUTO, LOCAL, SSH, true, &many_big, 0, COPY_METHOD_SFTP},
        {COPY_METHOD_AUTO, LOCAL, SSH, true, &few_small, 0, COPY_METHOD_SFTP},
        {COPY_METHOD_AUTO, LOCAL, SSH, true, &nothing, 0, COPY_METHOD_SFTP},
        {COPY_METHOD_AUTO, FTP, LOCAL, true, &many_small, 0, COPY_METHOD_FTP},
        {COPY_METHOD_AUTO, LOCAL, LOCAL, true, &many_small, 0, COPY_METHOD_LOCAL},
        {COPY_METHOD_SFTP, LOCAL, SSH, true, &many_small, 0, COPY_METHOD_SFTP},
        {COPY_METHOD_TAR, LOCAL, SSH, true, &one_big, 0, COPY_METHOD_TAR},
        {COPY_METHOD_TAR, LOCAL, SSH, false, &one_big, -EINVAL, 0},
        {COPY_METHOD_TAR, LOCAL, FTP, true, &one_big, -EINVAL, 0},
        {COPY_METHOD_SCP, LOCAL, SSH, true, &one_big, 0, COPY_METHOD_SCP},
        {COPY_METHOD_SCP, SSH, LOCAL, true, &many_small, 0, COPY_METHOD_SCP},
        {COPY_METHOD_SCP, FTP, LOCAL, true, &one_big, -EINVAL, 0},
        {COPY_METHOD_SFTP, LOCAL, LOCAL, true, &one_big, -EINVAL, 0},
        {COPY_METHOD_FTP, LOCAL, SSH, true, &one_big, -EINVAL, 0},
        {COPY_METHOD_FTP, LOCAL, FTP, true, &one_big, 0, COPY_METHOD_FTP},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct copy_ends ends = {
            .source = rows[i].source, .target = rows[i].target, .has_tar = rows[i].has_tar};
        struct copy_plan plan;
        char why[COPY_PLAN_WHY_MAX] = "";
        int r = copy_plan(rows[i].wanted, &ends, rows[i].sample, why, &plan);
        assert_int_equal(r, rows[i].result);
        if (r == 0)
            assert_int_equal(plan.method, rows[i].method);
        assert_true((r == 0 ? plan.why : why)[0] != '\0');
    }
}

static void directories_are_streams_between_this_machine_and_ssh(void **state)
{
    (void)state;

    static const enum copy_place places[] = {LOCAL, COPY_PLACE_STREAM, SSH, FTP};

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (size_t j = 0; j < ARRAY_LEN(places); j++) {
            const struct copy_ends ends = {.source = places[i], .target = places[j]};
            bool is_between = (places[i] == LOCAL && places[j] == SSH) ||
                              (places[i] == SSH && places[j] == LOCAL);
            assert_int_equal(copy_ends_have_tar(&ends), is_between);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_method_follows_from_what_is_asked_the_ends_and_the_source),
        cmocka_unit_test(directories_are_streams_between_this_machine_and_ssh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
