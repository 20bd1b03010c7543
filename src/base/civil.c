#include "base/civil.h"

#include <errno.h>
#include <stdbool.h>

#define US_PER_S   INT64_C(1000000)
#define US_PER_DAY (86400 * US_PER_S)

/* Days are counted from 0001-01-01, where the 400-year cycle of the calendar begins. */
#define DAYS_TO_1970 INT64_C(719162)
#define DAYS_4Y      (4 * 365 + 1)
#define DAYS_100Y    (25 * DAYS_4Y - 1)
#define DAYS_400Y    (4 * DAYS_100Y + 1)

#define YEAR_MAX  9999
#define FIRST_US  (-DAYS_TO_1970 * US_PER_DAY)
#define DAYS_10KY (INT64_C(25) * DAYS_400Y - 366) /* years 1 to 9999; 10000 is a leap year */
#define LAST_US   ((DAYS_10KY - DAYS_TO_1970) * US_PER_DAY - 1)

static const uint16_t days_before_month[2][13] = {
    {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
    {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
};

static bool is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned days_before_year(unsigned year)
{
    unsigned past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400;
}

/* The last day of a leap cycle would start a further century or year: hence the bound of 3. */
static unsigned take_years(unsigned *days, unsigned days_per_unit)
{
    unsigned units = *days / days_per_unit;
    if (units > 3)
        units = 3;
    *days -= units * days_per_unit;
    return units;
}

static void set_date(unsigned days, struct civil *ret)
{
    unsigned year = 400 * (days / DAYS_400Y);
    days %= DAYS_400Y;
    year += 100 * take_years(&days, DAYS_100Y);
    year += 4 * (days / DAYS_4Y);
    days %= DAYS_4Y;
    year += take_years(&days, 365) + 1;

    const uint16_t *before = days_before_month[is_leap(year)];
    unsigned month = 1;
    while (days >= before[month])
        month++;
    ret->year = year;
    ret->month = month;
    ret->day = days - before[month - 1] + 1;
}

void clock_utc(int64_t wall_us, struct civil *ret)
{
    if (wall_us < FIRST_US)
        wall_us = FIRST_US;
    if (wall_us > LAST_US)
        wall_us = LAST_US;

    int64_t since_first = wall_us - FIRST_US;
    int64_t in_day = since_first % US_PER_DAY;
    unsigned second = (unsigned)(in_day / US_PER_S);
    set_date((unsigned)(since_first / US_PER_DAY), ret);
    ret->hour = second / 3600;
    ret->minute = second / 60 % 60;
    ret->second = second % 60;
    ret->us = (unsigned)(in_day % US_PER_S);
}

int clock_from_utc(const struct civil *c, int64_t *ret_wall_us)
{
    if (c->year < 1 || c->year > YEAR_MAX || c->month < 1 || c->month > 12 || c->day < 1)
        return -EINVAL;
    const uint16_t *before = days_before_month[is_leap(c->year)];
    if (c->day > (unsigned)(before[c->month] - before[c->month - 1]))
        return -EINVAL;
    if (c->hour > 23 || c->minute > 59 || c->second > 60 || c->us >= US_PER_S)
        return -EINVAL;

    int64_t days = (int64_t)days_before_year(c->year) + before[c->month - 1] + c->day - 1;
    int64_t seconds = c->hour * INT64_C(3600) + c->minute * INT64_C(60) + c->second;
    *ret_wall_us = FIRST_US + days * US_PER_DAY + seconds * US_PER_S + c->us;
    return 0;
}
