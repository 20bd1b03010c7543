/* Handles: what a client has open, and the record of each file. */
#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "sftp/internal.h"

#define SLOTS_FIRST 4

/* -- the table -- */

/* The slot of a free index, which may have to be made. */
static int free_slot(struct sftp_server *s, unsigned *ret)
{
    for (unsigned i = 0; i < s->slot_count; i++) {
        if (s->slots[i] == NULL) {
            *ret = i;
            return 0;
        }
    }
    if (s->slot_count == SFTP_HANDLES_MAX)
        return -EMFILE;
    unsigned count = s->slot_count == 0 ? SLOTS_FIRST : s->slot_count * 2;
    struct sftp_open **slots = mem_resize(s->slots, count * sizeof(struct sftp_open *));
    if (slots == NULL)
        return -ENOMEM;
    for (unsigned i = s->slot_count; i < count; i++)
        slots[i] = NULL;
    *ret = s->slot_count;
    s->slots = slots;
    s->slot_count = count;
    return 0;
}

int sftp_open_new(struct sftp_server *s, struct sftp_open **ret)
{
    unsigned index = 0;
    int r = s->session->sftp_handles < SFTP_HANDLES_MAX ? free_slot(s, &index) : -EMFILE;
    if (r < 0)
        return r;
    struct sftp_open *open = mem_new(sizeof(*open));
    if (open == NULL)
        return -ENOMEM;
    open->index = index;
    open->generation = ++s->last_generation;
    open->opened_at = clock_now();
    s->slots[index] = open;
    s->session->sftp_handles++;
    *ret = open;
    return 0;
}

void sftp_handle_bytes(const struct sftp_open *open, uint8_t dst[SFTP_HANDLE_BYTES])
{
    wire_set_u32(dst, open->index);
    wire_set_u32(dst + 4, open->generation);
}

struct sftp_open *sftp_open_find(const struct sftp_server *s, struct bytes handle)
{
    if (handle.len != SFTP_HANDLE_BYTES)
        return NULL;
    uint32_t index = wire_u32(handle.data);
    struct sftp_open *open = index < s->slot_count ? s->slots[index] : NULL;
    return open != NULL && open->generation == wire_u32(handle.data + 4) ? open : NULL;
}

struct sftp_open *sftp_open_file(const struct sftp_server *s, struct bytes handle)
{
    struct sftp_open *open = sftp_open_find(s, handle);
    return open != NULL && open->file != NULL ? open : NULL;
}

struct sftp_open *sftp_open_dir(const struct sftp_server *s, struct bytes handle)
{
    struct sftp_open *open = sftp_open_find(s, handle);
    return open != NULL && open->dir != NULL ? open : NULL;
}

struct sftp_open *sftp_open_hidden(const struct sftp_server *s, const struct vpath *path)
{
    for (unsigned i = 0; i < s->slot_count; i++) {
        struct sftp_open *open = s->slots[i];
        if (open != NULL && open->file != NULL && vhandle_is_hidden(open->file) &&
            bytes_equal(vpath_bytes(&open->path), vpath_bytes(path)))
            return open;
    }
    return NULL;
}

/* -- the end of one -- */

static void write_record(const struct sftp_server *s, const struct sftp_open *open,
                         const char *operation, uint64_t offset, uint64_t bytes)
{
    session_audit(s->session, &(struct audit){
                                  .operation = operation,
                                  .path = vpath_bytes(&open->path),
                                  .offset = offset,
                                  .bytes = bytes,
                                  .wire_bytes = bytes,
                                  .seconds_us = clock_now() - open->opened_at,
                                  .result = open->result,
                              });
    if (open->result >= 0)
        return;
    struct log_record record;
    session_log_begin(s->session, &record, LOG_WARNING, "transfer-failed");
    log_text(&record, "command", operation);
    log_str(&record, "path", vpath_bytes(&open->path));
    log_u64(&record, "bytes", bytes);
    log_err(&record, open->result);
    log_end(&record);
}

/* A file that was opened for both and only read was downloaded; one that nothing was done with
 * was, by what it was opened for. */
static void write_records(const struct sftp_server *s, const struct sftp_open *open)
{
    if (open->writes && (open->written_bytes > 0 || open->read_bytes == 0))
        write_record(s, open, "upload", open->written_from, open->written_bytes);
    if (open->reads && (open->read_bytes > 0 || !open->writes))
        write_record(s, open, "download", open->read_from, open->read_bytes);
}

/* What broke off is no whole file, whatever the client thinks of it. */
static PARKS int close_file(struct sftp_open *open, bool keep)
{
    int r = vhandle_close(open->file, keep && open->result >= 0);
    open->file = NULL;
    if (open->result >= 0)
        open->result = r;
    return open->writes ? open->result : r;
}

static void close_dir(struct sftp_server *s, struct sftp_open *open)
{
    open->dir = vdir_close(open->dir);
    s->session->sftp_directories--;
}

static void free_open(struct sftp_server *s, struct sftp_open *open)
{
    s->session->sftp_handles--;
    vpath_done(&open->path);
    mem_free(open);
}

int sftp_open_close(struct sftp_server *s, struct sftp_open *open, bool keep)
{
    int r = 0;
    s->slots[open->index] = NULL; /* before anything parks: the handle is gone */
    if (!keep && open->result >= 0)
        open->result = -FERRY_ECLOSED;
    task_shield_begin(clock_after(SFTP_CLOSE_US));
    if (open->file != NULL)
        r = close_file(open, keep);
    if (open->dir != NULL)
        close_dir(s, open);
    else
        write_records(s, open);
    task_shield_end();
    free_open(s, open);
    return r;
}

void sftp_open_free_all(struct sftp_server *s)
{
    for (unsigned i = 0; i < s->slot_count; i++) {
        struct sftp_open *open = s->slots[i];
        if (open == NULL)
            continue;
        if (open->dir != NULL) /* outside a task its last job has long run */
            close_dir(s, open);
        if (open->file != NULL) {
            open->result = open->result < 0 ? open->result : -FERRY_ECLOSED;
            write_records(s, open);
        }
        (void)vhandle_free(open->file);
        free_open(s, open);
    }
    mem_free(s->slots);
    s->slots = NULL;
    s->slot_count = 0;
}
