/* Heap memory: the only door to malloc, so that a test can make the n-th allocation fail.
 * All functions return NULL when there is no memory; the caller turns that into -ENOMEM. */
#pragma once
#include <stddef.h>

void *mem_new(size_t size) __attribute__((malloc, warn_unused_result)); /* zeroed */
void *mem_raw(size_t size)
    __attribute__((malloc, warn_unused_result)); /* not zeroed: bulk buffers */
void *mem_resize(void *p, size_t size)
    __attribute__((warn_unused_result)); /* p stays valid on NULL */
void *mem_dup(const void *p, size_t len) __attribute__((warn_unused_result));
char *mem_strdup(const char *s) __attribute__((warn_unused_result));
void mem_free(void *p);             /* NULL is fine */
void mem_wipe(void *p, size_t len); /* not optimised away */
void mem_wipe_free(void *p, size_t len);
void mem_trim(void); /* free pages go back to the system; takes milliseconds */
