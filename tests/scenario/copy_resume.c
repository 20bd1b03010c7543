/* What is cut off anywhere and gone on with is the same file in the end, in each direction. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "client/copy/copy.h"
#include "copy_fake.h"

#define SOURCE_LEN 5321

static uint8_t contents[SOURCE_LEN];
static char folder[64];

enum direction { DOWN, UP, ACROSS };

struct run {
    enum direction direction;
    struct fake_server *from, *to; /* NULL: this machine */
    struct copy_settings settings;
    unsigned retries;
    const char *source, *target;
    bool is_target_directory;
    int result;
    unsigned failures;
    char why[256];
    struct copy_totals totals;
    uint64_t kept_bytes;
    enum copy_check check;
    bool has_grown;
    unsigned attempts;
};

static int open_folder(void *arg, char *ret_why, struct endpoint **ret)
{
    (void)arg, (void)ret_why;
    return endpoint_local_new(folder, runtime_files_pool(runtime_self()), ret);
}

static void on_event(void *arg, const struct copy_event *event)
{
    struct run *run = arg;
    if (event->result < 0) {
        run->failures++;
        (void)snprintf(run->why, sizeof(run->why), "%s", event->why);
    }
    if (event->file != NULL) {
        run->kept_bytes = event->file->kept_bytes;
        run->check = event->file->check;
        run->has_grown = event->file->has_grown;
    }
}

static void run_main(void *arg)
{
    struct run *run = arg;
    struct copy_end from, to;
    const struct copy_end_settings from_settings = {.open = run->from != NULL ? fake_open
                                                                              : open_folder,
                                                    .arg = run->from,
                                                    .retries = run->retries};
    const struct copy_end_settings to_settings = {.open =
                                                      run->to != NULL ? fake_open : open_folder,
                                                  .arg = run->to,
                                                  .retries = run->retries};
    copy_end_init(&from, &from_settings);
    copy_end_init(&to, &to_settings);
    const struct copy_source source = {.end = &from, .path = run->source, .shown = run->source};
    const struct copy_target target = {
        .end = &to, .path = run->target, .is_directory = run->is_target_directory};
    run->settings.tell = on_event;
    run->settings.arg = run;
    struct copy *c;
    TASK_ASSERT(copy_new(&run->settings, &source, 1, &target, &c) == 0);
    run->result = copy_run(c);
    run->totals = *copy_totals(c);
    copy_free(c);
    copy_end_done(&from);
    copy_end_done(&to);
}

static void copy_it(struct run *run)
{
    run->failures = 0;
    run->why[0] = '\0';
    run_deterministic(1, run_main, run);
}

static char *in_folder(const char *name)
{
    static char path[160];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_local(const char *name, const uint8_t *data, size_t len)
{
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void check_local(const char *name, const uint8_t *data, size_t len)
{
    uint8_t got[SOURCE_LEN + 1000];
    FILE *f = fopen(in_folder(name), "r");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof(got), f), len);
    assert_memory_equal(got, data, len);
    assert_int_equal(fclose(f), 0);
}

static void check_fake(struct fake_server *s, const char *name, const uint8_t *data, size_t len)
{
    struct fake_file *f = fake_find(s, bytes_str(name));
    assert_non_null(f);
    assert_int_equal(f->len, len);
    assert_memory_equal(f->data, data, len);
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/ferry-copy-XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < SOURCE_LEN; i++)
        contents[i] = (uint8_t)(i * 2654435761u >> 13);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command);
}

static struct fake_server *server_new(void)
{
    struct fake_server *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    s->breaks_after = UINT64_MAX;
    return s;
}

static void server_free(struct fake_server *s)
{
    fake_server_done(s);
    free(s);
}

/* -- cut at any byte, within one command and from one to the next -- */

static void download_cut_at(uint64_t at, bool is_unordered, unsigned retries, bool replaces)
{
    struct fake_server *s = server_new();
    fake_put(s, "file", contents, SOURCE_LEN, 1700000000);
    s->breaks_after = at;
    s->is_unordered = is_unordered;
    struct run run = {.from = s,
                      .source = "file",
                      .target = "copy",
                      .retries = retries,
                      .settings.files = {.resumes = true}};
    if (replaces)
        write_local("copy", contents + 7, 100);
    unsigned commands = 0;
    do {
        copy_it(&run);
        commands++;
        if (run.result < 0 && replaces)
            check_local("copy", contents + 7, 100);
        else if (run.result < 0)
            assert_int_not_equal(access(in_folder("copy"), F_OK), 0);
    } while (run.result < 0 && commands <= SOURCE_LEN / at + 2);
    assert_int_equal(run.result, 0);
    if (retries > 0)
        assert_int_equal(commands, 1);
    check_local("copy", contents, SOURCE_LEN);
    /* each connection but the last moved all it could: nothing came twice */
    if (!is_unordered)
        assert_true(s->opened <= SOURCE_LEN / at + 2);
    (void)unlink(in_folder("copy"));
    server_free(s);
}

static void a_download_that_is_cut_at_any_byte_is_whole_in_the_end(void **state)
{
    (void)state;
    for (uint64_t at = 307; at < SOURCE_LEN + 2; at += 401)
        for (unsigned retries = 0; retries < 3; retries += 2)
            for (unsigned replaces = 0; replaces < 2; replaces++)
                download_cut_at(at, false, retries, replaces);
}

static void a_download_in_no_order_keeps_only_what_has_no_gap(void **state)
{
    (void)state;
    for (uint64_t at = 2011; at < SOURCE_LEN + 2; at += 311)
        for (unsigned retries = 0; retries < 3; retries += 2)
            download_cut_at(at, true, retries, false);
}

static void upload_cut_at(uint64_t at, unsigned retries, bool stores_whole, bool drops_tail)
{
    struct fake_server *s = server_new();
    s->breaks_after = at;
    s->stores_whole = stores_whole;
    s->drops_tail = drops_tail;
    s->has_sha256 = true;
    write_local("file", contents, SOURCE_LEN);
    struct run run = {.to = s,
                      .source = "file",
                      .target = "copy",
                      .retries = retries,
                      .settings.files = {.resumes = true}};
    copy_it(&run);
    assert_int_equal(run.result, 0);
    check_fake(s, "copy", contents, SOURCE_LEN);
    assert_null(fake_find(s, BYTES_LIT("copy.ferry-part")));
    if (!stores_whole)
        assert_int_equal(s->puts_at_zero, 1);
    server_free(s);
}

static void an_upload_that_is_cut_at_any_byte_is_whole_in_the_end(void **state)
{
    (void)state;
    for (uint64_t at = 307; at < SOURCE_LEN + 2; at += 199)
        for (unsigned drops = 0; drops < 2; drops++)
            upload_cut_at(at, 1, false, drops);
}

/* A server with hidden names of its own, of which it does not tell. */
static void a_large_file_goes_on_also_where_parts_are_hidden(void **state)
{
    (void)state;
    const size_t len = (17 << 20) + 3;
    struct fake_server *s = server_new();
    uint8_t *large = malloc(len);
    assert_non_null(large);
    for (size_t i = 0; i < len; i++)
        large[i] = (uint8_t)(i * 2654435761u >> 11);
    write_local("file", large, len);
    s->breaks_after = 5 << 20;
    s->stores_whole = true;
    struct run run = {.to = s,
                      .source = "file",
                      .target = "copy",
                      .retries = 1,
                      .settings.files = {.resumes = true}};
    copy_it(&run);
    assert_int_equal(run.result, 0);
    check_fake(s, "copy", large, len);
    assert_null(fake_find(s, BYTES_LIT("copy.ferry-part")));
    assert_int_equal(s->opened, 4);
    free(large);
    server_free(s);
}

static void across_cut_at(uint64_t from_at, uint64_t to_at, bool is_unordered)
{
    struct fake_server *from = server_new(), *to = server_new();
    fake_put(from, "file", contents, SOURCE_LEN, 1700000000);
    from->breaks_after = from_at;
    from->is_unordered = is_unordered;
    to->breaks_after = to_at;
    struct run run = {.from = from,
                      .to = to,
                      .source = "file",
                      .target = "copy",
                      .retries = 3,
                      .settings.files = {.resumes = true}};
    copy_it(&run);
    assert_int_equal(run.result, 0);
    check_fake(to, "copy", contents, SOURCE_LEN);
    server_free(from);
    server_free(to);
}

static void a_copy_between_servers_that_is_cut_on_either_side_is_whole_in_the_end(void **state)
{
    (void)state;
    for (uint64_t at = 2307; at < SOURCE_LEN + 2; at += 499)
        for (unsigned unordered = 0; unordered < 2; unordered++) {
            across_cut_at(at, UINT64_MAX, unordered);
            across_cut_at(UINT64_MAX, at, unordered);
            across_cut_at(at, at + 211, unordered);
        }
}

/* -- what is not trusted -- */

static void a_part_of_another_state_of_the_source_is_not_used(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_put(s, "file", contents, SOURCE_LEN, 1700000000);
    s->breaks_after = 2500;
    struct run run = {
        .from = s, .source = "file", .target = "copy", .settings.files = {.resumes = true}};
    copy_it(&run);
    assert_int_equal(run.result, -FERRY_ECLOSED);
    assert_int_equal(run.kept_bytes, 2500);
    uint8_t other[SOURCE_LEN];
    memset(other, 'x', sizeof(other));
    fake_put(s, "file", other, sizeof(other), 1700000060);
    s->breaks_after = UINT64_MAX;
    copy_it(&run);
    assert_int_equal(run.result, 0);
    check_local("copy", other, sizeof(other));
    server_free(s);
}

static void a_part_without_a_sign_is_used_only_if_both_ends_say_the_same(void **state)
{
    (void)state;
    write_local("file", contents, SOURCE_LEN);
    for (unsigned is_same = 0; is_same < 2; is_same++) {
        struct fake_server *s = server_new();
        uint8_t part[2000];
        memcpy(part, contents, sizeof(part));
        part[100] = (uint8_t)(part[100] + !is_same);
        fake_put(s, "copy.ferry-part", part, sizeof(part), 1);
        struct run run = {
            .to = s, .source = "file", .target = "copy", .settings.files = {.resumes = true}};
        copy_it(&run);
        assert_int_equal(run.result, 0);
        check_fake(s, "copy", contents, SOURCE_LEN);
        assert_int_equal(s->puts_at_zero, 1); /* it cannot say */
        server_free(s);
    }
}

static void a_part_is_not_used_where_that_is_not_wanted(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_put(s, "file", contents, SOURCE_LEN, 1700000000);
    s->breaks_after = 4000;
    struct run run = {
        .from = s, .source = "file", .target = "copy", .settings.files = {.resumes = true}};
    copy_it(&run);
    assert_int_equal(run.kept_bytes, 4000);
    run.settings.files.resumes = false;
    copy_it(&run); /* from the beginning it does not get farther */
    assert_int_equal(run.result, -FERRY_ECLOSED);
    assert_int_equal(run.kept_bytes, 4000);
    server_free(s);
}

static void a_download_that_ends_too_early_is_not_kept(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_put(s, "file", contents, SOURCE_LEN, 1700000000)->facts.mode = 0600;
    struct run run = {.from = s, .source = "missing", .target = "copy"};
    copy_it(&run);
    assert_int_equal(run.result, -FERRY_EREFUSED);
    assert_int_equal(run.failures, 1);
    s->claims_size = UINT64_C(1) << 63;
    run.source = "file";
    copy_it(&run);
    assert_int_equal(run.result, -FERRY_EREFUSED);
    assert_int_not_equal(access(in_folder("copy"), F_OK), 0);
    server_free(s);
}

/* -- connections -- */

static void retries_end_and_the_reason_is_told(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_put(s, "file", contents, SOURCE_LEN, 1700000000);
    s->breaks_after = 1; /* a byte each time */
    s->refuses = 0;
    struct run run = {.from = s, .source = "file", .target = "copy", .retries = 2};
    s->breaks_after = 0;
    copy_it(&run);
    assert_int_equal(run.result, -FERRY_ECLOSED);
    assert_int_equal(s->opened, 3);
    s->opened = 0;
    s->refuses = 10;
    copy_it(&run);
    assert_int_equal(run.result, -ECONNREFUSED);
    assert_int_equal(s->opened, 1); /* who was never there is not tried again */
    server_free(s);
}

static void retries_end_also_where_each_try_begins_anew(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    write_local("file", contents, SOURCE_LEN);
    s->breaks_after = 3000;
    s->stores_whole = true;
    struct run run = {.to = s,
                      .source = "file",
                      .target = "copy",
                      .retries = 4,
                      .settings.files = {.resumes = true}};
    copy_it(&run);
    assert_int_equal(run.result, -FERRY_ECLOSED);
    assert_int_equal(s->opened, 1 + 4);
    assert_null(fake_find(s, BYTES_LIT("copy")));
    server_free(s);
}

/* -- trees -- */

static void a_tree_is_copied_with_modes_and_times(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_directory(s, "tree")->facts.mode = 0555;
    fake_put(s, "tree/b", contents, 100, 1700000000);
    fake_put(s, "tree/a", contents, 0, 1700000000);
    fake_directory(s, "tree/sub")->facts.mtime_us = 1600000000000000;
    fake_put(s, "tree/sub/c", contents + 5, 3000, 1700000001);
    struct run run = {.from = s,
                      .source = "tree",
                      .target = "",
                      .is_target_directory = true,
                      .settings = {.is_recursive = true, .files = {.preserves = true}}};
    copy_it(&run);
    assert_int_equal(run.result, 0);
    assert_int_equal(run.totals.files, 3);
    assert_int_equal(run.totals.directories, 2);
    check_local("tree/b", contents, 100);
    check_local("tree/a", contents, 0);
    check_local("tree/sub/c", contents + 5, 3000);
    struct stat st;
    assert_int_equal(stat(in_folder("tree"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0555);
    assert_int_equal(stat(in_folder("tree/sub"), &st), 0);
    assert_int_equal(st.st_mtime, 1600000000);
    assert_int_equal(stat(in_folder("tree/sub/c"), &st), 0);
    assert_int_equal(st.st_mtime, 1700000001);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(chmod(in_folder("tree"), 0755), 0);
    server_free(s);
}

static void a_tree_goes_on_over_lost_connections(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_directory(s, "tree");
    for (unsigned i = 0; i < 20; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "tree/file%02u", i);
        fake_put(s, name, contents + i, 900, 1700000000);
    }
    s->breaks_after = 1500;
    struct run run = {.from = s,
                      .source = "tree",
                      .target = "new",
                      .retries = 3,
                      .settings = {.is_recursive = true, .files = {.resumes = true}}};
    copy_it(&run);
    assert_int_equal(run.result, 0);
    assert_int_equal(run.totals.files, 20);
    for (unsigned i = 0; i < 20; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "new/file%02u", i);
        check_local(name, contents + i, 900);
    }
    server_free(s);
}

static void one_failed_file_does_not_end_the_rest(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_directory(s, "tree");
    fake_put(s, "tree/a", contents, 10, 1);
    fake_put(s, "tree/b", contents, 10, 1)->facts.kind = ENDPOINT_OTHER;
    fake_put(s, "tree/c", contents, 10, 1)->is_directory = true; /* at the second look */
    fake_put(s, "tree/d", contents, 10, 1);
    struct run run = {
        .from = s, .source = "tree", .target = "new", .settings = {.is_recursive = true}};
    copy_it(&run);
    assert_int_equal(run.result, -FERRY_EREFUSED);
    assert_int_equal(run.failures, 2);
    check_local("new/a", contents, 10);
    check_local("new/d", contents, 10);
    server_free(s);
}

static void a_directory_needs_the_option(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_directory(s, "tree");
    struct run run = {.from = s, .source = "tree", .target = "new"};
    copy_it(&run);
    assert_int_equal(run.failures, 1);
    assert_int_not_equal(access(in_folder("new"), F_OK), 0);
    server_free(s);
}

/* -- hostile listings -- */

static void a_listing_without_end_is_left(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_directory(s, "tree");
    s->endless = UINT64_MAX;
    struct run run = {
        .from = s, .source = "tree", .target = "new", .settings = {.is_recursive = true}};
    copy_it(&run);
    assert_int_equal(run.result, -FERRY_EREFUSED);
    assert_string_equal(run.why, "its listing has no end");
    server_free(s);
}

static void a_name_that_is_listed_twice_is_copied_once(void **state)
{
    (void)state;
    struct fake_server *s = server_new();
    fake_directory(s, "tree");
    fake_put(s, "tree/a", contents, 10, 1);
    fake_put(s, "tree/b", contents, 10, 1);
    strcpy(s->files[2].path, "tree/a");
    struct run run = {
        .from = s, .source = "tree", .target = "new", .settings = {.is_recursive = true}};
    copy_it(&run);
    assert_int_equal(run.failures, 1);
    assert_int_equal(run.totals.files, 1);
    check_local("new/a", contents, 10);
    server_free(s);
}

static void a_check_that_finds_a_difference_leaves_no_file(void **state)
{
    (void)state;
    struct fake_server *from = server_new(), *to = server_new();
    fake_put(from, "file", contents, SOURCE_LEN, 1700000000);
    from->has_sha256 = to->has_sha256 = true;
    struct run run = {.from = from,
                      .to = to,
                      .source = "file",
                      .target = "copy",
                      .settings.files = {.verifies = true}};
    copy_it(&run);
    assert_int_equal(run.result, 0);
    assert_int_equal(run.check, COPY_CHECK_SAME);
    to->has_sha256 = false;
    copy_it(&run);
    assert_int_equal(run.check, COPY_CHECK_NOT_POSSIBLE);
    server_free(from);
    server_free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_download_that_is_cut_at_any_byte_is_whole_in_the_end,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_download_in_no_order_keeps_only_what_has_no_gap,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_upload_that_is_cut_at_any_byte_is_whole_in_the_end,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_large_file_goes_on_also_where_parts_are_hidden,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_copy_between_servers_that_is_cut_on_either_side_is_whole_in_the_end, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_part_of_another_state_of_the_source_is_not_used,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_part_without_a_sign_is_used_only_if_both_ends_say_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_is_not_used_where_that_is_not_wanted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_download_that_ends_too_early_is_not_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(retries_end_and_the_reason_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(retries_end_also_where_each_try_begins_anew, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_tree_is_copied_with_modes_and_times, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_tree_goes_on_over_lost_connections, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_failed_file_does_not_end_the_rest, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_directory_needs_the_option, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_listing_without_end_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_that_is_listed_twice_is_copied_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_check_that_finds_a_difference_leaves_no_file, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
