#include "server/log_writer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "task/sys.h"

#define BATCH_BYTES (16 * 1024) /* at one write, so that the ring gets room soon */
/* A wake-up of the thread costs more than a line. When so many came one soon after the other,
 * it writes only now and then. */
#define RUSH     8
#define SOON_US  (2 * USEC_PER_MS)
#define PAUSE_US (10 * USEC_PER_MS)

struct log_writer {
    pthread_mutex_t lock; /* held for a copy only, never across a write */
    pthread_cond_t work;
    pthread_t thread;
    bool is_started, is_ending, wants_turn;
    bool is_pausing;  /* it looks again by itself */
    unsigned rush;    /* wake-ups, each soon after the last write */
    bool is_done;     /* the thread will not touch this any more */
    bool is_orphaned; /* nobody waits for the thread: it frees this */
    enum log_format format;
    int fd;
    log_reopen_fn *reopen;
    void *reopen_arg;
    uint64_t lost, lost_told;
    size_t size, start, used; /* of the ring */
    char *ring;
    char batch[BATCH_BYTES]; /* the thread's */
};

static void copy_in(struct log_writer *w, const char *data, size_t len)
{
    size_t at = (w->start + w->used) % w->size;
    size_t first = len < w->size - at ? len : w->size - at;
    memcpy(w->ring + at, data, first);
    memcpy(w->ring, data + first, len - first);
    w->used += len;
}

static size_t copy_out(struct log_writer *w)
{
    size_t len = w->used < BATCH_BYTES ? w->used : BATCH_BYTES;
    size_t first = len < w->size - w->start ? len : w->size - w->start;
    memcpy(w->batch, w->ring + w->start, first);
    memcpy(w->batch + first, w->ring, len - first);
    const char *end = memrchr(w->batch, '\n', len); /* whole lines, for those who follow */
    if (end != NULL)
        len = (size_t)(end - w->batch) + 1;
    w->start = (w->start + len) % w->size;
    w->used -= len;
    return len;
}

/* A failed write cannot be reported anywhere: the bytes are gone. */
static void write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = sys_write(fd, data, len);
        if (n <= 0)
            return;
        data += n;
        len -= (size_t)n;
    }
}

static void tell_lost(struct log_writer *w)
{
    struct log_record r;
    log_begin_as(&r, w->format, LOG_WARNING, "log_lost");
    log_u64(&r, "records", w->lost - w->lost_told);
    struct bytes line = log_finish(&r);
    if (line.len > w->size - w->used)
        return;
    copy_in(w, (const char *)line.data, line.len);
    w->lost_told = w->lost;
}

static void close_fd(int fd)
{
    if (fd != STDERR_FILENO)
        sys_close(fd);
}

static void wait_for_line(struct log_writer *w)
{
    usec_t start = clock_now();
    pthread_cond_wait(&w->work, &w->lock);
    w->rush = clock_now() - start < SOON_US ? w->rush + 1 : 0;
}

static void pause_in_rush(struct log_writer *w)
{
    if (w->rush < RUSH || w->is_ending || w->wants_turn || w->used > w->size / 2)
        return;
    usec_t end = clock_after(PAUSE_US);
    const struct timespec until = {.tv_sec = (time_t)(end / USEC_PER_S),
                                   .tv_nsec = (long)(end % USEC_PER_S) * 1000};
    w->is_pausing = true;
    pthread_cond_clockwait(&w->work, &w->lock, CLOCK_MONOTONIC, &until);
    w->is_pausing = false;
}

/* The lock is released meanwhile: opening may take its time. */
static void turn(struct log_writer *w)
{
    w->wants_turn = false;
    pthread_mutex_unlock(&w->lock);
    int fd = w->reopen(w->reopen_arg);
    if (fd >= 0) {
        close_fd(w->fd);
        w->fd = fd;
    }
    pthread_mutex_lock(&w->lock);
}

static void release(struct log_writer *w)
{
    close_fd(w->fd);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
    mem_free(w->ring);
    mem_free(w);
}

static void *run(void *arg)
{
    struct log_writer *w = arg;
    pthread_mutex_lock(&w->lock);
    while (w->used > 0 || w->wants_turn || !w->is_ending) {
        if (w->used > 0) {
            size_t len = copy_out(w);
            pthread_mutex_unlock(&w->lock);
            write_all(w->fd, w->batch, len);
            pthread_mutex_lock(&w->lock);
            if (w->lost > w->lost_told)
                tell_lost(w);
            pause_in_rush(w);
        } else if (w->wants_turn) {
            turn(w);
        } else {
            wait_for_line(w);
        }
    }
    w->is_done = true;
    bool is_orphaned = w->is_orphaned;
    pthread_mutex_unlock(&w->lock);
    if (is_orphaned)
        release(w);
    return NULL;
}

int log_writer_new(int fd, enum log_format format, size_t ring_bytes, log_reopen_fn *reopen,
                   void *arg, struct log_writer **ret)
{
    struct log_writer *w = mem_new(sizeof(*w));
    char *ring = mem_raw(ring_bytes);
    if (w == NULL || ring == NULL) {
        mem_free(w);
        mem_free(ring);
        close_fd(fd);
        return -ENOMEM;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    w->fd = fd;
    w->format = format;
    w->reopen = reopen;
    w->reopen_arg = arg;
    w->ring = ring;
    w->size = ring_bytes;
    *ret = w;
    return 0;
}

int log_writer_start(struct log_writer *w)
{
    w->is_started = true; /* before the thread can look */
    int r = pthread_create(&w->thread, NULL, run, w);
    if (r != 0)
        w->is_started = false;
    return -r;
}

/* Waits for the thread; false: it is stuck and keeps w. */
static bool join(struct log_writer *w, usec_t patience_us)
{
    uint64_t end = (uint64_t)clock_wall_us() + patience_us;
    const struct timespec until = {.tv_sec = (time_t)(end / USEC_PER_S),
                                   .tv_nsec = (long)(end % USEC_PER_S) * 1000};
    if (pthread_timedjoin_np(w->thread, NULL, &until) == 0)
        return true;
    pthread_t thread = w->thread;
    pthread_mutex_lock(&w->lock);
    bool is_done = w->is_done;
    w->is_orphaned = !is_done;
    pthread_mutex_unlock(&w->lock);
    if (is_done)
        pthread_join(thread, NULL);
    else
        pthread_detach(thread);
    return is_done;
}

struct log_writer *log_writer_free(struct log_writer *w, usec_t patience_us)
{
    if (w == NULL)
        return NULL;
    if (w->is_started) {
        pthread_mutex_lock(&w->lock);
        w->is_ending = true;
        pthread_cond_signal(&w->work);
        pthread_mutex_unlock(&w->lock);
        if (!join(w, patience_us))
            return NULL;
    }
    release(w);
    return NULL;
}

void log_writer_put(struct log_writer *w, const char *line, size_t len)
{
    if (!w->is_started) {
        write_all(w->fd, line, len);
        return;
    }
    pthread_mutex_lock(&w->lock);
    if (len > w->size - w->used) {
        w->lost++;
    } else {
        copy_in(w, line, len);
        if (!w->is_pausing || w->used > w->size / 2)
            pthread_cond_signal(&w->work);
    }
    pthread_mutex_unlock(&w->lock);
}

void log_writer_turn(struct log_writer *w)
{
    if (w->reopen == NULL || !w->is_started)
        return;
    pthread_mutex_lock(&w->lock);
    w->wants_turn = true;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->lock);
}

uint64_t log_writer_lost(struct log_writer *w)
{
    pthread_mutex_lock(&w->lock);
    uint64_t lost = w->lost;
    pthread_mutex_unlock(&w->lock);
    return lost;
}
