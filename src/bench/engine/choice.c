#include "bench/engine/choice.h"

bool choice_has_row(const struct bench *b, const struct row_kind *kind)
{
    if (b->stage == NULL && (kind->traits & ROW_STAGED) != 0)
        return false;
    if (b->options->rows != NULL)
        return bench_list_has(b->options->rows, kind->name);
    if (b->options->quick && (kind->traits & ROW_THOUSANDS) != 0)
        return false;
    return (kind->kinds & (1u << b->options->kind)) != 0;
}

static bool takes_part(const struct target *t, const struct row_kind *kind)
{
    const struct recipe *recipe = t->recipe;
    if (recipe == NULL)
        return (kind->traits & ROW_NEEDS_PID) == 0 || t->pid != 0;
    if (t->pid == 0)
        return false;
    if ((kind->traits & ROW_THOUSANDS) != 0 && !recipe->is_event_driven)
        return false;
    if ((kind->traits & ROW_NO_FLOOR) != 0 && recipe->is_floor)
        return false;
    if ((kind->traits & ROW_HASHERS) != 0 && recipe->compares_plain)
        return false;
    return (kind->traits & ROW_NEEDS_MLSD) == 0 || !recipe->lacks_mlsd;
}

unsigned choice_of_targets(struct bench *b, const struct row_kind *kind,
                           struct target *ret[BENCH_TARGETS_MAX])
{
    unsigned count = 0;
    for (unsigned i = 0; i < b->target_count; i++) {
        if (takes_part(&b->targets[i], kind))
            ret[count++] = &b->targets[i];
        else if (i == 0)
            return 0;
    }
    return count;
}
