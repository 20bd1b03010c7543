/* Kinds by name, and lists of names. */
#include <string.h>

#include "base/bytes.h"
#include "bench/options/options.h"

static const char *const kinds[] = {
    [BENCH_TRANSFER] = "transfer", [BENCH_DOWNLOAD] = "download",
    [BENCH_UPLOAD] = "upload",     [BENCH_CONCURRENCE] = "concurrence",
    [BENCH_ALL] = "all",
};
_Static_assert(ARRAY_LEN(kinds) == BENCH_KIND_COUNT, "each has a name");

const char *bench_kind_name(enum bench_kind kind)
{
    return kinds[kind];
}

bool bench_kind_find(const char *name, enum bench_kind *ret)
{
    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(name, kinds[i]) == 0) {
            *ret = (enum bench_kind)i;
            return true;
        }
    return false;
}

bool bench_list_has(const char *list, const char *name)
{
    if (list == NULL)
        return true;
    struct bytes rest = bytes_str(list), wanted = bytes_str(name);
    for (bool is_last = false; !is_last;) {
        size_t end = rest.len;
        is_last = !bytes_find(rest, ',', &end);
        if (bytes_equal(bytes_first(rest, end), wanted))
            return true;
        rest = bytes_skip(rest, end + 1);
    }
    return false;
}
