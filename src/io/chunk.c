#include "io/chunk.h"

#include <errno.h>
#include <pthread.h>

#include "base/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#define KEEPS_FREE_CHUNKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_FREE_CHUNKS 0
#endif
#endif
#ifndef KEEPS_FREE_CHUNKS
#define KEEPS_FREE_CHUNKS 1
#endif

static const size_t class_sizes[] = {4096, 16 * 1024, 64 * 1024, 256 * 1024, CHUNK_BYTES_MAX};

struct free_chunks {
    struct chunk *first[ARRAY_LEN(class_sizes)];
    size_t bytes;
    bool ends_with_thread; /* the destructor is armed */
};

/* Of the thread, not of the worker: pool threads too have a buffer for each job they run. */
static _Thread_local struct free_chunks kept;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void release_kept(void *arg)
{
    struct free_chunks *all = arg;
    for (size_t i = 0; i < ARRAY_LEN(class_sizes); i++) {
        while (all->first[i] != NULL) {
            struct chunk *c = all->first[i];
            all->first[i] = c->next;
            mem_free(c);
        }
    }
    all->bytes = 0;
    all->ends_with_thread = false;
}

static void make_key(void)
{
    (void)pthread_key_create(&at_thread_end, release_kept);
}

static unsigned class_of(size_t want)
{
    unsigned i = 0;
    while (i + 1 < ARRAY_LEN(class_sizes) && class_sizes[i] < want)
        i++;
    return i;
}

struct chunk *chunk_new(size_t want)
{
    unsigned size_class = class_of(want);
    struct chunk *c = kept.first[size_class];
    if (c != NULL) {
        kept.first[size_class] = c->next;
        kept.bytes -= class_sizes[size_class];
    } else {
        c = mem_raw(sizeof(*c) + class_sizes[size_class]);
        if (c == NULL)
            return NULL;
        c->size_class = size_class;
        c->size = class_sizes[size_class];
    }
    atomic_init(&c->refs, 1);
    c->next = NULL;
    c->used = c->held = 0;
    return c;
}

struct chunk *chunk_ref(struct chunk *c)
{
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

static bool keep(struct chunk *c)
{
    if (!KEEPS_FREE_CHUNKS || kept.bytes + c->size > CHUNK_KEEP_BYTES)
        return false;
    if (!kept.ends_with_thread) {
        (void)pthread_once(&once, make_key);
        if (pthread_setspecific(at_thread_end, &kept) != 0)
            return false;
        kept.ends_with_thread = true;
    }
    c->next = kept.first[c->size_class];
    kept.first[c->size_class] = c;
    kept.bytes += c->size;
    return true;
}

void chunk_unref(struct chunk *c)
{
    if (c == NULL || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (!keep(c))
        mem_free(c);
}

int chunk_room(struct stream *s, size_t want, struct room *ret)
{
    struct chunk *c = chunk_new(want);
    if (c == NULL)
        return -ENOMEM;
    size_t len = want < c->size ? want : c->size;
    c->pieces[0] = (struct iovec){.iov_base = c->data, .iov_len = len};
    *ret = (struct room){.stream = s, .chunk = c, .pieces = c->pieces, .count = 1, .len = len};
    return 0;
}

void chunk_slices(struct stream *s, struct chunk *c, size_t len, struct slices *ret)
{
    c->pieces[0] = (struct iovec){.iov_base = c->data, .iov_len = len};
    *ret =
        (struct slices){.stream = s, .chunk = c, .pieces = c->pieces, .count = 1, .len = len};
}
