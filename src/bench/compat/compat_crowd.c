/* The rows of many sessions, which log in one by one and then do the same at once. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/compat/compat_rows.h"
#include "bench/engine/crowd.h"
#include "bench/report/size_text.h"

static int fail_of_one(struct compat *t, unsigned index, int result)
{
    char what[COMPAT_LABEL_MAX + 32];
    snprintf(what, sizeof(what), "%s: client %u", t->label, index + 1);
    return compat_fail(t, what, &t->clients[index], result);
}

int compat_row_login(struct compat *t)
{
    unsigned count = t->options->clients;
    snprintf(t->label, sizeof(t->label), "%u concurrent clients (connect, login)", count);
    t->clients = mem_new(count * sizeof(*t->clients));
    if (t->clients == NULL)
        return compat_fail(t, t->label, NULL, -ENOMEM);
    for (unsigned i = 0; i < count; i++)
        ftp_client_init(&t->clients[i], &t->settings);
    usec_t began = clock_now();
    for (unsigned i = 0; i < count; i++) {
        int r = compat_login(t, &t->clients[i]);
        if (r < 0)
            return fail_of_one(t, i, r);
    }
    int r = compat_sample(t);
    if (r == 0)
        compat_print_seconds(t, began);
    return r;
}

static int receive_file(struct compat *t, struct ftp_client *c)
{
    ssize_t n;
    while ((n = stream_read(c->data, t->waste, COMPAT_WASTE_BYTES)) > 0)
        if (task_is_cancelled())
            return -ECANCELED;
    return (int)compat_end_of_data(n);
}

static int receive_one(void *arg, unsigned index)
{
    struct compat *t = arg;
    struct ftp_client *c = &t->clients[index];
    int r = compat_ask_why(c, receive_file(t, c));
    if (r == 0)
        r = ftp_client_data_end(c);
    return r < 0 ? fail_of_one(t, index, r) : 0;
}

static int send_one(void *arg, unsigned index)
{
    struct compat *t = arg;
    struct ftp_client *c = &t->clients[index];
    int r = compat_ask_why(c, compat_send_file(t, c));
    if (r == 0)
        r = ftp_client_data_end(c);
    return r < 0 ? fail_of_one(t, index, r) : 0;
}

/* No byte is moved before all have begun, one after another; the last replies are read when the
 * clock has stopped. */
static int all_at_once(struct compat *t, const char *verb, int (*move)(void *, unsigned))
{
    unsigned count = t->options->clients;
    usec_t began = clock_now();
    for (unsigned i = 0; i < count; i++) {
        struct stream *data;
        int r = compat_begin(&t->clients[i], verb, &data);
        if (r < 0)
            return fail_of_one(t, i, r);
    }
    int r = compat_sample(t);
    struct crowd crowd = {.act = move, .arg = t, .count = count, .width = count};
    if (r == 0)
        r = crowd_run(&crowd);
    if (r < 0)
        return compat_fail(t, t->label, NULL, r);
    compat_print_seconds(t, began);
    for (unsigned i = 0; i < count; i++) {
        r = ftp_client_transfer_end(&t->clients[i]);
        if (r < 0)
            return fail_of_one(t, i, r);
    }
    return 0;
}

static void label_many(struct compat *t, const char *verb)
{
    char size[SIZE_TEXT_MAX];
    snprintf(t->label, sizeof(t->label), "%u concurrent clients (%s %s file)",
             t->options->clients, verb, size_text((double)t->options->file_bytes, size));
}

int compat_row_retr_many(struct compat *t)
{
    label_many(t, "RETR");
    int r = compat_store(t, &t->clients[0]);
    return r < 0 ? fail_of_one(t, 0, r) : all_at_once(t, "RETR", receive_one);
}

/* All into the same file. */
int compat_row_stor_many(struct compat *t)
{
    label_many(t, "STOR");
    return all_at_once(t, "STOR", send_one);
}

/* The commands are sent before the clock starts; a server may also just close. */
int compat_row_quit(struct compat *t)
{
    unsigned count = t->options->clients;
    snprintf(t->label, sizeof(t->label), "%u concurrent clients (QUIT)", count);
    for (unsigned i = 0; i < count; i++) {
        int r = ftp_client_send(&t->clients[i], "QUIT", BYTES_NONE);
        if (r < 0)
            return fail_of_one(t, i, r);
    }
    usec_t began = clock_now();
    for (unsigned i = 0; i < count; i++) {
        struct ftp_answer answer;
        int r = ftp_client_answer(&t->clients[i], &answer);
        if (r < 0 && r != -FERRY_ECLOSED)
            return fail_of_one(t, i, r);
        ftp_client_close(&t->clients[i]);
    }
    compat_print_seconds(t, began);
    return 0;
}
