#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/copy/file_internal.h"
#include "client/copy/resume.h"
#include "client/copy/tar_sent.h"

#define MODE_BITS 0777u
#define SHIELD_US (5 * USEC_PER_S)

/* -- what failed -- */

int copy_try_fail(struct copy_try *t, enum copy_side side, int result, const char *why)
{
    struct copy_file *f = t->file;
    f->side = side;
    (void)text_copy_printable(f->why, sizeof(f->why), bytes_str(why));
    return result;
}

int copy_try_source(struct copy_try *t, int result)
{
    t->source_result = result;
    return result >= 0 ? result
                       : copy_try_fail(t, COPY_SIDE_SOURCE, result,
                                       t->source != NULL ? t->source->why : "");
}

int copy_try_target(struct copy_try *t, int result)
{
    t->target_result = result;
    return result >= 0 ? result
                       : copy_try_fail(t, COPY_SIDE_TARGET, result,
                                       t->target != NULL ? t->target->why : "");
}

/* -- attributes -- */

uint32_t copy_try_mode(const struct copy_try *t)
{
    const struct copy_file *f = t->file;
    if (!f->facts.has_mode)
        return 0;
    bool is_local = t->target != NULL && t->target->host == NULL;
    uint32_t mode = f->facts.mode & MODE_BITS;
    return f->settings->preserves || !is_local ? mode : mode & ~f->settings->umask;
}

bool copy_try_attributes(const struct copy_try *t, const struct endpoint_facts *old,
                         struct endpoint_facts *ret)
{
    const struct copy_file *f = t->file;
    *ret = (struct endpoint_facts){0};
    if (f->settings->preserves) {
        *ret = f->facts;
        ret->mode &= MODE_BITS;
    } else if (old != NULL && old->kind == ENDPOINT_FILE) {
        ret->has_mode = old->has_mode;
        ret->mode = old->mode & MODE_BITS;
    }
    return ret->has_mode || ret->has_times;
}

/* -- checking -- */

int copy_try_compare(struct copy_try *t, const char *target_path, uint64_t bytes)
{
    uint8_t source[32], target[32];
    struct bytes path = bytes_str(t->file->source_path);
    int r = copy_try_source(t, t->source->ops->sha256(t->source, path, bytes, source));
    if (r == 0)
        r = copy_try_target(
            t, t->target->ops->sha256(t->target, bytes_str(target_path), bytes, target));
    if (r < 0)
        return r;
    return memcmp(source, target, sizeof(source)) != 0;
}

int copy_try_verify(struct copy_try *t, const char *target_path, uint64_t bytes)
{
    struct copy_file *f = t->file;
    if (!f->settings->verifies)
        return 0;
    int r = t->source != NULL ? copy_try_compare(t, target_path, bytes) : -EOPNOTSUPP;
    if (r == -EOPNOTSUPP) {
        f->check = COPY_CHECK_NOT_POSSIBLE;
        return 0;
    }
    if (r > 0)
        return copy_try_fail(t, COPY_SIDE_TARGET, -EBADMSG,
                             "it is not the same there: the SHA-256 of both ends differ");
    f->check = r == 0 ? COPY_CHECK_SAME : COPY_CHECK_NONE;
    return r;
}

int copy_try_check_size(struct copy_try *t, const struct endpoint_facts *opened,
                        uint64_t offset, uint64_t end)
{
    struct copy_file *f = t->file;
    if (offset > 0 && !copy_is_same_state(&f->facts, opened)) {
        if (opened->has_size)
            f->facts = *opened;
        return COPY_ANEW;
    }
    if (opened->has_size && end < opened->size_bytes)
        return copy_try_fail(t, COPY_SIDE_SOURCE, -FERRY_ETRUNCATED,
                             "it became shorter while it was read");
    f->has_grown = opened->has_size && end > opened->size_bytes;
    f->size_bytes = end;
    return 0;
}

/* -- one try -- */

static PARKS int run_way(struct copy_try *t)
{
    if (t->target == NULL)
        return copy_try_output(t);
    if (t->source != NULL && endpoint_vfs(t->target) != NULL)
        return copy_try_get(t);
    return copy_try_put(t);
}

static PARKS int enter(struct copy_try *t, struct copy_end *end, enum copy_side side,
                       struct endpoint **ret)
{
    if (end == NULL)
        return 0;
    int r = copy_end_enter(end, ret);
    return r < 0 ? copy_try_fail(t, side, r, end->why) : 0;
}

/* The method is the one of the server; of two, the source's. */
static const char *method_of(const struct copy_try *t)
{
    const struct endpoint *e = t->source;
    if (e == NULL || (e->host == NULL && t->target != NULL))
        e = t->target;
    return e != NULL ? e->ops->method : "local";
}

/* Only what goes farther than before: who must begin anew each time would never end. */
static void note_progress(struct copy_file *f, uint64_t reached)
{
    if (reached <= f->reached)
        return;
    f->reached = reached;
    if (f->source != NULL)
        copy_end_moved(f->source);
    if (f->target != NULL)
        copy_end_moved(f->target);
}

/* -- what a stream of tar left -- */

/* 1: it is there. */
static PARKS int look_for_sent(struct copy_try *t)
{
    struct copy_file *f = t->file;
    bool has_remains;
    int r = copy_try_target(
        t, copy_sent_look(f->sent, t->target, f->target_path, &f->facts, &has_remains));
    if (r > 0) {
        f->method = "tar";
        f->was_sent = true;
        f->size_bytes = f->facts.size_bytes;
        return 1;
    }
    f->has_remains = f->has_remains || (has_remains && f->sent->is_ours);
    if (r == 0 && f->sent->is_full)
        r = copy_try_fail(t, COPY_SIDE_TARGET, -ENOSPC, "the server's tar had no room for it");
    return r;
}

/* The stream wrote over what stood there, and did not come to its end. */
static PARKS void remove_remains(struct copy_try *t)
{
    struct copy_file *f = t->file;
    if (t->target_result < 0 && copy_is_loss(t->target_result))
        return;
    task_shield_begin(clock_after(SHIELD_US));
    int r = t->target->ops->remove(t->target, bytes_str(f->target_path));
    task_shield_end();
    f->has_remains = r < 0;
}

/* *ret_lost: it can be tried again. */
static PARKS int try_once(struct copy_file *f, bool *ret_lost)
{
    struct copy_try t = {.file = f};
    *ret_lost = false;
    int r = enter(&t, f->source, COPY_SIDE_SOURCE, &t.source);
    if (r < 0)
        return r;
    r = enter(&t, f->target, COPY_SIDE_TARGET, &t.target);
    if (r == 0) {
        f->method = method_of(&t);
        f->why[0] = '\0';
        atomic_store(&f->progress.file_bytes, 0);
        f->began_at = 0;
        r = f->sent != NULL ? look_for_sent(&t) : 0;
        if (r == 0)
            r = run_way(&t);
        else if (r > 0)
            r = 0;
        if (r < 0 && f->has_remains)
            remove_remains(&t);
        uint64_t moved = atomic_load(&f->progress.file_bytes);
        f->moved_bytes += moved;
        note_progress(f, f->began_at + moved);
        if (f->target != NULL)
            copy_end_leave(f->target, t.target_result);
    }
    if (f->source != NULL)
        copy_end_leave(f->source, t.source_result);
    *ret_lost = r < 0 && (copy_is_loss(t.source_result) || copy_is_loss(t.target_result));
    return r;
}

/* What was read from a stream cannot be read again. */
static bool can_repeat(const struct copy_file *f)
{
    return f->source != NULL && f->target != NULL;
}

int copy_file_run(struct copy_file *f)
{
    bool is_lost;
    if (f->facts.has_size && f->facts.size_bytes > INT64_MAX) {
        f->side = COPY_SIDE_SOURCE;
        f->result = -EFBIG;
        return f->result;
    }
    do {
        f->result = try_once(f, &is_lost);
        if (f->result == COPY_ANEW)
            f->is_anew = true;
    } while (f->result == COPY_ANEW || (is_lost && can_repeat(f)));
    return f->result;
}

void copy_file_done(struct copy_file *f)
{
    mem_free(f->source_path);
    mem_free(f->target_path);
}
