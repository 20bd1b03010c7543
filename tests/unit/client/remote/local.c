/* Files of this machine as an endpoint. */
#include <stdlib.h>

#include "check.h"
#include "endpoint_cases.h"

static char folder[64];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/ferry-local-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void use_folder(void *arg)
{
    struct endpoint_place p = {.prefix = "", .folder = folder};
    TASK_ASSERT(endpoint_local_new(folder, runtime_files_pool(runtime_self()), &p.e) == 0);
    p.vfs = endpoint_vfs(p.e);
    endpoint_cases(&p);
    (void)endpoint_free(p.e);
    *(bool *)arg = true;
}

static void does_what_an_endpoint_does_beneath_a_folder(void **state)
{
    bool done = false;
    (void)state;
    run_threaded(1, use_folder, &done);
    assert_true(done);
    done = false;
    run_deterministic(7, use_folder, &done);
    assert_true(done);
}

static void use_root(void *arg)
{
    struct endpoint_place p = {.prefix = folder, .folder = folder};
    TASK_ASSERT(endpoint_local_new("/", runtime_files_pool(runtime_self()), &p.e) == 0);
    endpoint_cases(&p);
    (void)endpoint_free(p.e);
    *(bool *)arg = true;
}

static void does_the_same_from_the_root(void **state)
{
    bool done = false;
    (void)state;
    run_threaded(1, use_root, &done);
    assert_true(done);
}

static void leave_it(void *arg)
{
    struct endpoint_place p = {.prefix = "", .folder = folder};
    struct text_sink sink = {.text = ""};
    struct text_source source = {.text = "new"};
    struct endpoint_got got;
    uint64_t bytes;
    TASK_ASSERT(endpoint_local_new(folder, runtime_files_pool(runtime_self()), &p.e) == 0);
    TASK_ASSERT(symlink("/etc", host_path(&p, "out")) == 0);
    TASK_ASSERT(symlink("../", host_path(&p, "up")) == 0);
    TASK_ASSERT(get_text(&p, "out/passwd", 0, &sink, &got) == -EXDEV);
    TASK_ASSERT(put_text(&p, "up/ferry-was-here", 0, &source, &bytes) == -EXDEV);
    TASK_ASSERT(put_text(&p, "../../inside", 0, &source, &bytes) == 0);
    TASK_ASSERT(host_has(&p, "inside", "new"));
    TASK_ASSERT(unlink(host_path(&p, "inside")) == 0 && unlink(host_path(&p, "out")) == 0 &&
                unlink(host_path(&p, "up")) == 0);
    (void)endpoint_free(p.e);
    *(bool *)arg = true;
}

static void nothing_leaves_the_folder_by_links_or_dots(void **state)
{
    bool done = false;
    (void)state;
    run_threaded(1, leave_it, &done);
    assert_true(done);
}

static void is_told_when_there_is_no_such_folder(void **state)
{
    struct endpoint *e;
    (void)state;
    assert_int_equal(endpoint_local_new("/no/such/folder", NULL, &e), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(does_what_an_endpoint_does_beneath_a_folder, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(does_the_same_from_the_root, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_leaves_the_folder_by_links_or_dots, setup,
                                        teardown),
        cmocka_unit_test(is_told_when_there_is_no_such_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
