#include "client/copy/explain.h"

#include "client/copy/progress.h"
#include "client/place/login.h"
#include "ssh/transport.h"

#define SHORT_US    (200 * USEC_PER_MS) /* nothing can be said of less */
#define SMALL_BYTES (256 * 1024)        /* of a file: its round trips count, not its bytes */

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

enum copy_limit copy_limit_of(const struct copy_figures *f)
{
    usec_t elapsed = f->elapsed_us;
    if (elapsed < SHORT_US || f->bytes == 0)
        return COPY_LIMIT_UNKNOWN;
    if (f->limit_bytes_per_s > 0 && is_most(rate_of(f), f->limit_bytes_per_s))
        return COPY_LIMIT_ASKED;
    if (is_most(f->cpu_us, elapsed))
        return COPY_LIMIT_CPU_HERE;
    if (!f->sends && !f->receives)
        return COPY_LIMIT_DISK_HERE;
    /* each file waits for a few round trips, some at once */
    if (f->rtt_us > 0 && f->files > 1 && f->bytes / f->files < SMALL_BYTES && f->at_once > 0 &&
        f->files * f->rtt_us / f->at_once >= elapsed / 2)
        return COPY_LIMIT_ROUND_TRIPS;
    /* only the sender's kernel knows what it waits for */
    if (!f->sends || f->receives || !f->has_link || f->busy_us == 0)
        return COPY_LIMIT_UNKNOWN;
    if (!is_most(f->busy_us, elapsed))
        return COPY_LIMIT_UNKNOWN; /* the connection waited for us, who had CPU left */
    return f->peer_full_us >= f->busy_us / 2 ? COPY_LIMIT_PEER : COPY_LIMIT_LINK;
}

static const char *const verdicts[] = {
    [COPY_LIMIT_UNKNOWN] = "unknown: the figures allow more than one answer",
    [COPY_LIMIT_ASKED] = "the limit that was asked for",
    [COPY_LIMIT_CPU_HERE] = "this machine's CPU",
    [COPY_LIMIT_PEER] = "the other machine: its CPU or its disk",
    [COPY_LIMIT_LINK] = "the link",
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
    fprintf(out, "CPU here     %.2f s, %.0f %% of one core\n", seconds(f->cpu_us),
            f->elapsed_us > 0 ? 100.0 * (double)f->cpu_us / (double)f->elapsed_us : 0.0);
    if (f->has_link) {
        copy_amount_text(f->rate_bytes_per_s, rate);
        fprintf(out, "link         round trip %.2f ms, last delivered %s/s\n",
                (double)f->rtt_us / 1000, rate);
        fprintf(out,
                "sending      busy %.2f s; the peer's window full %.2f s, our buffer %.2f s\n",
                seconds(f->busy_us), seconds(f->peer_full_us), seconds(f->buffer_full_us));
    }
    if (f->method != NULL)
        fprintf(out, "method       %s%s%s\n", f->method, f->why_method != NULL ? ": " : "",
                f->why_method != NULL ? f->why_method : "");
    if (f->cipher != NULL)
        fprintf(out, "cipher       %s\ncompression  %s\n", f->cipher,
                f->compression != NULL ? f->compression : "none");
}

void copy_figures_of_link(const struct ssh_link *link, struct copy_figures *ret)
{
    struct stream_info info;
    ssh_transport_stream_info(ssh_client_transport(link->client), &info);
    ret->has_link = info.rtt_us > 0;
    ret->rtt_us = info.rtt_us;
    ret->rate_bytes_per_s = info.rate_bytes_per_s;
    ret->busy_us = info.busy_us;
    ret->peer_full_us = info.peer_full_us;
    ret->buffer_full_us = info.buffer_full_us;
}
