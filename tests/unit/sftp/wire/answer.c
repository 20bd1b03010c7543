#include "sftp/wire/answer.h"

#include "base/err.h"
#include "check.h"
#include "sftp/wire/longname.h"
#include "sftp_attributes.h"

static const struct sftp_attributes attributes = {
    .has = SFTP_ATTR_SIZE | SFTP_ATTR_MODE | SFTP_ATTR_TIMES,
    .size_bytes = 5,
    .mode = SFTP_MODE_FILE | 0640,
    .atime_s = 6,
    .mtime_s = 7,
};

static struct sftp_answer parsed(const struct wire_writer *w)
{
    struct sftp_answer a;
    assert_int_equal(wire_write_end(w), 0);
    assert_int_equal(wire_u32(w->data), w->len - SFTP_LENGTH_BYTES);
    struct bytes message = bytes_skip(bytes_of(w->data, w->len), SFTP_LENGTH_BYTES);
    assert_int_equal(sftp_answer_parse(message, &a), 0);
    return a;
}

static void statuses_and_handles_read_as_they_were_written(void **state)
{
    (void)state;
    uint8_t data[256];
    struct wire_writer w = wire_writer_of(data, sizeof(data));
    sftp_put_status(&w, 3, SFTP_EOF, "end of file");
    struct sftp_answer a = parsed(&w);
    assert_int_equal(a.type, SFTP_STATUS);
    assert_int_equal(a.id, 3);
    assert_int_equal(a.status, SFTP_EOF);
    assert_true(bytes_equal(a.text, BYTES_LIT("end of file")));
    w = wire_writer_of(data, sizeof(data));
    sftp_put_handle(&w, 4, BYTES_LIT("h\0h"));
    a = parsed(&w);
    assert_int_equal(a.type, SFTP_HANDLE);
    assert_true(bytes_equal(a.handle, BYTES_LIT("h\0h")));
    w = wire_writer_of(data, sizeof(data));
    sftp_put_attrs(&w, 5, &attributes);
    a = parsed(&w);
    assert_true(sftp_attributes_equal(&a.attributes, &attributes));
}

static void a_status_without_text_is_one(void **state)
{
    (void)state;
    const uint8_t old[] = {SFTP_STATUS, 0, 0, 0, 1, 0, 0, 0, 4};
    const uint8_t newer[] = {SFTP_STATUS, 0, 0, 0, 1, 0, 0, 0, 31};
    struct sftp_answer a;
    assert_int_equal(sftp_answer_parse(bytes_of(old, sizeof(old)), &a), 0);
    assert_int_equal(a.status, SFTP_FAILURE);
    assert_int_equal(sftp_answer_parse(bytes_of(newer, sizeof(newer)), &a), 0);
    assert_int_equal(a.status, SFTP_FAILURE);
}

static void data_has_its_head_before_it(void **state)
{
    (void)state;
    uint8_t message[SFTP_DATA_HEAD + 3];
    sftp_data_head(message, 9, 3);
    memcpy(message + SFTP_DATA_HEAD, "abc", 3);
    assert_int_equal(wire_u32(message), sizeof(message) - SFTP_LENGTH_BYTES);
    struct sftp_answer a;
    struct bytes m = bytes_of(message + SFTP_LENGTH_BYTES, sizeof(message) - SFTP_LENGTH_BYTES);
    assert_int_equal(sftp_answer_parse(m, &a), 0);
    assert_int_equal(a.id, 9);
    assert_true(bytes_equal(a.data, BYTES_LIT("abc")));
    assert_int_equal(sftp_answer_parse(bytes_first(m, m.len - 1), &a), -FERRY_EPROTO);
}

static void names_come_one_after_the_other(void **state)
{
    (void)state;
    uint8_t data[512];
    struct wire_writer w = wire_writer_of(data, sizeof(data));
    sftp_names_begin(&w, 8);
    sftp_names_add(&w, BYTES_LIT("a"), BYTES_LIT("long a"), &attributes);
    sftp_names_add(&w, BYTES_LIT("b\n"), BYTES_LIT("long b"), &attributes);
    sftp_names_end(&w, 0, 2);
    struct sftp_answer a = parsed(&w);
    struct bytes name, longname;
    struct sftp_attributes got;
    assert_int_equal(a.count, 2);
    assert_true(sftp_answer_name(&a, &name, &longname, &got));
    assert_true(bytes_equal(name, BYTES_LIT("a")));
    assert_true(sftp_answer_name(&a, &name, &longname, &got));
    assert_true(bytes_equal(name, BYTES_LIT("b\n")));
    assert_true(bytes_equal(longname, BYTES_LIT("long b")));
    assert_true(sftp_attributes_equal(&got, &attributes));
    assert_false(sftp_answer_name(&a, &name, &longname, &got));
}

static void a_count_beyond_the_names_ends_with_them(void **state)
{
    (void)state;
    uint8_t data[128];
    struct wire_writer w = wire_writer_of(data, sizeof(data));
    sftp_names_begin(&w, 8);
    sftp_names_add(&w, BYTES_LIT("a"), BYTES_LIT(""), &attributes);
    sftp_names_end(&w, 0, UINT32_MAX);
    struct sftp_answer a = parsed(&w);
    struct bytes name, longname;
    struct sftp_attributes got;
    assert_true(sftp_answer_name(&a, &name, &longname, &got));
    assert_false(sftp_answer_name(&a, &name, &longname, &got));
}

static void extensions_follow_the_version(void **state)
{
    (void)state;
    uint8_t data[128];
    struct wire_writer w = wire_writer_of(data, sizeof(data));
    sftp_put_version(&w, SFTP_VERSION);
    sftp_add_extension(&w, 0, "one", "1");
    sftp_add_extension(&w, 0, "two", "2");
    struct sftp_answer a = parsed(&w);
    struct bytes name, version;
    assert_int_equal(a.type, SFTP_VERSION_ANSWER);
    assert_int_equal(a.id, SFTP_VERSION);
    assert_true(sftp_answer_extension(&a, &name, &version));
    assert_true(sftp_answer_extension(&a, &name, &version));
    assert_true(bytes_equal(name, BYTES_LIT("two")) && bytes_equal(version, BYTES_LIT("2")));
    assert_false(sftp_answer_extension(&a, &name, &version));
}

static void space_and_limits_read_as_they_were_written(void **state)
{
    (void)state;
    uint8_t data[128];
    const struct sftp_space space = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const struct sftp_limits limits = {1, 2, 3, UINT64_MAX};
    struct sftp_space space_again;
    struct sftp_limits limits_again;
    struct wire_writer w = wire_writer_of(data, sizeof(data));
    sftp_put_space(&w, 1, &space);
    struct sftp_answer a = parsed(&w);
    assert_int_equal(sftp_answer_space(&a, &space_again), 0);
    assert_memory_equal(&space, &space_again, sizeof(space));
    w = wire_writer_of(data, sizeof(data));
    sftp_put_limits(&w, 1, &limits);
    a = parsed(&w);
    assert_int_equal(sftp_answer_limits(&a, &limits_again), 0);
    assert_memory_equal(&limits, &limits_again, sizeof(limits));
    a = parsed(&w);
    assert_int_equal(sftp_answer_space(&a, &space_again), -FERRY_EPROTO);
}

/* -- longnames -- */

static void expect_line(struct bytes name, const struct sftp_attributes *a, int64_t now_s,
                        const char *expected)
{
    char dst[SFTP_LONGNAME_MAX];
    struct bytes line = sftp_longname(name, a, 1, now_s * 1000000, dst);
    assert_int_equal(line.len, strlen(expected));
    assert_memory_equal(line.data, expected, line.len);
}

static void longnames_look_like_ls(void **state)
{
    (void)state;
    const int64_t day_s = 86400;
    struct sftp_attributes a = {.uid = 1000, .gid = 100, .size_bytes = 42};
    a.mtime_s = (uint32_t)(10 * day_s + 3 * 3600 + 4 * 60);
    a.mode = SFTP_MODE_FILE | 0644;
    expect_line(BYTES_LIT("n"), &a, 11 * day_s,
                "-rw-r--r--   1 1000     100            42 Jan 11 03:04 n");
    a.mode = SFTP_MODE_DIRECTORY | 0751;
    expect_line(BYTES_LIT("n"), &a, 300 * day_s,
                "drwxr-x--x   1 1000     100            42 Jan 11  1970 n");
    a.mode = SFTP_MODE_LINK | 0777;
    expect_line(BYTES_LIT("a\r\nb\x1b"), &a, 0,
                "lrwxrwxrwx   1 1000     100            42 Jan 11  1970 a??b?");
}

static void the_longest_name_fits_a_longname(void **state)
{
    (void)state;
    char dst[SFTP_LONGNAME_MAX];
    uint8_t name[255];
    memset(name, 'x', sizeof(name));
    const struct sftp_attributes a = {
        .uid = UINT32_MAX, .gid = UINT32_MAX, .size_bytes = UINT64_MAX, .mtime_s = UINT32_MAX};
    struct bytes line = sftp_longname(bytes_of(name, sizeof(name)), &a, UINT32_MAX, 0, dst);
    assert_true(line.len > sizeof(name) && line.len < SFTP_LONGNAME_MAX);
    assert_memory_equal(line.data + line.len - sizeof(name), name, sizeof(name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_and_handles_read_as_they_were_written),
        cmocka_unit_test(a_status_without_text_is_one),
        cmocka_unit_test(data_has_its_head_before_it),
        cmocka_unit_test(names_come_one_after_the_other),
        cmocka_unit_test(a_count_beyond_the_names_ends_with_them),
        cmocka_unit_test(extensions_follow_the_version),
        cmocka_unit_test(space_and_limits_read_as_they_were_written),
        cmocka_unit_test(longnames_look_like_ls),
        cmocka_unit_test(the_longest_name_fits_a_longname),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
