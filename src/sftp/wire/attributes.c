#include "sftp/wire/attributes.h"

#include "sftp/wire/message.h"

#define ALL      (SFTP_ATTR_SIZE | SFTP_ATTR_OWNER | SFTP_ATTR_MODE | SFTP_ATTR_TIMES)
#define EXTENDED 0x80000000u

/* Each pair is eight bytes or the reader fails, so that a count of billions ends soon. */
static void skip_pairs(struct wire_reader *r)
{
    uint32_t count = wire_get_u32(r);
    for (uint32_t i = 0; i < count && !r->has_failed; i++) {
        (void)wire_get_string(r, SFTP_MESSAGE_MAX);
        (void)wire_get_string(r, SFTP_MESSAGE_MAX);
    }
}

void sftp_get_attributes(struct wire_reader *r, struct sftp_attributes *ret)
{
    uint32_t flags = wire_get_u32(r);
    *ret = (struct sftp_attributes){.has = flags & ALL};
    if (flags & SFTP_ATTR_SIZE)
        ret->size_bytes = wire_get_u64(r);
    if (flags & SFTP_ATTR_OWNER) {
        ret->uid = wire_get_u32(r);
        ret->gid = wire_get_u32(r);
    }
    if (flags & SFTP_ATTR_MODE)
        ret->mode = wire_get_u32(r);
    if (flags & SFTP_ATTR_TIMES) {
        ret->atime_s = wire_get_u32(r);
        ret->mtime_s = wire_get_u32(r);
    }
    if (flags & EXTENDED)
        skip_pairs(r);
}

void sftp_put_attributes(struct wire_writer *w, const struct sftp_attributes *a)
{
    wire_put_u32(w, a->has & ALL);
    if (a->has & SFTP_ATTR_SIZE)
        wire_put_u64(w, a->size_bytes);
    if (a->has & SFTP_ATTR_OWNER) {
        wire_put_u32(w, a->uid);
        wire_put_u32(w, a->gid);
    }
    if (a->has & SFTP_ATTR_MODE)
        wire_put_u32(w, a->mode);
    if (a->has & SFTP_ATTR_TIMES) {
        wire_put_u32(w, a->atime_s);
        wire_put_u32(w, a->mtime_s);
    }
}
