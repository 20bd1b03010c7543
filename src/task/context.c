#include "task/context.h"

#include <stdlib.h>
#include <string.h>

void context_init_thread(struct context *c)
{
    memset(c, 0, sizeof(*c));
#ifdef FERRY_TSAN
    c->fiber = __tsan_get_current_fiber();
#endif
}

void context_init(struct context *c, struct stack *stack, size_t reserve, void (*entry)(void))
{
    (void)getcontext(&c->uc);
    c->uc.uc_stack.ss_sp = stack->base;
    c->uc.uc_stack.ss_size = (stack->size - reserve) & ~(size_t)63;
    c->uc.uc_link = NULL;
    makecontext(&c->uc, entry, 0);
#ifdef FERRY_ASAN
    c->fake_stack = NULL;
    c->bottom = stack->base;
    c->size = stack->size;
#endif
#ifdef FERRY_TSAN
    c->fiber = __tsan_create_fiber(0);
#endif
}

void context_done(struct context *c)
{
#ifdef FERRY_TSAN
    __tsan_destroy_fiber(c->fiber);
#endif
    (void)c;
}

void context_entered(struct context *self, struct context *from)
{
#ifdef FERRY_ASAN
    /* what it tells of the stack we came from is how the thread's own one becomes known */
    __sanitizer_finish_switch_fiber(self->fake_stack, &from->bottom, &from->size);
#endif
    (void)self;
    (void)from;
}

void context_switch(struct context *from, struct context *to)
{
#ifdef FERRY_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
#endif
#ifdef FERRY_TSAN
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)swapcontext(&from->uc, &to->uc);
#ifdef FERRY_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

void context_switch_last(struct context *from, struct context *to)
{
#ifdef FERRY_ASAN
    __sanitizer_start_switch_fiber(NULL, to->bottom, to->size);
#endif
#ifdef FERRY_TSAN
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)from;
    (void)setcontext(&to->uc);
    abort(); /* setcontext does not return */
}
