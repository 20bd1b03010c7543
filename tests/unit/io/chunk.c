#include "io/chunk.h"

#include <errno.h>
#include <pthread.h>

#include "base/fault.h"
#include "check.h"

static void a_chunk_has_what_was_wanted_up_to_the_largest(void **state)
{
    static const size_t wants[] = {1, 4096, 4097, 262144, CHUNK_BYTES_MAX, CHUNK_BYTES_MAX + 1};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wants); i++) {
        struct chunk *c = chunk_new(wants[i]);
        assert_non_null(c);
        assert_true(c->size >= wants[i] || c->size == CHUNK_BYTES_MAX);
        memset(c->data, 0xa5, c->size);
        chunk_unref(c);
    }
    chunk_unref(NULL);
}

static void a_chunk_lives_until_its_last_reference(void **state)
{
    (void)state;
    struct chunk *c = chunk_new(100);
    assert_non_null(c);
    struct chunk *job = chunk_ref(c);
    chunk_unref(c);
    memset(job->data, 1, job->size);
    chunk_unref(job);
}

static void *unref_in_thread(void *arg)
{
    chunk_unref(arg);
    struct chunk *own = chunk_new(5000);
    chunk_unref(own);
    return NULL;
}

static void the_last_reference_may_go_in_another_thread(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        pthread_t thread;
        struct chunk *c = chunk_new(5000);
        assert_non_null(c);
        assert_int_equal(pthread_create(&thread, NULL, unref_in_thread, c), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

static void a_thread_keeps_free_chunks_within_a_bound(void **state)
{
    (void)state;
    struct chunk *all[16];
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        assert_non_null(all[i] = chunk_new(CHUNK_BYTES_MAX));
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        chunk_unref(all[i]);
#ifdef FERRY_FAULTS
    fault_arm(FAULT_ALLOC, 0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        assert_non_null(all[i] = chunk_new(CHUNK_BYTES_MAX));
    assert_in_range(fault_count(FAULT_ALLOC),
                    ARRAY_LEN(all) - CHUNK_KEEP_BYTES / CHUNK_BYTES_MAX, ARRAY_LEN(all));
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        chunk_unref(all[i]);
#endif
}

static void no_memory_is_reported(void **state)
{
    (void)state;
#ifdef FERRY_FAULTS
    struct room room;
    static struct chunk *small[CHUNK_KEEP_BYTES / 4096 + 1];
    size_t count = 0;
    /* use up what is kept of the size, then fail */
    fault_arm(FAULT_ALLOC, 1);
    while (count < ARRAY_LEN(small) && (small[count] = chunk_new(4096)) != NULL)
        count++;
    assert_int_equal(fault_count(FAULT_ALLOC), 1);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(chunk_room(NULL, 4096, &room), -ENOMEM);
    fault_arm(FAULT_ALLOC, 0);
    while (count > 0)
        chunk_unref(small[--count]);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_has_what_was_wanted_up_to_the_largest),
        cmocka_unit_test(a_chunk_lives_until_its_last_reference),
        cmocka_unit_test(the_last_reference_may_go_in_another_thread),
        cmocka_unit_test(a_thread_keeps_free_chunks_within_a_bound),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
