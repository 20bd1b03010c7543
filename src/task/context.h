/* Switching stacks, with what sanitizers must be told. Private to task/. */
#pragma once
#include "task/sanitizer.h"
#include "task/stack.h"

/* A switch of our own where there is one and the processor is not to keep a second stack of
 * return addresses; else glibc's, which costs a system call each way. */
#if defined(__x86_64__) && (!defined(__CET__) || (__CET__ & 2) == 0)
#define FERRY_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

struct context {
#ifdef FERRY_OWN_SWITCH
    void *sp; /* while it does not run: beneath it lie its registers (context.c) */
#else
    ucontext_t uc;
#endif
#ifdef FERRY_ASAN
    void *fake_stack;
    const void *bottom;
    size_t size;
#endif
#ifdef FERRY_TSAN
    void *fiber;
#endif
};

/* The context of the calling thread's own stack, to switch back to. */
void context_init_thread(struct context *);
/* A new one that begins in entry() on the stack, below `reserve` bytes at its top. entry must
 * not return: it ends with context_switch_last(). */
void context_init(struct context *, struct stack *, size_t reserve, void (*entry)(void));
void context_done(struct context *);

void context_switch(struct context *from, struct context *to);
__attribute__((noreturn)) void context_switch_last(struct context *from, struct context *to);
/* First thing on a new stack; from: whence the switch came. */
void context_entered(struct context *self, struct context *from);
