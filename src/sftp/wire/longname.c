#include "sftp/wire/longname.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/civil.h"
#include "base/text.h"

#define US_PER_S    INT64_C(1000000)
#define HALF_YEAR_S (182 * INT64_C(86400))
#define MODE_CHARS  10
#define TIME_CHARS  12

static char kind_letter(uint32_t mode)
{
    switch (mode & SFTP_MODE_KIND) {
    case SFTP_MODE_FILE:
        return '-';
    case SFTP_MODE_DIRECTORY:
        return 'd';
    case SFTP_MODE_LINK:
        return 'l';
    default:
        return 'p';
    }
}

static void format_mode(uint32_t mode, char dst[MODE_CHARS + 1])
{
    static const char letters[] = "rwxrwxrwx";
    dst[0] = kind_letter(mode);
    for (unsigned i = 0; i < MODE_CHARS - 1; i++)
        dst[i + 1] = (mode & (0400u >> i)) != 0 ? letters[i] : '-';
    dst[MODE_CHARS] = '\0';
}

/* "Jan  2 15:04", or the year where that is more than half a year away. */
static void format_time(uint32_t mtime_s, int64_t now_us, char dst[TIME_CHARS + 1])
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct civil c;
    clock_utc((int64_t)mtime_s * US_PER_S, &c);
    int64_t age_s = now_us / US_PER_S - (int64_t)mtime_s;
    const char *month = months + 3 * (size_t)(c.month - 1);
    if (age_s >= 0 && age_s <= HALF_YEAR_S)
        (void)snprintf(dst, TIME_CHARS + 1, "%.3s %2u %02u:%02u", month, c.day, c.hour,
                       c.minute);
    else
        (void)snprintf(dst, TIME_CHARS + 1, "%.3s %2u %5u", month, c.day, c.year);
}

struct bytes sftp_longname(struct bytes name, const struct sftp_attributes *a, uint32_t links,
                           int64_t now_us, char dst[SFTP_LONGNAME_MAX])
{
    char mode[MODE_CHARS + 1], when[TIME_CHARS + 1];
    format_mode(a->mode, mode);
    format_time(a->mtime_s, now_us, when);
    int n = snprintf(dst, SFTP_LONGNAME_MAX,
                     "%s %3" PRIu32 " %-8" PRIu32 " %-8" PRIu32 " %8" PRIu64 " %s ", mode,
                     links, a->uid, a->gid, a->size_bytes, when);
    size_t len = n > 0 ? (size_t)n : 0;
    len += text_copy_printable(dst + len, SFTP_LONGNAME_MAX - len, name);
    return bytes_of(dst, len);
}
