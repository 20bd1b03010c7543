/* The n-th allocation fails, for all n, across a whole connection, on either side: no leak, no
 * crash, no hang, and no byte that was not sent; the next connection is flawless. */
#include "base/fault.h"
#include "ssh_dialogue.h"

static int dialogue(struct link *l)
{
    static const char *const commands[] = {"echo", "doze", "complain", "sink 0", "none"};
    for (unsigned i = 0; i < ARRAY_LEN(commands); i++) {
        struct ssh_channel *ch;
        int r = open_exec(l, commands[i], &ch);
        if (r == -FERRY_EREFUSED)
            continue;
        if (r < 0)
            return r;
        r = i == 0 ? echo_pattern(ch, 40 * 1000) : 0;
        if (i == 1) {
            uint8_t data[2000];
            pattern_fill(data, sizeof(data), 0);
            r = stream_write_bytes(ssh_channel_stream(ch), bytes_of(data, sizeof(data)));
            ssize_t n = r == 0 ? stream_read(ssh_channel_stream(ch), data, sizeof(data)) : 0;
            TASK_ASSERT(n <= 0 || is_pattern(data, (size_t)n, 0));
        }
        if (r == 0)
            r = stream_end(ssh_channel_stream(ch), 0);
        if (r == 0)
            r = ssh_channel_status(ch, clock_after(STALL_US));
        (void)ssh_channel_close(ch);
        if (r < 0)
            return r;
    }
    return wait_forgotten(l);
}

struct walk {
    struct link link;
    uint64_t nth, counted;
};

static void walk_main(void *arg)
{
    struct walk *w = arg;
    fault_arm(FAULT_ALLOC, w->nth);
    link_main(&w->link);
    w->counted = fault_count(FAULT_ALLOC);
    fault_arm(FAULT_ALLOC, 0);
}

static void walk_allocations(int compression)
{
    struct walk w = {.nth = 0};
    (void)test_host_keys();
    const char *only = getenv("FERRY_FAULT_NTH"); /* to look at one n again */
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    w.nth = first;
    do {
        w.link = link_of(dialogue);
        w.link.seed = w.nth;
        w.link.client_rekey_bytes = 15000;
        w.link.server_rekey_bytes = w.nth % 2 == 0 ? 9000 : 0;
        w.link.client_compression = w.link.server_compression = compression;
        w.link.packs_in_jobs = w.nth % 4 < 2;
        run_deterministic(w.nth, walk_main, &w);
        if (w.link.server.result == -ETIMEDOUT || w.link.result == -ETIMEDOUT)
            fail_msg("n = %lu hangs: client %d, %d (%s), server %d (%s)", (unsigned long)w.nth,
                     w.link.connected, w.link.result, w.link.why, w.link.server.result,
                     w.link.server.why);
    } while (w.counted >= w.nth++ && only == NULL);
    print_message("%lu allocations were failed one by one\n", (unsigned long)(w.nth - first));
    assert_true(only != NULL || w.nth > 100);
    assert_int_equal(w.link.result, 0); /* the last had no fault */
}

static void every_failed_allocation_ends_cleanly(void **state)
{
    (void)state;
    walk_allocations(0);
}

static void every_failed_allocation_ends_cleanly_in_compression_too(void **state)
{
    (void)state;
    walk_allocations(6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_ends_cleanly),
        cmocka_unit_test(every_failed_allocation_ends_cleanly_in_compression_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
