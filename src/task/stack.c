#include "task/stack.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/limits.h"
#include "task/sanitizer.h"

#define WARM_MAX 32  /* kept with their pages */
#define KEEP_MAX 512 /* kept mapped, pages given back */

/* In a free stack's highest bytes, which are touched anyway. */
struct free_stack {
    struct free_stack *next;
    struct stack stack;
};

static struct free_stack *at_top(const struct stack *s)
{
    return (struct free_stack *)(void *)(s->base + s->size - sizeof(struct free_stack));
}

static size_t class_bytes(enum task_class class)
{
    return SANITIZER_STACK_FACTOR *
           (class == TASK_LARGE ? TASK_STACK_LARGE_BYTES : TASK_STACK_BYTES);
}

static int map_stack(enum task_class class, struct stack *ret)
{
    size_t size = class_bytes(class);
    if (fault_hits(FAULT_ALLOC))
        return -ENOMEM;
    char *p = mmap(NULL, TASK_GUARD_BYTES + size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (p == MAP_FAILED)
        return errno == ENOMEM ? -EAGAIN : -errno;
    if (mprotect(p + TASK_GUARD_BYTES, size, PROT_READ | PROT_WRITE) < 0) {
        (void)munmap(p, TASK_GUARD_BYTES + size);
        return -EAGAIN;
    }
    /* Debian's default would make each touched stack a huge page */
    (void)madvise(p + TASK_GUARD_BYTES, size, MADV_NOHUGEPAGE);
    *ret = (struct stack){.base = p + TASK_GUARD_BYTES, .size = size, .class = class};
    sanitizer_stack_mapped(ret->base, ret->size);
    return 0;
}

static void unmap_stack(struct stack_pool *pool, const struct stack *s)
{
    sanitizer_stack_unmapped(s->base, s->size);
    (void)munmap(s->base - TASK_GUARD_BYTES, TASK_GUARD_BYTES + s->size);
    pool->mapped--;
}

int stack_get(struct stack_pool *pool, enum task_class class, struct stack *ret)
{
    struct free_stack *f = pool->free[class];
    if (f) {
        pool->free[class] = f->next;
        pool->free_count[class]--;
        *ret = f->stack;
        return 0;
    }
    int r = map_stack(class, ret);
    if (r == 0)
        pool->mapped++;
    return r;
}

void stack_put(struct stack_pool *pool, struct stack *s)
{
    unsigned count = pool->free_count[s->class];
    sanitizer_stack_clean(s->base, s->size);
    if (count >= KEEP_MAX) {
        unmap_stack(pool, s);
        return;
    }
    if (count >= WARM_MAX || pool->measure)
        (void)madvise(s->base, s->size, MADV_DONTNEED);
    struct free_stack *f = at_top(s);
    f->stack = *s;
    f->next = pool->free[s->class];
    pool->free[s->class] = f;
    pool->free_count[s->class]++;
}

void stack_pool_done(struct stack_pool *pool)
{
    for (unsigned class = 0; class < 2; class ++) {
        while (pool->free[class]) {
            struct free_stack *f = pool->free[class];
            pool->free[class] = f->next;
            pool->free_count[class]--;
            struct stack s = f->stack;
            unmap_stack(pool, &s);
        }
    }
}

size_t stack_depth(const struct stack *s)
{
    const uint64_t *word = (const uint64_t *)(const void *)s->base;
    size_t i = 0, words = s->size / sizeof(*word);
    while (i < words && word[i] == 0)
        i++;
    return (words - i) * sizeof(*word);
}

bool stack_guard_holds(const struct stack *s, const void *address)
{
    const char *p = address;
    return p < s->base && p >= s->base - TASK_GUARD_BYTES;
}
