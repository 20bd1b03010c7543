#include "base/civil.h"

#include <errno.h>
#include <stdbool.h>

#include "base/attr.h"
#include "check.h"

#define US_PER_S   INT64_C(1000000)
#define US_PER_DAY (86400 * US_PER_S)
#define S_9999     INT64_C(253402300799) /* 9999-12-31T23:59:59 */
#define S_0001     INT64_C(-62135596800) /* 0001-01-01T00:00:00 */

static const struct {
    int64_t seconds;
    struct civil civil;
} known[] = {
    {0, {1970, 1, 1, 0, 0, 0, 0}},
    {-1, {1969, 12, 31, 23, 59, 59, 0}},
    {86399, {1970, 1, 1, 23, 59, 59, 0}},
    {68169600, {1972, 2, 29, 0, 0, 0, 0}},
    {951782400, {2000, 2, 29, 0, 0, 0, 0}},
    {951868800, {2000, 3, 1, 0, 0, 0, 0}},
    {978220800, {2000, 12, 31, 0, 0, 0, 0}},
    {978307200, {2001, 1, 1, 0, 0, 0, 0}},
    {1234567890, {2009, 2, 13, 23, 31, 30, 0}},
    {2147483648, {2038, 1, 19, 3, 14, 8, 0}},
    {4107542400, {2100, 3, 1, 0, 0, 0, 0}},
    {4107456000, {2100, 2, 28, 0, 0, 0, 0}},
    {-62135596800, {1, 1, 1, 0, 0, 0, 0}},
    {253402300799, {9999, 12, 31, 23, 59, 59, 0}},
};

static void assert_civil_equal(const struct civil *a, const struct civil *b)
{
    assert_int_equal(a->year, b->year);
    assert_int_equal(a->month, b->month);
    assert_int_equal(a->day, b->day);
    assert_int_equal(a->hour, b->hour);
    assert_int_equal(a->minute, b->minute);
    assert_int_equal(a->second, b->second);
    assert_int_equal(a->us, b->us);
}

static void known_moments_have_their_dates(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct civil c;
        clock_utc(known[i].seconds * US_PER_S, &c);
        assert_civil_equal(&c, &known[i].civil);
        int64_t wall_us;
        assert_int_equal(clock_from_utc(&known[i].civil, &wall_us), 0);
        assert_int_equal(wall_us, known[i].seconds * US_PER_S);
    }
}

static unsigned days_of(unsigned year, unsigned month)
{
    static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

static void next_day(struct civil *c)
{
    if (++c->day <= days_of(c->year, c->month))
        return;
    c->day = 1;
    if (++c->month <= 12)
        return;
    c->month = 1;
    c->year++;
}

/* Against a calendar that counts day by day, at a time of day that differs each day. */
static void every_day_from_1970_to_9999_is_right_both_ways(void **state)
{
    (void)state;
    struct civil expected = {.year = 1970, .month = 1, .day = 1};
    int64_t day = 0;
    for (; expected.year <= 9999; day++, next_day(&expected)) {
        int64_t second = day * 7919 % 86400;
        int64_t wall_us = day * US_PER_DAY + second * US_PER_S + day % US_PER_S;
        struct civil c;
        clock_utc(wall_us, &c);
        expected.hour = (unsigned)(second / 3600);
        expected.minute = (unsigned)(second / 60 % 60);
        expected.second = (unsigned)(second % 60);
        expected.us = (unsigned)(day % US_PER_S);
        assert_civil_equal(&c, &expected);
        int64_t back = 0;
        assert_int_equal(clock_from_utc(&c, &back), 0);
        assert_int_equal(back, wall_us);
    }
    assert_int_equal(day, (S_9999 + 1) / 86400);
}

static void times_beyond_four_digit_years_are_held_at_the_ends(void **state)
{
    (void)state;
    struct civil c;
    const struct civil first = {1, 1, 1, 0, 0, 0, 0};
    const struct civil last = {9999, 12, 31, 23, 59, 59, 999999};
    static const int64_t early[] = {S_0001 * US_PER_S, S_0001 * US_PER_S - 1, INT64_MIN};
    static const int64_t late[] = {(S_9999 + 1) * US_PER_S - 1, (S_9999 + 1) * US_PER_S,
                                   INT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(early); i++) {
        clock_utc(early[i], &c);
        assert_civil_equal(&c, &first);
        clock_utc(late[i], &c);
        assert_civil_equal(&c, &last);
    }
}

static void dates_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    static const struct civil wrong[] = {
        {2026, 0, 1, 0, 0, 0, 0},          {2026, 13, 1, 0, 0, 0, 0},
        {2026, 1, 0, 0, 0, 0, 0},          {2026, 1, 32, 0, 0, 0, 0},
        {2026, 2, 29, 0, 0, 0, 0},         {2100, 2, 29, 0, 0, 0, 0},
        {2024, 2, 30, 0, 0, 0, 0},         {2026, 4, 31, 0, 0, 0, 0},
        {2026, 1, 1, 24, 0, 0, 0},         {2026, 1, 1, 0, 60, 0, 0},
        {2026, 1, 1, 0, 0, 61, 0},         {2026, 1, 1, 0, 0, 0, 1000000},
        {10000, 1, 1, 0, 0, 0, 0},         {0, 1, 1, 0, 0, 0, 0},
        {2026, UINT32_MAX, 1, 0, 0, 0, 0}, {2026, 1, UINT32_MAX, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        int64_t wall_us = 77;
        assert_int_equal(clock_from_utc(&wrong[i], &wall_us), -EINVAL);
        assert_int_equal(wall_us, 77);
    }
}

static void a_leap_second_is_the_next_second(void **state)
{
    (void)state;
    const struct civil leap = {2016, 12, 31, 23, 59, 60, 0};
    const struct civil next = {2017, 1, 1, 0, 0, 0, 0};
    int64_t a;
    int64_t b;
    assert_int_equal(clock_from_utc(&leap, &a), 0);
    assert_int_equal(clock_from_utc(&next, &b), 0);
    assert_int_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_moments_have_their_dates),
        cmocka_unit_test(every_day_from_1970_to_9999_is_right_both_ways),
        cmocka_unit_test(times_beyond_four_digit_years_are_held_at_the_ends),
        cmocka_unit_test(dates_that_do_not_exist_are_refused),
        cmocka_unit_test(a_leap_second_is_the_next_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
