#include "bench/engine/choice.h"

#include "bench/machine/descriptors.h"

#define SESSIONS_MIN 1500 /* with fewer it is no row of thousands */

static bool has(const struct row_kind *kind, unsigned trait)
{
    return (kind->traits & trait) != 0;
}

const char *choice_refusal(const struct bench_options *o, const struct row_kind *kind)
{
    if (o->has_server && has(kind, ROW_STAGED))
        return "is for servers that ferry starts: leave out --url";
    if (o->has_server && has(kind, ROW_NEEDS_PID) && o->pid == 0)
        return "is about the server's process: give --pid";
    if (has(kind, ROW_THOUSANDS) && descriptors_sessions() < SESSIONS_MIN)
        return "needs some 2000 descriptors or more: see 'ulimit -n'";
    return NULL;
}

bool choice_has_row(const struct bench_options *o, const struct row_kind *kind)
{
    if (choice_refusal(o, kind) != NULL)
        return false;
    if (o->rows != NULL)
        return bench_list_has(o->rows, kind->name);
    if (o->quick && has(kind, ROW_THOUSANDS))
        return false;
    return (kind->kinds & (1u << o->kind)) != 0;
}

static bool takes_part(const struct target *t, const struct row_kind *kind)
{
    const struct recipe *recipe = t->recipe;
    if (recipe == NULL)
        return true;
    if (t->pid == 0)
        return false;
    if (has(kind, ROW_THOUSANDS) && !recipe->is_event_driven)
        return false;
    if (has(kind, ROW_NO_FLOOR) && recipe->is_floor)
        return false;
    return (kind->needs & recipe->lacks) == 0;
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
