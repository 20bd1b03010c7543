#include "sftp/wire/answer.h"

#include "base/err.h"

/* -- writing -- */

static size_t begin(struct wire_writer *w, enum sftp_type type, uint32_t id)
{
    size_t start = w->len;
    wire_put_u32(w, 0);
    wire_put_u8(w, (uint8_t)type);
    wire_put_u32(w, id);
    return start;
}

static void end(struct wire_writer *w, size_t start)
{
    if (!w->has_failed)
        wire_set_u32(w->data + start, (uint32_t)(w->len - start - SFTP_LENGTH_BYTES));
}

void sftp_put_version(struct wire_writer *w, uint32_t version)
{
    end(w, begin(w, SFTP_VERSION_ANSWER, version));
}

void sftp_add_extension(struct wire_writer *w, size_t start, const char *name,
                        const char *version)
{
    wire_put_string(w, bytes_str(name));
    wire_put_string(w, bytes_str(version));
    end(w, start);
}

void sftp_put_status(struct wire_writer *w, uint32_t id, enum sftp_status status,
                     const char *text)
{
    size_t start = begin(w, SFTP_STATUS, id);
    wire_put_u32(w, status);
    wire_put_string(w, bytes_str(text));
    wire_put_string(w, BYTES_NONE); /* language: RFC 3066 has no word for ours */
    end(w, start);
}

void sftp_put_handle(struct wire_writer *w, uint32_t id, struct bytes handle)
{
    size_t start = begin(w, SFTP_HANDLE, id);
    wire_put_string(w, handle);
    end(w, start);
}

void sftp_put_attrs(struct wire_writer *w, uint32_t id, const struct sftp_attributes *a)
{
    size_t start = begin(w, SFTP_ATTRS, id);
    sftp_put_attributes(w, a);
    end(w, start);
}

void sftp_data_head(uint8_t at[SFTP_DATA_HEAD], uint32_t id, uint32_t len)
{
    struct wire_writer w = wire_writer_of(at, SFTP_DATA_HEAD);
    wire_put_u32(&w, SFTP_DATA_HEAD - SFTP_LENGTH_BYTES + len);
    wire_put_u8(&w, SFTP_DATA);
    wire_put_u32(&w, id);
    wire_put_u32(&w, len);
}

#define NAMES_COUNT_AT (SFTP_LENGTH_BYTES + 5)

void sftp_names_begin(struct wire_writer *w, uint32_t id)
{
    (void)begin(w, SFTP_NAME, id);
    wire_put_u32(w, 0);
}

void sftp_names_add(struct wire_writer *w, struct bytes name, struct bytes longname,
                    const struct sftp_attributes *a)
{
    wire_put_string(w, name);
    wire_put_string(w, longname);
    sftp_put_attributes(w, a);
}

void sftp_names_end(struct wire_writer *w, size_t start, uint32_t count)
{
    if (!w->has_failed)
        wire_set_u32(w->data + start + NAMES_COUNT_AT, count);
    end(w, start);
}

void sftp_put_space(struct wire_writer *w, uint32_t id, const struct sftp_space *s)
{
    size_t start = begin(w, SFTP_EXTENDED_REPLY, id);
    wire_put_u64(w, s->block_bytes);
    wire_put_u64(w, s->fragment_bytes);
    wire_put_u64(w, s->blocks);
    wire_put_u64(w, s->blocks_free);
    wire_put_u64(w, s->blocks_available);
    wire_put_u64(w, s->files);
    wire_put_u64(w, s->files_free);
    wire_put_u64(w, s->files_available);
    wire_put_u64(w, s->id);
    wire_put_u64(w, s->flags);
    wire_put_u64(w, s->name_max);
    end(w, start);
}

void sftp_put_limits(struct wire_writer *w, uint32_t id, const struct sftp_limits *l)
{
    size_t start = begin(w, SFTP_EXTENDED_REPLY, id);
    wire_put_u64(w, l->packet_bytes);
    wire_put_u64(w, l->read_bytes);
    wire_put_u64(w, l->write_bytes);
    wire_put_u64(w, l->handles);
    end(w, start);
}

/* -- reading -- */

/* Text and language are newer than some servers. */
static void get_status(struct wire_reader *r, struct sftp_answer *a)
{
    uint32_t status = wire_get_u32(r);
    a->status = status < SFTP_STATUS_COUNT ? (enum sftp_status)status : SFTP_FAILURE;
    if (r->left == 0)
        return;
    a->text = wire_get_string(r, SFTP_MESSAGE_MAX);
    if (r->left > 0)
        (void)wire_get_string(r, SFTP_MESSAGE_MAX);
}

static bool get_fields(struct wire_reader *r, uint8_t type, struct sftp_answer *a)
{
    switch (type) {
    case SFTP_STATUS:
        get_status(r, a);
        return true;
    case SFTP_HANDLE:
        a->handle = wire_get_string(r, SFTP_HANDLE_MAX);
        return true;
    case SFTP_DATA:
        a->data = wire_get_string(r, SFTP_MESSAGE_MAX);
        return true;
    case SFTP_ATTRS:
        sftp_get_attributes(r, &a->attributes);
        return true;
    case SFTP_NAME:
        a->count = wire_get_u32(r);
        return true;
    case SFTP_VERSION_ANSWER:
    case SFTP_EXTENDED_REPLY:
        return true;
    default:
        return false;
    }
}

int sftp_answer_parse(struct bytes message, struct sftp_answer *ret)
{
    struct wire_reader r = wire_reader_of(message);
    uint8_t type = wire_get_u8(&r);
    struct sftp_answer a = {.id = wire_get_u32(&r)};
    if (!get_fields(&r, type, &a) || r.has_failed)
        return -FERRY_EPROTO;
    a.type = (enum sftp_type)type;
    a.rest = r;
    *ret = a;
    return 0;
}

bool sftp_answer_name(struct sftp_answer *a, struct bytes *ret_name, struct bytes *ret_longname,
                      struct sftp_attributes *ret)
{
    if (a->type != SFTP_NAME || a->count == 0)
        return false;
    a->count--;
    struct bytes name = wire_get_string(&a->rest, SFTP_MESSAGE_MAX);
    struct bytes longname = wire_get_string(&a->rest, SFTP_MESSAGE_MAX);
    struct sftp_attributes attributes;
    sftp_get_attributes(&a->rest, &attributes);
    if (a->rest.has_failed)
        return false;
    *ret_name = name;
    *ret_longname = longname;
    *ret = attributes;
    return true;
}

bool sftp_answer_extension(struct sftp_answer *a, struct bytes *ret_name,
                           struct bytes *ret_version)
{
    if (a->type != SFTP_VERSION_ANSWER || a->rest.left == 0)
        return false;
    struct bytes name = wire_get_string(&a->rest, SFTP_MESSAGE_MAX);
    struct bytes version = wire_get_string(&a->rest, SFTP_MESSAGE_MAX);
    if (a->rest.has_failed)
        return false;
    *ret_name = name;
    *ret_version = version;
    return true;
}

int sftp_answer_space(struct sftp_answer *a, struct sftp_space *ret)
{
    struct sftp_space s;
    uint64_t *const fields[] = {&s.block_bytes, &s.fragment_bytes,   &s.blocks,
                                &s.blocks_free, &s.blocks_available, &s.files,
                                &s.files_free,  &s.files_available,  &s.id,
                                &s.flags,       &s.name_max};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        *fields[i] = wire_get_u64(&a->rest);
    if (a->type != SFTP_EXTENDED_REPLY || a->rest.has_failed)
        return -FERRY_EPROTO;
    *ret = s;
    return 0;
}

int sftp_answer_limits(struct sftp_answer *a, struct sftp_limits *ret)
{
    struct sftp_limits l = {.packet_bytes = wire_get_u64(&a->rest)};
    l.read_bytes = wire_get_u64(&a->rest);
    l.write_bytes = wire_get_u64(&a->rest);
    l.handles = wire_get_u64(&a->rest);
    if (a->type != SFTP_EXTENDED_REPLY || a->rest.has_failed)
        return -FERRY_EPROTO;
    *ret = l;
    return 0;
}
