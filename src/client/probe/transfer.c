#include "client/probe/transfer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/remotes.h"
#include "crypto/random.h"
#include "task/sys.h"

#define NOISE_BYTES  (1024 * 1024)
#define SAMPLE_US    (5 * USEC_PER_MS)
#define RECENT_US    (100 * USEC_PER_MS) /* of a part of what was recent */
#define RECENT_PARTS 5
#define FLIGHT_FIRST (24 * 1024)
#define FLIGHT_S     0.5
#define FLIGHT_TRIPS 3.0
#define PAUSE_US     (2 * USEC_PER_MS)
#define LONGER       3                  /* times, while it grows */
#define END_US       (3 * USEC_PER_S)   /* for what is on its way when it is cancelled */
#define LEAST_US     (50 * USEC_PER_MS) /* of a window; less tells little */
#define ROUGH_BYTES  (64 * 1024)
#define HELD         0.75
#define OVER         (-ENODATA) /* a download that has seen enough */

/* On the heap: two tasks use it. */
struct move {
    struct probe_place *place;
    const struct probe_effort *effort;
    const char *path;
    bool is_upload;
    uint8_t *noise;

    /* of the task that moves */
    uint64_t given; /* or taken */
    uint64_t confirmed;
    int result;
    bool ends_by_size;
    usec_t done_at;
    struct event done;

    /* of the task that watches */
    bool stops;
    uint64_t acked_first, acked;
    usec_t began_at;

    struct {
        usec_t at;
        uint64_t bytes;
    } recent[RECENT_PARTS];

    unsigned recent_at;
    struct steady steady;
};

/* -- what is seen -- */

static uint64_t arrived(struct move *m, struct stream_info *info)
{
    probe_place_info(m->place, info);
    if (!m->is_upload)
        return m->given;
    /* a connection of its own begins at nothing, and is gone at the end */
    uint64_t acked =
        info->acked_bytes > m->acked_first ? info->acked_bytes - m->acked_first : 0;
    m->acked = acked > m->acked ? acked : m->acked;
    return m->acked;
}

static void see(struct move *m)
{
    struct stream_info info;
    usec_t now = clock_now();
    struct steady_sample s = {.at = now, .bytes = arrived(m, &info)};
    s.cpu_us = sys_own_cpu_us();
    s.busy_us = info.busy_us;
    s.full_us = info.peer_full_us;
    steady_add(&m->steady, &s);
    if (now - m->recent[m->recent_at].at < RECENT_US)
        return;
    m->recent_at = (m->recent_at + 1) % RECENT_PARTS;
    m->recent[m->recent_at].at = now;
    m->recent[m->recent_at].bytes = s.bytes;
}

static bool is_enough(const struct move *m)
{
    usec_t took_us = clock_now() - m->began_at, want_us = m->effort->time_us;
    return took_us >= want_us * LONGER || (took_us >= want_us && steady_is_settled(&m->steady));
}

/* -- how much may be on its way -- */

/* It may double with each round trip, as TCP's own does, up to what half a second takes. */
static uint64_t flight_max(const struct move *m, uint64_t acked)
{
    unsigned oldest = (m->recent_at + 1) % RECENT_PARTS;
    usec_t us = clock_now() - m->recent[oldest].at;
    double rate = us > 0 && acked > m->recent[oldest].bytes
                      ? (double)(acked - m->recent[oldest].bytes) * 1e6 / (double)us
                      : 0;
    double seconds = FLIGHT_TRIPS * (double)m->effort->rtt_us / 1e6;
    double most = rate * (seconds > FLIGHT_S ? seconds : FLIGHT_S);
    return FLIGHT_FIRST + ((double)acked < most ? acked : (uint64_t)most);
}

/* 0: it is to end. */
static PARKS ssize_t wait_for_place(struct move *m)
{
    for (;;) {
        struct stream_info info;
        uint64_t acked = arrived(m, &info);
        uint64_t flight = m->given > acked ? m->given - acked : 0, most = flight_max(m, acked);
        uint64_t left = m->effort->size_bytes - m->given;
        m->ends_by_size = left == 0;
        if (m->stops || left == 0)
            return 0;
        if (flight < most)
            return (ssize_t)(most - flight < left ? most - flight : left);
        int r = task_sleep_until(clock_after(PAUSE_US));
        if (r < 0)
            return r;
    }
}

static PARKS ssize_t fill(void *arg, uint64_t offset, struct chunk *chunk,
                          const struct iovec *pieces, unsigned count)
{
    struct move *m = arg;
    (void)chunk;
    ssize_t most = wait_for_place(m);
    size_t left = most > 0 ? (size_t)most : 0, filled = 0;
    for (unsigned i = 0; i < count && left > 0; i++) {
        uint8_t *to = pieces[i].iov_base;
        size_t len = pieces[i].iov_len < left ? pieces[i].iov_len : left;
        for (size_t done = 0; done < len;) {
            size_t from = (size_t)((offset + filled) % NOISE_BYTES);
            size_t n = NOISE_BYTES - from < len - done ? NOISE_BYTES - from : len - done;
            memcpy(to + done, m->noise + from, n);
            done += n;
            filled += n;
        }
        left -= len;
    }
    m->given += filled;
    return most < 0 ? most : (ssize_t)filled;
}

static PARKS int take(void *arg, uint64_t offset, struct chunk *chunk,
                      const struct iovec *pieces, unsigned count)
{
    struct move *m = arg;
    (void)offset, (void)chunk;
    for (unsigned i = 0; i < count; i++)
        m->given += pieces[i].iov_len;
    m->ends_by_size = m->given >= m->effort->size_bytes;
    return m->stops || m->ends_by_size ? OVER : 0;
}

/* -- the task that moves -- */

static PARKS int put(struct move *m)
{
    struct endpoint *e = m->place->endpoint;
    const struct endpoint_put how = {
        .fill = fill, .arg = m, .size_bytes = UINT64_MAX, .mode = 0600};
    return e->ops->put(e, bytes_str(m->path), &how, &m->confirmed);
}

static PARKS int get_again(struct move *m)
{
    struct endpoint *e = m->place->endpoint;
    int r;
    do {
        const struct endpoint_get how = {.take = take, .arg = m};
        struct endpoint_got got = {0};
        r = e->ops->get(e, bytes_str(m->path), &how, &got);
        if (r == 0 && got.bytes == 0)
            break;
    } while (r == 0 && !m->stops);
    m->confirmed = m->given;
    return r == OVER && (m->stops || m->ends_by_size) ? 0 : r;
}

static void move_main(void *arg)
{
    struct move *m = arg;
    m->result = m->is_upload ? put(m) : get_again(m);
    m->done_at = clock_now();
    event_set(&m->done);
}

/* -- the task that watches -- */

static PARKS int watch(struct move *m)
{
    for (;;) {
        int r = event_wait(&m->done, clock_after(SAMPLE_US));
        see(m);
        if (r != -ETIMEDOUT)
            return r;
        m->stops = m->stops || is_enough(m);
    }
}

/* A transfer that ends by itself leaves a connection that can be used. */
static PARKS void let_it_end(struct move *m)
{
    m->stops = true;
    task_shield_begin(clock_after(END_US));
    (void)(event_wait(&m->done, USEC_NEVER) < 0); /* else it is cancelled */
    task_shield_end();
}

/* What a box between us has said that it took, and has not passed on, did not arrive: then what
 * the server confirmed counts. */
static void judge(struct move *m, struct probe_way_seen *ret)
{
    steady_rate(&m->steady, &ret->rate);
    ret->bytes = m->is_upload && m->result == 0 ? m->confirmed : m->given;
    ret->took_us = m->done_at - m->began_at;
    ret->is_rough = ret->rate.window_us < LEAST_US;
    if (ret->is_rough)
        ret->rate.bytes_per_s = ret->bytes >= ROUGH_BYTES && ret->took_us > 0
                                    ? (double)ret->bytes * 1e6 / (double)ret->took_us
                                    : 0;
    if (!m->is_upload || m->result < 0 || ret->is_rough)
        return;
    usec_t end = m->done_at - m->effort->rtt_us;
    if (end <= ret->rate.before_at || m->confirmed <= ret->rate.before_bytes)
        return;
    double confirmed = (double)(m->confirmed - ret->rate.before_bytes) * 1e6 /
                       (double)(end - ret->rate.before_at);
    ret->is_held_between = confirmed < ret->rate.bytes_per_s * HELD;
    if (ret->is_held_between)
        ret->rate.bytes_per_s = confirmed;
}

static PARKS int run(struct move *m, struct probe_way_seen *ret)
{
    struct stream_info info;
    struct scope scope;
    probe_place_info(m->place, &info);
    m->acked_first = info.acked_bytes;
    m->began_at = clock_now();
    for (unsigned i = 0; i < RECENT_PARTS; i++)
        m->recent[i].at = m->began_at;
    steady_init(&m->steady, m->began_at);
    event_init(&m->done);
    scope_init(&scope);
    int r = scope_start(&scope, "probe", TASK_NORMAL, move_main, m, NULL);
    if (r == 0)
        r = watch(m);
    if (r == -ECANCELED)
        let_it_end(m);
    scope_leave(&scope);
    if (r < 0)
        return r;
    judge(m, ret);
    if (m->result < 0)
        (void)snprintf(m->place->why, sizeof(m->place->why), "%.250s",
                       remotes_words(m->place->endpoint, m->result));
    return m->result;
}

static PARKS int start(struct move *m, struct probe_way_seen *ret)
{
    *ret = (struct probe_way_seen){.bytes = 0};
    int r = 0;
    if (m->is_upload) {
        m->noise = mem_raw(NOISE_BYTES);
        r = m->noise == NULL ? -ENOMEM : crypto_random(m->noise, NOISE_BYTES);
    }
    if (r == 0)
        r = run(m, ret);
    mem_free(m->noise);
    return r;
}

int probe_upload(struct probe_place *p, const struct probe_effort *effort,
                 struct probe_way_seen *ret)
{
    struct move *m = mem_new(sizeof(*m));
    if (m == NULL)
        return -ENOMEM;
    m->place = p;
    m->effort = effort;
    m->path = p->temporary;
    m->is_upload = true;
    int r = start(m, ret);
    mem_free(m);
    return r;
}

int probe_download(struct probe_place *p, const char *path, const struct probe_effort *effort,
                   struct probe_way_seen *ret)
{
    struct move *m = mem_new(sizeof(*m));
    if (m == NULL)
        return -ENOMEM;
    m->place = p;
    m->effort = effort;
    m->path = path;
    int r = start(m, ret);
    mem_free(m);
    return r;
}
