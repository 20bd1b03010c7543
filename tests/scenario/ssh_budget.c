/* Readers that stop: what the rooms and queues of one worker hold has a budget, beyond which a
 * connection has one packet, and goes on when it is read. */
#include "ssh_dialogue.h"

#define READERS     12
#define BUDGET      (2 * 1024 * 1024)
#define SENT        3000000
#define ROOM_MOST   (512 * 1024) /* the last room that the budget gives */
#define PACKET_MOST (33 * 1024)
#define STOPPED_US  (5 * USEC_PER_S)

struct readers {
    struct link links[READERS];
    struct event all_looked;
    unsigned stopped;
    size_t held, held_most; /* by one of them */
    unsigned with_nothing;  /* unsent */
};

static void look(struct readers *all)
{
    for (unsigned i = 0; i < READERS; i++) {
        size_t unsent = ssh_transport_unsent(all->links[i].server.transport);
        all->held += unsent;
        all->with_nothing += unsent == 0;
        if (unsent > all->held_most)
            all->held_most = unsent;
    }
    event_set(&all->all_looked);
}

static int stop_and_read(struct link *l)
{
    struct readers *all = l->state;
    struct ssh_channel *ch;
    char command[32];
    (void)snprintf(command, sizeof(command), "source %d", SENT);
    int r = open_exec(l, command, &ch);
    if (r < 0)
        return r;
    r = task_sleep_until(clock_after(STOPPED_US));
    if (++all->stopped == READERS)
        look(all);
    if (r == 0)
        r = event_wait(&all->all_looked, clock_after(STALL_US));
    uint64_t at = 0;
    while (r == 0) {
        struct slices in;
        r = stream_take(ssh_channel_stream(ch), 64 * 1024, &in);
        if (r < 0 || in.len == 0)
            break;
        for (unsigned i = 0; i < in.count; i++) {
            TASK_ASSERT(is_pattern(in.pieces[i].iov_base, in.pieces[i].iov_len, at));
            at += in.pieces[i].iov_len;
        }
        slices_drop(&in);
    }
    if (r == 0)
        r = ssh_channel_status(ch, clock_after(STALL_US));
    (void)ssh_channel_close(ch);
    return r == 0 && at != SENT ? -EIO : r;
}

static void readers_main(void *arg)
{
    struct readers *all = arg;
    struct scope scope;
    size_t others = SSH_WORKER_OUTPUT_MAX - BUDGET; /* other connections of the worker */
    scope_init(&scope);
    event_init(&all->all_looked);
    *ssh_transport_worker_output() += others;
    for (unsigned i = 0; i < READERS; i++) {
        all->links[i] = link_of(stop_and_read);
        all->links[i].state = all;
        TASK_ASSERT(scope_start(&scope, "link", TASK_NORMAL, link_main, &all->links[i], NULL) ==
                    0);
    }
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    TASK_ASSERT(*ssh_transport_worker_output() == others);
    *ssh_transport_worker_output() = 0;
}

static void readers_that_stop_share_the_budget(void **state)
{
    (void)state;
    static struct readers all;
    run_deterministic(1, readers_main, &all);
    assert_int_equal(all.stopped, READERS);
    assert_true(all.held > BUDGET);
    assert_true(all.held <= BUDGET + ROOM_MOST + READERS * PACKET_MOST);
    assert_true(all.held_most > ROOM_MOST); /* who came first */
    assert_int_equal(all.with_nothing, 0);  /* each has its packet */
    for (unsigned i = 0; i < READERS; i++)
        if (all.links[i].result != 0)
            fail_msg("reader %u: %d (%s), server %d (%s)", i, all.links[i].result,
                     all.links[i].why, all.links[i].server.result, all.links[i].server.why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_that_stop_share_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
