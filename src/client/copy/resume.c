#include "client/copy/resume.h"

/* Some servers keep whole seconds. */
static bool is_same_time(const struct endpoint_facts *one, const struct endpoint_facts *two)
{
    return one->mtime_us / (int64_t)USEC_PER_S == two->mtime_us / (int64_t)USEC_PER_S;
}

enum copy_resume copy_resume_rule(const struct endpoint_facts *source,
                                  const struct endpoint_facts *part, bool verifies)
{
    if (part->kind != ENDPOINT_FILE || !part->has_size || part->size_bytes == 0 ||
        !source->has_size || part->size_bytes > source->size_bytes)
        return COPY_RESUME_NO;
    if (!verifies && source->has_times && part->has_times && is_same_time(source, part))
        return COPY_RESUME_YES;
    return COPY_RESUME_COMPARE;
}

bool copy_is_same_state(const struct endpoint_facts *one, const struct endpoint_facts *two)
{
    if (one->has_size && two->has_size && one->size_bytes != two->size_bytes)
        return false;
    return !one->has_times || !two->has_times || is_same_time(one, two);
}
