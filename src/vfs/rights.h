/* What an account may do, per path prefix. Values; no I/O. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"

enum right {
    RIGHT_LIST = 1 << 0,
    RIGHT_READ = 1 << 1,
    RIGHT_WRITE = 1 << 2,     /* create files */
    RIGHT_APPEND = 1 << 3,    /* to existing files */
    RIGHT_OVERWRITE = 1 << 4, /* replace existing files */
    RIGHT_DELETE = 1 << 5,
    RIGHT_RENAME = 1 << 6,
    RIGHT_MKDIR = 1 << 7,
    RIGHT_LINK = 1 << 8,
    RIGHT_SETATTR = 1 << 9,
};

#define RIGHTS_READ_ONLY    (RIGHT_LIST | RIGHT_READ)
#define RIGHTS_ALL          0x3ffu
#define RIGHTS_DEFAULT      (RIGHTS_ALL & ~(unsigned)RIGHT_LINK)
#define RIGHTS_PREFIXES_MAX 32

/* The longest matching prefix (whole components) rules; "/" is always there. Paths are what the
 * peer names: a link inside the root leads to what its own path allows, so trees with prefixes
 * should hold no links across them. */
struct rights {
    unsigned count;

    struct rights_prefix {
        char *prefix; /* normalised virtual path */
        unsigned allowed;
    } at[RIGHTS_PREFIXES_MAX];
};

void rights_init(struct rights *, unsigned allowed_at_root);
void rights_done(struct rights *);
MUST_CHECK int rights_set(struct rights *, struct bytes prefix, unsigned allowed);
unsigned rights_at(const struct rights *, struct bytes path);
/* Of one name in a directory: as rights_at() of the two joined, without joining them. */
unsigned rights_at_name(const struct rights *, struct bytes directory, struct bytes name);
/* Whether a prefix is path or lies below it: what carries rules of its own may not be moved
 * away from under them. */
bool rights_rule_within(const struct rights *, struct bytes path);
/* "read", "write", ...: -EINVAL if it is none. The names are DESIGN 2's. */
MUST_CHECK int right_parse(struct bytes name, unsigned *ret);
