/* Directories that come as one stream of tar. What links in them lead to, and the rest after a
 * stream that does not end well, comes file by file. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/copy_internal.h"
#include "client/copy/names.h"
#include "client/copy/tar_get.h"
#include "tar/tar.h"

#define LINKS_BYTES ((size_t)16 * 1024 * 1024) /* their names */

/* A link to a directory, which is a source by itself for whoever copies out of it. */
struct linked {
    struct linked *next;
    struct copy_source source;
    char *path;
};

struct copy_stream_get {
    struct copy_stream_get *next;
    struct copy *copy;
    const struct copy_source *source;
    struct item item; /* stands for all of it where it is shown what runs */
    struct copy_tar_get get;
    struct directory *top; /* until all that is to be in it is there */
    struct buf made;       /* what directories get then */
    struct buf links;      /* names, each with a NUL behind it */
    struct linked *linked;
    struct copy_sent sent;
    uint64_t stored_bytes;
    int result; /* how a stream that had begun has failed; 0: it has not */
    bool is_walked;
    uint64_t failed_by; /* failures of the copy before that */
};

/* -- what the stream tells -- */

static void tell(struct copy_stream_get *s, struct copy_file *f, struct bytes path,
                 struct bytes target, usec_t took_us, bool is_mended)
{
    const struct copy_event event = {.kind = COPY_EVENT_FILE,
                                     .source = s->source,
                                     .path = path,
                                     .target = target,
                                     .result = f->result,
                                     .side = f->side,
                                     .why = f->why,
                                     .file = f,
                                     .is_mended = is_mended,
                                     .took_us = took_us};
    copy_tell(s->copy, &event);
}

static void on_stored(void *arg, struct bytes path, uint64_t bytes, usec_t took_us)
{
    struct copy_stream_get *s = arg;
    struct copy *c = s->copy;
    char *from = copy_name_join(bytes_str(s->source->path), path);
    char *to = copy_name_join(bytes_str(s->item.file.target_path), path);
    struct copy_file f = {.settings = &c->settings.files,
                          .source = s->source->end,
                          .target = c->target->end,
                          .method = "tar",
                          .moved_bytes = bytes,
                          .size_bytes = bytes};
    c->totals.found_files++;
    c->totals.found_bytes += bytes;
    c->totals.files++;
    c->totals.bytes += bytes;
    s->stored_bytes += bytes;
    if (from != NULL && to != NULL) /* else it is there, and just not told of */
        tell(s, &f, bytes_str(from), bytes_str(to), took_us, false);
    mem_free(from);
    mem_free(to);
}

static void on_failed(void *arg, struct bytes path, enum copy_side side, int result)
{
    struct copy_stream_get *s = arg;
    char *whole = copy_name_join(bytes_str(s->source->path), path);
    copy_sent_add_told(&s->sent, path);
    copy_tell_failure(s->copy, s->source, whole != NULL ? bytes_str(whole) : path, side, result,
                      side == COPY_SIDE_SOURCE ? "so the server's tar sent it" : "");
    mem_free(whole);
}

static int on_link(void *arg, struct bytes path)
{
    struct copy_stream_get *s = arg;
    int r = buf_append_bytes(&s->links, path);
    return r < 0 ? r : buf_append_byte(&s->links, '\0');
}

static void tell_stream(struct copy_stream_get *s, bool is_mended)
{
    struct copy_file *f = &s->item.file;
    f->result = s->result;
    f->side = COPY_SIDE_SOURCE;
    f->method = "tar";
    (void)text_copy_printable(f->why, sizeof(f->why), bytes_str(s->get.why));
    tell(s, f, bytes_str(f->source_path), bytes_str(f->target_path),
         clock_now() - f->started_at, is_mended);
}

/* -- afterwards -- */

/* Takes the path. */
static PARKS int copy_linked(struct copy_stream_get *s, char *path,
                             const struct endpoint_facts *facts, char *place)
{
    struct linked *l = mem_new(sizeof(*l));
    if (l == NULL) {
        mem_free(path);
        return -ENOMEM;
    }
    l->path = path;
    l->source = (struct copy_source){s->source->end, NULL, path, s->source->shown};
    l->next = s->linked;
    s->linked = l;
    return copy_walk_source(s->copy, &l->source, facts, place);
}

static PARKS int copy_link(struct copy_stream_get *s, struct bytes name)
{
    struct copy *c = s->copy;
    struct endpoint *e;
    struct endpoint_facts facts;
    char *path = copy_name_join(bytes_str(s->source->path), name);
    char *place = copy_name_join(bytes_str(s->item.file.target_path), name);
    int r = path == NULL || place == NULL ? -ENOMEM : copy_end_enter(s->source->end, &e);
    if (r == 0) {
        r = e->ops->stat(e, bytes_str(path), true, &facts);
        copy_end_leave(s->source->end, r);
        if (r == 0 && facts.kind == ENDPOINT_OTHER)
            r = -FERRY_ENOTREG;
        if (r < 0 && !copy_is_fatal(c, s->source, r)) {
            copy_tell_failure(c, s->source, bytes_str(path), COPY_SIDE_SOURCE, r, "");
            r = 1;
        }
    }
    if (r == 0 && facts.kind == ENDPOINT_DIRECTORY) {
        r = copy_linked(s, path, &facts, place);
        path = NULL;
    } else if (r == 0) {
        r = copy_add_file(c, s->source, bytes_str(path), &facts, NULL, place);
        place = NULL;
    }
    mem_free(path);
    mem_free(place);
    return copy_is_fatal(c, s->source, r) ? r : 0;
}

static PARKS int copy_links(struct copy_stream_get *s)
{
    struct bytes rest = buf_bytes(&s->links);
    int r = 0;
    while (rest.len > 0 && r == 0)
        r = copy_link(s, bytes_take_until(&rest, '\0'));
    return r;
}

/* What the stream brought is found, and the rest is fetched; links, too. */
static PARKS int go_on_by_file(struct copy_stream_get *s, const struct endpoint_facts *facts)
{
    struct copy *c = s->copy;
    tell_stream(s, true);
    s->failed_by = c->totals.failed;
    c->totals.files -= s->get.files; /* they are counted when they are found, */
    c->totals.bytes -= s->stored_bytes;
    c->totals.found_files -= s->get.files;
    c->totals.found_bytes -= s->stored_bytes;
    s->sent.tells_each = true; /* and have been told of */
    c->totals.directories--;
    c->sent = &s->sent;
    int r = copy_walk_source(c, s->source, facts, s->item.file.target_path);
    c->sent = NULL;
    s->is_walked = r == 0;
    return r;
}

static PARKS int end_stream(struct copy_stream_get *s, const struct endpoint_facts *facts,
                            int r)
{
    struct copy *c = s->copy;
    if (!s->get.has_begun || r == -EOPNOTSUPP)
        return copy_is_loss(r) ? -EOPNOTSUPP : r;
    if (r >= 0) {
        c->totals.directories += s->get.directories;
        return copy_links(s);
    }
    s->result = r;
    if (r == -ECANCELED || r == -ENOMEM)
        return r;
    if (r == -FERRY_ELIMIT) { /* who sends such things is asked for no more */
        tell_stream(s, false);
        s->result = 0;
        return 0;
    }
    return go_on_by_file(s, facts);
}

static PARKS int run_stream(struct copy_stream_get *s, const struct endpoint_facts *facts,
                            char *place)
{
    struct copy *c = s->copy;
    const struct copy_source *source = s->source;
    int r = copy_stream_begin(c, &s->item, &s->sent, facts, place, &s->top);
    if (r < 0)
        return copy_is_fatal(c, source, r) ? r : 0;
    s->get = (struct copy_tar_get){.settings = &c->settings.files,
                                   .source = source->end,
                                   .target = c->target->end,
                                   .top = bytes_str(source->path),
                                   .place = s->item.file.target_path,
                                   .now_us = s->sent.mtime_us,
                                   .stored = on_stored,
                                   .failed = on_failed,
                                   .link = on_link,
                                   .arg = s,
                                   .progress = &s->item.file.progress,
                                   .made = &s->made};
    list_append(&c->running, &s->item.node);
    r = copy_tar_get(&s->get);
    list_remove(&s->item.node);
    r = end_stream(s, facts, r);
    if (r == -EOPNOTSUPP)
        c->totals.directories--; /* it is entered again */
    return r;
}

int copy_stream_get_source(struct copy *c, const struct copy_source *source,
                           const struct endpoint_facts *facts, char *place)
{
    struct copy_stream_get *s = mem_new(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->copy = c;
    s->source = s->item.source = source;
    s->next = c->gets;
    c->gets = s;
    list_init(&s->item.node);
    buf_init(&s->made, LINKS_BYTES);
    buf_init(&s->links, LINKS_BYTES);
    int r = run_stream(s, facts, place);
    if (r == -EOPNOTSUPP && c->settings.method == COPY_METHOD_TAR) {
        copy_tell_failure(c, source, bytes_str(source->path), COPY_SIDE_SOURCE, r,
                          "the server has no tar; leave --method away");
        return 0;
    }
    c->has_plan = r != -EOPNOTSUPP;
    return r;
}

/* -- when all is through -- */

static PARKS void set_directories(struct copy_stream_get *s)
{
    struct endpoint *e;
    if (s->made.len == 0 || s->copy->fatal < 0)
        return;
    int r = copy_end_enter(s->copy->target->end, &e);
    if (r < 0)
        return;
    r = tar_set_directories(endpoint_vfs(e), &s->made);
    copy_end_leave(s->copy->target->end, 0);
    if (r < 0 && s->copy->settings.files.preserves)
        copy_tell_failure(s->copy, s->source, bytes_str(s->source->path), COPY_SIDE_TARGET, r,
                          "modes and times of directories could not be set");
}

static PARKS void settle(struct copy_stream_get *s)
{
    struct copy *c = s->copy;
    set_directories(s);
    copy_close_directory(c, s->top);
    s->top = NULL;
    if (s->result == 0 || s->result == -ECANCELED || s->result == -ENOMEM)
        return;
    bool is_mended = s->is_walked && c->fatal == 0 &&
                     (copy_is_loss(s->result) || s->sent.missing_files > 0 ||
                      c->totals.failed != s->failed_by);
    if (!is_mended && c->fatal != -ECANCELED && c->fatal != -ENOMEM)
        tell_stream(s, false); /* all files are there: it complained of something else */
}

void copy_settle_gets(struct copy *c)
{
    for (struct copy_stream_get *s = c->gets; s != NULL; s = s->next)
        settle(s);
}

static void free_linked(struct linked *l)
{
    while (l != NULL) {
        struct linked *next = l->next;
        mem_free(l->path);
        mem_free(l);
        l = next;
    }
}

void copy_gets_done(struct copy *c)
{
    while (c->gets != NULL) {
        struct copy_stream_get *s = c->gets;
        c->gets = s->next;
        copy_sent_done(&s->sent);
        copy_file_done(&s->item.file);
        buf_done(&s->made);
        buf_done(&s->links);
        free_linked(s->linked);
        mem_free(s);
    }
}
