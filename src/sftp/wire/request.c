#include "sftp/wire/request.h"

#include <errno.h>

#include "base/err.h"

#define READS   false
#define CHANGES true

static const struct sftp_kind_row table[SFTP_KIND_COUNT] = {
    [SFTP_KIND_OPEN] = {"open", NULL, NULL, "pfa", SFTP_OPEN, READS},
    [SFTP_KIND_CLOSE] = {"close", NULL, NULL, "h", SFTP_CLOSE, READS},
    [SFTP_KIND_READ] = {"read", NULL, NULL, "hol", SFTP_READ, READS},
    [SFTP_KIND_WRITE] = {"write", NULL, NULL, "hod", SFTP_WRITE, CHANGES},
    [SFTP_KIND_LSTAT] = {"lstat", NULL, NULL, "p", SFTP_LSTAT, READS},
    [SFTP_KIND_FSTAT] = {"fstat", NULL, NULL, "h", SFTP_FSTAT, READS},
    [SFTP_KIND_SETSTAT] = {"setstat", NULL, NULL, "pa", SFTP_SETSTAT, CHANGES},
    [SFTP_KIND_FSETSTAT] = {"fsetstat", NULL, NULL, "ha", SFTP_FSETSTAT, CHANGES},
    [SFTP_KIND_OPENDIR] = {"opendir", NULL, NULL, "p", SFTP_OPENDIR, READS},
    [SFTP_KIND_READDIR] = {"readdir", NULL, NULL, "h", SFTP_READDIR, READS},
    [SFTP_KIND_REMOVE] = {"remove", NULL, NULL, "p", SFTP_REMOVE, CHANGES},
    [SFTP_KIND_MKDIR] = {"mkdir", NULL, NULL, "pa", SFTP_MKDIR, CHANGES},
    [SFTP_KIND_RMDIR] = {"rmdir", NULL, NULL, "p", SFTP_RMDIR, CHANGES},
    [SFTP_KIND_REALPATH] = {"realpath", NULL, NULL, "p", SFTP_REALPATH, READS},
    [SFTP_KIND_STAT] = {"stat", NULL, NULL, "p", SFTP_STAT, READS},
    [SFTP_KIND_RENAME] = {"rename", NULL, NULL, "pt", SFTP_RENAME, CHANGES},
    [SFTP_KIND_READLINK] = {"readlink", NULL, NULL, "p", SFTP_READLINK, READS},
    /* The draft has the link first; OpenSSH, and so everybody, the target (PROTOCOL 4.1). */
    [SFTP_KIND_SYMLINK] = {"symlink", NULL, NULL, "pt", SFTP_SYMLINK, CHANGES},
    [SFTP_KIND_POSIX_RENAME] = {"posix-rename", "posix-rename@openssh.com", "1", "pt",
                                SFTP_EXTENDED, CHANGES},
    [SFTP_KIND_STATVFS] = {"statvfs", "statvfs@openssh.com", "2", "p", SFTP_EXTENDED, READS},
    [SFTP_KIND_FSTATVFS] = {"fstatvfs", "fstatvfs@openssh.com", "2", "h", SFTP_EXTENDED, READS},
    [SFTP_KIND_HARDLINK] = {"hardlink", "hardlink@openssh.com", "1", "pt", SFTP_EXTENDED,
                            CHANGES},
    [SFTP_KIND_FSYNC] = {"fsync", "fsync@openssh.com", "1", "h", SFTP_EXTENDED, CHANGES},
    [SFTP_KIND_LSETSTAT] = {"lsetstat", "lsetstat@openssh.com", "1", "pa", SFTP_EXTENDED,
                            CHANGES},
    [SFTP_KIND_LIMITS] = {"limits", "limits@openssh.com", "1", "", SFTP_EXTENDED, READS},
    [SFTP_KIND_EXPAND_PATH] = {"expand-path", "expand-path@openssh.com", "1", "p",
                               SFTP_EXTENDED, READS},
    [SFTP_KIND_COPY_DATA] = {"copy-data", "copy-data", "1", "hoLwO", SFTP_EXTENDED, CHANGES},
    [SFTP_KIND_HOME_DIRECTORY] = {"home-directory", "home-directory", "1", "p", SFTP_EXTENDED,
                                  READS},
};

const struct sftp_kind_row *sftp_kind_row(enum sftp_kind kind)
{
    return &table[kind];
}

enum sftp_kind sftp_kind_named(struct bytes name)
{
    for (unsigned i = 0; i < SFTP_KIND_COUNT; i++)
        if (bytes_equal(bytes_str(table[i].name), name))
            return (enum sftp_kind)i;
    return SFTP_KIND_UNKNOWN;
}

static enum sftp_kind kind_of(uint8_t type, struct bytes extension)
{
    for (unsigned i = 0; i < SFTP_KIND_COUNT; i++) {
        if (table[i].type != type)
            continue;
        if (type != SFTP_EXTENDED || bytes_equal(bytes_str(table[i].extension), extension))
            return (enum sftp_kind)i;
    }
    return SFTP_KIND_UNKNOWN;
}

/* -- one field -- */

static void get_field(struct wire_reader *r, char field, struct sftp_request *q)
{
    switch (field) {
    case 'p':
        q->path = wire_get_string(r, SFTP_MESSAGE_MAX);
        break;
    case 't':
        q->to = wire_get_string(r, SFTP_MESSAGE_MAX);
        break;
    case 'h':
        q->handle = wire_get_string(r, SFTP_HANDLE_MAX);
        break;
    case 'w':
        q->to_handle = wire_get_string(r, SFTP_HANDLE_MAX);
        break;
    case 'o':
        q->offset = wire_get_u64(r);
        break;
    case 'O':
        q->to_offset = wire_get_u64(r);
        break;
    case 'l':
        q->len = wire_get_u32(r);
        break;
    case 'L':
        q->len = wire_get_u64(r);
        break;
    case 'f':
        q->flags = wire_get_u32(r);
        break;
    case 'a':
        sftp_get_attributes(r, &q->attributes);
        break;
    default: /* 'd' */
        q->data = wire_get_string(r, SFTP_MESSAGE_MAX);
        q->len = q->data.len;
        break;
    }
}

static void put_field(struct wire_writer *w, char field, const struct sftp_request *q)
{
    switch (field) {
    case 'p':
        wire_put_string(w, q->path);
        break;
    case 't':
        wire_put_string(w, q->to);
        break;
    case 'h':
        wire_put_string(w, q->handle);
        break;
    case 'w':
        wire_put_string(w, q->to_handle);
        break;
    case 'o':
        wire_put_u64(w, q->offset);
        break;
    case 'O':
        wire_put_u64(w, q->to_offset);
        break;
    case 'l':
        wire_put_u32(w, (uint32_t)q->len);
        break;
    case 'L':
        wire_put_u64(w, q->len);
        break;
    case 'f':
        wire_put_u32(w, q->flags);
        break;
    case 'a':
        sftp_put_attributes(w, &q->attributes);
        break;
    default: /* 'd' */
        wire_put_string(w, q->data);
        break;
    }
}

/* -- the whole -- */

int sftp_request_parse(struct bytes message, struct sftp_request *ret)
{
    struct wire_reader r = wire_reader_of(message);
    uint8_t type = wire_get_u8(&r);
    struct sftp_request q = {.id = wire_get_u32(&r)};
    if (r.has_failed)
        return -FERRY_EPROTO;
    struct bytes extension = BYTES_NONE;
    if (type == SFTP_EXTENDED)
        extension = wire_get_string(&r, SFTP_EXTENSION_MAX);
    q.kind = kind_of(type, extension);
    if (q.kind != SFTP_KIND_UNKNOWN)
        for (const char *field = table[q.kind].fields; *field != '\0'; field++)
            get_field(&r, *field, &q);
    *ret = q;
    return r.has_failed && q.kind != SFTP_KIND_UNKNOWN ? -EBADMSG : 0;
}

/* Where the length of a message goes that is written now. */
static size_t begin(struct wire_writer *w)
{
    size_t at = w->len;
    wire_put_u32(w, 0);
    return at;
}

static void end(struct wire_writer *w, size_t at)
{
    if (!w->has_failed)
        wire_set_u32(w->data + at, (uint32_t)(w->len - at - SFTP_LENGTH_BYTES));
}

void sftp_request_write(struct wire_writer *w, const struct sftp_request *q)
{
    const struct sftp_kind_row *row = &table[q->kind];
    size_t at = begin(w);
    wire_put_u8(w, (uint8_t)row->type);
    wire_put_u32(w, q->id);
    if (row->extension != NULL)
        wire_put_string(w, bytes_str(row->extension));
    for (const char *field = row->fields; *field != '\0'; field++)
        put_field(w, *field, q);
    end(w, at);
}

void sftp_write_head(struct wire_writer *w, uint32_t id, struct bytes handle, uint64_t offset,
                     uint32_t len)
{
    size_t at = begin(w);
    wire_put_u8(w, SFTP_WRITE);
    wire_put_u32(w, id);
    wire_put_string(w, handle);
    wire_put_u64(w, offset);
    wire_put_u32(w, len);
    if (!w->has_failed)
        wire_set_u32(w->data + at, (uint32_t)(w->len - at - SFTP_LENGTH_BYTES + len));
}

bool sftp_write_head_parse(const uint8_t at[SFTP_WRITE_HEAD], struct sftp_request *ret)
{
    struct wire_reader r = wire_reader_of(bytes_of(at, SFTP_WRITE_HEAD));
    uint32_t message_len = wire_get_u32(&r);
    uint8_t type = wire_get_u8(&r);
    struct sftp_request q = {.kind = SFTP_KIND_WRITE, .id = wire_get_u32(&r)};
    q.handle = wire_get_string(&r, SFTP_HANDLE_BYTES);
    q.offset = wire_get_u64(&r);
    uint32_t len = wire_get_u32(&r);
    q.len = len;
    if (type != SFTP_WRITE || wire_read_end(&r) < 0 || message_len > SFTP_MESSAGE_MAX ||
        message_len < SFTP_WRITE_HEAD - SFTP_LENGTH_BYTES ||
        len != message_len - (SFTP_WRITE_HEAD - SFTP_LENGTH_BYTES))
        return false;
    *ret = q;
    return true;
}

int sftp_init_parse(struct bytes message, uint32_t *ret_version)
{
    struct wire_reader r = wire_reader_of(message);
    uint8_t type = wire_get_u8(&r);
    uint32_t version = wire_get_u32(&r);
    if (r.has_failed || type != SFTP_INIT)
        return -FERRY_EPROTO;
    *ret_version = version;
    return 0;
}

void sftp_init_write(struct wire_writer *w, uint32_t version)
{
    size_t at = begin(w);
    wire_put_u8(w, SFTP_INIT);
    wire_put_u32(w, version);
    end(w, at);
}
