#include "bench/machine/descriptors.h"

#include <limits.h>
#include <sys/resource.h>

#define OTHER_FILES 500 /* that we, or a server, need besides sessions */

void descriptors_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

unsigned descriptors_most(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    return limit.rlim_cur < UINT_MAX ? (unsigned)limit.rlim_cur : UINT_MAX;
}

unsigned descriptors_sessions(void)
{
    unsigned most = descriptors_most();
    return most < 2 * OTHER_FILES ? 0 : most - OTHER_FILES;
}
