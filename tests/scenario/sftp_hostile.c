/* What SFTP refuses, what it bounds, and what it leaves behind when a client goes. */
#include <fcntl.h>

#include "sftp_harness.h"

static struct harness h;

static void begin(void (*client)(struct harness *))
{
    h = (struct harness){.root = make_root("sftp-hostile"), .client = client, .seed = 1};
}

/* -- broken messages -- */

struct broken {
    bool begins; /* INIT comes first */
    size_t len;
    uint8_t data[16];
};

static void send_broken(struct harness *hs)
{
    const struct broken *b = hs->state;
    TASK_ASSERT(!b->begins || client_begin(hs));
    (void)!client_write(hs, bytes_of(b->data, b->len));
    (void)(stream_end(hs->stream, 0) < 0);
    TASK_ASSERT(!client_receive(hs));
}

static void what_is_no_message_ends_the_session(void **state)
{
    (void)state;
    static const struct broken all[] = {
        {false, 9, {0, 0, 0, 5, SFTP_STAT, 0, 0, 0, 1}}, /* before INIT */
        {false, 9, {0, 0, 0, 5, SFTP_WRITE, 0, 0, 0, 1}},
        {true, 9, {0, 0, 0, 5, SFTP_INIT, 0, 0, 0, 3}}, /* a second one */
        {true, 8, {0, 0, 0, 4, SFTP_STAT, 0, 0, 0}},    /* no id */
        {true, 5, {0, 0, 0, 0, SFTP_STAT}},
        {true, 5, {0, 4, 4, 1, SFTP_STAT}}, /* a byte too long */
        {true, 5, {255, 255, 255, 255, SFTP_WRITE}},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct broken b = all[i];
        begin(send_broken);
        h.state = &b;
        harness_run(&h);
        assert_int_equal(h.result, -FERRY_EPROTO);
        assert_int_equal(remove_root(h.root), 0);
    }
}

static void a_message_that_breaks_off_is_the_end_of_the_session(void **state)
{
    (void)state;
    static const struct broken all[] = {
        {true, 1, {0}},
        {true, 5, {0, 0, 0, 20, SFTP_STAT}},
        {true, 10, {0, 0, 1, 0, SFTP_WRITE, 0, 0, 0, 1, 0}},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct broken b = all[i];
        begin(send_broken);
        h.state = &b;
        harness_run(&h);
        assert_int_equal(h.result, -FERRY_ECLOSED);
        assert_int_equal(remove_root(h.root), 0);
    }
}

static void send_long_name(struct harness *hs)
{
    static char name[200000];
    memset(name, 'x', sizeof(name) - 1);
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_path(hs, SFTP_KIND_STAT, name) == SFTP_STATUS);
    TASK_ASSERT(hs->answer.status == SFTP_BAD_MESSAGE);
    TASK_ASSERT(client_path(hs, SFTP_KIND_REALPATH, name) == SFTP_STATUS);
    TASK_ASSERT(client_paths(hs, SFTP_KIND_SYMLINK, name, "l") == SFTP_BAD_MESSAGE);
    struct sftp_request nul = {.kind = SFTP_KIND_MKDIR, .path = BYTES_LIT("a\0b")};
    TASK_ASSERT(client_status(hs, nul) == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_path(hs, SFTP_KIND_STAT, ".ferry-up-1") == SFTP_STATUS);
    TASK_ASSERT(hs->answer.status == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_path(hs, SFTP_KIND_STAT, "/") == SFTP_ATTRS);
}

static void names_that_no_file_can_have_are_refused(void **state)
{
    (void)state;
    begin(send_long_name);
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 0);
}

/* -- handles -- */

static void open_all(struct harness *hs)
{
    struct client_handle f[257], old;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(put_file(hs, "f", BYTES_LIT("x")));
    for (unsigned i = 0; i < 256; i++)
        TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f[i]) == SFTP_OK);
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f[256]) == SFTP_FAILURE);
    TASK_ASSERT(client_open_as(hs, SFTP_KIND_OPENDIR, "/", 0, &f[256]) == SFTP_FAILURE);
    old = f[100];
    TASK_ASSERT(client_close(hs, &old) == SFTP_OK);
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f[100]) == SFTP_OK);
    TASK_ASSERT(client_get(hs, &old, 0, 1) == SFTP_STATUS);
    TASK_ASSERT(hs->answer.status == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_close(hs, &old) == SFTP_NO_SUCH_FILE);
    TASK_ASSERT(client_get(hs, &f[100], 0, 1) == SFTP_DATA);
    struct sftp_request q = {.kind = SFTP_KIND_FSTAT};
    q.handle = BYTES_LIT("");
    TASK_ASSERT(client_status(hs, q) == SFTP_NO_SUCH_FILE);
    q.handle = BYTES_LIT("\377\377\377\377\0\0\0\1");
    TASK_ASSERT(client_status(hs, q) == SFTP_NO_SUCH_FILE);
    q.handle = BYTES_LIT("123456789");
    TASK_ASSERT(client_status(hs, q) == SFTP_NO_SUCH_FILE);
}

static void handles_are_bounded_and_a_stale_one_is_none(void **state)
{
    (void)state;
    begin(open_all);
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 1);
}

/* -- what is refused -- */

static void try_to_change(struct harness *hs)
{
    struct client_handle f;
    struct sftp_request set = {.kind = SFTP_KIND_SETSTAT, .path = BYTES_LIT("f")};
    set.attributes = (struct sftp_attributes){.has = SFTP_ATTR_MODE, .mode = 0777};
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "n", CLIENT_CREATES, &f) == SFTP_PERMISSION_DENIED);
    TASK_ASSERT(client_open(hs, "n", SFTP_OPEN_READ | SFTP_OPEN_CREATE, &f) ==
                SFTP_PERMISSION_DENIED);
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ | SFTP_OPEN_TRUNCATE, &f) ==
                SFTP_PERMISSION_DENIED);
    TASK_ASSERT(client_status(hs, set) == SFTP_PERMISSION_DENIED);

    static const enum sftp_kind ones[] = {SFTP_KIND_REMOVE, SFTP_KIND_MKDIR, SFTP_KIND_RMDIR};

    for (size_t i = 0; i < ARRAY_LEN(ones); i++) {
        TASK_ASSERT(client_path(hs, ones[i], "f") == SFTP_STATUS);
        TASK_ASSERT(hs->answer.status == SFTP_PERMISSION_DENIED);
    }

    static const enum sftp_kind twos[] = {SFTP_KIND_RENAME, SFTP_KIND_POSIX_RENAME,
                                          SFTP_KIND_HARDLINK, SFTP_KIND_SYMLINK};

    for (size_t i = 0; i < ARRAY_LEN(twos); i++)
        TASK_ASSERT(client_paths(hs, twos[i], "f", "g") == SFTP_PERMISSION_DENIED);
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f) == SFTP_OK);
    TASK_ASSERT(client_put(hs, &f, 0, BYTES_LIT("y")) != SFTP_OK);
    TASK_ASSERT(client_get(hs, &f, 0, 10) == SFTP_DATA);
    TASK_ASSERT(bytes_equal(hs->answer.data, BYTES_LIT("contents")));
}

static void make_file(const char *name, const char *contents)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h.root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
    close(fd);
}

static void nothing_is_changed_where_the_server_only_reads(void **state)
{
    (void)state;
    begin(try_to_change);
    h.settings.read_only = true;
    make_file("f", "contents");
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 1);
}

static void nothing_is_changed_by_an_account_that_may_only_read(void **state)
{
    (void)state;
    begin(try_to_change);
    h.rights = RIGHTS_READ_ONLY;
    make_file("f", "contents");
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 1);
}

static void try_lists(struct harness *hs)
{
    struct client_handle f;
    struct bytes name, version;
    TASK_ASSERT(client_begin(hs));
    while (sftp_answer_extension(&hs->answer, &name, &version))
        TASK_ASSERT(bytes_equal(name, BYTES_LIT("limits@openssh.com")));
    TASK_ASSERT(client_path(hs, SFTP_KIND_STAT, "f") == SFTP_STATUS);
    TASK_ASSERT(hs->answer.status == SFTP_PERMISSION_DENIED);
    TASK_ASSERT(client_path(hs, SFTP_KIND_LSTAT, "f") == SFTP_ATTRS);
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f) == SFTP_PERMISSION_DENIED);
}

static void requests_are_allowed_and_denied_by_name(void **state)
{
    (void)state;
    begin(try_lists);
    h.settings.allowed = "open,lstat,limits,stat";
    h.settings.denied = "stat,open";
    make_file("f", "contents");
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 1);
}

static void look_around(struct harness *hs)
{
    static const char *const paths[] = {"../../etc/passwd", "/../etc/passwd", "out/passwd",
                                        "out"};
    struct client_handle f;
    TASK_ASSERT(client_begin(hs));
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        TASK_ASSERT(client_open(hs, paths[i], SFTP_OPEN_READ, &f) != SFTP_OK);
    TASK_ASSERT(client_open_as(hs, SFTP_KIND_OPENDIR, "out", 0, &f) != SFTP_OK);
    TASK_ASSERT(client_path(hs, SFTP_KIND_STAT, "out") == SFTP_STATUS);
    TASK_ASSERT(client_path(hs, SFTP_KIND_LSTAT, "out") == SFTP_ATTRS);
}

static void nothing_leads_out_of_the_root(void **state)
{
    (void)state;
    char link[128];
    begin(look_around);
    (void)snprintf(link, sizeof(link), "%s/out", h.root);
    assert_int_equal(symlink("/etc", link), 0);
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 1);
}

/* -- uploads -- */

static void leave_in_the_middle(struct harness *hs)
{
    struct client_handle f;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", CLIENT_CREATES, &f) == SFTP_OK);
    TASK_ASSERT(client_put(hs, &f, 0, BYTES_LIT("half")) == SFTP_OK);
    TASK_ASSERT(client_open_as(hs, SFTP_KIND_OPENDIR, "/", 0, &f) == SFTP_OK);
    if (hs->pauses) {
        TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_MS)) == 0);
        hs->is_dropped = true;
    }
}

static void expect_old(void)
{
    char path[128], text[16] = "";
    (void)snprintf(path, sizeof(path), "%s/f", h.root);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, sizeof(text)), 3);
    assert_memory_equal(text, "old", 3);
    close(fd);
}

static void an_upload_that_is_not_closed_leaves_the_old_file(void **state)
{
    (void)state;
    for (unsigned dozes = 0; dozes < 2; dozes++) {
        begin(leave_in_the_middle);
        make_file("f", "old");
        h.pauses = dozes != 0;
        harness_run(&h);
        assert_int_equal(h.result, dozes != 0 ? SFTP_DOZES : 0);
        expect_old();
        assert_non_null(strstr(audit_lines, "\"result\":\"FERRY_ECLOSED\""));
        assert_int_equal(remove_root(h.root), 1);
    }
}

static void write_too_much(struct harness *hs)
{
    struct client_handle f;
    struct bytes data = pattern_of(200 * 1024);
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", CLIENT_CREATES, &f) == SFTP_OK);
    TASK_ASSERT(client_put(hs, &f, 0, bytes_first(data, 1000)) == SFTP_OK);
    TASK_ASSERT(client_put(hs, &f, 1000, data) == SFTP_FAILURE);
    TASK_ASSERT(client_close(hs, &f) == SFTP_FAILURE);
    TASK_ASSERT(client_path(hs, SFTP_KIND_STAT, "f") == SFTP_ATTRS);
    TASK_ASSERT(hs->answer.attributes.size_bytes == 3);
}

static void an_upload_over_the_quota_leaves_the_old_file(void **state)
{
    (void)state;
    begin(write_too_much);
    h.quota_bytes = 100 * 1024;
    make_file("f", "old");
    harness_run(&h);
    assert_int_equal(h.result, 0);
    expect_old();
    assert_non_null(strstr(audit_lines, "FERRY_EQUOTA"));
    assert_int_equal(remove_root(h.root), 1);
}

static void look_at_an_upload(struct harness *hs)
{
    struct client_handle f, d;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", CLIENT_CREATES, &f) == SFTP_OK);
    TASK_ASSERT(client_put(hs, &f, 0, BYTES_LIT("four")) == SFTP_OK);
    TASK_ASSERT(client_path(hs, SFTP_KIND_LSTAT, "/./f") == SFTP_ATTRS);
    TASK_ASSERT(hs->answer.attributes.size_bytes == 4);
    struct sftp_request q = {.kind = SFTP_KIND_SETSTAT, .path = BYTES_LIT("f")};
    q.attributes = (struct sftp_attributes){
        .has = SFTP_ATTR_MODE | SFTP_ATTR_TIMES, .mode = 0600, .atime_s = 77, .mtime_s = 77};
    TASK_ASSERT(client_status(hs, q) == SFTP_OK);
    TASK_ASSERT(client_open_as(hs, SFTP_KIND_OPENDIR, "/", 0, &d) == SFTP_OK);
    TASK_ASSERT(client_status(hs, (struct sftp_request){.kind = SFTP_KIND_READDIR,
                                                        .handle = handle_bytes(&d)}) ==
                SFTP_EOF);
    TASK_ASSERT(client_close(hs, &f) == SFTP_OK);
    TASK_ASSERT(client_path(hs, SFTP_KIND_STAT, "f") == SFTP_ATTRS);
    TASK_ASSERT(hs->answer.attributes.mtime_s == 77);
    TASK_ASSERT((hs->answer.attributes.mode & 0777) == 0600);
}

static void an_upload_without_a_name_is_known_to_who_makes_it(void **state)
{
    (void)state;
    begin(look_at_an_upload);
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 1);
}

static void copy_onto_itself(struct harness *hs)
{
    struct client_handle from, to;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_paths(hs, SFTP_KIND_HARDLINK, "f", "g") == SFTP_OK);
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &from) == SFTP_OK);
    TASK_ASSERT(client_open(hs, "g", SFTP_OPEN_WRITE, &to) == SFTP_OK);
    struct sftp_request q = {.kind = SFTP_KIND_COPY_DATA,
                             .handle = handle_bytes(&from),
                             .to_handle = handle_bytes(&to),
                             .to_offset = 1};
    TASK_ASSERT(client_status(hs, q) == SFTP_BAD_MESSAGE);
    q.offset = q.len = UINT64_MAX;
    TASK_ASSERT(client_status(hs, q) == SFTP_BAD_MESSAGE);
}

static void a_file_is_not_copied_onto_itself(void **state)
{
    (void)state;
    begin(copy_onto_itself);
    make_file("f", "contents");
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 2);
}

static void list_many(struct harness *hs)
{
    struct client_handle d;
    unsigned count = 0, answers = 0;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open_as(hs, SFTP_KIND_OPENDIR, "/", 0, &d) == SFTP_OK);
    struct sftp_request q = {.kind = SFTP_KIND_READDIR, .handle = handle_bytes(&d)};
    while (client_ask(hs, q) == SFTP_NAME) {
        struct bytes name, longname;
        struct sftp_attributes a;
        TASK_ASSERT(hs->answer.count <= 100);
        while (sftp_answer_name(&hs->answer, &name, &longname, &a)) {
            TASK_ASSERT(name.len == 250 && longname.len > 250);
            count++;
        }
        answers++;
    }
    TASK_ASSERT(hs->answer.status == SFTP_EOF);
    TASK_ASSERT(count == 700 && answers >= 700 / 62);
    TASK_ASSERT(client_ask(hs, q) == SFTP_STATUS); /* again the end */
}

static void a_large_folder_is_listed_in_answers_of_bounded_size(void **state)
{
    (void)state;
    begin(list_many);
    for (unsigned i = 0; i < 700; i++) {
        char name[256];
        memset(name, 'n', 250);
        (void)snprintf(name, 8, "%07u", i);
        name[7] = 'n';
        name[250] = '\0';
        char path[512];
        (void)snprintf(path, sizeof(path), "%s/%s", h.root, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    harness_run(&h);
    assert_int_equal(h.result, 0);
    assert_int_equal(remove_root(h.root), 700);
}

static void names_of_requests_are_told(void **state)
{
    (void)state;
    assert_string_equal(sftp_request_name(0), "open");
    unsigned n = 0;
    while (sftp_request_name(n) != NULL)
        n++;
    assert_int_equal(n, SFTP_KIND_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_message_ends_the_session),
        cmocka_unit_test(a_message_that_breaks_off_is_the_end_of_the_session),
        cmocka_unit_test(names_that_no_file_can_have_are_refused),
        cmocka_unit_test(handles_are_bounded_and_a_stale_one_is_none),
        cmocka_unit_test(nothing_is_changed_where_the_server_only_reads),
        cmocka_unit_test(nothing_is_changed_by_an_account_that_may_only_read),
        cmocka_unit_test(requests_are_allowed_and_denied_by_name),
        cmocka_unit_test(nothing_leads_out_of_the_root),
        cmocka_unit_test(an_upload_that_is_not_closed_leaves_the_old_file),
        cmocka_unit_test(an_upload_over_the_quota_leaves_the_old_file),
        cmocka_unit_test(an_upload_without_a_name_is_known_to_who_makes_it),
        cmocka_unit_test(a_file_is_not_copied_onto_itself),
        cmocka_unit_test(a_large_folder_is_listed_in_answers_of_bounded_size),
        cmocka_unit_test(names_of_requests_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
