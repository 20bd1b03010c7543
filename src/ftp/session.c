#include "ftp/session.h"

#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "ftp/commands.h"
#include "ftp/reply.h"
#include "ftp/transfer.h"
#include "ftp/wire/facts.h"
#include "ftp/wire/mode.h"
#include "ftp/wire/reply.h"
#include "io/tcp.h"

#define READ_BYTES 512                 /* at a time; they lie on the stack */
#define LINGER_US  (2 * USEC_PER_S)    /* the peer may take so long to read the last words */
#define HELLO_US   (100 * USEC_PER_MS) /* or so long for the first ones */

static_assert(sizeof(struct ftp_session) <= 456,
              "an idle session costs about a kilobyte in all");

/* -- the end -- */

void ftp_session_forget(struct ftp_session *s)
{
    ftp_data_drop(&s->data);
    vpath_done(&s->cwd);
    vpath_done(&s->rename_from);
    vpath_done(&s->partial);
    mem_free(s->user);
    s->user = NULL;
    s->restart_at = s->allocate_bytes = 0;
}

void ftp_session_reset(struct ftp_session *s)
{
    s->facts = FTP_FACTS_ALL;
    s->is_ascii = true; /* RFC 959 5.1 */
    s->is_deflate = false;
    s->level = FTP_MODE_LEVEL_AUTO;
    s->is_epsv_only = false;
}

static void session_free(struct ftp_session *s)
{
    ftp_session_forget(s);
    ftp_line_done(&s->lines);
    session_done(&s->base);
    stream_free(s->base.control);
    mem_free(s);
}

/* What the peer is told when the session ends not by its own wish; nothing if it has gone. */
static const struct {
    int result;
    const char *text;
} last_words[] = {
    {-ETIMEDOUT, "Nothing was heard from you for too long; closing."},
    {-FERRY_EAUTH, "Too many wrong passwords; closing."},
    {-FERRY_EPROTO, "Too many commands before login; closing."},
    {-FERRY_ELIMIT, "Too many connections; close another one first."},
    {-FERRY_EBANNED, "Too many failures from your address; try again later."},
    {-FERRY_EKICKED, "The administrator ended this session."},
    {-FERRY_ESHUTDOWN, "The server is stopping; try again later."},
    {-ECANCELED, "The server is stopping; try again later."},
    {-EBUSY, "The server is busy; try again later."},
    {-EAGAIN, "The server is busy; try again later."}, /* no stack: vm.max_map_count */
    {-ENOMEM, "The server is out of memory; try again later."},
};

static int say_last_words(struct ftp_session *s, int result)
{
    if (result == FTP_SESSION_QUITS)
        return ftp_say(s, 221, "Goodbye.");
    for (unsigned i = 0; i < ARRAY_LEN(last_words); i++)
        if (last_words[i].result == result)
            return ftp_say(s, 421, "%s", last_words[i].text);
    return -FERRY_ECLOSED;
}

static void log_end_of(const struct ftp_session *s, int result)
{
    struct log_record record;
    session_log_begin(&s->base, &record, LOG_INFO, "session-end");
    log_us(&record, "seconds", clock_now() - s->base.started_at);
    if (result < 0)
        log_err(&record, result);
    log_end(&record);
}

/* Half close and wait for the peer's end, so that commands it still sent do not turn into a
 * reset that eats the last reply. */
static void end_session(struct ftp_session *s, int result)
{
    if (s->base.end == SESSION_KICKED) /* whatever it broke off */
        result = -FERRY_EKICKED;
    ftp_transfer_stop(s, result);
    task_shield_begin(clock_after(LINGER_US));
    if (say_last_words(s, result) == 0)
        (void)(stream_end(s->base.control, clock_after(LINGER_US)) < 0); /* closed either way */
    task_shield_end();
    log_end_of(s, result);
    session_free(s);
}

/* -- waiting -- */

static bool may_doze(const struct ftp_session *s)
{
    return s->transfer == NULL && s->data.listener == NULL && ftp_line_is_idle(&s->lines);
}

static usec_t deadline_of(const struct ftp_session *s)
{
    if (s->transfer != NULL)
        return USEC_NEVER; /* the idle clock stands still; the transfer has deadlines enough */
    if (!ftp_session_is_logged_in(s))
        return s->base.login_deadline;
    usec_t idle_us = session_timeouts(s->base.shared)->idle_us;
    return idle_us != 0 ? s->base.active_at + idle_us : USEC_NEVER;
}

static size_t line_cap(const struct ftp_session *s)
{
    return ftp_session_is_logged_in(s) ? FTP_LINE_MAX : FTP_LINE_PRELOGIN_MAX;
}

static int read_more(struct ftp_session *s)
{
    uint8_t bytes[READ_BYTES];
    size_t room = ftp_line_room(&s->lines, line_cap(s));
    ssize_t n =
        stream_read(s->base.control, bytes, room < sizeof(bytes) ? room : sizeof(bytes));
    if (n <= 0)
        return n < 0 ? (int)n : -FERRY_ECLOSED;
    int r = ftp_line_feed(&s->lines, bytes_of(bytes, (size_t)n));
    mem_wipe(bytes, (size_t)n); /* it may be a password */
    return r;
}

/* Until bytes came, the transfer has news, the session is to end, or it may doze. */
static int wait_for_more(struct ftp_session *s)
{
    if (s->is_holding || s->is_quitting) /* nothing more is read before the transfer's end */
        return event_wait(&s->event, USEC_NEVER);
    usec_t deadline = deadline_of(s), until = deadline;
    if (clock_now() >= deadline) /* bytes that make no line keep nobody here */
        return -ETIMEDOUT;
    if (s->data.listener != NULL && s->data.expires_at < until)
        until = s->data.expires_at;
    else if (may_doze(s))
        until = clock_now(); /* it only looks whether something has come */
    int r = stream_wait(s->base.control, &s->event, until);
    if (r == 0)
        return read_more(s);
    if (r != -ETIMEDOUT)
        return r < 0 ? r : 0;
    if (clock_now() >= deadline)
        return -ETIMEDOUT;
    if (may_doze(s))
        return FTP_SESSION_DOZES;
    if (s->data.listener != NULL && clock_now() >= s->data.expires_at)
        ftp_data_drop(&s->data); /* the transfer that comes too late gets 425 */
    return 0;
}

/* -- the dialogue -- */

/* Is it time to go? A shutdown and QUIT let the running transfer finish. */
static int ending_of(const struct ftp_session *s)
{
    if (s->base.end == SESSION_KICKED)
        return -FERRY_EKICKED;
    if (s->transfer != NULL)
        return 0;
    if (s->base.end == SESSION_SHUTDOWN)
        return -FERRY_ESHUTDOWN;
    return s->is_quitting ? FTP_SESSION_QUITS : 0;
}

static int run_next_line(struct ftp_session *s)
{
    struct bytes line;
    enum ftp_line_event event = FTP_LINE_NONE;
    if (!s->is_holding && !s->is_quitting)
        event = ftp_line_next(&s->lines, line_cap(s), &line);
    if (event == FTP_LINE_NONE)
        return wait_for_more(s);
    if (!ftp_session_is_logged_in(s) && ++s->commands_before_login > FTP_PRELOGIN_COMMANDS_MAX)
        return -FERRY_EPROTO;
    if (event == FTP_LINE_TOO_LONG)
        return ftp_say(s, 500, "That line is too long.");
    if (event == FTP_LINE_HAS_NUL)
        return ftp_say(s, 501, "A line has no NUL.");
    return ftp_command_run(s, line);
}

static void ftp_session_run(void *arg);

/* Who speaks while there is no stack waits for one, but not past his deadline: he counts as a
 * connection. Saying so would need a stack. */
static void wait_without_stack(void *arg)
{
    struct ftp_session *s = arg;
    int r = ending_of(s);
    if (r == 0 && clock_now() >= deadline_of(s))
        r = -ETIMEDOUT;
    if (r == 0)
        return;
    log_end_of(s, r);
    session_free(s);
}

static void doze(struct ftp_session *s)
{
    ftp_line_done(&s->lines);
    s->base.wake = NULL;
    s->base.task = NULL;
    io_fd_doze(stream_fd(s->base.control), s->sessions, "ftp session", ftp_session_run,
               wait_without_stack, s, deadline_of(s));
}

/* From one doze to the next, or to the end. */
static void ftp_session_run(void *arg)
{
    struct ftp_session *s = arg;
    s->base.wake = &s->event;
    s->base.task = task_self();
    int r = 0;
    while (r == 0) {
        if (task_turn_is_over())
            task_yield();
        event_clear(&s->event);
        r = ftp_transfer_events(s);
        if (r == 0)
            r = ending_of(s);
        if (r == 0)
            r = run_next_line(s);
    }
    if (r != FTP_SESSION_DOZES) {
        end_session(s, r);
        return;
    }
    doze(s);
}

/* -- the start -- */

static int greet(struct ftp_session *s)
{
    const char *banner = s->service->banner;
    return ftp_say(s, 220, "%s", banner != NULL ? banner : "ferry is ready.");
}

int ftp_session_start(const struct ftp_service *service, struct scope *sessions, int fd,
                      const struct addr *peer, const struct addr *local)
{
    struct stream *control;
    int r = tcp_stream_accepted(fd, HELLO_US, &control);
    if (r < 0)
        return r;
    struct ftp_session *s = mem_new(sizeof(*s));
    if (s == NULL) {
        stream_free(control);
        return -ENOMEM;
    }
    r = session_init(&s->base, service->shared, "ftp", peer, local);
    s->base.control = control;
    s->service = service;
    s->sessions = sessions;
    scope_init(&s->children);
    event_init(&s->event);
    ftp_line_init(&s->lines);
    ftp_session_reset(s);
    if (r == 0)
        r = greet(s);
    if (r < 0) {
        (void)(say_last_words(s, r) < 0); /* it is refused anyway */
        session_free(s);
        return r;
    }
    control->stall_us = session_timeouts(service->shared)->stall_us;
    doze(s);
    if (s->base.end != SESSION_RUNS)    /* while it was greeted */
        io_fd_wake(stream_fd(control)); /* s may be gone after it */
    return 0;
}
