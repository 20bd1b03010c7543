/* The civil calendar (proleptic Gregorian, UTC) by arithmetic: localtime and its kin take a
 * lock and read files. For logs, listings, and the times of RFC 3659 (MDTM, MFMT, MLSD). */
#pragma once
#include <stdint.h>

#include "base/attr.h"

struct civil {
    unsigned year;  /* 1 to 9999 */
    unsigned month; /* 1 to 12 */
    unsigned day;   /* 1 to 31 */
    unsigned hour, minute, second;
    unsigned us;
};

/* Times before the year 1 and after 9999, which four digits cannot say, give the first or the
 * last moment of that range. */
void clock_utc(int64_t wall_us, struct civil *ret);

/* The inverse; -EINVAL if there is no such date or time. A second of 60 is a leap second (RFC
 * 3659 section 2.3) and counts as the next second. */
MUST_CHECK int clock_from_utc(const struct civil *, int64_t *ret_wall_us);
