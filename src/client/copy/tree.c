#include "client/copy/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "client/copy/names.h"

#define PATH_CAP (PATH_LEN_MAX + 1)

/* One name of a listing, as it stands in a level's buffer, with the name behind it. */
struct record {
    struct endpoint_facts facts;
    uint32_t len;
    bool is_link;
};

struct level {
    struct buf records;
    size_t *order; /* where the records begin, by name */
    size_t count, at;
    bool is_listed, is_at_directories, is_last_again;
    size_t path_len;
    uint64_t inode, device;
    bool is_link;
    unsigned links; /* among it and what is above */
};

struct copy_tree {
    struct copy_end *end;
    struct bytes top;
    struct endpoint_facts top_facts;
    char path[PATH_CAP]; /* beneath the top */
    size_t path_len;
    size_t held; /* bytes of all levels */
    bool is_begun;
    unsigned depth;
    struct level levels[COPY_TREE_DEPTH_MAX];
};

int copy_tree_new(struct copy_end *end, struct bytes top, const struct endpoint_facts *facts,
                  struct copy_tree **ret)
{
    struct copy_tree *t = mem_new(sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    t->end = end;
    t->top = top;
    t->top_facts = *facts;
    *ret = t;
    return 0;
}

static size_t held_by(const struct level *l)
{
    return l->records.room + l->count * sizeof(l->order[0]);
}

static void leave_level(struct copy_tree *t)
{
    struct level *l = &t->levels[--t->depth];
    t->held -= held_by(l);
    buf_done(&l->records);
    mem_free(l->order);
    *l = (struct level){0};
    t->path_len = t->depth > 0 ? t->levels[t->depth - 1].path_len : 0;
}

struct copy_tree *copy_tree_free(struct copy_tree *t)
{
    while (t != NULL && t->depth > 0)
        leave_level(t);
    mem_free(t);
    return NULL;
}

void copy_tree_skip(struct copy_tree *t)
{
    leave_level(t);
}

/* -- listing -- */

static struct record record_at(const struct level *l, size_t offset)
{
    struct record record;
    memcpy(&record, l->records.data + offset, sizeof(record));
    return record;
}

static struct bytes name_at(const struct level *l, size_t offset)
{
    return bytes_of(l->records.data + offset + sizeof(struct record), record_at(l, offset).len);
}

static int add_name(void *arg, struct bytes name, const struct endpoint_facts *facts)
{
    struct level *l = arg;
    struct record record;
    memset(&record, 0, sizeof(record)); /* what is between the members, too */
    record.facts = *facts;
    record.len = (uint32_t)name.len;
    record.is_link = facts->kind == ENDPOINT_LINK;
    int r = buf_append(&l->records, &record, sizeof(record));
    if (r == 0)
        r = buf_append_bytes(&l->records, name);
    l->count += r == 0;
    return r;
}

static int compare(const void *a, const void *b, void *arg)
{
    struct bytes one = name_at(arg, *(const size_t *)a);
    struct bytes two = name_at(arg, *(const size_t *)b);
    size_t common = one.len < two.len ? one.len : two.len;
    int r = common > 0 ? memcmp(one.data, two.data, common) : 0;
    return r != 0 ? r : (one.len > two.len) - (one.len < two.len);
}

static int sort(struct level *l)
{
    size_t offset = 0;
    l->order = mem_raw((l->count + 1) * sizeof(l->order[0]));
    if (l->order == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < l->count; i++) {
        l->order[i] = offset;
        offset += sizeof(struct record) + record_at(l, offset).len;
    }
    qsort_r(l->order, l->count, sizeof(l->order[0]), compare, l);
    return 0;
}

static char *path_of(const struct copy_tree *t)
{
    return copy_name_join(t->top, bytes_of(t->path, t->path_len));
}

/* Lists the innermost directory; as often as its connection is lost and found again. */
static PARKS int list(struct copy_tree *t)
{
    struct level *l = &t->levels[t->depth - 1];
    struct endpoint *endpoint;
    char *path = path_of(t);
    int r = path == NULL ? -ENOMEM : -FERRY_ECLOSED;
    while (copy_is_loss(r)) {
        buf_done(&l->records);
        buf_init(&l->records, COPY_TREE_BYTES - t->held);
        l->count = 0;
        r = copy_end_enter(t->end, &endpoint);
        if (r < 0)
            break;
        r = endpoint->ops->list(endpoint, bytes_str(path), add_name, l);
        copy_end_leave(t->end, r);
    }
    if (r == 0) {
        copy_end_moved(t->end);
        r = sort(l);
    }
    mem_free(path);
    l->is_listed = true;
    l->count = r == 0 ? l->count : 0;
    t->held += held_by(l);
    return r;
}

/* -- links -- */

static PARKS int stat_here(struct copy_tree *t, struct endpoint_facts *ret)
{
    struct endpoint *endpoint;
    char *path = path_of(t);
    int r = path == NULL ? -ENOMEM : -FERRY_ECLOSED;
    while (copy_is_loss(r)) {
        r = copy_end_enter(t->end, &endpoint);
        if (r < 0)
            break;
        r = endpoint->ops->stat(endpoint, bytes_str(path), true, ret);
        copy_end_leave(t->end, r);
    }
    mem_free(path);
    return r;
}

/* A directory that is one of those above, by its number or, where the endpoint knows none, by
 * a link of the same name again. */
static bool is_cycle(const struct copy_tree *t, const struct record *record, struct bytes name)
{
    for (unsigned i = 0; i < t->depth; i++) {
        const struct level *l = &t->levels[i];
        size_t begins = i > 0 ? t->levels[i - 1].path_len : 0;
        if (record->facts.inode != 0 && record->facts.inode == l->inode &&
            record->facts.device == l->device)
            return true;
        if (record->is_link && record->facts.inode == 0 && l->is_link &&
            bytes_equal(copy_name_last(bytes_of(t->path + begins, l->path_len - begins)), name))
            return true;
    }
    return false;
}

/* -- steps -- */

static int fail(const struct copy_tree *t, int error, const char *why,
                struct copy_tree_step *ret)
{
    *ret = (struct copy_tree_step){.kind = COPY_TREE_FAILED,
                                   .path = bytes_of(t->path, t->path_len),
                                   .error = error,
                                   .why = why};
    return 1;
}

/* What ends the walk: the connection is given up, or we are. */
static bool is_fatal(const struct copy_tree *t, int r)
{
    return r == -ECANCELED || r == -ENOMEM || t->end->failed < 0;
}

static int enter(struct copy_tree *t, const struct endpoint_facts *facts, bool is_link,
                 struct copy_tree_step *ret)
{
    struct level *l = &t->levels[t->depth++];
    *l = (struct level){
        .path_len = t->path_len,
        .inode = facts->inode,
        .device = facts->device,
        .is_link = is_link,
        .links = is_link + (t->depth > 1 ? t->levels[t->depth - 2].links : 0),
    };
    *ret = (struct copy_tree_step){
        .kind = COPY_TREE_ENTER, .path = bytes_of(t->path, t->path_len), .facts = *facts};
    return 1;
}

/* The path of what is next in the innermost directory; false: too long. */
static bool go_to(struct copy_tree *t, struct bytes name)
{
    size_t len = t->levels[t->depth - 1].path_len;
    if (len + 1 + name.len > PATH_LEN_MAX)
        return false;
    if (len > 0)
        t->path[len++] = '/';
    memcpy(t->path + len, name.data, name.len);
    t->path_len = len + name.len;
    return true;
}

static PARKS int step_file(struct copy_tree *t, struct level *l, struct copy_tree_step *ret)
{
    size_t offset = l->order[l->at++];
    struct bytes name = name_at(l, offset);
    struct record record = record_at(l, offset);
    if (!go_to(t, name)) {
        t->path_len = l->path_len;
        return fail(t, -ENAMETOOLONG, "a path in it is too long", ret);
    }
    if (l->at > 1 && bytes_equal(name, name_at(l, l->order[l->at - 2]))) {
        memcpy(l->records.data + offset, &(struct record){.len = record.len}, sizeof(record));
        return fail(t, -FERRY_EPROTO, "its name stands twice in the listing", ret);
    }
    if (record.facts.kind == ENDPOINT_LINK || record.facts.kind == ENDPOINT_UNKNOWN) {
        int r = stat_here(t, &record.facts);
        if (r < 0 && is_fatal(t, r))
            return r;
        if (r < 0)
            return fail(t, r, record.is_link ? "the link leads nowhere" : NULL, ret);
        memcpy(l->records.data + offset, &record, sizeof(record));
    }
    if (record.facts.kind == ENDPOINT_DIRECTORY)
        return 0;
    if (record.facts.kind != ENDPOINT_FILE)
        return fail(t, -FERRY_ENOTREG, NULL, ret);
    *ret = (struct copy_tree_step){
        .kind = COPY_TREE_FILE, .path = bytes_of(t->path, t->path_len), .facts = record.facts};
    return 1;
}

static int step_directory(struct copy_tree *t, struct level *l, struct copy_tree_step *ret)
{
    size_t offset = l->order[l->at++];
    struct bytes name = name_at(l, offset);
    struct record record = record_at(l, offset);
    if (record.facts.kind != ENDPOINT_DIRECTORY || !go_to(t, name))
        return 0;
    if (is_cycle(t, &record, name))
        return fail(t, -ELOOP, "it is a directory that it is in itself", ret);
    if (l->links + record.is_link > COPY_TREE_LINKS_MAX)
        return fail(t, -ELOOP, NULL, ret);
    if (t->depth == COPY_TREE_DEPTH_MAX)
        return fail(t, -FERRY_ELIMIT, "directories are nested too deep", ret);
    return enter(t, &record.facts, record.is_link, ret);
}

static int step_leave(struct copy_tree *t, struct copy_tree_step *ret)
{
    *ret = (struct copy_tree_step){
        .kind = COPY_TREE_LEAVE,
        .path = bytes_of(t->path, t->levels[t->depth - 1].path_len),
    };
    leave_level(t);
    return 1;
}

/* 1: *ret; 0: nothing that is to be told, go on. */
static PARKS int step(struct copy_tree *t, struct copy_tree_step *ret)
{
    struct level *l = &t->levels[t->depth - 1];
    if (!l->is_listed) {
        int r = list(t);
        if (r < 0 && is_fatal(t, r))
            return r;
        return r < 0 ? fail(t, r, r == -FERRY_ELIMIT ? "its listing has no end" : NULL, ret)
                     : 0;
    }
    if (l->at < l->count)
        return l->is_at_directories ? step_directory(t, l, ret) : step_file(t, l, ret);
    if (!l->is_at_directories) {
        l->is_at_directories = true;
        l->at = 0;
        return 0;
    }
    return step_leave(t, ret);
}

int copy_tree_next(struct copy_tree *t, struct copy_tree_step *ret)
{
    if (!t->is_begun) {
        t->is_begun = true;
        return enter(t, &t->top_facts, false, ret);
    }
    while (t->depth > 0) {
        int r = step(t, ret);
        if (r != 0)
            return r;
    }
    return 0;
}
