#include "client/copy/tar_sent.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "client/copy/names.h"

#define TOLD_FIRST    64
#define DAMAGED_FIRST 16

/* -- names -- */

void copy_sent_done(struct copy_sent *s)
{
    for (unsigned i = 0; i < s->damaged_count; i++)
        mem_free(s->damaged[i]);
    mem_free(s->damaged);
    mem_free(s->told);
    *s = (struct copy_sent){0};
}

/* Arrays are full at powers of two from `first` on. */
static bool is_full_at(unsigned count, unsigned first)
{
    return count == 0 || (count >= first && (count & (count - 1)) == 0);
}

static void *grow(void *old, size_t element, unsigned count, unsigned first)
{
    unsigned room = count == 0 ? first : 2 * count;
    void *new = mem_new(room * element);
    if (new == NULL)
        return NULL;
    if (count > 0)
        memcpy(new, old, count * element);
    mem_free(old);
    return new;
}

int copy_sent_add_damaged(struct copy_sent *s, struct bytes path)
{
    if (s->damaged_count == COPY_SENT_DAMAGED_MAX)
        return -FERRY_ELIMIT;
    if (is_full_at(s->damaged_count, DAMAGED_FIRST)) {
        char **more = grow(s->damaged, sizeof(*s->damaged), s->damaged_count, DAMAGED_FIRST);
        if (more == NULL)
            return -ENOMEM;
        s->damaged = more;
    }
    char *name = copy_name_join(path, BYTES_NONE);
    if (name == NULL)
        return -ENOMEM;
    s->damaged[s->damaged_count++] = name;
    return 0;
}

bool copy_sent_is_damaged(const struct copy_sent *s, struct bytes path)
{
    for (unsigned i = 0; i < s->damaged_count; i++)
        if (bytes_equal(bytes_str(s->damaged[i]), path))
            return true;
    return false;
}

/* FNV-1a: of names that are few, and not a peer's. */
static uint64_t hash_of(struct bytes path)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < path.len; i++)
        h = (h ^ path.data[i]) * UINT64_C(1099511628211);
    return h;
}

void copy_sent_add_told(struct copy_sent *s, struct bytes path)
{
    if (s->told_count == COPY_SENT_TOLD_MAX)
        return;
    if (is_full_at(s->told_count, TOLD_FIRST)) {
        uint64_t *more = grow(s->told, sizeof(*s->told), s->told_count, TOLD_FIRST);
        if (more == NULL)
            return;
        s->told = more;
    }
    s->told[s->told_count++] = hash_of(path);
}

bool copy_sent_was_told(const struct copy_sent *s, struct bytes path)
{
    uint64_t h = hash_of(path);
    for (unsigned i = 0; i < s->told_count; i++)
        if (s->told[i] == h)
            return true;
    return false;
}

/* -- words -- */

/* SFTP says of a full disk just that it failed, so the tar's words are taken. They are in the
 * language of the server; in another one each file is tried. */
bool copy_sent_words_say_full(struct bytes words)
{
    static const char *const said[] = {"No space left", "no space left", "Disk quota",
                                       "disk quota", "quota of the account"};
    for (size_t i = 0; i < ARRAY_LEN(said); i++)
        if (words.len > 0 && memmem(words.data, words.len, said[i], strlen(said[i])) != NULL)
            return true;
    return false;
}

/* -- what is there -- */

static int64_t seconds_of(int64_t us)
{
    const int64_t second = USEC_PER_S;
    return us / second - (us % second < 0);
}

int copy_sent_look(struct copy_sent *s, struct endpoint *e, const char *path,
                   const struct endpoint_facts *source, bool *ret_remains)
{
    struct endpoint_facts there;
    int64_t sent_us = s->keeps_times ? source->mtime_us : s->mtime_us;
    int r = e->ops->stat(e, bytes_str(path), false, &there);
    *ret_remains = r == 0 && there.kind == ENDPOINT_FILE;
    if (r < 0 && r != -ENOENT)
        return r;
    bool is_whole = *ret_remains && there.has_size && source->has_size &&
                    there.size_bytes == source->size_bytes && there.has_times &&
                    seconds_of(there.mtime_us) == seconds_of(sent_us);
    s->found_files += is_whole;
    s->missing_files += !is_whole;
    return is_whole;
}
