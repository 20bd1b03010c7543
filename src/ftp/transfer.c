#include "ftp/transfer.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "ftp/handlers.h"
#include "ftp/reply.h"
#include "ftp/session.h"
#include "ftp/wire/mode.h"
#include "ftp/wire/reply.h"
#include "io/ascii.h"
#include "io/compress.h"

/* Closing may wait for a disk (fsync, rename); past this the answer is a failure and what the
 * disk does later is its own affair. What failed has less to wait for. */
#define CLOSE_US        (60 * USEC_PER_S)
#define CLOSE_BROKEN_US (2 * USEC_PER_S)

#define DECISION_TEXT_MAX 200

/* -- in the transfer's task -- */

/* Transfers of this worker in MODE Z: each has a compressor's memory. */
static _Thread_local unsigned deflating;

static void log_decision(void *arg, const struct controller_decision *decision)
{
    const struct ftp_transfer *t = arg;
    struct log_record record;
    char why[DECISION_TEXT_MAX];
    controller_explain(decision, sizeof(why), why);
    session_log_begin(&t->session->base, &record, LOG_DEBUG, "compression-level");
    log_u64(&record, "level", (uint64_t)decision->level);
    log_text(&record, "why", why);
    log_end(&record);
}

/* Takes the stream, as filters do. */
static int deflate_filter(struct ftp_transfer *t, struct stream *data, struct stream **ret)
{
    struct pool *pool = runtime_codec_pool(runtime_self());
    if (t->kind->is_upload) {
        const struct decoder_limits limits = {.ratio = EXPAND_RATIO_MAX,
                                              .ratio_after_bytes = EXPAND_FREE_BYTES};
        (void)snprintf(t->compression, sizeof(t->compression), "zlib");
        return decompress_stream_new(data, CODEC_ZLIB, &limits, pool, NULL, ret);
    }
    struct compress_settings settings = {.codec = CODEC_ZLIB,
                                         .level = t->level,
                                         .pool = pool,
                                         .decided = log_decision,
                                         .arg = t};
    if (t->level == FTP_MODE_LEVEL_AUTO) {
        settings.level = COMPRESS_AUTO;
        (void)snprintf(t->compression, sizeof(t->compression), "zlib:auto");
    } else {
        (void)snprintf(t->compression, sizeof(t->compression), "zlib:%d", t->level);
    }
    return compress_stream_new(data, &settings, ret);
}

static int move_through_filters(struct ftp_transfer *t, struct stream *data)
{
    int r = t->is_deflate ? deflate_filter(t, data, &data) : 0;
    if (r == 0 && t->is_ascii)
        r = ascii_stream_new(data, &data);
    if (r < 0)
        return r;
    r = t->kind->move(t, data);
    if (t->is_deflate) { /* what was held back to the end is counted too */
        struct stream_info info;
        stream_info(data, &info);
        t->moved.wire_bytes = info.sent_bytes + info.received_bytes;
    }
    stream_free(data);
    return r;
}

static int connect_and_move(struct ftp_transfer *t)
{
    struct stream *data;
    int r = ftp_data_connect(t->session, &t->data, &data);
    if (r < 0)
        return r;
    t->phase = FTP_TRANSFER_CONNECTED;
    if (t->is_deflate && deflating >= DEFLATE_AT_ONCE) {
        stream_free(data);
        return -EBUSY;
    }
    deflating += t->is_deflate;
    r = move_through_filters(t, data);
    deflating -= t->is_deflate;
    return r;
}

static int transfer(struct ftp_transfer *t)
{
    int r = t->kind->open(t);
    if (r < 0)
        return r;
    t->phase = FTP_TRANSFER_OPENED;
    event_set(&t->session->event);
    r = connect_and_move(t);
    task_shield_begin(clock_after(r < 0 ? CLOSE_BROKEN_US : CLOSE_US));
    r = t->kind->close(t, r);
    task_shield_end();
    return r;
}

static void transfer_task(void *arg)
{
    struct ftp_transfer *t = arg;
    t->result = transfer(t);
    t->is_finished = true;
    event_set(&t->session->event);
}

struct xfer_request ftp_transfer_request(struct ftp_transfer *t)
{
    const struct session *session = &t->session->base;
    return (struct xfer_request){
        .offset = t->offset,
        .length = UINT64_MAX,
        .buckets = {session->account->rate_bucket},
        .stall_us = session_timeouts(session->shared)->stall_us,
        .progress = &t->progress,
    };
}

/* -- in the session's task -- */

static void transfer_free(struct ftp_transfer *t)
{
    ftp_data_drop(&t->data);
    vpath_done(&t->path);
    mem_free(t->argument);
    mem_free(t);
}

static int transfer_new(struct ftp_session *s, const struct ftp_transfer_kind *kind,
                        const struct vpath *path, struct bytes argument,
                        struct ftp_transfer **ret)
{
    struct ftp_transfer *t = mem_new(kind->size);
    if (t == NULL)
        return -ENOMEM;
    t->kind = kind;
    t->session = s;
    t->is_ascii = s->is_ascii;
    t->is_deflate = s->is_deflate;
    t->level = s->level;
    t->argument = mem_new(argument.len + 1);
    int r = t->argument != NULL ? 0 : -ENOMEM;
    if (r == 0) {
        text_copy(t->argument, argument.len + 1, argument);
        if (path != NULL)
            r = vpath_copy(path, &t->path);
    }
    if (r < 0) {
        transfer_free(t);
        return r;
    }
    t->takes_partial = path != NULL && s->partial.text != NULL &&
                       bytes_equal(vpath_bytes(path), vpath_bytes(&s->partial));
    *ret = t;
    return 0;
}

int ftp_transfer_start(struct ftp_session *s, const struct ftp_transfer_kind *kind,
                       const struct vpath *path, struct bytes argument)
{
    uint64_t offset = s->restart_at, expect_bytes = s->allocate_bytes;
    s->restart_at = s->allocate_bytes = 0;
    if (offset != 0 && kind->restarts &&
        s->is_ascii) /* RFC 3659 5.1: no offset there is safe */
        return ftp_say(s, 504, "REST needs TYPE I; send TYPE I, then REST again.");
    if (!ftp_data_is_prepared(&s->data))
        return ftp_say(s, 425, "Use EPSV, PASV, EPRT or PORT first.");
    struct ftp_transfer *t;
    int r = transfer_new(s, kind, path, argument, &t);
    if (r < 0)
        return ftp_say_error(s, r, argument);
    t->offset = offset;
    t->expect_bytes = expect_bytes;
    t->data = s->data;
    s->data = (struct ftp_data){0};
    r = scope_start(&s->children, "ftp transfer", TASK_NORMAL, transfer_task, t, &t->task);
    if (r < 0) {
        transfer_free(t);
        return ftp_say_error(s, r, argument);
    }
    vpath_done(&s->partial);
    s->transfer = t;
    s->base.doing = kind->verb;
    s->base.progress = &t->progress;
    return 0;
}

static void write_records(const struct ftp_transfer *t)
{
    const char *compression = t->compression[0] != '\0' ? t->compression : NULL;
    if (t->kind->operation != NULL)
        session_audit(&t->session->base, &(struct audit){
                                             .operation = t->kind->operation,
                                             .path = vpath_bytes(&t->path),
                                             .offset = t->offset,
                                             .bytes = t->moved.file_bytes,
                                             .wire_bytes = t->moved.wire_bytes,
                                             .compression = compression,
                                             .seconds_us = t->moved.seconds_us,
                                             .result = t->result,
                                         });
    if (t->result >= 0)
        return;
    struct log_record record;
    session_log_begin(&t->session->base, &record, LOG_WARNING, "transfer-failed");
    log_text(&record, "command", t->kind->verb);
    log_str(&record, "path", vpath_bytes(&t->path));
    log_u64(&record, "bytes", t->moved.file_bytes);
    log_err(&record, t->result);
    log_end(&record);
}

/* Ends the session's transfer, whose task has returned. */
static void forget_transfer(struct ftp_session *s)
{
    write_records(s->transfer);
    transfer_free(s->transfer);
    s->transfer = NULL;
    s->base.doing = "idle";
    s->base.progress = NULL;
    s->base.active_at = clock_now(); /* the idle clock stood still */
    s->is_holding = false;
}

static int append_start(struct buf *out, struct ftp_transfer *t)
{
    t->is_announced = true;
    return t->kind->announce(t, out);
}

static int append_end(struct buf *out, const struct ftp_transfer *t)
{
    if (t->result >= 0)
        return ftp_reply(out, 226, "Transfer complete.");
    struct ftp_failure failure;
    if (t->phase == FTP_TRANSFER_CONNECTED && t->kind->is_upload)
        failure = ftp_failure_of_upload(t->result);
    else if (t->phase == FTP_TRANSFER_CONNECTED || t->is_aborted)
        failure = ftp_failure_of_transfer(t->result);
    else if (t->phase == FTP_TRANSFER_OPENED)
        failure = ftp_failure_of_connecting(t->result);
    else if (t->result == -EINVAL)
        failure = (struct ftp_failure){554, "REST is past the end of the file"};
    else
        failure = ftp_failure_of_command(t->result);
    return ftp_failure_append(out, failure, bytes_str(t->argument));
}

static int finish(struct ftp_session *s)
{
    int r = scope_wait(&s->children, USEC_NEVER); /* it is returning */
    if (r < 0)
        return r;
    struct ftp_transfer *t = s->transfer;
    struct buf out;
    buf_init(&out, 2 * FTP_REPLY_MAX);
    if (!t->is_announced && t->phase != FTP_TRANSFER_OPENING)
        r = append_start(&out, t);
    if (r == 0)
        r = append_end(&out, t);
    if (r == 0 && t->is_aborted)
        r = ftp_reply(&out, 226, "ABOR done.");
    r = ftp_say_lines(s, &out, r);
    forget_transfer(s); /* the client need not wait for our records */
    return r;
}

int ftp_transfer_events(struct ftp_session *s)
{
    struct ftp_transfer *t = s->transfer;
    if (t == NULL)
        return 0;
    if (t->is_finished)
        return finish(s);
    if (t->phase == FTP_TRANSFER_OPENING || t->is_announced)
        return 0;
    s->is_holding = false; /* what waited for the 150 */
    struct buf out;
    buf_init(&out, FTP_REPLY_MAX);
    return ftp_say_lines(s, &out, append_start(&out, t));
}

void ftp_transfer_stop(struct ftp_session *s, int why)
{
    scope_leave(&s->children);
    if (s->transfer == NULL)
        return;
    if (s->transfer->result == -ECANCELED && why < 0)
        s->transfer->result = why;
    forget_transfer(s);
}

int ftp_cmd_abor(struct ftp_session *s, const struct ftp_args *args)
{
    (void)args;
    struct ftp_transfer *t = s->transfer;
    if (t == NULL) {
        bool was_prepared = ftp_data_is_prepared(&s->data);
        ftp_data_drop(&s->data);
        return ftp_say(s, 225,
                       was_prepared ? "The data connection is given up."
                                    : "There is no transfer to abort.");
    }
    t->is_aborted = true; /* answered behind the transfer's own reply */
    if (!t->is_finished)
        task_cancel(t->task);
    return 0;
}
