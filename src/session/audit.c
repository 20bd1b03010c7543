#include "session/audit.h"

#include "base/err.h"
#include "base/log.h"
#include "session/session.h"
#include "session/shared.h"

static void log_session(const struct session *s, struct log_record *r)
{
    char peer[ADDR_TEXT_MAX];
    log_u64(r, "session", s->id);
    log_text(r, "protocol", s->protocol);
    log_text(r, "peer", addr_format(&s->peer, peer));
    if (s->account != NULL)
        log_text(r, "user", s->account->name);
}

/* Its bytes come from the peer; whether they are stored depended on settings.vfs.sync. */
static bool stores(const char *operation)
{
    struct bytes name = bytes_str(operation);
    return bytes_equal(name, BYTES_LIT("upload")) || bytes_equal(name, BYTES_LIT("append"));
}

void session_audit(const struct session *s, const struct audit *a)
{
    if (s->shared->settings.audit_sink == NULL)
        return;
    struct log_record r;
    log_begin_as(&r, LOG_JSON, LOG_INFO, "audit");
    log_session(s, &r);
    log_text(&r, "operation", a->operation);
    log_u64(&r, "offset", a->offset);
    log_u64(&r, "bytes", a->bytes);
    log_u64(&r, "wire_bytes", a->wire_bytes);
    log_us(&r, "seconds", a->seconds_us);
    log_text(&r, "result", a->result < 0 ? err_name(a->result) : "ok");
    /* Every protocol's records have these. */
    log_text(&r, "cipher", s->cipher != NULL ? s->cipher : "none");
    bool is_packed = stores(a->operation) ? s->receives_zlib : s->sends_zlib;
    const char *compression = is_packed ? "zlib" : "none";
    log_text(&r, "compression", a->compression != NULL ? a->compression : compression);
    if (stores(a->operation))
        log_text(&r, "sync", s->shared->settings.vfs.sync == VFS_SYNC_FILE ? "file" : "none");
    /* Last: what does not fit is cut, and this is what can be long. */
    log_str(&r, "path", a->path);
    if (a->to.len != 0)
        log_str(&r, "to", a->to);
    struct bytes line = log_finish(&r);
    s->shared->settings.audit_sink((const char *)line.data, line.len);
}

void session_log_begin(const struct session *s, struct log_record *r, int level,
                       const char *event)
{
    log_begin(r, (enum log_level)level, event);
    log_session(s, r);
}
