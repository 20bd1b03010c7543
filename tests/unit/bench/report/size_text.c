#include "bench/report/size_text.h"

#include "base/attr.h"
#include "check.h"

static void sizes_have_one_decimal_and_a_letter(void **state)
{
    (void)state;

    static const struct {
        double bytes;
        const char *text;
    } rows[] = {
        {0, "0.0B"},
        {512, "512.0B"},
        {1023, "1023.0B"},
        {1024, "1.0K"},
        {10000, "9.8K"},
        {1048575, "1024.0K"},
        {1048576, "1.0M"},
        {9227469, "8.8M"},
        {10 * 1048576, "10.0M"},
        {3 * 0x1p30, "3.0G"},
        {5 * 0x1p40, "5.0T"},
        {7 * 0x1p50, "7.0P"},
        {0x1p64, "16.0E"},
        {1e30, "867361737988.4E"},
        {-2048, "-2.0K"}, /* memory that was given back */
    };

    char text[SIZE_TEXT_MAX];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(size_text(rows[i].bytes, text), rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_one_decimal_and_a_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
