#include "bench/engine/turns.h"

static bool may_go_on(const struct turns *t, const struct turns_server *s)
{
    return !s->is_out && s->samples < t->wanted;
}

/* By itself, whatever the others do. */
static bool wants_more(const struct turns *t, const struct turns_server *s)
{
    usec_t end = s->samples < t->least ? t->most_us : t->share_us;
    return may_go_on(t, s) && (s->samples == 0 || s->spent_us < end);
}

static bool has_turn(const struct turns *t, unsigned server)
{
    const struct turns_server *first = &t->servers[0];
    if (server > 0 || !may_go_on(t, first))
        return wants_more(t, &t->servers[server]);
    for (unsigned i = 0; i < t->count; i++)
        if (wants_more(t, &t->servers[i]) || t->servers[i].samples > first->samples)
            return true;
    return false;
}

int turns_next(struct turns *t)
{
    /* What is left of this round, and all of the next. */
    for (unsigned tries = 0; tries < 2 * t->count; tries++) {
        unsigned server = (t->round + t->step) % t->count;
        if (++t->step == t->count) {
            t->step = 0;
            t->round++;
        }
        if (has_turn(t, server))
            return (int)server;
    }
    return -1;
}

void turns_took(struct turns *t, unsigned server, usec_t spent_us)
{
    t->servers[server].samples++;
    t->servers[server].spent_us += spent_us;
}

void turns_out(struct turns *t, unsigned server)
{
    t->servers[server].is_out = true;
}
