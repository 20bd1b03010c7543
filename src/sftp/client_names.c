/* The client's requests that one answer ends: names, attributes, single reads and writes. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "sftp/client_internal.h"

bool sftp_name_is_safe(struct bytes name)
{
    size_t at;
    return name.len > 0 && name.len <= NAME_LEN_MAX && !bytes_equal(name, BYTES_LIT(".")) &&
           !bytes_equal(name, BYTES_LIT("..")) && !bytes_find(name, '/', &at) &&
           !bytes_find(name, '\0', &at);
}

static struct bytes handle_of(const struct sftp_remote *f)
{
    return bytes_of(f->handle, f->len);
}

/* -- names -- */

static PARKS int ask_attributes(struct sftp_client *c, struct sftp_request *q,
                                struct sftp_attributes *ret)
{
    struct sftp_call call;
    int r = sftp_call_send(c, q, &call);
    if (r == 0)
        r = sftp_call_wait(c, &call, SFTP_ATTRS);
    if (r == 0)
        *ret = call.answer.attributes;
    sftp_call_done(c, &call);
    return r;
}

int sftp_client_stat(struct sftp_client *c, struct bytes path, bool follow,
                     struct sftp_attributes *ret)
{
    struct sftp_request q = {.kind = follow ? SFTP_KIND_STAT : SFTP_KIND_LSTAT, .path = path};
    return ask_attributes(c, &q, ret);
}

int sftp_client_setstat(struct sftp_client *c, struct bytes path,
                        const struct sftp_attributes *a)
{
    struct sftp_request q = {.kind = SFTP_KIND_SETSTAT, .path = path, .attributes = *a};
    return sftp_ask_status(c, &q);
}

int sftp_client_mkdir(struct sftp_client *c, struct bytes path, uint32_t mode)
{
    struct sftp_request q = {.kind = SFTP_KIND_MKDIR,
                             .path = path,
                             .attributes = {.has = SFTP_ATTR_MODE, .mode = mode}};
    return sftp_ask_status(c, &q);
}

int sftp_client_rmdir(struct sftp_client *c, struct bytes path)
{
    struct sftp_request q = {.kind = SFTP_KIND_RMDIR, .path = path};
    return sftp_ask_status(c, &q);
}

int sftp_client_remove(struct sftp_client *c, struct bytes path)
{
    struct sftp_request q = {.kind = SFTP_KIND_REMOVE, .path = path};
    return sftp_ask_status(c, &q);
}

int sftp_client_rename(struct sftp_client *c, struct bytes from, struct bytes to)
{
    bool replaces = sftp_client_has(c, SFTP_KIND_POSIX_RENAME);
    struct sftp_request q = {
        .kind = replaces ? SFTP_KIND_POSIX_RENAME : SFTP_KIND_RENAME, .path = from, .to = to};
    return sftp_ask_status(c, &q);
}

static int only_name(struct sftp_answer *a, char *ret, size_t max)
{
    struct bytes name, longname;
    struct sftp_attributes attributes;
    size_t at;
    if (!sftp_answer_name(a, &name, &longname, &attributes) || bytes_find(name, '\0', &at))
        return -FERRY_EPROTO;
    if (name.len >= max)
        return -FERRY_ELIMIT;
    memcpy(ret, name.data, name.len);
    ret[name.len] = '\0';
    return 0;
}

int sftp_client_realpath(struct sftp_client *c, struct bytes path, char *ret, size_t max)
{
    struct sftp_request q = {.kind = SFTP_KIND_REALPATH, .path = path};
    struct sftp_call call;
    int r = sftp_call_send(c, &q, &call);
    if (r == 0)
        r = sftp_call_wait(c, &call, SFTP_NAME);
    if (r == 0)
        r = only_name(&call.answer, ret, max);
    sftp_call_done(c, &call);
    return r;
}

/* -- listings -- */

struct listing {
    unsigned left; /* names that may still come */
    sftp_name_fn *fn;
    void *arg;
};

static int give_names(struct listing *l, struct sftp_answer *a)
{
    struct bytes name, longname;
    struct sftp_attributes attributes;
    while (sftp_answer_name(a, &name, &longname, &attributes)) {
        if (l->left-- == 0)
            return -FERRY_ELIMIT;
        int r = l->fn(l->arg, name, &attributes);
        if (r < 0)
            return r;
    }
    return a->rest.has_failed ? -FERRY_EPROTO : 0;
}

/* 1: there may be more; 0: the end, also for a server that tells it by an answer without names.
 */
static PARKS int read_names(struct sftp_client *c, const struct sftp_remote *dir,
                            struct listing *l)
{
    struct sftp_request q = {.kind = SFTP_KIND_READDIR, .handle = handle_of(dir)};
    struct sftp_call call;
    int r = sftp_call_send(c, &q, &call);
    if (r == 0)
        r = sftp_call_wait(c, &call, SFTP_NAME);
    bool has_more = r == 0 && call.answer.count > 0;
    if (has_more)
        r = give_names(l, &call.answer);
    sftp_call_done(c, &call);
    if (r == -ENODATA)
        return 0;
    return r < 0 ? r : has_more;
}

static PARKS int ask_handle(struct sftp_client *c, struct sftp_request *q,
                            struct sftp_remote *ret)
{
    struct sftp_call call;
    int r = sftp_call_send(c, q, &call);
    if (r == 0)
        r = sftp_call_wait(c, &call, SFTP_HANDLE);
    if (r == 0) {
        memcpy(ret->handle, call.answer.handle.data, call.answer.handle.len);
        ret->len = call.answer.handle.len;
    }
    sftp_call_done(c, &call);
    return r;
}

int sftp_client_list(struct sftp_client *c, struct bytes path, unsigned names_max,
                     sftp_name_fn *fn, void *arg)
{
    struct sftp_remote dir;
    struct sftp_request q = {.kind = SFTP_KIND_OPENDIR, .path = path};
    struct listing l = {names_max != 0 ? names_max : SFTP_LISTING_MAX, fn, arg};
    int r = ask_handle(c, &q, &dir);
    if (r < 0)
        return r;
    do {
        r = read_names(c, &dir, &l);
    } while (r > 0);
    q = (struct sftp_request){.kind = SFTP_KIND_CLOSE, .handle = handle_of(&dir)};
    int told = sftp_tell(c, &q);
    return r < 0 ? r : told;
}

/* -- open files -- */

int sftp_client_open(struct sftp_client *c, struct bytes path, uint32_t flags, uint32_t mode,
                     struct sftp_remote *ret)
{
    struct sftp_request q = {.kind = SFTP_KIND_OPEN, .path = path, .flags = flags};
    if ((flags & SFTP_OPEN_CREATE) != 0)
        q.attributes = (struct sftp_attributes){.has = SFTP_ATTR_MODE, .mode = mode};
    return ask_handle(c, &q, ret);
}

int sftp_client_close(struct sftp_client *c, const struct sftp_remote *f)
{
    struct sftp_request q = {.kind = SFTP_KIND_CLOSE, .handle = handle_of(f)};
    return sftp_ask_status(c, &q);
}

ssize_t sftp_client_read(struct sftp_client *c, const struct sftp_remote *f, uint64_t offset,
                         void *ret, size_t max)
{
    struct sftp_request q = {.kind = SFTP_KIND_READ,
                             .handle = handle_of(f),
                             .offset = offset,
                             .len = max < c->read_bytes ? max : c->read_bytes};
    struct sftp_call call;
    ssize_t n = sftp_call_send(c, &q, &call);
    if (n == 0)
        n = sftp_call_wait(c, &call, SFTP_DATA);
    if (n == 0 && (call.answer.data.len > q.len || call.answer.data.len == 0)) {
        sftp_client_break(c, -FERRY_EPROTO);
        n = -FERRY_EPROTO;
    } else if (n == 0) {
        n = (ssize_t)call.answer.data.len;
        memcpy(ret, call.answer.data.data, call.answer.data.len);
    }
    sftp_call_done(c, &call);
    return n == -ENODATA ? 0 : n;
}

int sftp_client_write(struct sftp_client *c, const struct sftp_remote *f, uint64_t offset,
                      struct bytes data)
{
    int r = 0;
    while (r == 0 && data.len > 0) {
        struct bytes part = bytes_first(data, c->write_bytes);
        struct sftp_request q = {.kind = SFTP_KIND_WRITE,
                                 .handle = handle_of(f),
                                 .offset = offset,
                                 .len = part.len,
                                 .data = part};
        r = sftp_ask_status(c, &q);
        offset += part.len;
        data = bytes_skip(data, part.len);
    }
    return r;
}

int sftp_client_fstat(struct sftp_client *c, const struct sftp_remote *f,
                      struct sftp_attributes *ret)
{
    struct sftp_request q = {.kind = SFTP_KIND_FSTAT, .handle = handle_of(f)};
    return ask_attributes(c, &q, ret);
}

int sftp_client_fsetstat(struct sftp_client *c, const struct sftp_remote *f,
                         const struct sftp_attributes *a)
{
    struct sftp_request q = {
        .kind = SFTP_KIND_FSETSTAT, .handle = handle_of(f), .attributes = *a};
    return sftp_ask_status(c, &q);
}

int sftp_client_fsync(struct sftp_client *c, const struct sftp_remote *f)
{
    if (!sftp_client_has(c, SFTP_KIND_FSYNC))
        return -EOPNOTSUPP;
    struct sftp_request q = {.kind = SFTP_KIND_FSYNC, .handle = handle_of(f)};
    return sftp_ask_status(c, &q);
}
