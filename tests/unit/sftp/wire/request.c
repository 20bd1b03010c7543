#include "sftp/wire/request.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"
#include "sftp_attributes.h"

static struct sftp_request example(enum sftp_kind kind)
{
    const char *fields = sftp_kind_row(kind)->fields;
    struct sftp_request q = {.kind = kind, .id = 0x01020304};
    if (strchr(fields, 'p') != NULL)
        q.path = BYTES_LIT("/a path");
    if (strchr(fields, 't') != NULL)
        q.to = BYTES_LIT("to\n");
    if (strchr(fields, 'h') != NULL)
        q.handle = BYTES_LIT("12345678");
    if (strchr(fields, 'w') != NULL)
        q.to_handle = BYTES_LIT("abc");
    if (strchr(fields, 'o') != NULL)
        q.offset = UINT64_C(0x1122334455667788);
    if (strchr(fields, 'O') != NULL)
        q.to_offset = 7;
    if (strchr(fields, 'l') != NULL)
        q.len = UINT32_MAX;
    if (strchr(fields, 'L') != NULL)
        q.len = UINT64_MAX;
    if (strchr(fields, 'f') != NULL)
        q.flags = SFTP_OPEN_READ | SFTP_OPEN_CREATE;
    if (strchr(fields, 'a') != NULL)
        q.attributes = (struct sftp_attributes){
            .has = SFTP_ATTR_SIZE | SFTP_ATTR_OWNER | SFTP_ATTR_MODE | SFTP_ATTR_TIMES,
            .size_bytes = UINT64_C(1) << 40,
            .uid = 1,
            .gid = 2,
            .mode = 0644,
            .atime_s = 3,
            .mtime_s = 4,
        };
    if (strchr(fields, 'd') != NULL) {
        q.data = BYTES_LIT("the data");
        q.len = q.data.len;
    }
    return q;
}

static void expect_equal(const struct sftp_request *a, const struct sftp_request *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->id, b->id);
    assert_true(bytes_equal(a->path, b->path));
    assert_true(bytes_equal(a->to, b->to));
    assert_true(bytes_equal(a->handle, b->handle));
    assert_true(bytes_equal(a->to_handle, b->to_handle));
    assert_true(a->offset == b->offset && a->to_offset == b->to_offset && a->len == b->len);
    assert_int_equal(a->flags, b->flags);
    assert_true(sftp_attributes_equal(&a->attributes, &b->attributes));
    assert_true(bytes_equal(a->data, b->data));
}

static struct bytes behind_length(const struct wire_writer *w)
{
    assert_int_equal(wire_write_end(w), 0);
    assert_int_equal(wire_u32(w->data), w->len - SFTP_LENGTH_BYTES);
    return bytes_skip(bytes_of(w->data, w->len), SFTP_LENGTH_BYTES);
}

static void every_kind_reads_as_it_was_written(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < SFTP_KIND_COUNT; kind++) {
        uint8_t message[512];
        struct sftp_request q = example((enum sftp_kind)kind), again;
        struct wire_writer w = wire_writer_of(message, sizeof(message));
        sftp_request_write(&w, &q);
        assert_int_equal(sftp_request_parse(behind_length(&w), &again), 0);
        expect_equal(&q, &again);
    }
}

static void every_truncation_is_refused_with_its_id(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < SFTP_KIND_COUNT; kind++) {
        uint8_t message[512];
        struct sftp_request q = example((enum sftp_kind)kind), again;
        struct wire_writer w = wire_writer_of(message, sizeof(message));
        sftp_request_write(&w, &q);
        struct bytes whole = behind_length(&w);
        for (size_t len = 0; len < whole.len; len++) {
            int r = sftp_request_parse(bytes_first(whole, len), &again);
            if (len < 5) {
                assert_int_equal(r, -FERRY_EPROTO);
                continue;
            }
            assert_int_equal(again.id, q.id);
            /* an extension's name that was cut is no name that we know */
            assert_true(r == -EBADMSG || (r == 0 && again.kind == SFTP_KIND_UNKNOWN));
        }
    }
}

static void a_writer_that_is_full_fails(void **state)
{
    (void)state;
    uint8_t message[512];
    struct sftp_request q = example(SFTP_KIND_COPY_DATA);
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    sftp_request_write(&w, &q);
    size_t len = w.len;
    for (size_t cap = 0; cap < len; cap++) {
        w = wire_writer_of(message, cap);
        sftp_request_write(&w, &q);
        assert_int_equal(wire_write_end(&w), -FERRY_ELIMIT);
    }
}

static void bytes_behind_the_last_field_are_ignored(void **state)
{
    (void)state;
    uint8_t message[512];
    struct sftp_request q = example(SFTP_KIND_STAT), again;
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    sftp_request_write(&w, &q);
    wire_put_u64(&w, 1);
    struct bytes all = bytes_skip(bytes_of(message, w.len), SFTP_LENGTH_BYTES);
    assert_int_equal(sftp_request_parse(all, &again), 0);
    expect_equal(&q, &again);
}

static void what_is_not_in_the_table_is_unknown(void **state)
{
    (void)state;
    struct sftp_request q;
    const uint8_t block[] = {22, 0, 0, 0, 9, 1, 2, 3};
    assert_int_equal(sftp_request_parse(bytes_of(block, sizeof(block)), &q), 0);
    assert_int_equal(q.kind, SFTP_KIND_UNKNOWN);
    assert_int_equal(q.id, 9);
    uint8_t message[64];
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    wire_put_u8(&w, SFTP_EXTENDED);
    wire_put_u32(&w, 10);
    wire_put_string(&w, BYTES_LIT("version-select"));
    assert_int_equal(sftp_request_parse(bytes_of(message, w.len), &q), 0);
    assert_int_equal(q.kind, SFTP_KIND_UNKNOWN);
    assert_int_equal(q.id, 10);
}

static void extended_attributes_are_read_over_and_bounded(void **state)
{
    (void)state;
    uint8_t message[128];
    struct sftp_request q;
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    wire_put_u8(&w, SFTP_MKDIR);
    wire_put_u32(&w, 1);
    wire_put_string(&w, BYTES_LIT("d"));
    wire_put_u32(&w, 0x80000000u | SFTP_ATTR_MODE);
    wire_put_u32(&w, 0700);
    wire_put_u32(&w, 1);
    wire_put_string(&w, BYTES_LIT("name@example"));
    wire_put_string(&w, BYTES_LIT("value"));
    assert_int_equal(sftp_request_parse(bytes_of(message, w.len), &q), 0);
    assert_int_equal(q.attributes.has, SFTP_ATTR_MODE);
    assert_int_equal(q.attributes.mode, 0700);
    wire_set_u32(message + 18, UINT32_MAX); /* the count */
    assert_int_equal(sftp_request_parse(bytes_of(message, w.len), &q), -EBADMSG);
}

static void the_head_of_a_write_reads_without_its_data(void **state)
{
    (void)state;
    uint8_t at[64];
    struct sftp_request q;
    struct wire_writer w = wire_writer_of(at, sizeof(at));
    sftp_write_head(&w, 77, BYTES_LIT("12345678"), 1u << 20, SFTP_DATA_MAX);
    assert_int_equal(w.len, SFTP_WRITE_HEAD);
    assert_true(sftp_write_head_parse(at, &q));
    assert_int_equal(q.id, 77);
    assert_true(bytes_equal(q.handle, BYTES_LIT("12345678")));
    assert_true(q.offset == 1u << 20 && q.len == SFTP_DATA_MAX);
}

static void a_head_whose_lengths_disagree_is_none(void **state)
{
    (void)state;

    static const struct {
        size_t at;
        uint32_t value;
    } faults[] = {
        {0, 0}, {0, 28}, {0, 30}, {0, UINT32_MAX}, {9, 7}, {9, 9}, {29, UINT32_MAX}, {29, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        uint8_t at[64];
        struct sftp_request q;
        struct wire_writer w = wire_writer_of(at, sizeof(at));
        sftp_write_head(&w, 1, BYTES_LIT("12345678"), 0, 5);
        assert_true(sftp_write_head_parse(at, &q));
        wire_set_u32(at + faults[i].at, faults[i].value);
        assert_false(sftp_write_head_parse(at, &q));
    }
}

static void names_find_their_kind(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < SFTP_KIND_COUNT; kind++)
        assert_int_equal(sftp_kind_named(bytes_str(sftp_kind_row((enum sftp_kind)kind)->name)),
                         kind);
    assert_int_equal(sftp_kind_named(BYTES_LIT("")), SFTP_KIND_UNKNOWN);
    assert_int_equal(sftp_kind_named(BYTES_LIT("open ")), SFTP_KIND_UNKNOWN);
}

static void init_tells_its_version(void **state)
{
    (void)state;
    uint8_t message[16];
    uint32_t version = 0;
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    sftp_init_write(&w, 6);
    struct bytes whole = behind_length(&w);
    assert_int_equal(sftp_init_parse(whole, &version), 0);
    assert_int_equal(version, 6);
    assert_int_equal(sftp_init_parse(bytes_first(whole, 4), &version), -FERRY_EPROTO);
    message[4] = SFTP_OPEN;
    assert_int_equal(sftp_init_parse(whole, &version), -FERRY_EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_reads_as_it_was_written),
        cmocka_unit_test(every_truncation_is_refused_with_its_id),
        cmocka_unit_test(a_writer_that_is_full_fails),
        cmocka_unit_test(bytes_behind_the_last_field_are_ignored),
        cmocka_unit_test(what_is_not_in_the_table_is_unknown),
        cmocka_unit_test(extended_attributes_are_read_over_and_bounded),
        cmocka_unit_test(the_head_of_a_write_reads_without_its_data),
        cmocka_unit_test(a_head_whose_lengths_disagree_is_none),
        cmocka_unit_test(names_find_their_kind),
        cmocka_unit_test(init_tells_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
