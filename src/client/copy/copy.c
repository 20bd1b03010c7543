#include "client/copy/copy.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/copy/copy_internal.h"
#include "client/copy/names.h"

int copy_new(const struct copy_settings *settings, const struct copy_source *sources,
             unsigned count, const struct copy_target *target, struct copy **ret)
{
    struct copy *c = mem_new(sizeof(*c));
    if (c == NULL)
        return -ENOMEM;
    c->settings = *settings;
    c->sources = sources;
    c->source_count = count;
    c->target = target;
    scope_init(&c->workers);
    list_init(&c->waiting);
    list_init(&c->running);
    copy_condition_init(&c->changed);
    *ret = c;
    return 0;
}

struct copy *copy_free(struct copy *c)
{
    if (c != NULL)
        copy_streams_done(c);
    mem_free(c);
    return NULL;
}

const struct copy_totals *copy_totals(const struct copy *c)
{
    return &c->totals;
}

const struct copy_plan *copy_plan_of(const struct copy *c)
{
    return c->has_plan ? &c->plan : NULL;
}

const char *copy_packing_of(const struct copy *c)
{
    return c->packing[0] != '\0' ? c->packing : NULL;
}

unsigned copy_running(const struct copy *c, const struct copy_file **ret, unsigned max)
{
    unsigned count = 0;
    LIST_EACH(it, &c->running)
    {
        if (count < max)
            ret[count] = &LIST_ENTRY(it, struct item, node)->file;
        count++;
    }
    return count;
}

/* -- what is told -- */

void copy_tell(struct copy *c, const struct copy_event *event)
{
    c->totals.failed += event->result < 0 && !event->is_mended;
    c->settings.tell(c->settings.arg, event);
}

void copy_tell_failure(struct copy *c, const struct copy_source *source, struct bytes path,
                       enum copy_side side, int result, const char *why)
{
    const struct copy_event event = {.kind = COPY_EVENT_DIRECTORY,
                                     .source = source,
                                     .path = path,
                                     .result = result,
                                     .side = side,
                                     .why = why != NULL ? why : ""};
    if (result != -ECANCELED)
        copy_tell(c, &event);
}

/* What cannot get better by the next file. */
bool copy_is_fatal(const struct copy *c, const struct copy_source *source, int result)
{
    return result == -ECANCELED || result == -ENOMEM ||
           (source->end != NULL && source->end->failed < 0) ||
           (c->target->end != NULL && c->target->end->failed < 0);
}

static void set_fatal(struct copy *c, int result)
{
    if (c->fatal == 0)
        c->fatal = result;
    copy_condition_tell(&c->changed);
}

/* -- directories -- */

static struct directory *directory_ref(struct directory *d)
{
    if (d != NULL)
        d->refs++;
    return d;
}

static PARKS void set_directory(struct copy *c, const struct directory *d)
{
    struct endpoint_facts facts = d->facts;
    struct endpoint *endpoint;
    facts.mode &= 0777;
    facts.has_times = facts.has_times && c->settings.files.preserves;
    int r = copy_end_enter(c->target->end, &endpoint);
    if (r < 0)
        return;
    r = endpoint->ops->set(endpoint, bytes_str(d->path), &facts);
    copy_end_leave(c->target->end, r);
    if (r < 0 && r != -EOPNOTSUPP && c->settings.files.preserves)
        copy_tell_failure(c, d->source, bytes_str(d->path), COPY_SIDE_TARGET, r,
                          "its mode and times could not be set");
}

/* Where the last one leaves, the directory gets what it is to have. A copy that is cancelled
 * leaves it writable: it is to be gone on with. */
void copy_close_directory(struct copy *c, struct directory *d)
{
    while (d != NULL && --d->refs == 0) {
        struct directory *parent = d->parent;
        if (d->is_set_later && c->fatal == 0)
            set_directory(c, d);
        mem_free(d->path);
        mem_free(d);
        d = parent;
    }
}

/* 0: it is there; *ret_new: by us. */
static PARKS int make_at(struct endpoint *e, struct bytes path, uint32_t mode, bool *ret_new)
{
    struct endpoint_facts there;
    int r = e->ops->mkdir(e, path, mode);
    *ret_new = r == 0;
    if (r != -EEXIST)
        return r;
    r = e->ops->stat(e, path, true, &there);
    return r < 0 ? r : there.kind == ENDPOINT_DIRECTORY ? 0 : -ENOTDIR;
}

static PARKS int make(struct copy *c, struct directory *d, char why[256])
{
    struct endpoint *e;
    uint32_t own = 0700;
    uint32_t mode = d->facts.has_mode ? d->facts.mode & 0777 : 0777;
    int r = -FERRY_ECLOSED;
    if (!c->settings.files.preserves)
        mode &= ~c->settings.files.umask;
    d->facts.mode = mode;
    while (copy_is_loss(r)) {
        r = copy_end_enter(c->target->end, &e);
        if (r < 0)
            break;
        r = make_at(e, bytes_str(d->path), mode | own, &d->is_new);
        memcpy(why, e->why, sizeof(e->why));
        copy_end_leave(c->target->end, r);
    }
    bool narrows = d->is_new && d->facts.has_mode && (mode | own) != mode;
    d->facts.has_mode = narrows || c->settings.files.preserves;
    d->is_set_later = narrows || c->settings.files.preserves;
    return r;
}

/* NULL path: one that is there already, such as the target itself. */
int copy_open_directory(struct copy *c, const struct copy_source *source,
                        struct directory *parent, const struct copy_tree_step *step,
                        const char *path, struct directory **ret)
{
    char why[256] = "";
    struct directory *d = mem_new(sizeof(*d));
    if (d == NULL)
        return -ENOMEM;
    d->refs = 1;
    d->source = source;
    d->facts = step->facts;
    d->path = mem_strdup(path);
    int r = d->path == NULL ? -ENOMEM : make(c, d, why);
    if (r < 0) {
        if (!copy_is_fatal(c, source, r))
            copy_tell_failure(c, source, bytes_str(path), COPY_SIDE_TARGET, r, why);
        mem_free(d->path);
        mem_free(d);
        return r;
    }
    d->parent = directory_ref(parent);
    c->totals.directories++;
    *ret = d;
    return 0;
}

/* -- files -- */

static PARKS void free_item(struct copy *c, struct item *item)
{
    copy_close_directory(c, item->directory);
    copy_file_done(&item->file);
    mem_free(item);
}

static void tell_file(struct copy *c, struct item *item)
{
    struct copy_file *f = &item->file;
    const struct copy_event event = {
        .kind = COPY_EVENT_FILE,
        .source = item->source,
        .path = bytes_str(f->source_path != NULL ? f->source_path : "-"),
        .target = bytes_str(f->target_path != NULL ? f->target_path : "-"),
        .result = f->result,
        .side = f->side,
        .why = f->why,
        .file = f,
        .took_us = clock_now() - f->started_at,
    };
    c->totals.files += f->result == 0;
    c->totals.bytes += f->result == 0 ? f->size_bytes : 0;
    if (!f->was_sent || !f->sent->tells_each)
        copy_tell(c, &event);
}

/* Another one that writes to the same name: the later one comes later. */
static bool is_target_busy(const struct copy *c, const struct item *item)
{
    LIST_EACH(it, &c->running)
    {
        const struct copy_file *f = &LIST_ENTRY(it, struct item, node)->file;
        if (f->target_path != NULL && item->file.target_path != NULL &&
            strcmp(f->target_path, item->file.target_path) == 0)
            return true;
    }
    return false;
}

static PARKS void run_item(struct copy *c, struct item *item)
{
    while (is_target_busy(c, item) && c->fatal == 0)
        if (copy_condition_wait(&c->changed, USEC_NEVER) < 0)
            set_fatal(c, -ECANCELED);
    if (c->fatal == 0) {
        list_append(&c->running, &item->node);
        item->file.started_at = clock_now();
        int r = copy_file_run(&item->file);
        list_remove(&item->node);
        tell_file(c, item);
        if (r < 0 && copy_is_fatal(c, item->source, r))
            set_fatal(c, r);
        copy_condition_tell(&c->changed);
    }
    free_item(c, item);
}

static void worker_main(void *arg)
{
    struct copy *c = arg;
    while (c->fatal == 0) {
        struct list *node = list_pop(&c->waiting);
        if (node != NULL) {
            c->waiting_count--;
            copy_condition_tell(&c->changed);
            run_item(c, LIST_ENTRY(node, struct item, node));
            continue;
        }
        if (c->has_all)
            break;
        c->idle_count++;
        int r = copy_condition_wait(&c->changed, USEC_NEVER);
        c->idle_count--;
        if (r < 0)
            set_fatal(c, r);
    }
    c->worker_count--;
    copy_condition_tell(&c->changed);
}

static unsigned at_once(const struct copy *c, const struct copy_source *source)
{
    const struct copy_end *ends[2] = {source->end, c->target->end};
    unsigned most = COPY_AT_ONCE_MAX;
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i] == NULL)
            return 1;
        const struct endpoint *e = ends[i]->endpoint;
        if (e != NULL && e->at_once < most)
            most = e->at_once;
    }
    return most > 0 ? most : 1;
}

/* Hands it to a task, of which there are no more than needed. Takes the item. */
static PARKS int enqueue(struct copy *c, struct item *item)
{
    int r = 0;
    while (r == 0 && c->waiting_count >= COPY_QUEUE_MAX && c->fatal == 0)
        r = copy_condition_wait(&c->changed, USEC_NEVER);
    if (r < 0 || c->fatal < 0) {
        free_item(c, item);
        return r < 0 ? r : c->fatal;
    }
    list_append(&c->waiting, &item->node);
    c->waiting_count++;
    if (c->waiting_count > c->idle_count && c->worker_count < at_once(c, item->source)) {
        r = scope_start(&c->workers, "copy", TASK_NORMAL, worker_main, c, NULL);
        c->worker_count += r == 0;
        if (r < 0 && c->worker_count > 0)
            r = 0; /* those that there are do it */
    }
    copy_condition_tell(&c->changed);
    return r;
}

/* Takes the target's path. */
int copy_add_file(struct copy *c, const struct copy_source *source, struct bytes path,
                  const struct endpoint_facts *facts, struct directory *directory,
                  char *target_path)
{
    struct item *item = mem_new(sizeof(*item));
    char *source_path = source->end != NULL ? copy_name_join(path, BYTES_NONE) : NULL;
    bool has_memory = item != NULL && (source_path != NULL || source->end == NULL) &&
                      (target_path != NULL || c->target->end == NULL);
    if (!has_memory) {
        mem_free(item);
        mem_free(source_path);
        mem_free(target_path);
        return -ENOMEM;
    }
    item->source = source;
    item->directory = directory_ref(directory);
    item->file = (struct copy_file){
        .settings = &c->settings.files,
        .source = source->end,
        .target = c->target->end,
        .input = source->stream,
        .output = c->target->stream,
        .source_path = source_path,
        .target_path = target_path,
        .facts = *facts,
        .is_new_place = directory != NULL && directory->is_new,
        .sent = c->sent,
        .has_remains = c->has_remains,
    };
    list_init(&item->node);
    c->totals.found_files++;
    c->totals.found_bytes += facts->has_size ? facts->size_bytes : 0;
    return enqueue(c, item);
}

/* -- sources -- */

/* Where a source goes: into the directory under its own name, or to the name that was given. A
 * source without a name of its own ("." and the like) is what is in it. */
static char *place_of(const struct copy *c, const struct copy_source *source)
{
    struct bytes target = bytes_str(c->target->path);
    if (!c->target->is_directory)
        return copy_name_join(target, BYTES_NONE);
    return copy_name_join(target, copy_name_last(bytes_str(source->path)));
}

static PARKS int stat_source(struct copy *c, const struct copy_source *source,
                             struct endpoint_facts *ret)
{
    struct endpoint *e;
    int r = -FERRY_ECLOSED;
    while (copy_is_loss(r)) {
        r = copy_end_enter(source->end, &e);
        if (r < 0) {
            copy_tell_failure(c, source, bytes_str(source->path), COPY_SIDE_SOURCE, r,
                              source->end->why);
            return r;
        }
        r = e->ops->stat(e, bytes_str(source->path), true, ret);
        if (r < 0 && !copy_is_loss(r))
            copy_tell_failure(c, source, bytes_str(source->path), COPY_SIDE_SOURCE, r, e->why);
        copy_end_leave(source->end, r);
    }
    return r;
}

struct walk {
    struct copy *copy;
    const struct copy_source *source;
    struct copy_tree *tree;
    char *place; /* of the top, at the target */
    struct directory *inner;
};

static PARKS int walk_enter(struct walk *w, const struct copy_tree_step *step)
{
    struct copy *c = w->copy;
    struct directory *d = NULL;
    char *path = copy_name_join(bytes_str(w->place), step->path);
    int r =
        path == NULL ? -ENOMEM : copy_open_directory(c, w->source, w->inner, step, path, &d);
    mem_free(path);
    if (r == 0) {
        w->inner = d;
        return 0;
    }
    if (copy_is_fatal(c, w->source, r))
        return r;
    copy_tree_skip(w->tree);
    return 0;
}

static PARKS void walk_leave(struct walk *w)
{
    struct directory *d = w->inner;
    w->inner = d->parent;
    copy_close_directory(w->copy, d);
}

static PARKS int walk_step(struct walk *w, const struct copy_tree_step *step)
{
    struct copy *c = w->copy;
    char *path;
    int r = 0;
    switch (step->kind) {
    case COPY_TREE_ENTER:
        return walk_enter(w, step);
    case COPY_TREE_LEAVE:
        walk_leave(w);
        return 0;
    case COPY_TREE_FILE:
    case COPY_TREE_FAILED:
        break;
    }
    if (c->sent != NULL && copy_sent_was_told(c->sent, step->path))
        return 0;
    path = copy_name_join(bytes_str(w->source->path), step->path);
    if (path == NULL)
        return -ENOMEM;
    if (step->kind == COPY_TREE_FAILED)
        copy_tell_failure(c, w->source, bytes_str(path), COPY_SIDE_SOURCE, step->error,
                          step->why);
    else
        r = copy_add_file(c, w->source, bytes_str(path), &step->facts, w->inner,
                          copy_name_join(bytes_str(w->place), step->path));
    mem_free(path);
    return r;
}

int copy_walk_source(struct copy *c, const struct copy_source *source,
                     const struct endpoint_facts *facts, char *place)
{
    struct walk w = {.copy = c, .source = source, .place = place};
    struct copy_tree_step step;
    int r = copy_tree_new(source->end, bytes_str(source->path), facts, &w.tree);
    if (r < 0)
        return r;
    do {
        r = copy_tree_next(w.tree, &step);
        int handled = r > 0 ? walk_step(&w, &step) : 0;
        r = handled < 0 ? handled : r;
    } while (r > 0 && c->fatal == 0);
    while (w.inner != NULL)
        walk_leave(&w);
    copy_tree_free(w.tree);
    return r < 0 ? r : c->fatal;
}

static PARKS int add_directory(struct copy *c, const struct copy_source *source,
                               const struct endpoint_facts *facts)
{
    char *place = place_of(c, source);
    if (place == NULL)
        return -ENOMEM;
    int r = copy_stream_source(c, source, facts, place);
    if (r == -EOPNOTSUPP)
        r = copy_walk_source(c, source, facts, place);
    mem_free(place);
    return r;
}

static PARKS int add_stream(struct copy *c, const struct copy_source *source)
{
    const struct endpoint_facts unknown = {.kind = ENDPOINT_FILE};
    return copy_add_file(c, source, BYTES_NONE, &unknown, NULL,
                         c->target->end != NULL ? place_of(c, source) : NULL);
}

static PARKS int add_source(struct copy *c, const struct copy_source *source)
{
    struct bytes path = bytes_str(source->path);
    struct endpoint_facts facts;
    if (source->end == NULL)
        return add_stream(c, source);
    int r = stat_source(c, source, &facts);
    if (r < 0)
        return copy_is_fatal(c, source, r) ? r : 0;
    if (facts.kind == ENDPOINT_DIRECTORY && !c->settings.is_recursive)
        copy_tell_failure(c, source, path, COPY_SIDE_SOURCE, -EISDIR, "");
    else if (facts.kind == ENDPOINT_DIRECTORY && c->target->end == NULL)
        copy_tell_failure(c, source, path, COPY_SIDE_TARGET, -EISDIR,
                          "a directory does not go to standard output");
    else if (facts.kind == ENDPOINT_OTHER)
        copy_tell_failure(c, source, path, COPY_SIDE_SOURCE, -FERRY_ENOTREG, "");
    else if (facts.kind == ENDPOINT_FILE && c->settings.packing.codec == CODEC_ZSTD)
        copy_tell_failure(c, source, path, COPY_SIDE_SOURCE, -EOPNOTSUPP,
                          "zstd is for directories, as a stream of tar; --compress zlib");
    else if (facts.kind == ENDPOINT_DIRECTORY)
        return add_directory(c, source, &facts);
    else
        return copy_add_file(c, source, path, &facts, NULL,
                             c->target->end != NULL ? place_of(c, source) : NULL);
    return 0;
}

/* Files that were found and never begun. */
static PARKS void drop_waiting(struct copy *c)
{
    struct list *node;
    while ((node = list_pop(&c->waiting)) != NULL)
        free_item(c, LIST_ENTRY(node, struct item, node));
    c->waiting_count = 0;
}

int copy_run(struct copy *c)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < c->source_count; i++)
        r = add_source(c, &c->sources[i]);
    c->has_all = c->totals.has_found_all = true;
    if (r < 0)
        set_fatal(c, r);
    copy_condition_tell(&c->changed);
    r = c->fatal == 0 ? scope_wait(&c->workers, USEC_NEVER) : c->fatal;
    if (r < 0)
        set_fatal(c, r);
    scope_leave(&c->workers);
    drop_waiting(c);
    copy_settle_streams(c);
    if (c->fatal < 0)
        return c->fatal;
    return c->totals.failed > 0 ? -FERRY_EREFUSED : 0;
}
