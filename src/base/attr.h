/* Attributes that carry meaning for readers and for the compiler. */
#pragma once

/* The result can be a failure; ignoring it on purpose is written as (void). */
#define MUST_CHECK              __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define ARRAY_LEN(a)            (sizeof(a) / sizeof((a)[0]))

/* A function that may park the calling task: every lock and invariant is released across it.
 * It may be called only from a task, never inside NO_PARK (task/task.h), and a debug build
 * aborts when it is. The word stands in the prototype so that a reader sees it. */
#if defined(__clang__)
#define PARKS __attribute__((annotate("parks")))
#else
#define PARKS
#endif
