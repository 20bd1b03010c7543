/* Directories that go as one stream of tar, and what becomes of a stream that does not end
 * well: it is gone on with file by file. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/copy_internal.h"
#include "client/copy/names.h"
#include "client/copy/tar_get.h"
#include "client/copy/tar_put.h"
#include "io/compress.h"

struct copy_stream {
    struct copy_stream *next;
    struct copy *copy;
    const struct copy_source *source;
    struct item item; /* stands for all of it where it is shown what runs */
    struct copy_tar_put put;
    struct directory *top; /* until all that is to be in it is there */
    struct copy_sent sent;
    int result;         /* how a stream that had begun has failed; 0: it has not */
    bool is_walked;     /* then file by file, to its end */
    char host[256];     /* of the target */
    uint64_t failed_by; /* failures of the copy before that */
};

/* -- what the stream tells -- */

static void on_left_out(void *arg, struct bytes path, int result, const char *why)
{
    struct copy_stream *s = arg;
    char *whole = copy_name_join(bytes_str(s->source->path), path);
    copy_sent_add_told(&s->sent, path);
    copy_tell_failure(s->copy, s->source, whole != NULL ? bytes_str(whole) : path,
                      COPY_SIDE_SOURCE, result, why);
    mem_free(whole);
}

/* It is sent again; or told of, if there are too many of them. */
static void on_damaged(void *arg, struct bytes path, int result)
{
    struct copy_stream *s = arg;
    s->put.files--;
    if (copy_sent_add_damaged(&s->sent, path) < 0)
        on_left_out(s, path, result, "zeros stand there for what could not be read");
}

/* The whole stream is one event: what became of each file is known to the server's tar alone.
 */
static void tell_stream(struct copy_stream *s, int result, const char *why, bool is_mended)
{
    struct copy *c = s->copy;
    struct copy_file *f = &s->item.file;
    f->result = result;
    f->side = COPY_SIDE_TARGET;
    f->method = "tar";
    f->moved_bytes = atomic_load(&f->progress.file_bytes);
    f->size_bytes = result == 0 ? f->moved_bytes : 0;
    (void)text_copy_printable(f->why, sizeof(f->why), bytes_str(why));
    const struct copy_event event = {.kind = COPY_EVENT_FILE,
                                     .source = s->source,
                                     .path = bytes_str(f->source_path),
                                     .target = bytes_str(f->target_path),
                                     .result = result,
                                     .side = f->side,
                                     .why = f->why,
                                     .file = f,
                                     .is_mended = is_mended,
                                     .took_us = clock_now() - f->started_at};
    copy_tell(c, &event);
}

static void note_packing(struct copy_stream *s)
{
    static const char *const names[] = {
        [TAR_PLAIN] = NULL, [TAR_GZIP] = "gzip", [TAR_ZSTD] = "zstd"};
    struct copy *c = s->copy;
    const char *name = names[s->put.filter];
    bool is_chosen = c->settings.packing.level == COMPRESS_AUTO;
    s->item.file.compression = name;
    c->packing[0] = '\0';
    if (s->put.has_begun && name != NULL)
        snprintf(c->packing, sizeof(c->packing), "%s of the stream of tar, level %s%d", name,
                 is_chosen ? "chosen, last " : "", s->put.level);
}

/* -- afterwards -- */

/* What stands there has zeros for its end, and is not to stay. */
static PARKS void remove_damaged(struct copy *c, const char *place)
{
    struct endpoint *e;
    int r = copy_end_enter(c->target->end, &e);
    if (r < 0)
        return;
    r = e->ops->remove(e, bytes_str(place));
    copy_end_leave(c->target->end, r);
}

static PARKS int send_again(struct copy_stream *s, struct bytes name)
{
    struct copy *c = s->copy;
    struct endpoint *e;
    struct endpoint_facts facts;
    struct bytes top = bytes_str(s->source->path);
    char *path = copy_name_join(top, name);
    char *place = copy_name_join(bytes_str(s->item.file.target_path), name);
    int r = path == NULL || place == NULL ? -ENOMEM : copy_end_enter(s->source->end, &e);
    if (r == 0) {
        r = e->ops->stat(e, bytes_str(path), true, &facts);
        copy_end_leave(s->source->end, r);
        if (r == 0 && facts.kind != ENDPOINT_FILE)
            r = -FERRY_ENOTREG;
        if (r < 0 && !copy_is_fatal(c, s->source, r)) {
            copy_tell_failure(c, s->source, bytes_str(path), COPY_SIDE_SOURCE, r,
                              "it changed while it was read");
            remove_damaged(c, place);
        }
    }
    if (r == 0) {
        c->has_remains = true;
        r = copy_add_file(c, s->source, bytes_str(path), &facts, NULL, place);
        c->has_remains = false;
        place = NULL;
    }
    mem_free(path);
    mem_free(place);
    return copy_is_fatal(c, s->source, r) ? r : 0;
}

static PARKS int send_damaged(struct copy_stream *s)
{
    int r = 0;
    for (unsigned i = 0; i < s->sent.damaged_count && r == 0; i++)
        r = send_again(s, bytes_str(s->sent.damaged[i]));
    return r;
}

static PARKS int connect_again(struct copy *c)
{
    struct endpoint *e;
    int r = copy_end_enter(c->target->end, &e);
    if (r == 0)
        copy_end_leave(c->target->end, 0);
    return r;
}

/* What the server's tar has stored is looked for, and the rest is sent. */
static PARKS int go_on_by_file(struct copy_stream *s, const struct endpoint_facts *facts)
{
    struct copy *c = s->copy;
    int r = connect_again(c);
    if (r < 0)
        return r;
    s->sent.is_full = copy_sent_words_say_full(bytes_str(s->put.why));
    s->failed_by = c->totals.failed;
    c->totals.directories--; /* it is entered again */
    tell_stream(s, s->result, s->put.why, true);
    c->sent = &s->sent;
    r = copy_walk_source(c, s->source, facts, s->item.file.target_path);
    c->sent = NULL;
    s->is_walked = r == 0;
    return r;
}

static PARKS int end_stream(struct copy_stream *s, const struct endpoint_facts *facts, int r)
{
    struct copy *c = s->copy;
    if (r == 0) {
        c->totals.files += s->put.files;
        c->totals.directories += s->put.directories;
        c->totals.bytes += atomic_load(&s->item.file.progress.file_bytes);
        tell_stream(s, 0, "", false);
        return send_damaged(s);
    }
    if (!s->put.has_begun) /* nothing of it is known there */
        return copy_is_loss(r) ? -EOPNOTSUPP : r;
    s->result = r;
    return r == -ECANCELED || r == -ENOMEM ? r : go_on_by_file(s, facts);
}

int copy_stream_begin(struct copy *c, struct item *item, struct copy_sent *sent,
                      const struct endpoint_facts *facts, const char *place,
                      struct directory **ret_top)
{
    const struct copy_source *source = item->source;
    const struct copy_tree_step top = {.kind = COPY_TREE_ENTER, .facts = *facts};
    int r = copy_open_directory(c, source, NULL, &top, place, ret_top);
    if (r < 0)
        return r;
    item->file =
        (struct copy_file){.settings = &c->settings.files,
                           .source = source->end,
                           .target = c->target->end,
                           .source_path = copy_name_join(bytes_str(source->path), BYTES_NONE),
                           .target_path = copy_name_join(bytes_str(place), BYTES_NONE),
                           .started_at = clock_now()};
    sent->keeps_times = c->settings.files.preserves;
    sent->mtime_us = clock_wall_us();
    return item->file.source_path != NULL && item->file.target_path != NULL ? 0 : -ENOMEM;
}

static PARKS int run_stream(struct copy_stream *s, const struct endpoint_facts *facts,
                            char *place)
{
    struct copy *c = s->copy;
    const struct copy_source *source = s->source;
    int r = copy_stream_begin(c, &s->item, &s->sent, facts, place, &s->top);
    if (r < 0)
        return copy_is_fatal(c, source, r) ? r : 0;
    s->sent.is_ours = s->top->is_new;
    s->put = (struct copy_tar_put){.settings = &c->settings.files,
                                   .source = source->end,
                                   .target = c->target->end,
                                   .top = bytes_str(source->path),
                                   .facts = *facts,
                                   .place = s->item.file.target_path,
                                   .packing = c->settings.packing,
                                   .refusal = "",
                                   .now_us = s->sent.mtime_us,
                                   .progress = &s->item.file.progress,
                                   .failed = on_left_out,
                                   .damaged = on_damaged,
                                   .arg = s};
    const struct endpoint *e = c->target->end->endpoint;
    (void)text_copy(s->host, sizeof(s->host),
                    bytes_str(e != NULL && e->host != NULL ? e->host : ""));
    list_append(&c->running, &s->item.node);
    r = copy_tar_put(&s->put);
    list_remove(&s->item.node);
    note_packing(s);
    r = end_stream(s, facts, r);
    if (r == -EOPNOTSUPP)
        c->totals.directories--; /* it is entered again */
    return r;
}

static bool comes(const struct copy *c)
{
    return c->settings.ends.source == COPY_PLACE_SSH;
}

/* A server that cannot be listed is left to who tells of it. */
static PARKS int take_sample(struct copy *c, const struct copy_source *source,
                             const struct endpoint_facts *facts, struct copy_sample *ret)
{
    struct bytes top = bytes_str(source->path);
    if (!comes(c))
        return copy_sample_tree(source->end, top, facts, ret);
    int r = copy_sample_far(source->end, top, ret);
    return r < 0 && !copy_is_fatal(c, source, r) ? -EOPNOTSUPP : r;
}

static PARKS int plan_source(struct copy *c, const struct copy_source *source,
                             const struct endpoint_facts *facts)
{
    struct copy_sample sample = {.is_tree = true};
    struct copy_ends ends = c->settings.ends;
    char why[COPY_PLAN_WHY_MAX];
    ends.has_tar = copy_ends_have_tar(&ends) && !c->settings.files.verifies;
    int r = 0;
    enum copy_method method = c->settings.method;
    if (method == COPY_METHOD_AUTO && c->settings.packing.codec == CODEC_ZSTD)
        method = COPY_METHOD_TAR; /* nothing else has it */
    if (ends.has_tar && method == COPY_METHOD_AUTO)
        r = take_sample(c, source, facts, &sample);
    if (r == 0)
        r = copy_plan(method, &ends, &sample, why, &c->plan);
    c->has_plan = r == 0;
    if (r < 0 || c->plan.method != COPY_METHOD_TAR)
        return r < 0 && copy_is_fatal(c, source, r) ? r : -EOPNOTSUPP;
    return 0;
}

int copy_stream_source(struct copy *c, const struct copy_source *source,
                       const struct endpoint_facts *facts, char *place)
{
    int r = plan_source(c, source, facts);
    if (r < 0)
        return r;
    if (comes(c))
        return copy_stream_get_source(c, source, facts, place);
    struct copy_stream *s = mem_new(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->copy = c;
    s->source = s->item.source = source;
    s->next = c->streams;
    c->streams = s;
    list_init(&s->item.node);
    r = run_stream(s, facts, place);
    bool is_asked_for = c->settings.method == COPY_METHOD_TAR || s->put.refusal[0] != '\0' ||
                        c->settings.packing.codec == CODEC_ZSTD;
    if (r == -EOPNOTSUPP && is_asked_for) {
        copy_tell_failure(c, source, bytes_str(source->path), COPY_SIDE_TARGET, r,
                          s->put.refusal[0] != '\0'
                              ? s->put.refusal
                              : "the server has no tar; leave --method and zstd away");
        return 0;
    }
    c->has_plan = r != -EOPNOTSUPP;
    return r;
}

/* -- when all is through -- */

/* What connecting again failed with is a sentence that names the host; a loss that nobody tried
 * to mend is not. */
static void tell_given_up(struct copy_stream *s)
{
    const struct copy_end *end = s->copy->target->end;
    char why[sizeof(s->host) + COPY_WHY_MAX + 2];
    snprintf(why, sizeof(why), "%s%s%s", copy_is_loss(end->failed) ? s->host : "",
             copy_is_loss(end->failed) ? ": " : "", end->why);
    tell_stream(s, s->result, why, false);
}

static PARKS void settle(struct copy_stream *s)
{
    struct copy *c = s->copy;
    copy_close_directory(c, s->top);
    s->top = NULL;
    if (s->result == 0)
        return;
    bool is_lost = copy_is_loss(s->result);
    if (!s->is_walked || c->fatal < 0) {
        uint64_t found = s->sent.found_files;
        c->totals.unconfirmed += s->put.files > found ? s->put.files - found : 0;
        c->totals.may_be_parts = true;
        if (c->fatal != -ECANCELED && c->fatal != -ENOMEM)
            tell_given_up(s);
    } else if (!is_lost && s->sent.missing_files == 0 && c->totals.failed == s->failed_by) {
        /* all files are there: what the tar complained of is something else */
        tell_stream(s, s->result, s->put.why, false);
    }
}

void copy_settle_streams(struct copy *c)
{
    for (struct copy_stream *s = c->streams; s != NULL; s = s->next)
        settle(s);
    copy_settle_gets(c);
}

void copy_streams_done(struct copy *c)
{
    while (c->streams != NULL) {
        struct copy_stream *s = c->streams;
        c->streams = s->next;
        copy_sent_done(&s->sent);
        copy_file_done(&s->item.file);
        mem_free(s);
    }
    copy_gets_done(c);
}
