#include "tar/zstd.h"

#include <errno.h>

#include "base/err.h"
#include "check.h"

/* What is told of a stream that comes in pieces of step bytes. */
static int follow(struct bytes all, size_t step)
{
    struct zstd_frames z;
    int r = 0;
    zstd_frames_init(&z);
    while (all.len > 0 && r == 0) {
        r = zstd_frames_follow(&z, bytes_first(all, step));
        all = bytes_skip(all, step < all.len ? step : all.len);
    }
    return r;
}

#define FRAME "\x28\xb5\x2f\xfd"
#define END   "\1\0\0" /* an empty block, the last */

static const struct {
    const char *what;
    struct bytes stream;
    int result;
} rows[] = {
    {"8 MB", BYTES_LIT(FRAME "\x00\x68" END), 0},
    {"an eighth more", BYTES_LIT(FRAME "\x00\x69" END), -FERRY_ELIMIT},
    {"the largest that can be said", BYTES_LIT(FRAME "\x00\xff" END), -FERRY_ELIMIT},
    {"one segment of 8 MB", BYTES_LIT(FRAME "\xa0\x00\x00\x80\x00" END), 0},
    {"and a byte", BYTES_LIT(FRAME "\xa0\x01\x00\x80\x00" END), -FERRY_ELIMIT},
    {"with a dictionary's name", BYTES_LIT(FRAME "\xa3zzzz\x00\x00\x80\x00" END), 0},
    {"and a byte", BYTES_LIT(FRAME "\xa3zzzz\x01\x00\x80\x00" END), -FERRY_ELIMIT},
    {"size of 64 bits", BYTES_LIT(FRAME "\xe0\0\0\0\0\0\0\0\x80" END), -FERRY_ELIMIT},
    {"sizes of 16 and 8 bits", BYTES_LIT(FRAME "\x60\xff\xff" END FRAME "\x20\xff" END), 0},
    {"size of 32 bits beside a window", BYTES_LIT(FRAME "\x80\x00zzzz" END), 0},
    {"behind a checksum", BYTES_LIT(FRAME "\x04\x00" END "sum!" FRAME "\x00\x69"),
     -FERRY_ELIMIT},
    {"behind blocks of each type",
     BYTES_LIT(FRAME "\x00\x00\x10\x00\x00xx\x22\x01\x00y\x1d\x00\x00zzz" FRAME "\x00\x69"),
     -FERRY_ELIMIT},
    {"behind what is skipped", BYTES_LIT("\x5f\x2a\x4d\x18\2\0\0\0xx" FRAME "\x00\x69"),
     -FERRY_ELIMIT},
    {"a reserved block", BYTES_LIT(FRAME "\x00\x00\x07\x00\x00"), -EBADMSG},
    {"an old format", BYTES_LIT("\x27\xb5\x2f\xfd"), -EBADMSG},
    {"something else behind it", BYTES_LIT(FRAME "\x00\x00" END "tail"), -EBADMSG},
};

static void windows_are_known_however_the_stream_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t step = 1; step <= 40; step++) {
            if (follow(rows[i].stream, step) != rows[i].result)
                fail_msg("%s, in pieces of %zu", rows[i].what, step);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_known_however_the_stream_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
