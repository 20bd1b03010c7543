/* A peer's path against a current directory: the first byte says how much of the input is the
 * directory. What is made of it is absolute, normalised, bounded and stays itself. */
#include <assert.h>
#include <stdint.h>

#include "base/limits.h"
#include "vfs/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_component(struct bytes name)
{
    assert(name.len > 0 && name.len <= NAME_LEN_MAX);
    assert(!bytes_equal(name, BYTES_LIT(".")) && !bytes_equal(name, BYTES_LIT("..")));
    assert(!vfs_name_is_reserved(name));
}

static void check(const struct vpath *p)
{
    assert(p->len >= 1 && p->len <= PATH_LEN_MAX && p->text[0] == '/');
    assert(strlen(p->text) == p->len);
    assert(strlen(vpath_relative(p)) == (vpath_is_root(p) ? 1 : p->len - 1));
    struct bytes rest = bytes_skip(vpath_bytes(p), 1);
    while (rest.len > 0) {
        size_t end = rest.len;
        (void)bytes_find(rest, '/', &end);
        check_component(bytes_first(rest, end));
        assert(end + 1 != rest.len); /* no '/' at the end */
        rest = bytes_skip(rest, end + 1);
    }
    struct vpath again;
    if (vpath_parse(vpath_parent(p), vpath_name(p), &again) == 0) {
        assert(bytes_equal(vpath_bytes(p), vpath_bytes(&again)));
        vpath_done(&again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len == 0)
        return 0;
    struct bytes rest = bytes_of(data + 1, len - 1);
    struct bytes cwd = bytes_first(rest, data[0]);
    struct vpath p;
    if (vpath_parse(cwd, bytes_skip(rest, cwd.len), &p) == 0) {
        check(&p);
        vpath_done(&p);
    }
    return 0;
}
