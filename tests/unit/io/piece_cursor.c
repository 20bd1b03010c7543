#include "io/piece_cursor.h"

#include "check.h"

/* "abc", nothing, "d", "efgh" */
struct row {
    char text[9];
    struct iovec pieces[4];
};

static struct piece_cursor over(struct row *row)
{
    memcpy(row->text, "abcdefgh", sizeof(row->text));
    row->pieces[0] = (struct iovec){row->text, 3};
    row->pieces[1] = (struct iovec){row->text + 3, 0};
    row->pieces[2] = (struct iovec){row->text + 3, 1};
    row->pieces[3] = (struct iovec){row->text + 4, 4};
    return (struct piece_cursor){.pieces = row->pieces};
}

static void what_is_next_ends_with_its_piece_or_the_bound(void **state)
{
    static const struct {
        size_t max;
        const char *part;
    } steps[] = {{2, "ab"}, {9, "c"}, {9, "d"}, {3, "efg"}, {1, "h"}};
    struct row row;
    struct piece_cursor c = over(&row);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct iovec part = piece_cursor_next(&c, steps[i].max);
        assert_int_equal(part.iov_len, strlen(steps[i].part));
        assert_memory_equal(part.iov_base, steps[i].part, part.iov_len);
    }
}

static void pieces_are_read_as_one_run(void **state)
{
    struct row row;
    struct piece_cursor c = over(&row);
    char got[6] = {0};
    (void)state;
    piece_cursor_skip(&c, 2);
    piece_cursor_get(&c, got, 5);
    assert_string_equal(got, "cdefg");
    piece_cursor_get(&c, got, 1);
    assert_int_equal(got[0], 'h');
    piece_cursor_skip(&c, 0); /* at the end */
}

static void pieces_are_written_as_one_run(void **state)
{
    struct row row;
    struct piece_cursor c = over(&row);
    (void)state;
    piece_cursor_skip(&c, 1);
    piece_cursor_put(&c, "1234", 4);
    piece_cursor_put(&c, "5", 1);
    assert_string_equal(row.text, "a12345gh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_next_ends_with_its_piece_or_the_bound),
        cmocka_unit_test(pieces_are_read_as_one_run),
        cmocka_unit_test(pieces_are_written_as_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
