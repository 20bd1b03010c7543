/* What ASan, LSan, TSan and valgrind must know about stacks and switches; nothing in other
 * builds. Private to task/. */
#pragma once
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define FERRY_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define FERRY_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FERRY_ASAN 1
#elif __has_feature(thread_sanitizer)
#define FERRY_TSAN 1
#endif
#endif

#ifdef FERRY_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#define SANITIZER_STACK_FACTOR 4
#elif defined(FERRY_TSAN)
#include <sanitizer/tsan_interface.h>
#define SANITIZER_STACK_FACTOR 4
#else
#define SANITIZER_STACK_FACTOR 1
#endif

static inline void sanitizer_stack_mapped(void *base, size_t size)
{
#ifdef FERRY_ASAN
    __lsan_register_root_region(base, size);
#endif
    (void)base;
    (void)size;
}

static inline void sanitizer_stack_unmapped(void *base, size_t size)
{
#ifdef FERRY_ASAN
    __lsan_unregister_root_region(base, size);
#endif
    (void)base;
    (void)size;
}

/* Frames that never returned (the last switch away) leave poison behind. */
static inline void sanitizer_stack_clean(void *base, size_t size)
{
#ifdef FERRY_ASAN
    __asan_unpoison_memory_region(base, size);
#endif
    (void)base;
    (void)size;
}
