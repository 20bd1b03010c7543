/* What both directions of scp have in common: lines, answers, complaints. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "scp/internal.h"

#define COMPLAINT_MAX 512

/* -- life -- */

int scp_new(struct session *session, struct stream *stream, const struct scp_options *options,
            struct scp **ret)
{
    struct scp *s = mem_raw(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->session = session;
    s->lines.stream = stream;
    s->options = options;
    s->has_failed = false;
    s->path_len = 0;
    *ret = s;
    return 0;
}

int scp_end(struct scp *s, int result)
{
    bool has_failed = s->has_failed || result == -FERRY_EPROTO || result == -FERRY_EREFUSED;
    mem_free(s);
    return result < 0 && result != -FERRY_EPROTO && result != -FERRY_EREFUSED ? result
                                                                              : has_failed;
}

/* -- reading -- */

/* Between two lines a peer may look for its next file: as long as a session may be idle. */
static int wait_for_line(struct scp *s)
{
    usec_t idle_us = session_timeouts(s->session->shared)->idle_us;
    int r = stream_wait(s->lines.stream, NULL, clock_after(idle_us));
    return r == -ETIMEDOUT ? -FERRY_ESTALLED : r;
}

int scp_read_line(struct scp *s, struct bytes *ret)
{
    int r = wait_for_line(s);
    return r < 0 ? r : scp_lines_read(&s->lines, ret);
}

int scp_read_answer(struct scp *s)
{
    int r = scp_read_word(s);
    return r == SCP_NO_WORD ? -FERRY_ECLOSED : r;
}

int scp_read_word(struct scp *s)
{
    struct bytes text;
    uint8_t first;
    int r = wait_for_line(s);
    if (r == 0)
        r = scp_lines_read_first(&s->lines, &first);
    if (r <= 0)
        return r < 0 ? r : SCP_NO_WORD;
    if (first == '\0')
        return 1;
    s->has_failed = true;
    r = scp_lines_read_rest(&s->lines, &text);
    if (r < 0)
        return r;
    return first == 1 ? 0 : -FERRY_EREFUSED;
}

/* -- saying -- */

int scp_say(struct scp *s, const struct scp_line *line)
{
    return scp_lines_say(&s->lines, line);
}

int scp_say_done(struct scp *s)
{
    return scp_lines_say_done(&s->lines);
}

int scp_complain(struct scp *s, int error)
{
    char text[COMPLAINT_MAX];
    if (error == -ECANCELED)
        return error;
    s->has_failed = true;
    int path_len = (int)(s->path_len < COMPLAINT_MAX / 2 ? s->path_len : COMPLAINT_MAX / 2);
    int len = snprintf(text, sizeof(text), "scp: %.*s: %s", path_len, s->path, err_text(error));
    struct bytes said = bytes_first(bytes_str(text), (size_t)len);
    return scp_say(s, &(struct scp_line){.kind = SCP_LINE_WARNING, .text = said});
}

int scp_refuse(struct scp *s, const char *why)
{
    char text[COMPLAINT_MAX];
    s->has_failed = true;
    snprintf(text, sizeof(text), "scp: %s", why);
    int r = scp_say(s, &(struct scp_line){.kind = SCP_LINE_FATAL, .text = bytes_str(text)});
    return r < 0 ? r : -FERRY_EPROTO;
}

/* -- paths and files -- */

void scp_path_set(struct scp *s, struct bytes path)
{
    s->path_len = bytes_first(path, PATH_LEN_MAX).len;
    memcpy(s->path, path.data, s->path_len);
}

int scp_path_enter(struct scp *s, size_t len, struct bytes name)
{
    if (len > 0 && s->path[len - 1] == '/')
        len--;
    if (name.len > NAME_LEN_MAX || len + 1 + name.len > PATH_LEN_MAX)
        return -ENAMETOOLONG;
    s->path[len] = '/';
    memcpy(s->path + len + 1, name.data, name.len);
    s->path_len = len + 1 + name.len;
    return 0;
}

int scp_path_parse(const struct scp *s, struct vpath *ret)
{
    return vpath_parse(BYTES_LIT("/"), bytes_of(s->path, s->path_len), ret);
}

void scp_audit(const struct scp *s, const char *operation, const struct xfer_result *moved,
               int result)
{
    session_audit(s->session, &(struct audit){
                                  .operation = operation,
                                  .path = bytes_of(s->path, s->path_len),
                                  .bytes = moved->file_bytes,
                                  .wire_bytes = moved->wire_bytes,
                                  .seconds_us = moved->seconds_us,
                                  .result = result,
                              });
}
