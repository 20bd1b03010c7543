#include "task/stack.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/limits.h"
#include "task/sanitizer.h"

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
    struct free_stacks *free = &pool->free[class];
    if (free->warm_count) {
        *ret = free->warm[--free->warm_count];
        return 0;
    }
    if (free->cold_count) {
        *ret = free->cold[--free->cold_count];
        return 0;
    }
    int r = map_stack(class, ret);
    if (r == 0)
        pool->mapped++;
    return r;
}

void stack_put(struct stack_pool *pool, struct stack *s)
{
    struct free_stacks *free = &pool->free[s->class];
    sanitizer_stack_clean(s->base, s->size);
    if (free->warm_count < STACKS_WARM_MAX && !pool->measure) {
        free->warm[free->warm_count++] = *s;
    } else if (free->cold_count < STACKS_COLD_MAX) {
        free->cold[free->cold_count++] = *s;
        (void)madvise(s->base, s->size, MADV_DONTNEED);
    } else {
        unmap_stack(pool, s);
    }
}

void stack_pool_done(struct stack_pool *pool)
{
    for (unsigned class = 0; class < ARRAY_LEN(pool->free); class ++) {
        struct free_stacks *free = &pool->free[class];
        while (free->warm_count)
            unmap_stack(pool, &free->warm[--free->warm_count]);
        while (free->cold_count)
            unmap_stack(pool, &free->cold[--free->cold_count]);
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
