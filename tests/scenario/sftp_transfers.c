/* Reads and writes of SFTP that come many at a time. */
#include <fcntl.h>

#include "sftp_harness.h"

#define FILE_BYTES (1024 * 1024 + 777)
#define BLOCK      32768

static struct harness h;

static void begin(void (*client)(struct harness *), uint64_t cut)
{
    h = (struct harness){.root = make_root("sftp-transfers"), .client = client};
    h.seed = cut + 1;
    h.cut = cut;
}

static void expect_file(const char *name, struct bytes contents)
{
    static uint8_t data[2 * 1024 * 1024];
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h.root, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, data, sizeof(data));
    close(fd);
    assert_int_equal(n, contents.len);
    assert_memory_equal(data, contents.data, contents.len);
}

/* -- writes -- */

static void send_write(struct harness *hs, const struct client_handle *f, uint64_t offset,
                       struct bytes data)
{
    TASK_ASSERT(client_send(hs, (struct sftp_request){.kind = SFTP_KIND_WRITE,
                                                      .handle = handle_bytes(f),
                                                      .offset = offset,
                                                      .len = data.len,
                                                      .data = data}));
}

static void receive_statuses(struct harness *hs, uint32_t first, uint32_t count, int status)
{
    for (uint32_t id = first; id < first + count; id++) {
        TASK_ASSERT(client_receive(hs));
        TASK_ASSERT(hs->answer.id == id && hs->answer.type == SFTP_STATUS);
        TASK_ASSERT((int)hs->answer.status == status);
    }
}

static void write_many(struct harness *hs)
{
    struct client_handle f;
    struct bytes left = pattern_of(FILE_BYTES);
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", CLIENT_CREATES, &f) == SFTP_OK);
    uint32_t first = hs->last_id + 1, count = 0;
    for (uint64_t offset = 0; left.len > 0; count++) {
        size_t len = count % 5 == 4 ? 3 : BLOCK;
        struct bytes block = bytes_first(left, len);
        send_write(hs, &f, offset, block);
        offset += block.len;
        left = bytes_skip(left, len);
    }
    receive_statuses(hs, first, count, SFTP_OK);
    TASK_ASSERT(client_close(hs, &f) == SFTP_OK);
}

static void writes_that_come_many_at_a_time_make_one_file(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 12; cut++) {
        begin(write_many, cut);
        h.cap = cut == 1 ? 4096 : 2 * 1024 * 1024;
        harness_run(&h);
        expect_file("f", pattern_of(FILE_BYTES));
        assert_non_null(strstr(audit_lines, "\"operation\":\"upload\""));
        assert_non_null(strstr(audit_lines, "\"bytes\":1049353,"));
        assert_int_equal(remove_root(h.root), 1);
    }
}

static void write_backwards(struct harness *hs)
{
    struct client_handle f, g;
    struct bytes data = pattern_of(5 * BLOCK);
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", CLIENT_CREATES, &f) == SFTP_OK);
    TASK_ASSERT(client_open(hs, "g", CLIENT_CREATES, &g) == SFTP_OK);
    uint32_t first = hs->last_id + 1;
    for (unsigned i = 5; i-- > 0;) {
        struct bytes block = bytes_first(bytes_skip(data, i * BLOCK), BLOCK);
        send_write(hs, i % 2 != 0 ? &f : &g, i * BLOCK, block);
        send_write(hs, i % 2 != 0 ? &g : &f, i * BLOCK, block);
    }
    receive_statuses(hs, first, 10, SFTP_OK);
    TASK_ASSERT(client_close(hs, &g) == SFTP_OK);
    TASK_ASSERT(client_close(hs, &f) == SFTP_OK);
}

static void writes_that_do_not_follow_each_other_go_where_they_belong(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 6; cut++) {
        begin(write_backwards, cut);
        h.cap = 1024 * 1024;
        harness_run(&h);
        expect_file("f", pattern_of(5 * BLOCK));
        expect_file("g", pattern_of(5 * BLOCK));
        assert_int_equal(remove_root(h.root), 2);
    }
}

static void append(struct harness *hs)
{
    struct client_handle f;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(put_file(hs, "f", BYTES_LIT("start ")));
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_WRITE | SFTP_OPEN_APPEND, &f) == SFTP_OK);
    uint32_t first = hs->last_id + 1;
    send_write(hs, &f, 0, BYTES_LIT("one "));
    send_write(hs, &f, 0, BYTES_LIT("two "));
    send_write(hs, &f, 777, BYTES_LIT("three"));
    receive_statuses(hs, first, 3, SFTP_OK);
    TASK_ASSERT(client_close(hs, &f) == SFTP_OK);
}

static void an_appending_handle_writes_at_the_end(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 6; cut++) {
        begin(append, cut);
        harness_run(&h);
        expect_file("f", BYTES_LIT("start one two three"));
        assert_int_equal(remove_root(h.root), 1);
    }
}

/* A WRITE with bytes behind its data is of another form, and one all the same. */
static void write_loosely(struct harness *hs)
{
    struct client_handle f;
    uint8_t request[64];
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", CLIENT_CREATES, &f) == SFTP_OK);
    struct sftp_request q = {.kind = SFTP_KIND_WRITE, .handle = handle_bytes(&f)};
    q.data = BYTES_LIT("contents");
    q.id = ++hs->last_id;
    struct wire_writer w = wire_writer_of(request, sizeof(request));
    sftp_request_write(&w, &q);
    wire_put_u32(&w, 0);
    wire_set_u32(request, (uint32_t)w.len - SFTP_LENGTH_BYTES);
    TASK_ASSERT(client_write(hs, bytes_of(request, w.len)) && client_receive(hs));
    TASK_ASSERT(hs->answer.status == SFTP_OK);
    TASK_ASSERT(client_close(hs, &f) == SFTP_OK);
}

static void a_write_of_another_form_is_one(void **state)
{
    (void)state;
    begin(write_loosely, 0);
    harness_run(&h);
    expect_file("f", BYTES_LIT("contents"));
    assert_int_equal(remove_root(h.root), 1);
}

/* -- reads -- */

static void send_read(struct harness *hs, const struct client_handle *f, uint64_t offset,
                      uint32_t len)
{
    TASK_ASSERT(client_send(hs, (struct sftp_request){.kind = SFTP_KIND_READ,
                                                      .handle = handle_bytes(f),
                                                      .offset = offset,
                                                      .len = len}));
}

struct expected_read {
    uint64_t offset;
    uint32_t len;
};

static void receive_reads(struct harness *hs, uint32_t first, const struct expected_read *reads,
                          unsigned count, struct bytes file)
{
    for (unsigned i = 0; i < count; i++) {
        TASK_ASSERT(client_receive(hs) && hs->answer.id == first + i);
        struct bytes part = bytes_first(bytes_skip(file, reads[i].offset), reads[i].len);
        if (part.len == 0) {
            TASK_ASSERT(hs->answer.type == SFTP_STATUS && hs->answer.status == SFTP_EOF);
            continue;
        }
        TASK_ASSERT(hs->answer.type == SFTP_DATA && bytes_equal(hs->answer.data, part));
    }
}

static void read_many(struct harness *hs)
{
    struct client_handle f;
    struct bytes file = pattern_of(FILE_BYTES);
    struct expected_read reads[64];
    unsigned count = 0;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f) == SFTP_OK);
    uint64_t offset = 0;
    while (offset < FILE_BYTES + 3 * BLOCK)
        for (unsigned i = 0; i < 7; i++) {
            uint32_t len = i == 3 ? 5 : i == 5 ? 60000 : BLOCK;
            reads[count++] = (struct expected_read){offset, len};
            offset += len;
        }
    reads[count++] = (struct expected_read){17, 1000}; /* a seek */
    reads[count++] = (struct expected_read){FILE_BYTES - 1, BLOCK};
    reads[count++] = (struct expected_read){0, 261120};
    TASK_ASSERT(count <= ARRAY_LEN(reads));
    uint32_t first = hs->last_id + 1;
    for (unsigned i = 0; i < count; i++)
        send_read(hs, &f, reads[i].offset, reads[i].len);
    receive_reads(hs, first, reads, count, file);
    TASK_ASSERT(client_close(hs, &f) == SFTP_OK);
}

static void make_file(const char *name, struct bytes contents)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", h.root, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    TASK_ASSERT(fd >= 0);
    TASK_ASSERT(write(fd, contents.data, contents.len) == (ssize_t)contents.len);
    close(fd);
}

static void reads_that_come_many_at_a_time_are_answered_in_order(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 12; cut++) {
        begin(read_many, cut);
        make_file("f", pattern_of(FILE_BYTES));
        harness_run(&h);
        assert_int_equal(h.result, 0);
        assert_non_null(strstr(audit_lines, "\"operation\":\"download\""));
        assert_int_equal(remove_root(h.root), 1);
    }
}

static void read_while_it_grows(struct harness *hs)
{
    struct client_handle f;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f) == SFTP_OK);
    TASK_ASSERT(client_get(hs, &f, 0, 100) == SFTP_DATA);
    TASK_ASSERT(bytes_equal(hs->answer.data, BYTES_LIT("first")));
    TASK_ASSERT(client_get(hs, &f, 5, 100) == SFTP_STATUS && hs->answer.status == SFTP_EOF);
    make_file("f", BYTES_LIT(" and more"));
    TASK_ASSERT(client_get(hs, &f, 5, 100) == SFTP_DATA);
    TASK_ASSERT(bytes_equal(hs->answer.data, BYTES_LIT(" and more")));
    make_file("f", BYTES_LIT(" and even more"));
    TASK_ASSERT(client_get(hs, &f, 0, 100) == SFTP_DATA);
    TASK_ASSERT(bytes_equal(hs->answer.data, BYTES_LIT("first and more and even more")));
}

static void a_file_that_grows_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    for (uint64_t cut = 0; cut < 6; cut++) {
        begin(read_while_it_grows, cut);
        make_file("f", BYTES_LIT("first"));
        harness_run(&h);
        assert_int_equal(remove_root(h.root), 1);
    }
}

/* A client that asks for 4 GB and reads no answer is not heard to its end. */
static void ask_for_much(void *arg)
{
    struct harness *hs = arg;
    struct client_handle f = {{0, 0, 0, 0, 0, 0, 0, 1}};
    for (unsigned i = 0; i < 16500; i++) {
        uint8_t request[64];
        struct wire_writer w = wire_writer_of(request, sizeof(request));
        struct sftp_request q = {.kind = SFTP_KIND_READ,
                                 .handle = handle_bytes(&f),
                                 .offset = (uint64_t)i * SFTP_DATA_MAX,
                                 .len = SFTP_DATA_MAX};
        sftp_request_write(&w, &q);
        if (stream_write_bytes(hs->stream, bytes_of(request, w.len)) < 0)
            return;
    }
    TASK_ASSERT(!"the server has taken it all");
}

static void ask_and_not_read(struct harness *hs)
{
    struct client_handle f;
    struct scope scope;
    struct stream_info info;
    TASK_ASSERT(client_begin(hs));
    TASK_ASSERT(client_open(hs, "f", SFTP_OPEN_READ, &f) == SFTP_OK);
    scope_init(&scope);
    TASK_ASSERT(scope_start(&scope, "asks", TASK_NORMAL, ask_for_much, hs, NULL) == 0);
    TASK_ASSERT(task_sleep_until(clock_after(USEC_PER_S)) == 0);
    stream_info(hs->stream, &info);
    TASK_ASSERT(info.sent_bytes < 300 * 1024); /* one take and what is on the way */
    scope_leave(&scope);
}

static void requests_stay_where_they_are_until_answers_have_room(void **state)
{
    (void)state;
    begin(ask_and_not_read, 0);
    h.cap = 16 * 1024;
    make_file("f", pattern_of(FILE_BYTES));
    harness_run(&h);
    assert_int_equal(h.result, -FERRY_ECLOSED);
    assert_int_equal(remove_root(h.root), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_that_come_many_at_a_time_make_one_file),
        cmocka_unit_test(writes_that_do_not_follow_each_other_go_where_they_belong),
        cmocka_unit_test(an_appending_handle_writes_at_the_end),
        cmocka_unit_test(a_write_of_another_form_is_one),
        cmocka_unit_test(reads_that_come_many_at_a_time_are_answered_in_order),
        cmocka_unit_test(a_file_that_grows_is_read_as_far_as_it_goes),
        cmocka_unit_test(requests_stay_where_they_are_until_answers_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
