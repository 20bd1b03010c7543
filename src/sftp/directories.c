/* OPENDIR and READDIR. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "sftp/internal.h"
#include "sftp/wire/longname.h"

#define NAMES_MAX 100 /* of one answer */
/* Clients of version 3 need not take a packet over 34000 bytes (draft 3). */
#define ANSWER_MAX 32768
#define ENTRY_MAX  (4 + NAME_LEN_MAX + 4 + SFTP_LONGNAME_MAX + SFTP_ATTRIBUTES_MAX)
#define FIRST_ROOM 4096 /* enough for most directories */

static PARKS int open_counted(struct sftp_server *s, const struct sftp_request *q,
                              struct sftp_open **ret)
{
    struct vpath path;
    struct vdir *dir;
    int r = sftp_path(s, q->path, &path);
    if (r < 0)
        return r;
    r = vfs_dir_open(s->session->vfs, &path, &dir);
    if (r == 0) {
        r = sftp_open_new(s, ret);
        if (r < 0)
            (void)vdir_close(dir);
    }
    if (r < 0) {
        vpath_done(&path);
        return r;
    }
    (*ret)->dir = dir;
    (*ret)->path = path;
    return 0;
}

/* Counted before it is open: channels of one session open them at the same time. */
static PARKS int open_dir(struct sftp_server *s, const struct sftp_request *q,
                          struct sftp_open **ret)
{
    if (s->session->sftp_directories == SFTP_DIRS_MAX)
        return -EMFILE;
    s->session->sftp_directories++;
    int r = open_counted(s, q, ret);
    if (r < 0)
        s->session->sftp_directories--;
    return r;
}

int sftp_on_opendir(struct sftp_server *s, const struct sftp_request *q)
{
    struct sftp_open *open;
    int r = open_dir(s, q, &open);
    return r < 0 ? sftp_say_result(s, q->id, r) : sftp_say_handle(s, q->id, open);
}

/* The next entry: 1; 0: there is none; or a failure. */
static PARKS int next_entry(struct sftp_open *open, const struct ventry **ret)
{
    if (open->entry_at == open->entry_count) {
        int r = vdir_next(open->dir, &open->entries);
        open->entry_at = 0;
        open->entry_count = r > 0 ? (unsigned)r : 0;
        if (r <= 0)
            return r;
    }
    *ret = &open->entries[open->entry_at++];
    return 1;
}

static void add_entry(struct wire_writer *w, const struct ventry *e, int64_t now_us)
{
    char line[SFTP_LONGNAME_MAX];
    struct sftp_attributes a = sftp_attributes_of(&e->stat);
    struct bytes name = bytes_of(e->name, e->name_len);
    sftp_names_add(w, name, sftp_longname(name, &a, e->stat.links, now_us, line), &a);
}

/* As many as one answer takes, of the batch that is here: an answer does not wait for the next
 * batch. Returns the count, 0 at the end. */
static PARKS int add_entries(struct sftp_open *open, struct buf *answer, uint32_t id)
{
    int64_t now_us = clock_wall_us();
    int count = 0;
    struct wire_writer w = wire_writer_of(answer->data, answer->room);
    sftp_names_begin(&w, id);
    while (count < NAMES_MAX && (count == 0 || open->entry_at < open->entry_count)) {
        const struct ventry *e;
        int r = next_entry(open, &e);
        if (r <= 0)
            return r;
        answer->len = w.len;
        r = buf_reserve(answer, ENTRY_MAX);
        if (r < 0 && count > 0) {
            open->entry_at--; /* for the next answer */
            break;
        }
        if (r < 0)
            return r;
        w.data = answer->data;
        w.cap = answer->room;
        add_entry(&w, e, now_us);
        count++;
    }
    sftp_names_end(&w, 0, (uint32_t)count);
    answer->len = w.len;
    return wire_write_end(&w) < 0 ? -FERRY_ELIMIT : count;
}

int sftp_on_readdir(struct sftp_server *s, const struct sftp_request *q)
{
    struct sftp_open *open = sftp_open_dir(s, q->handle);
    if (open == NULL)
        return sftp_say_result(s, q->id, -EBADF);
    struct buf answer;
    buf_init(&answer, ANSWER_MAX);
    int r = buf_reserve(&answer, FIRST_ROOM);
    if (r == 0)
        r = add_entries(open, &answer, q->id);
    if (r > 0)
        r = stream_write_bytes(s->stream, buf_bytes(&answer));
    else if (r == 0)
        r = sftp_say_status(s, q->id, SFTP_EOF, "end of the directory");
    else
        r = sftp_say_result(s, q->id, r);
    buf_done(&answer);
    return r;
}
