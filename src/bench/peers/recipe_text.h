/* The templates of recipes, filled in.
 *
 *     @WORD@            what is known when the server is started: the words of recipe_text.c
 *     !plain,hashed X   the line X, in these variants only
 *     !each X           the line X for each account, with @NAME@ and @HASH@ of it
 */
#pragma once
#include "base/attr.h"
#include "base/buf.h"
#include "bench/peers/recipe.h"
#include "bench/peers/stage.h"
#include "io/addr.h"

struct recipe_words {
    const struct stage *stage;
    enum recipe_variant variant;
    const char *work; /* BASE/PEER-VARIANT */
    const char *root; /* of the package */
    const struct addr *listen;
    unsigned accounts; /* how many "each" are; at most STAGE_ACCOUNTS */
};

#define RECIPE_TEXT_MAX (64 * 1024)
/* Appends. -EINVAL: a word or a condition that is not known. */
MUST_CHECK int recipe_text_fill(const char *text, const struct recipe_words *, struct buf *ret);
