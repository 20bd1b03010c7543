#include "session/table.h"

#include "base/text.h"

/* A session never leaves its worker, so this needs no lock; in order of id. */
static _Thread_local struct list sessions;
static _Thread_local unsigned session_count;

static struct list *sessions_here(void)
{
    if (sessions.next == NULL)
        list_init(&sessions);
    return &sessions;
}

static struct session *session_at(struct list *node)
{
    return LIST_ENTRY(node, struct session, node);
}

void table_add(struct session *s)
{
    list_append(sessions_here(), &s->node);
    session_count++;
}

void table_remove(struct session *s)
{
    list_remove(&s->node);
    session_count--;
}

/* -- kick, drain -- */

/* Neither call runs the protocol's code: it sees session->end when its task is resumed. */
static void end_session(struct session *s, enum session_end end)
{
    if (s->end == SESSION_RUNS)
        s->end = end;
    if (end == SESSION_KICKED && s->task != NULL)
        task_cancel(s->task);
    if (s->wake != NULL) {
        event_set(s->wake);
        return;
    }
    struct io_fd *fd = s->control != NULL ? stream_fd(s->control) : NULL;
    if (fd != NULL)
        io_fd_wake(fd);
}

void session_end_all(enum session_end end)
{
    LIST_EACH_SAFE(it, sessions_here())
    end_session(session_at(it), end);
}

bool session_end_one(uint64_t id, enum session_end end)
{
    LIST_EACH(it, sessions_here())
    {
        if (session_at(it)->id == id) {
            end_session(session_at(it), end);
            return true;
        }
    }
    return false;
}

unsigned session_count_here(void)
{
    return session_count;
}

/* -- who -- */

static void fill_line(const struct session *s, usec_t now, struct session_line *ret)
{
    usec_t active_at = s->active_at;
    *ret = (struct session_line){.id = s->id, .age_us = now - s->started_at};
    (void)text_copy(ret->protocol, sizeof(ret->protocol), bytes_str(s->protocol));
    (void)addr_format(&s->peer, ret->peer);
    if (s->account != NULL)
        (void)text_copy_printable(ret->user, sizeof(ret->user), bytes_str(s->account->name));
    if (s->doing != NULL)
        (void)text_copy(ret->doing, sizeof(ret->doing), bytes_str(s->doing));
    if (s->progress != NULL) {
        usec_t moved_at = atomic_load_explicit(&s->progress->moved_at, memory_order_relaxed);
        ret->file_bytes = atomic_load_explicit(&s->progress->file_bytes, memory_order_relaxed);
        if (moved_at > active_at)
            active_at = moved_at;
    }
    ret->idle_us = now > active_at ? now - active_at : 0;
}

unsigned session_list_here(uint64_t after, struct session_line *lines, unsigned max)
{
    unsigned count = 0;
    usec_t now = clock_now();
    LIST_EACH(it, sessions_here())
    {
        if (count == max)
            break;
        if (session_at(it)->id > after)
            fill_line(session_at(it), now, &lines[count++]);
    }
    return count;
}
