#include "sftp/server.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "sftp/internal.h"

#define MESSAGE_MIN 5 /* a type, and an id or a version */

static sftp_handler *const handlers[SFTP_KIND_COUNT] = {
    [SFTP_KIND_OPEN] = sftp_on_open,
    [SFTP_KIND_CLOSE] = sftp_on_close,
    [SFTP_KIND_READ] = sftp_on_read,
    [SFTP_KIND_WRITE] = sftp_on_write,
    [SFTP_KIND_LSTAT] = sftp_on_lstat,
    [SFTP_KIND_FSTAT] = sftp_on_fstat,
    [SFTP_KIND_SETSTAT] = sftp_on_setstat,
    [SFTP_KIND_FSETSTAT] = sftp_on_fsetstat,
    [SFTP_KIND_OPENDIR] = sftp_on_opendir,
    [SFTP_KIND_READDIR] = sftp_on_readdir,
    [SFTP_KIND_REMOVE] = sftp_on_remove,
    [SFTP_KIND_MKDIR] = sftp_on_mkdir,
    [SFTP_KIND_RMDIR] = sftp_on_rmdir,
    [SFTP_KIND_REALPATH] = sftp_on_realpath,
    [SFTP_KIND_STAT] = sftp_on_stat,
    [SFTP_KIND_RENAME] = sftp_on_rename,
    [SFTP_KIND_READLINK] = sftp_on_readlink,
    [SFTP_KIND_SYMLINK] = sftp_on_symlink,
    [SFTP_KIND_POSIX_RENAME] = sftp_on_posix_rename,
    [SFTP_KIND_STATVFS] = sftp_on_statvfs,
    [SFTP_KIND_FSTATVFS] = sftp_on_fstatvfs,
    [SFTP_KIND_HARDLINK] = sftp_on_hardlink,
    [SFTP_KIND_FSYNC] = sftp_on_fsync,
    [SFTP_KIND_LSETSTAT] = sftp_on_lsetstat,
    [SFTP_KIND_LIMITS] = sftp_on_limits,
    [SFTP_KIND_EXPAND_PATH] = sftp_on_expand_path,
    [SFTP_KIND_COPY_DATA] = sftp_on_copy_data,
    [SFTP_KIND_HOME_DIRECTORY] = sftp_on_home_directory,
};

/* -- what is refused -- */

static bool is_listed(const char *names, const char *name)
{
    struct bytes rest = bytes_str(names);
    while (rest.len > 0)
        if (bytes_equal(bytes_take_until(&rest, ','), bytes_str(name)))
            return true;
    return false;
}

static uint64_t refused_by(const struct sftp_settings *settings)
{
    uint64_t refused = 0;
    for (unsigned i = 0; i < SFTP_KIND_COUNT; i++) {
        const struct sftp_kind_row *row = sftp_kind_row((enum sftp_kind)i);
        bool is_denied = settings->denied != NULL && is_listed(settings->denied, row->name);
        bool is_missing = settings->allowed != NULL && !is_listed(settings->allowed, row->name);
        if (is_denied || is_missing || (settings->read_only && row->changes))
            refused |= UINT64_C(1) << i;
    }
    return refused;
}

bool sftp_is_refused(const struct sftp_server *s, enum sftp_kind kind)
{
    return (s->refused >> kind & 1) != 0;
}

/* -- INIT, and what the server tells of itself -- */

/* A client would offer links that fail. */
static bool is_offered(const struct sftp_server *s, enum sftp_kind kind)
{
    if (sftp_kind_row(kind)->extension == NULL || sftp_is_refused(s, kind))
        return false;
    return kind != SFTP_KIND_HARDLINK ||
           (vfs_rights_at(s->session->vfs, &s->start) & RIGHT_LINK) != 0;
}

static PARKS int say_version(struct sftp_server *s)
{
    uint8_t answer[1024];
    struct wire_writer w = wire_writer_of(answer, sizeof(answer));
    sftp_put_version(&w, SFTP_VERSION);
    for (unsigned i = 0; i < SFTP_KIND_COUNT; i++) {
        const struct sftp_kind_row *row = sftp_kind_row((enum sftp_kind)i);
        if (is_offered(s, (enum sftp_kind)i))
            sftp_add_extension(&w, 0, row->extension, row->version);
    }
    return sftp_say(s, &w);
}

int sftp_on_limits(struct sftp_server *s, const struct sftp_request *q)
{
    static const struct sftp_limits limits = {
        .packet_bytes = SFTP_PACKET_MAX,
        .read_bytes = SFTP_DATA_MAX,
        .write_bytes = SFTP_DATA_MAX,
        .handles = SFTP_HANDLES_MAX,
    };
    uint8_t answer[SFTP_SMALL_ANSWER];
    struct wire_writer w = wire_writer_of(answer, sizeof(answer));
    sftp_put_limits(&w, q->id, &limits);
    return sftp_say(s, &w);
}

/* -- one request -- */

static void log_request(const struct sftp_server *s, const struct sftp_request *q)
{
    if (!s->settings.log_requests)
        return;
    struct log_record record;
    session_log_begin(s->session, &record, LOG_DEBUG, "request");
    log_text(&record, "name", sftp_request_name(q->kind));
    log_u64(&record, "id", q->id);
    if (q->path.len > 0)
        log_str(&record, "path", q->path);
    if (q->to.len > 0)
        log_str(&record, "to", q->to);
    log_end(&record);
}

static PARKS int dispatch(struct sftp_server *s, const struct sftp_request *q, int parsed)
{
    log_request(s, q);
    if (q->kind == SFTP_KIND_UNKNOWN)
        return sftp_say_status(s, q->id, SFTP_OP_UNSUPPORTED, "this request is not supported");
    if (parsed < 0)
        return sftp_say_status(s, q->id, SFTP_BAD_MESSAGE, "the request is malformed");
    if (sftp_is_refused(s, q->kind))
        return sftp_say_status(s, q->id, SFTP_PERMISSION_DENIED,
                               "this request is not permitted here");
    s->session->doing = sftp_request_name(q->kind);
    return handlers[q->kind](s, q);
}

/* A copy, since the answer may have to wait, and what was received should not. Requests are
 * short; it lives as long as its answer takes. */
static PARKS int serve_message(struct sftp_server *s, size_t len)
{
    struct bytes whole;
    int r = sftp_input_get(&s->input, SFTP_LENGTH_BYTES + len, &whole);
    if (r <= 0)
        return r < 0 ? r : -FERRY_ECLOSED;
    uint8_t *copy = mem_dup(whole.data, whole.len);
    if (copy == NULL)
        return -ENOMEM;
    sftp_input_skip(&s->input, whole.len);
    sftp_input_release(&s->input);
    struct bytes message = bytes_of(copy + SFTP_LENGTH_BYTES, len);
    struct sftp_request q;
    uint32_t version;
    if (message.data[0] == SFTP_INIT) {
        r = s->has_begun ? -FERRY_EPROTO : sftp_init_parse(message, &version);
        s->has_begun = true;
        if (r == 0)
            r = say_version(s);
    } else {
        r = s->has_begun ? sftp_request_parse(message, &q) : -FERRY_EPROTO;
        if (r != -FERRY_EPROTO)
            r = dispatch(s, &q, r);
    }
    mem_free(copy);
    return r;
}

/* 1: its body follows and is not read; 0: it is no such request. */
static PARKS int get_write_head(struct sftp_server *s, struct sftp_request *ret,
                                uint8_t handle[SFTP_HANDLE_BYTES])
{
    struct bytes head;
    int r = sftp_input_get(&s->input, SFTP_WRITE_HEAD, &head);
    if (r <= 0)
        return r < 0 ? r : -FERRY_ECLOSED;
    if (!sftp_write_head_parse(head.data, ret))
        return 0;
    memcpy(handle, ret->handle.data, SFTP_HANDLE_BYTES);
    ret->handle = bytes_of(handle, SFTP_HANDLE_BYTES);
    return 1;
}

static PARKS int serve_write(struct sftp_server *s, size_t len)
{
    uint8_t handle[SFTP_HANDLE_BYTES];
    struct sftp_request q;
    if (len + SFTP_LENGTH_BYTES < SFTP_WRITE_HEAD || !s->has_begun ||
        sftp_is_refused(s, SFTP_KIND_WRITE))
        return serve_message(s, len);
    int r = get_write_head(s, &q, handle);
    if (r < 0)
        return r;
    if (r == 0)
        return serve_message(s, len);
    sftp_input_skip(&s->input, SFTP_WRITE_HEAD);
    log_request(s, &q);
    s->session->doing = sftp_request_name(SFTP_KIND_WRITE);
    return sftp_receive_writes(s, &q);
}

/* 1: it was answered; 0: the stream has ended. */
static PARKS int serve_next(struct sftp_server *s)
{
    struct bytes start;
    int r = sftp_input_get(&s->input, SFTP_LENGTH_BYTES + 1, &start);
    if (r <= 0)
        return r;
    size_t len = wire_u32(start.data);
    if (len < MESSAGE_MIN || len > SFTP_MESSAGE_MAX)
        return -FERRY_EPROTO;
    r = start.data[SFTP_LENGTH_BYTES] == SFTP_WRITE ? serve_write(s, len)
                                                    : serve_message(s, len);
    return r < 0 ? r : 1;
}

/* -- life -- */

int sftp_server_new(struct session *session, struct stream *stream,
                    const struct sftp_settings *settings, struct sftp_server **ret)
{
    struct sftp_server *s = mem_new(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->session = session;
    s->stream = stream;
    s->settings = *settings;
    s->stall_us = session_timeouts(session->shared)->stall_us;
    s->refused = refused_by(settings);
    int r = vpath_parse(BYTES_LIT("/"), settings->start, &s->start);
    if (r < 0) {
        mem_free(s);
        return r;
    }
    sftp_input_init(&s->input, stream);
    *ret = s;
    return 0;
}

static PARKS int serve(struct sftp_server *s)
{
    for (;;) {
        if (sftp_input_left(&s->input) == 0) {
            int r = stream_wait(s->stream, NULL, clock_now());
            if (r < 0)
                return r == -ETIMEDOUT ? SFTP_DOZES : r;
        }
        int r = serve_next(s);
        if (r <= 0)
            return r;
        s->session->active_at = clock_now();
    }
}

int sftp_server_run(struct sftp_server *s)
{
    s->session->progress = &s->progress;
    int r = serve(s);
    if (s->session->progress == &s->progress) /* else another channel's, which may go first */
        s->session->progress = NULL;
    s->session->doing = "idle";
    if (r != SFTP_DOZES)
        sftp_open_free_all(s);
    return r;
}

struct sftp_server *sftp_server_free(struct sftp_server *s)
{
    if (s == NULL)
        return NULL;
    sftp_open_free_all(s);
    sftp_input_done(&s->input);
    vpath_done(&s->start);
    mem_free(s);
    return NULL;
}

const char *sftp_request_name(unsigned n)
{
    return n < SFTP_KIND_COUNT ? sftp_kind_row((enum sftp_kind)n)->name : NULL;
}
