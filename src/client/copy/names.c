#include "client/copy/names.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"

static struct bytes without_slashes(struct bytes path)
{
    while (path.len > 0 && path.data[path.len - 1] == '/')
        path.len--;
    return path;
}

/* Where the last component begins. */
static size_t last_begins(struct bytes path)
{
    size_t at = path.len;
    while (at > 0 && path.data[at - 1] != '/')
        at--;
    return at;
}

struct bytes copy_name_last(struct bytes path)
{
    path = without_slashes(path);
    struct bytes last = bytes_skip(path, last_begins(path));
    if (bytes_equal(last, BYTES_LIT(".")) || bytes_equal(last, BYTES_LIT("..")))
        return BYTES_NONE;
    return last;
}

struct bytes copy_name_parent(struct bytes path)
{
    struct bytes bare = without_slashes(path);
    struct bytes parent = bytes_first(bare, last_begins(bare));
    struct bytes shown = without_slashes(parent);
    return shown.len == 0 && parent.len > 0 ? bytes_first(parent, 1) : shown;
}

char *copy_name_join(struct bytes directory, struct bytes name)
{
    bool has_slash = directory.len > 0 && directory.data[directory.len - 1] == '/';
    bool needs_slash = directory.len > 0 && name.len > 0 && !has_slash;
    char *joined = mem_raw(directory.len + needs_slash + name.len + 1);
    if (joined == NULL)
        return NULL;
    char *at = joined;
    if (directory.len > 0)
        memcpy(at, directory.data, directory.len);
    at += directory.len;
    if (needs_slash)
        *at++ = '/';
    if (name.len > 0)
        memcpy(at, name.data, name.len);
    at[name.len] = '\0';
    return joined;
}

/* FNV-1a: nobody gains by a collision in a directory of one's own. */
static uint32_t digest(struct bytes name)
{
    uint32_t hash = UINT32_C(0x811c9dc5);
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ name.data[i]) * UINT32_C(0x01000193);
    return hash;
}

char *copy_name_part(struct bytes path)
{
    enum { SUFFIX = sizeof(COPY_PART_SUFFIX) - 1, DIGEST = 9 };

    char suffix[SUFFIX + DIGEST + 1] = COPY_PART_SUFFIX;
    size_t name = path.len - last_begins(path);
    struct bytes kept = path;
    if (name + SUFFIX > NAME_LEN_MAX) {
        snprintf(suffix, sizeof(suffix), "-%08x" COPY_PART_SUFFIX,
                 (unsigned)digest(bytes_skip(path, path.len - name)));
        kept.len -= name + SUFFIX + DIGEST - NAME_LEN_MAX;
        while (kept.len > path.len - name && (kept.data[kept.len] & 0xc0) == 0x80)
            kept.len--; /* not within a character of UTF-8 */
    }
    size_t len = strlen(suffix);
    char *part = mem_raw(kept.len + len + 1);
    if (part == NULL)
        return NULL;
    memcpy(part, kept.data, kept.len);
    memcpy(part + kept.len, suffix, len + 1);
    return part;
}
