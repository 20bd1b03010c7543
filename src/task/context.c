#include "task/context.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FERRY_OWN_SWITCH

/* What a function must keep (System V ABI, AMD64, 3.2.1) goes on the stack, the stack is
 * changed, and the same comes off the other one. Signal masks are left out: every thread of
 * ours keeps the one that it began with. So are the modes of floating point, which nobody
 * changes. tools/gdb/tasks.py knows the order. */
void context_jump(void **ret_sp, void *sp);
__asm__(".text\n"
        ".p2align 4\n"
        ".type context_jump, @function\n"
        "context_jump:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "pushq %rbx\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbx, 0\n"
        "pushq %r12\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r12, 0\n"
        "pushq %r13\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r13, 0\n"
        "pushq %r14\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r14, 0\n"
        "pushq %r15\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %r15, 0\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r15\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_same_value %r15\n"
        "popq %r14\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_same_value %r14\n"
        "popq %r13\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_same_value %r13\n"
        "popq %r12\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_same_value %r12\n"
        "popq %rbx\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_same_value %rbx\n"
        "popq %rbp\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_same_value %rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size context_jump, . - context_jump\n");

#define SAVED_REGISTERS 6

/* As if entry had been called, by a function at address 0: a backtrace ends there. */
static void prepare(struct context *c, char *base, size_t size, void (*entry)(void))
{
    uintptr_t *word = (uintptr_t *)(void *)(base + size);
    *--word = 0;
    *--word = (uintptr_t)entry;
    for (unsigned i = 0; i < SAVED_REGISTERS; i++)
        *--word = 0;
    c->sp = word;
}

static void jump(struct context *from, struct context *to)
{
    context_jump(&from->sp, to->sp);
}

#else

static void prepare(struct context *c, char *base, size_t size, void (*entry)(void))
{
    (void)getcontext(&c->uc);
    c->uc.uc_stack.ss_sp = base;
    c->uc.uc_stack.ss_size = size;
    c->uc.uc_link = NULL;
    makecontext(&c->uc, entry, 0);
}

static void jump(struct context *from, struct context *to)
{
    (void)swapcontext(&from->uc, &to->uc);
}

#endif

void context_init_thread(struct context *c)
{
    memset(c, 0, sizeof(*c));
#ifdef FERRY_TSAN
    c->fiber = __tsan_get_current_fiber();
#endif
}

void context_init(struct context *c, struct stack *stack, size_t reserve, void (*entry)(void))
{
    prepare(c, stack->base, (stack->size - reserve) & ~(size_t)63, entry);
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
    jump(from, to);
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
    jump(from, to);
    abort(); /* nobody comes back to an ended task */
}
