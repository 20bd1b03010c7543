/* layers: client */
/* Lines of MLSD and LIST: a name is not empty and lies in its line. */
#include "client/remote/ftp_listing.h"

#include "base/err.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(int r, struct bytes line, struct bytes name, const struct endpoint_facts *f)
{
    INVARIANT(r == 0 || r == 1 || r == -FERRY_EPROTO);
    if (r != 1)
        return;
    INVARIANT(name.len > 0 && name.data >= line.data &&
              name.data + name.len <= line.data + line.len);
    INVARIANT(f->kind <= ENDPOINT_UNKNOWN && (f->mode & ~07777u) == 0);
    INVARIANT(!f->has_size || f->size_bytes <= INT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes rest = bytes_of(data, len);
    while (rest.len > 0) {
        struct bytes line = bytes_take_until(&rest, '\n'), name = BYTES_NONE;
        struct endpoint_facts f = {0};
        check(ftp_listed_facts(line, &name, &f), line, name, &f);
        check(ftp_listed_line(line, INT64_C(1800000000000000), &name, &f), line, name, &f);
    }
    return 0;
}
