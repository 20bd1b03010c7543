/* Answers that are one message: status, handle, attributes, name. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "sftp/internal.h"

/* As OpenSSH's sftp-server has it, so that clients see what they are used to; everything else
 * is a failure. */
static const struct {
    int result;
    enum sftp_status status;
} statuses[] = {
    {-ENOENT, SFTP_NO_SUCH_FILE},         {-ENOTDIR, SFTP_NO_SUCH_FILE},
    {-EBADF, SFTP_NO_SUCH_FILE},          {-ELOOP, SFTP_NO_SUCH_FILE},
    {-FERRY_EBADNAME, SFTP_NO_SUCH_FILE}, {-EPERM, SFTP_PERMISSION_DENIED},
    {-EACCES, SFTP_PERMISSION_DENIED},    {-FERRY_ERIGHTS, SFTP_PERMISSION_DENIED},
    {-ENAMETOOLONG, SFTP_BAD_MESSAGE},    {-EINVAL, SFTP_BAD_MESSAGE},
    {-EBADMSG, SFTP_BAD_MESSAGE},         {-ENOSYS, SFTP_OP_UNSUPPORTED},
};

enum sftp_status sftp_status_of(int result)
{
    if (result >= 0)
        return SFTP_OK;
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (statuses[i].result == result)
            return statuses[i].status;
    return SFTP_FAILURE;
}

int sftp_say(struct sftp_server *s, const struct wire_writer *w)
{
    int r = wire_write_end(w);
    return r < 0 ? r : stream_write_bytes(s->stream, bytes_of(w->data, w->len));
}

int sftp_say_status(struct sftp_server *s, uint32_t id, enum sftp_status status,
                    const char *text)
{
    uint8_t answer[SFTP_SMALL_ANSWER];
    struct wire_writer w = wire_writer_of(answer, sizeof(answer));
    sftp_put_status(&w, id, status, text);
    return sftp_say(s, &w);
}

int sftp_say_result(struct sftp_server *s, uint32_t id, int result)
{
    if (result == -ECANCELED && task_is_cancelled())
        return result;
    return sftp_say_status(s, id, sftp_status_of(result), err_text(result));
}

int sftp_say_handle(struct sftp_server *s, uint32_t id, const struct sftp_open *open)
{
    uint8_t answer[SFTP_SMALL_ANSWER], handle[SFTP_HANDLE_BYTES];
    struct wire_writer w = wire_writer_of(answer, sizeof(answer));
    sftp_handle_bytes(open, handle);
    sftp_put_handle(&w, id, bytes_of(handle, sizeof(handle)));
    return sftp_say(s, &w);
}

/* -- attributes -- */

static const uint32_t kind_modes[] = {
    [VSTAT_FILE] = SFTP_MODE_FILE,
    [VSTAT_DIRECTORY] = SFTP_MODE_DIRECTORY,
    [VSTAT_LINK] = SFTP_MODE_LINK,
    [VSTAT_OTHER] = SFTP_MODE_FIFO,
};

/* Version 3 has 32 bits of seconds without a sign. */
static uint32_t seconds_of(int64_t us)
{
    int64_t s = us / (int64_t)USEC_PER_S;
    return s < 0 ? 0 : s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

struct sftp_attributes sftp_attributes_of(const struct vstat *stat)
{
    return (struct sftp_attributes){
        .has = SFTP_ATTR_SIZE | SFTP_ATTR_OWNER | SFTP_ATTR_MODE | SFTP_ATTR_TIMES,
        .size_bytes = stat->size_bytes,
        .uid = stat->uid,
        .gid = stat->gid,
        .mode = kind_modes[stat->kind] | (stat->mode & 07777),
        .atime_s = seconds_of(stat->atime_us),
        .mtime_s = seconds_of(stat->mtime_us),
    };
}

int sftp_say_attributes(struct sftp_server *s, uint32_t id, const struct vstat *stat)
{
    uint8_t answer[SFTP_SMALL_ANSWER];
    struct sftp_attributes attributes = sftp_attributes_of(stat);
    struct wire_writer w = wire_writer_of(answer, sizeof(answer));
    sftp_put_attrs(&w, id, &attributes);
    return sftp_say(s, &w);
}

int sftp_say_name(struct sftp_server *s, uint32_t id, struct bytes name)
{
    const struct sftp_attributes none = {.has = 0};
    struct buf answer;
    buf_init(&answer, 2 * PATH_LEN_MAX + SFTP_SMALL_ANSWER);
    int r = buf_reserve(&answer, 2 * name.len + 64);
    if (r == 0) {
        struct wire_writer w = wire_writer_of(answer.data, 2 * name.len + 64);
        sftp_names_begin(&w, id);
        sftp_names_add(&w, name, name, &none);
        sftp_names_end(&w, 0, 1);
        r = sftp_say(s, &w);
    }
    buf_done(&answer);
    return r;
}
