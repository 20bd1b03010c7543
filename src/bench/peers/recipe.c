#include "bench/peers/recipe.h"

#include <errno.h>
#include <string.h>

#include "base/attr.h"

static const char *const variant_names[] = {
    [RECIPE_PLAIN] = "plain",
    [RECIPE_NO_SENDFILE] = "no-sendfile",
    [RECIPE_HASHED] = "hashed",
};

const char *recipe_variant_name(enum recipe_variant v)
{
    return variant_names[v];
}

const struct recipe *recipe_find(const struct recipe_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->recipes[i].name, name) == 0)
            return &list->recipes[i];
    return NULL;
}

uint32_t recipe_address(const struct recipe_list *list, const struct recipe *recipe)
{
    return (UINT32_C(127) << 24) + 2 + (uint32_t)(recipe - list->recipes);
}

bool recipe_has(const struct recipe *recipe, enum recipe_variant v)
{
    return (recipe->variants & 1u << v) != 0;
}

int recipe_variant_find(const char *name, enum recipe_variant *ret)
{
    for (unsigned i = 0; i < ARRAY_LEN(variant_names); i++) {
        if (strcmp(variant_names[i], name) == 0) {
            *ret = (enum recipe_variant)i;
            return 0;
        }
    }
    return -ENOENT;
}
