#include "vfs/rights.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "vfs/path.h"

static const struct {
    const char *name;
    unsigned right;
} right_names[] = {
    {"list", RIGHT_LIST},           {"read", RIGHT_READ},     {"write", RIGHT_WRITE},
    {"append", RIGHT_APPEND},       {"delete", RIGHT_DELETE}, {"rename", RIGHT_RENAME},
    {"overwrite", RIGHT_OVERWRITE}, {"mkdir", RIGHT_MKDIR},   {"link", RIGHT_LINK},
    {"setattr", RIGHT_SETATTR},
};

static char root_prefix[] = "/"; /* at[0] of all; never freed */

void rights_init(struct rights *r, unsigned allowed_at_root)
{
    *r = (struct rights){.count = 1};
    r->at[0].prefix = root_prefix;
    r->at[0].allowed = allowed_at_root;
}

void rights_done(struct rights *r)
{
    for (unsigned i = 1; i < r->count; i++)
        mem_free(r->at[i].prefix);
    *r = (struct rights){0};
}

/* Whether path is prefix or lies below it. */
static bool is_within(struct bytes path, struct bytes prefix)
{
    if (prefix.len == 1)
        return true;
    return bytes_start_with(path, prefix) &&
           (path.len == prefix.len || path.data[prefix.len] == '/');
}

int rights_set(struct rights *r, struct bytes prefix, unsigned allowed)
{
    struct vpath p;
    if (prefix.len == 0 || prefix.data[0] != '/')
        return -EINVAL;
    int result = vpath_parse(BYTES_LIT("/"), prefix, &p);
    if (result < 0)
        return result;
    for (unsigned i = 0; i < r->count; i++) {
        if (bytes_equal(bytes_str(r->at[i].prefix), vpath_bytes(&p))) {
            r->at[i].allowed = allowed;
            vpath_done(&p);
            return 0;
        }
    }
    if (r->count == RIGHTS_PREFIXES_MAX) {
        vpath_done(&p);
        return -FERRY_ELIMIT;
    }
    r->at[r->count].prefix = p.text;
    r->at[r->count++].allowed = allowed;
    return 0;
}

unsigned rights_at(const struct rights *r, struct bytes path)
{
    unsigned allowed = 0;
    size_t longest = 0;
    for (unsigned i = 0; i < r->count; i++) {
        struct bytes prefix = bytes_str(r->at[i].prefix);
        if (prefix.len > longest && is_within(path, prefix)) {
            longest = prefix.len;
            allowed = r->at[i].allowed;
        }
    }
    return allowed;
}

/* Whether path is the name in the directory. */
static bool is_name_in(struct bytes path, struct bytes directory, struct bytes name)
{
    size_t above = directory.len == 1 ? 0 : directory.len; /* "/" is its own separator */
    return path.len == above + 1 + name.len && bytes_start_with(path, directory) &&
           path.data[above] == '/' && bytes_equal(bytes_skip(path, above + 1), name);
}

unsigned rights_at_name(const struct rights *r, struct bytes directory, struct bytes name)
{
    for (unsigned i = 1; i < r->count; i++) {
        if (is_name_in(bytes_str(r->at[i].prefix), directory, name))
            return r->at[i].allowed;
    }
    return rights_at(r, directory);
}

bool rights_rule_within(const struct rights *r, struct bytes path)
{
    for (unsigned i = 0; i < r->count; i++) {
        if (is_within(bytes_str(r->at[i].prefix), path))
            return true;
    }
    return false;
}

int right_parse(struct bytes name, unsigned *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(right_names); i++) {
        if (bytes_equal(name, bytes_str(right_names[i].name))) {
            *ret = right_names[i].right;
            return 0;
        }
    }
    return -EINVAL;
}
