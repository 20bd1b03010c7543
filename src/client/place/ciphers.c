#include "client/place/ciphers.h"

#include <errno.h>

#include "base/glob.h"
#include "base/limits.h"
#include "ssh/offer.h"

static bool matches(struct bytes patterns, struct bytes name)
{
    uint64_t steps = GLOB_STEPS_MAX;
    while (patterns.len > 0)
        if (glob_match(bytes_take_until(&patterns, ','), name, &steps) == 1)
            return true;
    return false;
}

static int add(struct buf *list, struct bytes name)
{
    if (ssh_list_has(buf_bytes(list), name))
        return 0;
    int r = list->len > 0 ? buf_append_byte(list, ',') : 0;
    return r < 0 ? r : buf_append_bytes(list, name);
}

/* Those of the names that are usual. */
static int add_known(struct bytes names, struct bytes usual, bool is_strict, struct buf *ret)
{
    while (names.len > 0) {
        struct bytes name = bytes_take_until(&names, ',');
        int r = 0;
        if (ssh_list_has(usual, name))
            r = add(ret, name);
        else if (is_strict)
            r = -EINVAL;
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_others(struct bytes usual, struct bytes patterns, struct buf *ret)
{
    while (usual.len > 0) {
        struct bytes name = bytes_take_until(&usual, ',');
        int r = matches(patterns, name) ? 0 : add(ret, name);
        if (r < 0)
            return r;
    }
    return 0;
}

static int resolve_list(struct bytes spec, struct bytes usual, bool is_strict, struct buf *ret)
{
    char how = spec.len > 0 ? (char)spec.data[0] : '\0';
    struct bytes names = how == '+' || how == '-' || how == '^' ? bytes_skip(spec, 1) : spec;
    int r = 0;
    switch (how) {
    case '-':
        r = add_others(usual, names, ret);
        break;
    case '^':
        r = add_known(names, usual, is_strict, ret);
        if (r == 0)
            r = add_others(usual, BYTES_NONE, ret);
        break;
    case '+':
        r = add_others(usual, BYTES_NONE, ret);
        if (r == 0)
            r = add_known(names, usual, is_strict, ret);
        break;
    default:
        r = add_known(names, usual, is_strict, ret);
        break;
    }
    return r == 0 && ret->len == 0 ? -ENOENT : r;
}

int ciphers_resolve(const char *spec, bool is_strict, struct buf *ret)
{
    const struct ssh_offer_settings settings = {.nistp256 = true};
    struct ssh_offer *offer;
    struct ssh_kexinit lists;
    int r = ssh_offer_new(SSH_CLIENT, &settings, &offer);
    if (r < 0)
        return r;
    ssh_offer_lists(offer, false, NULL, NULL, &lists);
    r = resolve_list(bytes_str(spec), lists.lists[SSH_LIST_CIPHER_TO_SERVER], is_strict, ret);
    (void)ssh_offer_free(offer);
    return r < 0 ? r : buf_append_byte(ret, '\0');
}
