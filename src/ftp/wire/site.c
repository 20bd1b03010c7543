#include "ftp/wire/site.h"

#include <errno.h>

#include "base/text.h"

int ftp_chmod_parse(struct bytes argument, uint32_t *ret_mode, struct bytes *ret_path)
{
    size_t len;
    uint64_t mode;

    if (!bytes_find(argument, ' ', &len) || len < 3 || len > 4 || len + 1 == argument.len)
        return -EINVAL;
    if (text_u64(bytes_first(argument, len), 8, 07777, &mode) < 0)
        return -EINVAL;
    *ret_mode = (uint32_t)mode;
    *ret_path = bytes_skip(argument, len + 1);
    return 0;
}
