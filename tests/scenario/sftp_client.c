/* The SFTP client against the server, over streams that are cut anywhere. */
#include <fcntl.h>

#include "sftp/client.h"
#include "sftp_harness.h"

#define FILE_BYTES (1024 * 1024 + 777)

static struct harness h;
static int noted; /* what a task saw, for the test function */
static const struct sftp_client_settings settings = {.in_flight_bytes = 0};

static void begin(void (*client)(struct harness *), uint64_t cut)
{
    h = (struct harness){.root = make_root("sftp-client"), .client = client};
    h.seed = cut + 1;
    h.cut = cut;
    noted = 0;
}

static struct sftp_client *client_of(struct harness *hs)
{
    struct sftp_client *c = NULL;
    TASK_ASSERT(sftp_client_new(hs->stream, &settings, &c) == 0);
    return c;
}

/* -- files in memory, as source and as sink -- */

struct contents {
    struct bytes data; /* what is sent */
    uint64_t bytes;    /* what came and was right */
    uint64_t fail_at;  /* UINT64_MAX: never */
    bool is_short;     /* the source gives less than it could */
    unsigned calls;
};

static ssize_t give(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                    unsigned count)
{
    struct contents *f = arg;
    (void)chunk;
    if (offset >= f->fail_at)
        return -EIO;
    struct bytes left = bytes_skip(f->data, (size_t)offset);
    if (f->is_short)
        left = bytes_first(left, 1 + (f->calls++ * 7919) % 50000);
    size_t done = 0;
    for (unsigned i = 0; i < count && done < left.len; i++) {
        size_t n = pieces[i].iov_len < left.len - done ? pieces[i].iov_len : left.len - done;
        memcpy(pieces[i].iov_base, left.data + done, n);
        done += n;
    }
    return (ssize_t)done;
}

static int compare(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                   unsigned count)
{
    struct contents *f = arg;
    (void)chunk;
    f->calls++;
    for (unsigned i = 0; i < count; i++) {
        if (offset >= f->fail_at)
            return -ENOSPC;
        if (offset + pieces[i].iov_len > f->data.len ||
            memcmp(f->data.data + offset, pieces[i].iov_base, pieces[i].iov_len) != 0)
            return -EBADMSG;
        f->bytes += pieces[i].iov_len;
        offset += pieces[i].iov_len;
    }
    return 0;
}

static struct contents contents_of(size_t len)
{
    return (struct contents){.data = pattern_of(len), .fail_at = UINT64_MAX};
}

static int put_contents(struct sftp_client *c, const char *path, struct contents *f)
{
    const struct sftp_put put = {.source = give, .arg = f};
    uint64_t bytes;
    int r = sftp_client_put(c, bytes_str(path), &put, &bytes);
    if (r == 0)
        TASK_ASSERT(bytes == f->data.len);
    return r;
}

static int get_contents(struct sftp_client *c, const char *path, struct contents *f)
{
    const struct sftp_get get = {.sink = compare, .arg = f};
    struct sftp_got got;
    int r = sftp_client_get(c, bytes_str(path), &get, &got);
    if (r == 0)
        TASK_ASSERT(got.bytes == f->bytes &&
                    (got.attributes.has == 0 || got.attributes.size_bytes == f->data.len));
    return r;
}

/* -- whole files -- */

static void put_and_get(struct harness *hs)
{
    static const size_t sizes[] = {0, 1, 1000, 32768, 32769, 261120, 522240, FILE_BYTES};
    struct sftp_client *c = client_of(hs);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct contents f = contents_of(sizes[i]);
        f.is_short = i % 2 != 0;
        TASK_ASSERT(put_contents(c, "f", &f) == 0);
        f.calls = 0;
        TASK_ASSERT(get_contents(c, "f", &f) == 0);
        TASK_ASSERT(f.bytes == sizes[i]);
        noted++;
    }
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void files_go_and_come_back_whole_wherever_the_stream_is_cut(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 12; cut++) {
        begin(put_and_get, cut);
        h.cap = cut == 1 ? 512 : cut == 2 ? 2 * 1024 * 1024 : 0;
        harness_run(&h);
        assert_int_equal(noted, 8);
        assert_int_equal(remove_root(h.root), 1);
    }
}

static void get_ranges(struct harness *hs)
{
    static const struct {
        uint64_t offset, length, bytes;
    } rows[] = {
        {0, 1, 1},
        {700000, 5, 5},
        {700000, 0, FILE_BYTES - 700000},
        {FILE_BYTES - 1, 1000000, 1},
        {FILE_BYTES, 0, 0},
        {FILE_BYTES + 1000000, 0, 0},
        {5, UINT64_MAX, FILE_BYTES - 5},
    };

    struct sftp_client *c = client_of(hs);
    struct contents f = contents_of(FILE_BYTES);
    TASK_ASSERT(put_contents(c, "f", &f) == 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        f.bytes = 0;
        const struct sftp_get get = {rows[i].offset, rows[i].length, compare, &f};
        struct sftp_got got;
        TASK_ASSERT(sftp_client_get(c, BYTES_LIT("f"), &get, &got) == 0);
        TASK_ASSERT(got.bytes == rows[i].bytes && f.bytes == rows[i].bytes);
        noted++;
    }
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void a_part_of_a_file_is_what_was_asked_for(void **state)
{
    (void)state;
    begin(get_ranges, 3);
    harness_run(&h);
    assert_int_equal(noted, 7);
    assert_int_equal(remove_root(h.root), 1);
}

static void continue_put(struct harness *hs)
{
    struct sftp_client *c = client_of(hs);
    struct contents f = contents_of(300000);
    const struct sftp_attributes times = {.has = SFTP_ATTR_TIMES, .atime_s = 5, .mtime_s = 77};
    struct sftp_put put = {.source = give, .arg = &f, .attributes = &times, .syncs = true};
    struct sftp_attributes after;
    uint64_t bytes;
    TASK_ASSERT(sftp_client_put(c, BYTES_LIT("f"), &put, &bytes) == 0 && bytes == 300000);
    f = contents_of(FILE_BYTES);
    put.offset = 300000;
    TASK_ASSERT(sftp_client_put(c, BYTES_LIT("f"), &put, &bytes) == 0);
    TASK_ASSERT(bytes == FILE_BYTES - 300000);
    TASK_ASSERT(sftp_client_stat(c, BYTES_LIT("f"), true, &after) == 0);
    TASK_ASSERT(after.mtime_s == 77 && after.size_bytes == FILE_BYTES);
    TASK_ASSERT(get_contents(c, "f", &f) == 0 && f.bytes == FILE_BYTES);
    put.offset = 0;
    put.source = NULL;
    noted = sftp_client_put(c, BYTES_LIT("none/f"), &put, &bytes);
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void a_file_is_continued_and_gets_its_times(void **state)
{
    (void)state;
    begin(continue_put, 4);
    harness_run(&h);
    assert_int_equal(noted, -ENOENT);
    assert_int_equal(remove_root(h.root), 1);
}

/* -- failures on this side -- */

static void fail_in_the_middle(struct harness *hs)
{
    struct sftp_client *c = client_of(hs);
    struct contents f = contents_of(FILE_BYTES);
    TASK_ASSERT(put_contents(c, "f", &f) == 0);
    f.fail_at = 500000;
    TASK_ASSERT(get_contents(c, "f", &f) == -ENOSPC);
    TASK_ASSERT(f.bytes <= 500000 + 261120);
    TASK_ASSERT(put_contents(c, "g", &f) == -EIO);
    f = contents_of(FILE_BYTES);
    TASK_ASSERT(get_contents(c, "f", &f) == 0);
    noted = 1;
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static int fail_late(void *arg, uint64_t offset, struct chunk *chunk,
                     const struct iovec *pieces, unsigned count)
{
    (void)offset, (void)chunk, (void)pieces, (void)count;
    int r = task_sleep_until(clock_after(*(usec_t *)arg));
    return r < 0 ? r : -ENOSPC;
}

static void fail_at_the_end(struct harness *hs)
{
    struct sftp_client *c = client_of(hs);
    struct contents f = contents_of(10);
    usec_t delay = USEC_PER_MS;
    const struct sftp_get get = {.sink = fail_late, .arg = &delay};
    struct sftp_got got;
    TASK_ASSERT(put_contents(c, "f", &f) == 0);
    noted = sftp_client_get(c, BYTES_LIT("f"), &get, &got);
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void a_get_has_not_succeeded_before_its_sink_has(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 5; cut++) {
        begin(fail_at_the_end, cut);
        harness_run(&h);
        assert_int_equal(noted, -ENOSPC);
        assert_int_equal(remove_root(h.root), 1);
    }
}

static void after_a_failure_of_the_file_the_client_goes_on(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 5; cut++) {
        begin(fail_in_the_middle, cut);
        harness_run(&h);
        assert_int_equal(noted, 1);
        (void)remove_root(h.root);
    }
}

struct one_of_many {
    struct sftp_client *client;
    const char *path;
    struct contents contents;
    int result;
    struct event begun;
};

static void get_one(void *arg)
{
    struct one_of_many *one = arg;
    one->result = get_contents(one->client, one->path, &one->contents);
}

static void get_at_once(struct harness *hs)
{
    static const char *const paths[] = {"a", "b", "c"};
    struct one_of_many all[3];
    struct scope scope;
    struct sftp_client *c = client_of(hs);
    struct sftp_attributes a;
    scope_init(&scope);
    for (size_t i = 0; i < 3; i++) {
        all[i] = (struct one_of_many){c, paths[i], contents_of(400000 * (i + 1)), 1, {0}};
        TASK_ASSERT(put_contents(c, paths[i], &all[i].contents) == 0);
    }
    for (size_t i = 0; i < 3; i++)
        TASK_ASSERT(scope_start(&scope, "get", TASK_NORMAL, get_one, &all[i], NULL) == 0);
    TASK_ASSERT(sftp_client_stat(c, BYTES_LIT("b"), true, &a) == 0 && a.size_bytes == 800000);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    for (size_t i = 0; i < 3; i++)
        noted += all[i].result == 0 && all[i].contents.bytes == 400000 * (i + 1);
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void several_transfers_share_a_client(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 5; cut++) {
        begin(get_at_once, cut);
        harness_run(&h);
        assert_int_equal(noted, 3);
        assert_int_equal(remove_root(h.root), 3);
    }
}

static int stop_here(void *arg, uint64_t offset, struct chunk *chunk,
                     const struct iovec *pieces, unsigned count)
{
    struct one_of_many *one = arg;
    (void)offset, (void)chunk, (void)pieces, (void)count;
    event_set(&one->begun);
    return task_sleep_until(clock_after(100 * USEC_PER_MS));
}

static void get_slowly(void *arg)
{
    struct one_of_many *one = arg;
    const struct sftp_get get = {.sink = stop_here, .arg = one};
    struct sftp_got got;
    one->result = sftp_client_get(one->client, BYTES_LIT("f"), &get, &got);
}

static void cancel_a_get(struct harness *hs)
{
    struct one_of_many one = {.client = client_of(hs), .contents = contents_of(FILE_BYTES)};
    struct scope scope;
    TASK_ASSERT(put_contents(one.client, "f", &one.contents) == 0);
    scope_init(&scope);
    event_init(&one.begun);
    TASK_ASSERT(scope_start(&scope, "get", TASK_NORMAL, get_slowly, &one, NULL) == 0);
    TASK_ASSERT(event_wait(&one.begun, USEC_NEVER) == 0);
    scope_leave(&scope);
    noted = one.result;
    one.contents.bytes = 0;
    TASK_ASSERT(get_contents(one.client, "f", &one.contents) == 0);
    TASK_ASSERT(one.contents.bytes == FILE_BYTES);
    TASK_ASSERT(sftp_client_free(one.client) == NULL);
}

static void a_transfer_that_is_cancelled_leaves_the_client_usable(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 5; cut++) {
        begin(cancel_a_get, cut);
        harness_run(&h);
        assert_int_equal(noted, -ECANCELED);
        assert_int_equal(remove_root(h.root), 1);
    }
}

/* -- local files -- */

static void move_local_files(struct harness *hs)
{
    struct sftp_client *c = client_of(hs);
    struct rights all;
    const struct vfs_policy policy = {.file_mode = 0644, .directory_mode = 0755};
    struct vroot *root;
    struct vfs *vfs;
    struct vpath path;
    struct contents f = contents_of(FILE_BYTES);
    TASK_ASSERT(put_contents(c, "f", &f) == 0);
    rights_init(&all, RIGHTS_ALL);
    TASK_ASSERT(vroot_open(hs->root, VROOT_BENEATH, &root) == 0);
    TASK_ASSERT(vfs_new(root, &all, &policy, NULL, runtime_files_pool(runtime_self()), NULL,
                        &vfs) == 0);
    TASK_ASSERT(vpath_parse(BYTES_LIT("/"), BYTES_LIT("g"), &path) == 0);
    const struct vupload_request request = {.kind = VUPLOAD_REPLACE};
    struct sftp_local local = {0};
    TASK_ASSERT(vfs_upload_begin(vfs, &path, &request, &local.upload) == 0);
    local.file = vupload_file(local.upload);
    const struct sftp_get get = {.sink = sftp_local_sink, .arg = &local};
    struct sftp_got got;
    TASK_ASSERT(sftp_client_get(c, BYTES_LIT("f"), &get, &got) == 0);
    TASK_ASSERT(vupload_commit(local.upload, got.bytes) == 0);
    local = (struct sftp_local){0};
    TASK_ASSERT(vfs_open(vfs, &path, &local.file) == 0);
    const struct sftp_put put = {.source = sftp_local_source, .arg = &local};
    uint64_t bytes;
    TASK_ASSERT(sftp_client_put(c, BYTES_LIT("k"), &put, &bytes) == 0 && bytes == FILE_BYTES);
    (void)vfile_close(local.file);
    TASK_ASSERT(get_contents(c, "k", &f) == 0 && f.bytes == FILE_BYTES);
    noted = 1;
    (void)vfs_free(vfs);
    vroot_unref(root);
    rights_done(&all);
    vpath_done(&path);
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void a_file_is_received_into_an_upload_and_sent_from_a_file(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 3; cut++) {
        begin(move_local_files, cut);
        harness_run(&h);
        assert_int_equal(noted, 1);
        assert_int_equal(remove_root(h.root), 3);
    }
}

/* -- names -- */

static int count_name(void *arg, struct bytes name, const struct sftp_attributes *a)
{
    unsigned *count = arg;
    if (sftp_name_is_safe(name))
        *count += 1 + 100 * ((a->mode & SFTP_MODE_KIND) == SFTP_MODE_DIRECTORY);
    return 0;
}

static int end_listing(void *arg, struct bytes name, const struct sftp_attributes *a)
{
    (void)arg, (void)name, (void)a;
    return -E2BIG;
}

static void try_names(struct harness *hs)
{
    struct sftp_client *c = client_of(hs);
    struct sftp_attributes a;
    struct sftp_remote f;
    char text[64];
    uint8_t data[100];
    unsigned count = 0;
    TASK_ASSERT(sftp_client_mkdir(c, BYTES_LIT("d"), 0755) == 0);
    TASK_ASSERT(sftp_client_open(c, BYTES_LIT("d/x"), CLIENT_CREATES, 0600, &f) == 0);
    TASK_ASSERT(sftp_client_write(c, &f, 3, BYTES_LIT("words")) == 0);
    TASK_ASSERT(sftp_client_fsync(c, &f) == 0);
    TASK_ASSERT(sftp_client_fstat(c, &f, &a) == 0 && a.size_bytes == 8);
    a = (struct sftp_attributes){.has = SFTP_ATTR_TIMES, .mtime_s = 9, .atime_s = 9};
    TASK_ASSERT(sftp_client_fsetstat(c, &f, &a) == 0);
    TASK_ASSERT(sftp_client_close(c, &f) == 0);
    TASK_ASSERT(sftp_client_open(c, BYTES_LIT("d/x"), SFTP_OPEN_READ, 0, &f) == 0);
    TASK_ASSERT(sftp_client_read(c, &f, 2, data, sizeof(data)) == 6);
    TASK_ASSERT(memcmp(data, "\0words", 6) == 0);
    TASK_ASSERT(sftp_client_read(c, &f, 8, data, sizeof(data)) == 0);
    TASK_ASSERT(sftp_client_close(c, &f) == 0);
    TASK_ASSERT(sftp_client_rename(c, BYTES_LIT("d/x"), BYTES_LIT("d/y")) == 0);
    TASK_ASSERT(sftp_client_mkdir(c, BYTES_LIT("d/z"), 0755) == 0);
    TASK_ASSERT(sftp_client_list(c, BYTES_LIT("d"), 0, count_name, &count) == 0);
    TASK_ASSERT(count == 102);
    TASK_ASSERT(sftp_client_list(c, BYTES_LIT("d"), 1, count_name, &count) == -FERRY_ELIMIT);
    TASK_ASSERT(sftp_client_list(c, BYTES_LIT("d"), 0, end_listing, NULL) == -E2BIG);
    TASK_ASSERT(sftp_client_realpath(c, BYTES_LIT("d/../d/y"), text, sizeof(text)) == 0);
    TASK_ASSERT(strcmp(text, "/d/y") == 0);
    TASK_ASSERT(sftp_client_realpath(c, BYTES_LIT("d/y"), text, 4) == -FERRY_ELIMIT);
    TASK_ASSERT(sftp_client_stat(c, BYTES_LIT("d/x"), true, &a) == -ENOENT);
    TASK_ASSERT(strlen(sftp_client_why(c)) > 0);
    TASK_ASSERT(sftp_client_setstat(
                    c, BYTES_LIT("d/y"),
                    &(struct sftp_attributes){.has = SFTP_ATTR_MODE, .mode = 0640}) == 0);
    TASK_ASSERT(sftp_client_stat(c, BYTES_LIT("d/y"), false, &a) == 0);
    TASK_ASSERT((a.mode & 0777) == 0640 && a.mtime_s == 9);
    TASK_ASSERT(sftp_client_rmdir(c, BYTES_LIT("d/z")) == 0);
    TASK_ASSERT(sftp_client_remove(c, BYTES_LIT("d/y")) == 0);
    TASK_ASSERT(sftp_client_rmdir(c, BYTES_LIT("d")) == 0);
    noted = 1;
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void each_request_about_names_does_what_it_says(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 5; cut++) {
        begin(try_names, cut);
        harness_run(&h);
        assert_int_equal(noted, 1);
        assert_int_equal(remove_root(h.root), 0);
    }
}

static void names_that_lead_elsewhere_are_not_safe(void **state)
{
    (void)state;
    static const struct bytes bad[] = {BYTES_LIT(""),     BYTES_LIT("."),   BYTES_LIT(".."),
                                       BYTES_LIT("/etc"), BYTES_LIT("a/b"), BYTES_LIT("../x"),
                                       BYTES_LIT("a/"),   BYTES_LIT("a\0b")};
    static const struct bytes good[] = {BYTES_LIT("a"), BYTES_LIT("..."), BYTES_LIT(".a"),
                                        BYTES_LIT("-rf"), BYTES_LIT("a\nb")};
    char name[256];
    memset(name, 'x', sizeof(name));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(sftp_name_is_safe(bad[i]));
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(sftp_name_is_safe(good[i]));
    assert_true(sftp_name_is_safe(bytes_of(name, 255)));
    assert_false(sftp_name_is_safe(bytes_of(name, 256)));
}

/* -- memory that is not to be had -- */

static void try_to_move(struct harness *hs)
{
    struct sftp_client *c;
    struct contents f = contents_of(600000);
    if (sftp_client_new(hs->stream, &settings, &c) < 0)
        return;
    if (put_contents(c, "f", &f) == 0 && get_contents(c, "f", &f) == 0)
        noted = f.bytes == 600000 ? 1 : 2;
    TASK_ASSERT(sftp_client_free(c) == NULL);
}

static void each_allocation_may_fail_once(void **state)
{
    (void)state;
    begin(try_to_move, 0);
    h.fault = FAULT_ALLOC;
    harness_run(&h);
    assert_int_equal(noted, 1);
    (void)clear_folder(h.root);
    uint64_t count = h.counted;
    assert_true(count > 20);
    for (uint64_t nth = 1; nth <= count; nth++) {
        h.nth = nth;
        noted = 0;
        harness_run(&h);
        assert_int_not_equal(noted, 2);
        (void)clear_folder(h.root);
    }
    (void)remove_root(h.root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_go_and_come_back_whole_wherever_the_stream_is_cut),
        cmocka_unit_test(a_part_of_a_file_is_what_was_asked_for),
        cmocka_unit_test(a_file_is_continued_and_gets_its_times),
        cmocka_unit_test(after_a_failure_of_the_file_the_client_goes_on),
        cmocka_unit_test(a_get_has_not_succeeded_before_its_sink_has),
        cmocka_unit_test(several_transfers_share_a_client),
        cmocka_unit_test(a_transfer_that_is_cancelled_leaves_the_client_usable),
        cmocka_unit_test(a_file_is_received_into_an_upload_and_sent_from_a_file),
        cmocka_unit_test(each_request_about_names_does_what_it_says),
        cmocka_unit_test(names_that_lead_elsewhere_are_not_safe),
        cmocka_unit_test(each_allocation_may_fail_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
