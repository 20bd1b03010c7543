/* layers: client */
/* .netrc: what is found lies in the file. Input: machine, login, then the file. */
#include "client/place/netrc.h"

#include <errno.h>

#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool lies_in(struct bytes part, struct bytes all)
{
    return part.len == 0 ||
           (part.data >= all.data && part.data + part.len <= all.data + all.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes file = bytes_of(data, len);
    struct bytes machine = bytes_take_until(&file, '\n');
    struct bytes login = bytes_take_until(&file, '\n');
    struct netrc_entry e;
    unsigned line = 0;
    int r = netrc_find(file, machine, login, &e, &line);
    INVARIANT(r == 0 || r == -ENOENT || r == -EINVAL);
    INVARIANT(line >= 1 && line <= len + 1);
    if (r == 0) {
        INVARIANT(lies_in(e.login, file) && lies_in(e.password, file));
        INVARIANT(login.len == 0 || !e.has_login || bytes_equal(e.login, login));
    }
    return 0;
}
