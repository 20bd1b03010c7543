/* A job that is left behind: what it owns, and what it still does. */
#include "xfer/move.h"

#include "check.h"
#include "io/chunk.h"
#include "unit/xfer/place.h"

struct left_behind {
    struct place place;
    struct move *move;
    struct vfile *file;
    int go[2];          /* the job goes on when a byte comes */
    atomic_bool inside; /* the job runs */
    int result;
};

static struct left_behind *of_mover;

/* As a write to a disk that has stopped. */
static void wait_like_a_dead_disk(struct move *m)
{
    char c;
    atomic_store(&of_mover->inside, true);
    TASK_ASSERT(read(of_mover->go[0], &c, 1) == 1);
    TASK_ASSERT(m->count == 1 && *(char *)m->pieces[0].iov_base == 'x');
    move_from_memory(m);
}

static void run_and_leave(void *arg)
{
    struct left_behind *l = arg;
    struct pool *pool = runtime_files_pool(runtime_self());
    l->result = move_run(l->move, wait_like_a_dead_disk, pool, NULL, USEC_NEVER);
    TASK_ASSERT(atomic_load(&l->move->moved) == 0);
    move_set_memory(l->move, NULL, NULL, 0); /* as after each run */
    move_leave(l->move);
}

static void leave_a_job(void *arg)
{
    struct left_behind *l = arg;
    struct scope scope;
    struct room room;
    char c;
    of_mover = l;
    scope_init(&scope);
    place_open(&l->place, "/tmp", 0);
    place_connect(&l->place, WAY_TCP);
    TASK_ASSERT(pipe2(l->go, O_CLOEXEC) == 0);
    struct vupload *upload = place_upload(&l->place, 0);
    TASK_ASSERT(move_new(vupload_file(upload), stream_fd(l->place.ours), &l->move) == 0);
    TASK_ASSERT(stream_room(l->place.ours, 100, &room) == 0);
    memset(room.pieces[0].iov_base, 'x', 100);
    move_set_memory(l->move, room.chunk, room.pieces, room.count);
    l->move->budget = 100;
    atomic_fetch_add(&l->move->refs, 1); /* to see what became of it */
    TASK_ASSERT(scope_start(&scope, "mover", TASK_NORMAL, run_and_leave, l, NULL) == 0);
    while (!atomic_load(&l->inside))
        task_yield();
    scope_leave(&scope); /* cancels: the task is gone although the job is not */
    TASK_ASSERT(l->result == -ECANCELED);
    TASK_ASSERT(stream_read(l->place.peers, &c, 1) == 0); /* the socket was shut down */
    room_drop(&room);
    vupload_break(upload, 0);
    place_disconnect(&l->place);
    /* the room, the socket and the upload are gone here; the job has its own of each */
    TASK_ASSERT(write(l->go[1], "x", 1) == 1);
    while (atomic_load(&l->move->refs) > 1)
        task_yield();
    TASK_ASSERT(l->move->end == MOVE_FAILED && l->move->moved == 0);
    move_leave(l->move);
    place_close(&l->place);
}

static void a_job_left_behind_owns_what_it_touches_and_writes_no_more(void **state)
{
    (void)state;
    struct left_behind l = {0};
    run_threaded(1, leave_a_job, &l); /* the leak checker sees whether all of it went */
    (void)close(l.go[0]);
    (void)close(l.go[1]);
}

/* -- memory in pieces -- */

static void write_pieces(void *arg)
{
    struct place p;
    (void)arg;
    place_open(&p, "/tmp", 0);
    for (uint64_t budget = 1; budget <= 60; budget++) {
        struct vupload *upload = place_upload(&p, 0);
        struct chunk *c = chunk_new(60);
        struct move *m;
        TASK_ASSERT(c != NULL && move_new(vupload_file(upload), NULL, &m) == 0);
        for (unsigned i = 0, at = 0; i < 4; i++) { /* of 0, 10, 20 and 30 bytes */
            c->pieces[i] = (struct iovec){.iov_base = c->data + at, .iov_len = i * 10};
            at += i * 10;
        }
        for (unsigned i = 0; i < 60; i++)
            c->data[i] = pattern(i);
        move_set_memory(m, c, c->pieces, 4);
        chunk_unref(c);
        m->budget = budget;
        TASK_ASSERT(move_run(m, move_from_memory, NULL, NULL, USEC_NEVER) == 0);
        TASK_ASSERT(m->end == MOVE_SPENT && m->moved == budget);
        move_leave(m);
        TASK_ASSERT(vupload_commit(upload, budget) == 0);
        TASK_ASSERT(place_holds(&p, budget));
    }
    place_close(&p);
}

static void pieces_are_written_up_to_any_budget(void **state)
{
    (void)state;
    run_deterministic(1, write_pieces, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_left_behind_owns_what_it_touches_and_writes_no_more),
        cmocka_unit_test(pieces_are_written_up_to_any_budget),
    };
    move_leave(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
