/* The files beneath a directory of an endpoint, one step at a time.
 *
 * A directory is entered; its files come next, by name; then its directories, each entered and
 * left; then it is left. Links are followed. In memory is what is still to come of the
 * directories between the top and here, and no more of it than COPY_TREE_BYTES. What a server
 * can do with its listings is bounded: by their size, COPY_TREE_DEPTH_MAX and
 * COPY_TREE_LINKS_MAX; a name twice in one directory is told of and left out.
 */
#pragma once
#include "base/limits.h"
#include "client/copy/end.h"

#define COPY_TREE_BYTES     ((size_t)128 * 1024 * 1024)
#define COPY_TREE_DEPTH_MAX WALK_DEPTH_MAX
#define COPY_TREE_LINKS_MAX 8 /* links to directories, one within the other */

struct copy_tree;

enum copy_tree_kind { COPY_TREE_ENTER, COPY_TREE_FILE, COPY_TREE_LEAVE, COPY_TREE_FAILED };

struct copy_tree_step {
    enum copy_tree_kind kind;
    struct bytes path;           /* beneath the top, which is ""; valid until the next step */
    struct endpoint_facts facts; /* ENTER, FILE */
    int error;                   /* FAILED: of the path; what is in it is missing */
    const char *why;             /* in words, or NULL */
};

/* Borrows all; facts: of the top, a directory. */
MUST_CHECK int copy_tree_new(struct copy_end *, struct bytes top, const struct endpoint_facts *,
                             struct copy_tree **ret);
/* 1: *ret; 0: the end; negative: the connection, -ECANCELED, -ENOMEM. */
PARKS MUST_CHECK int copy_tree_next(struct copy_tree *, struct copy_tree_step *ret);
/* After ENTER: what is in that directory is left out, and it is not left. */
void copy_tree_skip(struct copy_tree *);
struct copy_tree *copy_tree_free(struct copy_tree *); /* NULL is fine */
