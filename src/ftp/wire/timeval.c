#include "ftp/wire/timeval.h"

#include <errno.h>

#include "base/civil.h"
#include "ftp/wire/digits.h"

static bool take_digits(struct bytes *s, size_t count, unsigned *ret)
{
    unsigned value = 0;

    if (s->len < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (s->data[i] < '0' || s->data[i] > '9')
            return false;
        value = value * 10 + (unsigned)(s->data[i] - '0');
    }
    *s = bytes_skip(*s, count);
    *ret = value;
    return true;
}

/* Nothing, ".5", ".123456789": the digits after the sixth have no weight. */
static bool take_fraction(struct bytes s, unsigned *ret_us)
{
    unsigned us = 0, weight = 100000;

    if (s.len == 1 || (s.len > 0 && s.data[0] != '.'))
        return false;
    for (size_t i = 1; i < s.len; i++, weight /= 10) {
        if (s.data[i] < '0' || s.data[i] > '9')
            return false;
        us += weight * (unsigned)(s.data[i] - '0');
    }
    *ret_us = us;
    return true;
}

int ftp_timeval_parse(struct bytes text, int64_t *ret_us)
{
    struct civil c;

    if (!take_digits(&text, 4, &c.year) || !take_digits(&text, 2, &c.month) ||
        !take_digits(&text, 2, &c.day) || !take_digits(&text, 2, &c.hour) ||
        !take_digits(&text, 2, &c.minute) || !take_digits(&text, 2, &c.second) ||
        !take_fraction(text, &c.us))
        return -EINVAL;
    return clock_from_utc(&c, ret_us);
}

int ftp_timeval_split(struct bytes argument, int64_t *ret_us, struct bytes *ret_path)
{
    size_t space;

    if (!bytes_find(argument, ' ', &space) || space + 1 == argument.len)
        return -EINVAL;
    int result = ftp_timeval_parse(bytes_first(argument, space), ret_us);
    if (result < 0)
        return result;
    *ret_path = bytes_skip(argument, space + 1);
    return 0;
}

static char *put_seconds(char *at, const struct civil *c)
{
    at = digits_put_two(at, c->year / 100);
    at = digits_put_two(at, c->year % 100);
    at = digits_put_two(at, c->month);
    at = digits_put_two(at, c->day);
    at = digits_put_two(at, c->hour);
    at = digits_put_two(at, c->minute);
    return digits_put_two(at, c->second);
}

char *ftp_timeval_put_seconds(char *at, int64_t us)
{
    struct civil c;

    clock_utc(us, &c);
    return put_seconds(at, &c);
}

const char *ftp_timeval_format(int64_t us, char dst[FTP_TIMEVAL_TEXT_MAX])
{
    struct civil c;

    clock_utc(us, &c);
    char *at = put_seconds(dst, &c);
    if (c.us >= 1000) {
        *at++ = '.';
        at = digits_put(at, c.us / 1000, 3, '0');
    }
    *at = '\0';
    return dst;
}
