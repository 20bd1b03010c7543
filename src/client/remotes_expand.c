/* Patterns on a server's side. */
#include "client/remote/glob.h"
#include "client/remotes.h"

int remotes_expand(struct endpoint *e, const char *path, remotes_path_fn *fn, void *arg)
{
    struct endpoint_names found = {0};
    if (e->host == NULL || !glob_has_magic(bytes_str(path)))
        return fn(arg, path);
    int r = endpoint_glob(e, bytes_str(path), &found);
    for (unsigned i = 0; i < found.count && r == 0; i++)
        r = fn(arg, found.names[i]);
    endpoint_names_done(&found);
    return r;
}
