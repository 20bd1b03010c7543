#include "base/mem.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

/* A size of 0 gets a byte, so that NULL always means "no memory". */
static size_t at_least_one(size_t size)
{
    return size != 0 ? size : 1;
}

void *mem_new(size_t size)
{
    if (fault_hits(FAULT_ALLOC))
        return NULL;
    return calloc(1, at_least_one(size));
}

void *mem_raw(size_t size)
{
    if (fault_hits(FAULT_ALLOC))
        return NULL;
    return malloc(at_least_one(size));
}

void *mem_resize(void *p, size_t size)
{
    if (fault_hits(FAULT_ALLOC))
        return NULL;
    return realloc(p, at_least_one(size));
}

void *mem_dup(const void *p, size_t len)
{
    void *copy = mem_raw(len);
    if (copy != NULL && len != 0)
        memcpy(copy, p, len);
    return copy;
}

char *mem_strdup(const char *s)
{
    return mem_dup(s, strlen(s) + 1);
}

void mem_free(void *p)
{
    free(p);
}

void mem_wipe(void *p, size_t len)
{
    if (p != NULL && len != 0)
        explicit_bzero(p, len);
}

void mem_wipe_free(void *p, size_t len)
{
    mem_wipe(p, len);
    free(p);
}

void mem_trim(void)
{
    (void)malloc_trim(0);
}
