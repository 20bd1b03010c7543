/* What ftpbench measures, in its order. A row is one sample and one line. */
#include "bench/compat/compat_rows.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/ftp/load.h"
#include "bench/report/size_text.h"

#define WINDOW_US  USEC_PER_S
#define MB         (1024.0 * 1024.0)
#define LINE_BYTES 256

/* -- lines -- */

void compat_print(struct compat *t, const char *label, double value, const char *unit)
{
    const char *plain = t->has_colour ? "\033[m" : "", *green = t->has_colour ? "\033[32m" : "",
               *end = t->has_colour ? "\033[0m" : "";
    char line[LINE_BYTES], memory[SIZE_TEXT_MAX];
    uint64_t bytes;
    bool has_memory = compat_samples_pop(&t->samples, &bytes);
    int len =
        snprintf(line, sizeof(line), "%s%-50s%s %s%8.2f%s %-8s%s%s%s", plain, label, end, green,
                 value, end, unit, has_memory ? green : "",
                 has_memory ? size_text((double)bytes, memory) : "", has_memory ? end : "");
    while (len > 0 && line[len - 1] == ' ')
        len--;
    fprintf(t->out, "%.*s\n", len, line);
    fflush(t->out);
}

void compat_print_seconds(struct compat *t, usec_t began)
{
    compat_print(t, t->label, (double)(clock_now() - began) / USEC_PER_S, "secs");
}

int compat_sample(struct compat *t)
{
    if (t->options->pid == 0)
        return 0;
    struct compat_memory memory;
    int r = compat_memory_run(t->pool, t->options->pid, &memory);
    if (r < 0)
        return compat_fail(t, "memory of the server's process", NULL, r);
    compat_samples_push(&t->samples, memory.own_bytes);
    return 0;
}

/* -- sessions -- */

int compat_login(struct compat *t, struct ftp_client *c)
{
    const struct bench_url *server = &t->options->server;
    int r = ftp_client_connect(c, &t->server, NULL);
    return r == 0 ? ftp_client_login(c, bytes_str(server->user), bytes_str(server->password))
                  : r;
}

int compat_fail(struct compat *t, const char *what, const struct ftp_client *c, int result)
{
    if (t->error[0] != '\0')
        return result;
    if (c != NULL)
        load_explain(t->error, sizeof(t->error), what, c, result);
    else
        snprintf(t->error, sizeof(t->error), "%s: %s", what, err_text(result));
    return result;
}

/* A data connection that broke: the server may have said why. */
int compat_ask_why(struct ftp_client *c, int result)
{
    if (result != -FERRY_ECLOSED || !ftp_client_is_open(c))
        return result;
    int said = ftp_client_transfer_end(c);
    return said == -FERRY_EREFUSED ? said : result;
}

void compat_close(struct compat *t)
{
    ftp_client_close(&t->lone);
    for (unsigned i = 0; t->clients != NULL && i < t->options->clients; i++)
        ftp_client_close(&t->clients[i]);
    mem_free(t->clients);
    t->clients = NULL;
}

/* -- one transfer -- */

int compat_begin(struct ftp_client *c, const char *verb, struct stream **ret)
{
    int r = ftp_client_type(c, 'I');
    return r == 0 ? ftp_client_transfer_begin(c, verb, COMPAT_FILE, ret) : r;
}

static int send_chunk(struct compat *t, struct stream *data)
{
    if (task_is_cancelled())
        return -ECANCELED;
    return stream_write_bytes(data, bytes_of(t->chunk, COMPAT_CHUNK_BYTES));
}

ssize_t compat_end_of_data(ssize_t n)
{
    return n == -FERRY_ETRUNCATED ? 0 : n;
}

/* Whole chunks, so up to one less a byte more than was asked for. */
int compat_send_file(struct compat *t, struct ftp_client *c)
{
    int r = 0;
    for (uint64_t sent = 0; r == 0 && sent < t->options->file_bytes; sent += COMPAT_CHUNK_BYTES)
        r = send_chunk(t, c->data);
    return r;
}

/* Not measured: what a download has to fetch. */
int compat_store(struct compat *t, struct ftp_client *c)
{
    struct stream *data;
    int r = compat_begin(c, "STOR", &data);
    if (r == 0)
        r = compat_ask_why(c, compat_send_file(t, c));
    return r == 0 ? ftp_client_transfer_end(c) : r;
}

/* -- one second of one file -- */

/* Counts what our own socket has taken; draining it and the last reply are not in the second.
 */
static int send_for_a_second(struct compat *t, uint64_t *bytes)
{
    struct stream *data;
    int r = compat_begin(&t->lone, "STOR", &data);
    if (r == 0)
        r = compat_sample(t);
    usec_t stop_at = clock_now() + WINDOW_US;
    while (r == 0 && clock_now() < stop_at) {
        r = send_chunk(t, data);
        *bytes += COMPAT_CHUNK_BYTES;
    }
    r = compat_ask_why(&t->lone, r);
    return r == 0 ? ftp_client_transfer_end(&t->lone) : r;
}

/* The next file, and the time that it took to get it. */
static int begin_again(struct compat *t, struct stream **data, usec_t *gap)
{
    usec_t began = clock_now();
    int r = ftp_client_transfer_end(&t->lone);
    if (r == 0)
        r = compat_begin(&t->lone, "retr", data);
    *gap = clock_now() - began;
    return r;
}

/* The verb is in lower case because ftpbench's is. */
static int receive_for_a_second(struct compat *t, uint64_t *bytes)
{
    struct stream *data;
    int r = compat_begin(&t->lone, "retr", &data);
    if (r == 0)
        r = compat_sample(t);
    usec_t stop_at = clock_now() + WINDOW_US;
    uint64_t in_file = 0;
    while (r == 0 && clock_now() < stop_at) {
        ssize_t n = compat_end_of_data(stream_read(data, t->waste, COMPAT_CHUNK_BYTES));
        if (n > 0) {
            in_file += (uint64_t)n;
            *bytes += (uint64_t)n;
        } else if (n < 0) {
            r = (int)n;
        } else if (in_file == 0) {
            r = -FERRY_ETRUNCATED; /* gaps are not counted: empty files would never end */
        } else {
            usec_t gap = 0;
            r = begin_again(t, &data, &gap);
            stop_at += gap;
            in_file = 0;
        }
    }
    if (r < 0)
        return compat_ask_why(&t->lone, r);
    /* In the middle: a refusal is as good, and ProFTPD ends the session over it in TLS. */
    r = ftp_client_transfer_end(&t->lone);
    return r == -FERRY_EREFUSED || r == -FERRY_ECLOSED ? 0 : r;
}

static int one_second(struct compat *t, int (*move)(struct compat *, uint64_t *))
{
    uint64_t bytes = 0;
    int r = compat_login(t, &t->lone);
    if (r == 0)
        r = move(t, &bytes);
    if (r == 0) {
        compat_print(t, t->label, (double)bytes / MB, "MB/sec");
        r = ftp_client_is_open(&t->lone) ? ftp_client_quit(&t->lone) : 0;
    }
    return r < 0 ? compat_fail(t, t->label, &t->lone, r) : 0;
}

static int row_stor(struct compat *t)
{
    snprintf(t->label, sizeof(t->label), "STOR (client -> server)");
    return one_second(t, send_for_a_second);
}

static int row_retr(struct compat *t)
{
    snprintf(t->label, sizeof(t->label), "RETR (server -> client)");
    return one_second(t, receive_for_a_second);
}

static int row_stor_idle(struct compat *t)
{
    snprintf(t->label, sizeof(t->label), "STOR (1 file with %u idle clients)",
             t->options->clients);
    return one_second(t, send_for_a_second);
}

static int row_retr_idle(struct compat *t)
{
    snprintf(t->label, sizeof(t->label), "RETR (1 file with %u idle clients)",
             t->options->clients);
    return one_second(t, receive_for_a_second);
}

static int store_alone(struct compat *t)
{
    snprintf(t->label, sizeof(t->label), "upload of the file");
    int r = compat_login(t, &t->lone);
    if (r == 0)
        r = compat_store(t, &t->lone);
    if (r == 0)
        r = ftp_client_quit(&t->lone);
    return r < 0 ? compat_fail(t, t->label, &t->lone, r) : 0;
}

/* -- the kinds -- */

typedef int row_fn(struct compat *);

#define CONCURRENCE                                                                            \
    compat_row_login, row_stor_idle, row_retr_idle, compat_row_retr_many,                      \
        compat_row_stor_many, compat_row_quit

static row_fn *const rows_of_kind[BENCH_KIND_COUNT][9] = {
    [BENCH_TRANSFER] = {row_stor, row_retr},
    [BENCH_DOWNLOAD] = {store_alone, row_retr},
    [BENCH_UPLOAD] = {row_stor},
    [BENCH_CONCURRENCE] = {CONCURRENCE},
    [BENCH_ALL] = {row_stor, row_retr, CONCURRENCE},
};

int compat_rows_run(struct compat *t)
{
    row_fn *const *row = rows_of_kind[t->options->kind];
    int r = 0;
    for (; *row != NULL && r == 0; row++)
        r = (*row)(t);
    return r;
}
