#include "xfer/plan.h"

#include <string.h>

#include "base/attr.h"
#include "check.h"

enum { RECEIVES, HAS_FD, READS, MEMORY, POOL, SMALL, REFUSED, FACTS };

/* '1' yes, '0' no, '-' either, in the order above. Each combination fits exactly one line. */
static const struct {
    char facts[FACTS + 1];
    enum xfer_path path;
} truth[] = {
    /* the kernel moves them: in the pool, if the file may have to wait for a disk */
    {"0100100", XFER_PATH_SENDFILE_POOL},
    {"0110100", XFER_PATH_SENDFILE_CACHED},
    {"0100110", XFER_PATH_SENDFILE_POOL},
    {"01-00-0", XFER_PATH_SENDFILE_INLINE},
    {"01-1--0", XFER_PATH_SENDFILE_INLINE},
    /* a small file that need not wait */
    {"0110110", XFER_PATH_ROOMS_INLINE},
    /* no descriptor, or no sendfile */
    {"001----", XFER_PATH_ROOMS_INLINE},
    {"0001---", XFER_PATH_ROOMS_INLINE},
    {"00001--", XFER_PATH_ROOMS_POOL},
    {"00000--", XFER_PATH_ROOMS_INLINE},
    {"011---1", XFER_PATH_ROOMS_INLINE},
    {"0101--1", XFER_PATH_ROOMS_INLINE},
    {"01001-1", XFER_PATH_ROOMS_POOL},
    {"01000-1", XFER_PATH_ROOMS_INLINE},
    /* what writes runs in the pool if there is one */
    {"11--1--", XFER_PATH_SOCKET_POOL},
    {"11--0--", XFER_PATH_SOCKET_INLINE},
    {"10--1--", XFER_PATH_SLICES_POOL},
    {"10--0--", XFER_PATH_SLICES_INLINE},
};

static bool fits(const char *pattern, unsigned bits)
{
    for (unsigned i = 0; i < FACTS; i++) {
        if (pattern[i] != '-' && (pattern[i] == '1') != (bits >> i & 1))
            return false;
    }
    return true;
}

static enum xfer_path plan_of(unsigned bits)
{
    const struct xfer_facts facts = {
        .direction = bits >> RECEIVES & 1 ? XFER_RECEIVE : XFER_SEND,
        .stream_has_fd = bits >> HAS_FD & 1,
        .file_reads_without_waiting = bits >> READS & 1,
        .file_is_in_memory = bits >> MEMORY & 1,
        .has_pool = bits >> POOL & 1,
        .is_small = bits >> SMALL & 1,
        .sendfile_refused = bits >> REFUSED & 1,
    };
    return xfer_plan(&facts);
}

static void every_combination_of_facts_has_its_path(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 1u << FACTS; bits++) {
        unsigned lines = 0;
        for (size_t i = 0; i < ARRAY_LEN(truth); i++) {
            if (!fits(truth[i].facts, bits))
                continue;
            lines++;
            assert_int_equal(plan_of(bits), truth[i].path);
        }
        assert_int_equal(lines, 1);
    }
}

static void every_path_is_taken_by_some_facts(void **state)
{
    (void)state;
    bool taken[XFER_PATH_COUNT] = {false};
    for (unsigned bits = 0; bits < 1u << FACTS; bits++)
        taken[plan_of(bits)] = true;
    for (unsigned path = 0; path < XFER_PATH_COUNT; path++)
        assert_true(taken[path]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_of_facts_has_its_path),
        cmocka_unit_test(every_path_is_taken_by_some_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
