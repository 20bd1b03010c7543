#include "vfs/quota.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"

struct quota {
    _Atomic unsigned refs;
    /* both counts change together or not at all, so a lock and not two atomics */
    pthread_mutex_t lock;
    uint64_t max_bytes, max_files;
    uint64_t bytes, files;
    struct list in_place;  /* struct quota_file */
    pthread_mutex_t names; /* taken before the other */
};

struct quota_file {
    struct list node;
    dev_t device;
    ino_t inode;
    unsigned writers;
    uint64_t counted; /* bytes of it in the ledger */
    bool is_gone;     /* the last writer gives back all */
};

int quota_new(uint64_t max_bytes, uint64_t max_files, struct quota **ret)
{
    struct quota *q = mem_new(sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->refs = 1;
    q->max_bytes = max_bytes ? max_bytes : UINT64_MAX;
    q->max_files = max_files ? max_files : UINT64_MAX;
    (void)pthread_mutex_init(&q->lock, NULL);
    (void)pthread_mutex_init(&q->names, NULL);
    list_init(&q->in_place);
    *ret = q;
    return 0;
}

struct quota *quota_ref(struct quota *q)
{
    if (q)
        atomic_fetch_add(&q->refs, 1);
    return q;
}

void quota_unref(struct quota *q)
{
    if (q && atomic_fetch_sub(&q->refs, 1) == 1) {
        (void)pthread_mutex_destroy(&q->lock);
        (void)pthread_mutex_destroy(&q->names);
        mem_free(q);
    }
}

/* An account may be over its limit already, when the limit was lowered. */
static uint64_t left(uint64_t max, uint64_t used)
{
    return used < max ? max - used : 0;
}

static int take(struct quota *q, uint64_t bytes, uint64_t files)
{
    if (bytes > left(q->max_bytes, q->bytes) || files > left(q->max_files, q->files))
        return -FERRY_EQUOTA;
    q->bytes += bytes;
    q->files += files;
    return 0;
}

/* What was there before the ledger was begun may be deleted too: never below zero. */
static void give(struct quota *q, uint64_t bytes, uint64_t files)
{
    q->bytes = left(q->bytes, bytes);
    q->files = left(q->files, files);
}

int quota_take(struct quota *q, uint64_t bytes, uint64_t files)
{
    if (!q)
        return 0;
    (void)pthread_mutex_lock(&q->lock);
    int r = take(q, bytes, files);
    (void)pthread_mutex_unlock(&q->lock);
    return r;
}

void quota_give(struct quota *q, uint64_t bytes, uint64_t files)
{
    if (!q)
        return;
    (void)pthread_mutex_lock(&q->lock);
    give(q, bytes, files);
    (void)pthread_mutex_unlock(&q->lock);
}

void quota_used(struct quota *q, uint64_t *ret_bytes, uint64_t *ret_files)
{
    *ret_bytes = *ret_files = 0;
    if (!q)
        return;
    (void)pthread_mutex_lock(&q->lock);
    *ret_bytes = q->bytes;
    *ret_files = q->files;
    (void)pthread_mutex_unlock(&q->lock);
}

uint64_t quota_left_bytes(struct quota *q)
{
    if (!q || q->max_bytes == UINT64_MAX)
        return UINT64_MAX;
    (void)pthread_mutex_lock(&q->lock);
    uint64_t bytes = left(q->max_bytes, q->bytes);
    (void)pthread_mutex_unlock(&q->lock);
    return bytes;
}

void quota_room(struct quota *q, struct quota_room *ret)
{
    *ret = (struct quota_room){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (!q)
        return;
    (void)pthread_mutex_lock(&q->lock);
    ret->max_bytes = q->max_bytes;
    ret->max_files = q->max_files;
    ret->bytes_left = left(q->max_bytes, q->bytes);
    ret->files_left = left(q->max_files, q->files);
    (void)pthread_mutex_unlock(&q->lock);
}

/* -- files -- */

void quota_names_lock(struct quota *q)
{
    if (q)
        (void)pthread_mutex_lock(&q->names);
}

bool quota_names_trylock(struct quota *q)
{
    return !q || pthread_mutex_trylock(&q->names) == 0;
}

void quota_names_unlock(struct quota *q)
{
    if (q)
        (void)pthread_mutex_unlock(&q->names);
}

/* Called under the lock, as the next. */
static struct quota_file *find_file(struct quota *q, const struct stat *st)
{
    LIST_EACH(it, &q->in_place)
    {
        struct quota_file *f = LIST_ENTRY(it, struct quota_file, node);
        if (f->device == st->st_dev && f->inode == st->st_ino)
            return f;
    }
    return NULL;
}

static struct quota_file *file_new(struct quota *q, const struct stat *st)
{
    struct quota_file *f = mem_new(sizeof(*f));
    if (!f)
        return NULL;
    f->device = st->st_dev;
    f->inode = st->st_ino;
    f->is_gone =
        st->st_nlink == 0; /* since it was opened: who removed it gave its bytes back */
    f->counted = f->is_gone ? 0 : (uint64_t)st->st_size;
    list_append(&q->in_place, &f->node);
    return f;
}

int quota_file_open(struct quota *q, const struct stat *st, struct quota_file **ret)
{
    *ret = NULL;
    if (!q)
        return 0;
    (void)pthread_mutex_lock(&q->lock);
    struct quota_file *f = find_file(q, st);
    if (!f)
        f = file_new(q, st);
    if (f)
        f->writers++;
    (void)pthread_mutex_unlock(&q->lock);
    *ret = f;
    return f ? 0 : -ENOMEM;
}

int quota_file_grow(struct quota *q, struct quota_file *f, uint64_t end_offset)
{
    if (!f)
        return 0;
    int r = 0;
    (void)pthread_mutex_lock(&q->lock);
    if (end_offset > f->counted) {
        r = take(q, end_offset - f->counted, 0);
        if (r == 0)
            f->counted = end_offset;
    }
    (void)pthread_mutex_unlock(&q->lock);
    return r;
}

int quota_file_append(struct quota *q, struct quota_file *f, uint64_t len)
{
    if (!f)
        return 0;
    (void)pthread_mutex_lock(&q->lock);
    int r = take(q, len, 0);
    if (r == 0)
        f->counted += len;
    (void)pthread_mutex_unlock(&q->lock);
    return r;
}

static void shrink(struct quota *q, struct quota_file *f, uint64_t size)
{
    if (f->counted > size) {
        give(q, f->counted - size, 0);
        f->counted = size;
    }
}

/* The bytes of one who appends go behind those of another who does not, so a file can become
 * longer than any of them could foresee. They are there: the limit is not asked. */
static void settle(struct quota *q, struct quota_file *f, uint64_t size)
{
    shrink(q, f, size);
    if (size != UINT64_MAX)
        q->bytes += size - f->counted;
}

void quota_file_cut(struct quota *q, struct quota_file *f)
{
    if (!f)
        return;
    (void)pthread_mutex_lock(&q->lock);
    if (f->writers == 1) /* what others write is theirs to settle */
        shrink(q, f, 0);
    (void)pthread_mutex_unlock(&q->lock);
}

void quota_file_close(struct quota *q, struct quota_file *f, uint64_t size)
{
    if (!f)
        return;
    (void)pthread_mutex_lock(&q->lock);
    if (--f->writers == 0) {
        settle(q, f, f->is_gone ? 0 : size);
        list_remove(&f->node);
        mem_free(f);
    }
    (void)pthread_mutex_unlock(&q->lock);
}

void quota_give_file(struct quota *q, const struct stat *st)
{
    if (!q || !S_ISREG(st->st_mode) || st->st_nlink != 1)
        return;
    (void)pthread_mutex_lock(&q->lock);
    struct quota_file *f = find_file(q, st);
    if (f)
        f->is_gone = true;
    else
        give(q, (uint64_t)st->st_size, 0);
    (void)pthread_mutex_unlock(&q->lock);
}
