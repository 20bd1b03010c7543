/* The client sends: a walk over a tree tells it what, and where it goes. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "scp/client_internal.h"

#define ROOM_BYTES    (480 * 1024)
#define COMPLAINT_MAX 512

struct scp_put {
    struct scp_dialogue dialogue;
    unsigned depth;
};

int scp_client_put_begin(struct stream *stream, scp_complaint *complaint, void *arg,
                         struct scp_put **ret)
{
    struct scp_put *p = mem_new(sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    p->dialogue.lines.stream = stream;
    p->dialogue.complaint = complaint;
    p->dialogue.arg = arg;
    int r = scp_dialogue_hear(&p->dialogue); /* it speaks first */
    if (r == 0)
        *ret = p;
    else
        mem_free(p);
    return r == SCP_SKIP ? -FERRY_EREFUSED : r;
}

int scp_client_put_end(struct scp_put *p)
{
    int r = p->dialogue.has_complained ? SCP_NOT_ALL : 0;
    mem_free(p);
    return r;
}

/* -- lines -- */

static bool is_component(struct bytes name)
{
    return bytes_equal(scp_path_name(name), name) && name.len > 0 && name.len <= NAME_LEN_MAX &&
           memchr(name.data, '\0', name.len) == NULL;
}

/* T if it has times, then C or D. 0, SCP_SKIP. */
static PARKS int announce(struct scp_put *p, enum scp_line_kind kind,
                          const struct scp_file *file)
{
    struct scp_line line = {.kind = SCP_LINE_TIMES,
                            .mode = file->mode & 0777,
                            .size_bytes = kind == SCP_LINE_FILE ? file->size_bytes : 0,
                            .mtime_us = file->mtime_us,
                            .atime_us = file->atime_us,
                            .text = file->name};
    if (!is_component(file->name))
        return -FERRY_EBADNAME;
    int r = file->has_times ? scp_dialogue_ask(&p->dialogue, &line) : 0;
    line.kind = kind;
    return r != 0 ? r : scp_dialogue_ask(&p->dialogue, &line);
}

/* -- directories -- */

int scp_client_put_push(struct scp_put *p, const struct scp_file *directory)
{
    if (p->depth == SCP_DEPTH_MAX)
        return -FERRY_ELIMIT;
    int r = announce(p, SCP_LINE_DIRECTORY, directory);
    p->depth += r == 0;
    return r;
}

int scp_client_put_pop(struct scp_put *p)
{
    assert(p->depth > 0);
    p->depth--;
    return scp_dialogue_ask(&p->dialogue, &(struct scp_line){.kind = SCP_LINE_END});
}

/* -- a file -- */

struct body {
    uint64_t offset, size;
    scp_source *source;
    void *arg;
    int error; /* of the source: zeros go from there on */
};

static PARKS ssize_t fill(struct body *b, const struct room *room)
{
    if (b->error == 0) {
        ssize_t n = b->source(b->arg, b->offset, room->chunk, room->pieces, room->count);
        if (n > 0 || n == -ECANCELED)
            return n;
        b->error = n < 0 ? (int)n : -FERRY_ETRUNCATED;
    }
    for (unsigned i = 0; i < room->count; i++)
        memset(room->pieces[i].iov_base, 0, room->pieces[i].iov_len);
    return (ssize_t)room->len;
}

static PARKS int send_some(struct stream *stream, struct body *b)
{
    struct room room;
    uint64_t left = b->size - b->offset;
    int r = stream_room(stream, left < ROOM_BYTES ? (size_t)left : ROOM_BYTES, &room);
    if (r < 0)
        return r;
    ssize_t n = fill(b, &room);
    if (n < 0) {
        room_drop(&room);
        return (int)n;
    }
    b->offset += (uint64_t)n;
    return stream_send(stream, &room, (size_t)n);
}

/* The server hears of it in the place of "done". */
static PARKS int take_back(struct scp_put *p, const struct scp_file *file, int error)
{
    char text[COMPLAINT_MAX];
    (void)snprintf(text, sizeof(text), "%.*s: %s", (int)file->name.len,
                   (const char *)file->name.data, err_text(error));
    scp_dialogue_note(&p->dialogue, bytes_str(text));
    return scp_dialogue_complain(&p->dialogue, file->name, err_text(error));
}

int scp_client_put_file(struct scp_put *p, const struct scp_file *file, scp_source *source,
                        void *arg)
{
    struct body body = {.size = file->size_bytes, .source = source, .arg = arg};
    int r = announce(p, SCP_LINE_FILE, file);
    while (r == 0 && body.offset < body.size) {
        r = send_some(p->dialogue.lines.stream, &body);
        if (task_turn_is_over())
            task_yield();
    }
    if (r != 0)
        return r;
    r = body.error < 0 ? take_back(p, file, body.error)
                       : scp_lines_say_done(&p->dialogue.lines);
    if (r == 0)
        r = scp_dialogue_hear(&p->dialogue);
    return r == 0 && body.error < 0 ? SCP_SKIP : r;
}
