#include "client/copy/explain.h"

#include <unistd.h>

#include "base/text.h"
#include "bench/machine/proc.h"
#include "client/copy/progress.h"
#include "client/place/login.h"
#include "client/remote/endpoint.h"
#include "ssh/transport.h"

#define SHORT_US     (200 * USEC_PER_MS) /* nothing can be said of less */
#define SMALL_BYTES  (256 * 1024)        /* of a file: its round trips count, not its bytes */
#define WINDOW_BYTES 1e6                 /* OpenSSH's is 2 MB */

static bool is_most(uint64_t part, uint64_t of)
{
    return part >= of / 10 * 8;
}

static uint64_t rate_of(const struct copy_figures *f)
{
    return f->elapsed_us > 0
               ? (uint64_t)((double)f->bytes * (double)USEC_PER_S / (double)f->elapsed_us)
               : 0;
}

/* Each file waits for a few round trips, some at once. */
static bool is_round_trips(const struct copy_figures *f)
{
    return f->rtt_us > 0 && f->files > 1 && f->bytes / f->files < SMALL_BYTES &&
           f->at_once > 0 && f->files * f->rtt_us / f->at_once >= f->elapsed_us / 2;
}

/* A window of the other end that is full for a round trip each time: the bytes of one are what
 * can be under way. */
static bool is_window(const struct copy_figures *f)
{
    double under_way = (double)rate_of(f) * (double)f->rtt_us / (double)USEC_PER_S;
    return f->window_us >= f->elapsed_us / 2 && under_way >= WINDOW_BYTES;
}

/* This machine had time and disk left, so it waited; the sender's kernel knows for what. */
static enum copy_limit limit_of_sender(const struct copy_figures *f)
{
    if (is_window(f))
        return COPY_LIMIT_WINDOW;
    if (f->window_us >= f->elapsed_us / 2)
        return COPY_LIMIT_PEER; /* its program takes no more, whatever its kernel does */
    if (!f->has_link)
        return COPY_LIMIT_FAR;
    if (f->busy_us > 0 && is_most(f->busy_us, f->elapsed_us))
        return f->peer_full_us >= f->busy_us / 2 ? COPY_LIMIT_PEER : COPY_LIMIT_LINK;
    return COPY_LIMIT_PEER; /* the link was idle, and so were we */
}

enum copy_limit copy_limit_of(const struct copy_figures *f)
{
    usec_t elapsed = f->elapsed_us;
    if (elapsed < SHORT_US || f->bytes == 0)
        return COPY_LIMIT_SHORT;
    if (f->limit_bytes_per_s > 0 && is_most(rate_of(f), f->limit_bytes_per_s))
        return COPY_LIMIT_ASKED;
    /* who has to wait for a CPU is held back by it as who has it */
    if (is_most(f->cpu_us + f->waited_us, elapsed))
        return COPY_LIMIT_CPU_HERE;
    if (is_most(f->blocked_us, elapsed) || (!f->sends && !f->receives))
        return COPY_LIMIT_DISK_HERE;
    /* jobs that waited for a CPU count in both */
    usec_t waited = f->blocked_us > f->waited_us ? f->blocked_us : f->waited_us;
    if (is_most(f->cpu_us + waited, elapsed))
        return COPY_LIMIT_BOTH_HERE; /* both together, in turn */
    if (is_round_trips(f))
        return COPY_LIMIT_ROUND_TRIPS;
    if (f->receives)
        return COPY_LIMIT_FAR;
    return limit_of_sender(f);
}

static const char *const verdicts[] = {
    [COPY_LIMIT_BOTH_HERE] = "this machine's CPU and its disks, in turn",
    [COPY_LIMIT_SHORT] = "nothing that could be told of so short a copy",
    [COPY_LIMIT_ASKED] = "the limit that was asked for",
    [COPY_LIMIT_CPU_HERE] = "this machine's CPU",
    [COPY_LIMIT_PEER] = "the other machine: its CPU or its disk",
    [COPY_LIMIT_LINK] = "the link",
    [COPY_LIMIT_FAR] = "the link or the other machine: it was waited for; see ferry probe",
    [COPY_LIMIT_WINDOW] = "round trips: the other end's window holds no more at a time",
    [COPY_LIMIT_ROUND_TRIPS] = "round trips: one or more for each small file",
    [COPY_LIMIT_DISK_HERE] = "this machine's disks",
};

static double seconds(usec_t us)
{
    return (double)us / (double)USEC_PER_S;
}

void copy_explain_print(FILE *out, const struct copy_figures *f)
{
    char bytes[COPY_AMOUNT_MAX], rate[COPY_AMOUNT_MAX];
    copy_amount_text(f->bytes, bytes);
    copy_amount_text(rate_of(f), rate);
    fprintf(out, "limited by   %s\n", verdicts[copy_limit_of(f)]);
    fprintf(out, "moved        %s in %llu files, %.2f s, %s/s\n", bytes,
            (unsigned long long)f->files, seconds(f->elapsed_us), rate);
    fprintf(out, "CPU here     %.2f s, %.0f %% of one core; waited for one %.2f s\n",
            seconds(f->cpu_us),
            f->elapsed_us > 0 ? 100.0 * (double)f->cpu_us / (double)f->elapsed_us : 0.0,
            seconds(f->waited_us));
    fprintf(out, "files here   waited for %.2f s\n", seconds(f->blocked_us));
    if (f->has_link) {
        copy_amount_text(f->rate_bytes_per_s, rate);
        fprintf(out, "link         round trip %.2f ms, last delivered %s/s\n",
                (double)f->rtt_us / 1000, rate);
        fprintf(out,
                "sending      busy %.2f s; the peer's window full %.2f s, our buffer %.2f s\n",
                seconds(f->busy_us), seconds(f->peer_full_us), seconds(f->buffer_full_us));
    }
    if (f->window_us > 0)
        fprintf(out, "ssh window   of the other end, waited for %.2f s\n",
                seconds(f->window_us));
    if (f->method != NULL)
        fprintf(out, "method       %s%s%s\n", f->method, f->why_method != NULL ? ": " : "",
                f->why_method != NULL ? f->why_method : "");
    if (f->cipher != NULL)
        fprintf(out, "cipher       %s\ncompression  %s\n", f->cipher,
                f->compression != NULL ? f->compression : "none");
}

/* -- figures -- */

/* "RUN_NS WAIT_NS TIMES" of one thread. */
static int add_waited(void *arg, unsigned pid, const char *thread)
{
    uint64_t *sum_ns = arg, ns;
    struct proc proc;
    struct bytes text;
    char file[64];
    proc_init(&proc, "/proc");
    (void)snprintf(file, sizeof(file), "%s/schedstat", thread);
    if (proc_read(&proc, pid, file, &text) == 0) {
        (void)bytes_take_until(&text, ' ');
        if (text_u64(bytes_take_until(&text, ' '), 10, UINT64_MAX, &ns) == 0)
            *sum_ns += ns;
    }
    proc_done(&proc);
    return 0;
}

usec_t copy_cpu_waited_us(void)
{
    struct proc proc;
    uint64_t sum_ns = 0;
    proc_init(&proc, "/proc");
    int r = proc_each_thread(&proc, (unsigned)getpid(), add_waited, &sum_ns);
    proc_done(&proc);
    return r < 0 ? 0 : sum_ns / 1000;
}

void copy_figures_of(struct endpoint *e, struct copy_figures *ret)
{
    struct stream_info info = {.rtt_us = 0};
    ret->at_once = e->at_once;
    ret->method = e->ops->method;
    if (e->ssh != NULL) {
        ret->cipher = e->ssh->cipher;
        ret->compression = e->ssh->compression;
        ret->window_us = ssh_connection_window_wait_us(e->ssh->connection);
        ssh_transport_stream_info(ssh_client_transport(e->ssh->client), &info);
    } else if (e->ops->info != NULL) {
        e->ops->info(e, &info);
    }
    ret->has_link = info.rtt_us > 0;
    ret->rtt_us = info.rtt_us;
    ret->rate_bytes_per_s = info.rate_bytes_per_s;
    ret->busy_us = info.busy_us;
    ret->peer_full_us = info.peer_full_us;
    ret->buffer_full_us = info.buffer_full_us;
}
