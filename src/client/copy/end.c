#include "client/copy/end.h"

#include <errno.h>

#include "base/err.h"
#include "base/text.h"

bool copy_is_loss(int result)
{
    return result == -FERRY_ECLOSED || result == -FERRY_ESTALLED;
}

/* Nothing more can be said on this connection; but a peer that breaks the protocol once will do
 * so again, so what failed with that is not tried again. */
static bool is_gone(int result)
{
    return copy_is_loss(result) || result == -FERRY_EPROTO;
}

/* Failures to connect that time may heal; a wrong password or host key is none. */
static bool may_heal(int result)
{
    static const int healing[] = {-ECONNREFUSED, -ETIMEDOUT,    -EHOSTUNREACH, -EHOSTDOWN,
                                  -ENETUNREACH,  -ENETDOWN,     -ECONNRESET,   -ECONNABORTED,
                                  -EAGAIN,       -EADDRNOTAVAIL};
    for (size_t i = 0; i < ARRAY_LEN(healing); i++)
        if (result == healing[i])
            return true;
    return is_gone(result);
}

void copy_end_init(struct copy_end *end, const struct copy_end_settings *settings)
{
    *end = (struct copy_end){.settings = *settings};
    if (end->settings.pause_us == 0)
        end->settings.pause_us = COPY_PAUSE_US;
    copy_condition_init(&end->changed);
}

void copy_end_done(struct copy_end *end)
{
    end->endpoint = endpoint_free(end->endpoint);
}

static usec_t pause_of(const struct copy_end *end)
{
    usec_t pause = end->settings.pause_us;
    for (unsigned i = 1; i < end->attempts && pause < COPY_PAUSE_MAX_US; i++)
        pause *= 2;
    return pause < COPY_PAUSE_MAX_US ? pause : COPY_PAUSE_MAX_US;
}

/* The next attempt after a loss, when its time has come; or, with the retries used up, how it
 * failed before. */
static PARKS int pause_before(struct copy_end *end, int before)
{
    const struct copy_end_settings *s = &end->settings;
    if (end->attempts >= s->retries)
        return before;
    end->attempts++;
    usec_t pause = pause_of(end);
    if (s->retrying != NULL)
        s->retrying(s->arg, end->attempts, pause, end->why);
    return task_sleep_until(clock_after(pause));
}

static PARKS int open_again(struct copy_end *end)
{
    int before = end->is_lost ? -FERRY_ECLOSED : 0, r;
    while (end->users > 0) {
        r = copy_condition_wait(&end->changed, USEC_NEVER);
        if (r < 0)
            return r;
    }
    end->endpoint = endpoint_free(end->endpoint);
    for (;;) {
        r = before < 0 ? pause_before(end, before) : 0;
        if (r < 0)
            return r;
        r = end->settings.open(end->settings.arg, end->why, &end->endpoint);
        if (r == 0 || !end->is_lost || !may_heal(r))
            return r; /* who was never there is not waited for */
        before = r;
    }
}

static bool has_place(const struct copy_end *end)
{
    unsigned most = end->endpoint->at_once;
    return end->users < (most > 0 ? most : 1);
}

int copy_end_enter(struct copy_end *end, struct endpoint **ret)
{
    for (;;) {
        int r = 0;
        if (end->failed < 0)
            return end->failed;
        if (end->is_opening || (end->endpoint != NULL && !end->is_lost && !has_place(end))) {
            r = copy_condition_wait(&end->changed, USEC_NEVER);
        } else if (end->endpoint != NULL && !end->is_lost) {
            end->users++;
            end->was_open = true;
            *ret = end->endpoint;
            return 0;
        } else {
            end->is_opening = true;
            r = open_again(end);
            end->is_opening = false;
            end->is_lost = end->is_lost && r < 0;
            end->failed = r == -ECANCELED ? 0 : r;
            copy_condition_tell(&end->changed);
        }
        if (r < 0)
            return r;
    }
}

void copy_end_leave(struct copy_end *end, int result)
{
    end->users--;
    if (is_gone(result) && !end->is_lost) {
        end->is_lost = true;
        struct bytes said = bytes_str(end->endpoint->why);
        (void)text_copy(end->why, sizeof(end->why),
                        said.len > 0 ? said : bytes_str(err_text(result)));
    }
    copy_condition_tell(&end->changed);
}

void copy_end_moved(struct copy_end *end)
{
    end->attempts = 0;
}
