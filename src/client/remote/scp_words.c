/* What people's words say of a path that a server complains of. */
#include <errno.h>

#include "base/err.h"
#include "client/remote/scp.h"
#include "sftp/client.h"

/* What OpenSSH's scp takes from strerror(), and ferryd's from base/err.c. */
static const struct {
    const char *text;
    int result;
} words[] = {
    {"no such file or directory", -ENOENT},
    {"not a directory", -ENOTDIR},
    {"is a directory", -EISDIR},
    {"permission denied", -EACCES},
    {"operation not permitted", -EACCES},
    {"no space left on device", -ENOSPC},
    {"disk quota exceeded", -EDQUOT},
    {"read-only file system", -EROFS},
    {"file name too long", -ENAMETOOLONG},
    {"not a regular file", -FERRY_ENOTREG},
};

int scp_complaint_result(struct bytes text)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct bytes word = bytes_str(words[i].text);
        if (text.len >= word.len &&
            bytes_equal_nocase(bytes_skip(text, text.len - word.len), word))
            return words[i].result;
    }
    return -FERRY_EREFUSED;
}

static struct bytes without_slashes(struct bytes path)
{
    while (path.len > 0 && path.data[path.len - 1] == '/')
        path.len--;
    return path;
}

struct bytes scp_complaint_name(struct bytes text)
{
    size_t end = text.len, at;
    if (!bytes_start_with(text, BYTES_LIT("scp: ")))
        return BYTES_NONE;
    while (end > 1 && !(text.data[end - 2] == ':' && text.data[end - 1] == ' '))
        end--;
    struct bytes name = bytes_skip(bytes_first(text, end - 2), sizeof("scp:"));
    while (bytes_find(name, '/', &at))
        name = bytes_skip(name, at + 1);
    return end > sizeof("scp: ") && sftp_name_is_safe(name) ? name : BYTES_NONE;
}

bool scp_is_nameless(struct bytes path)
{
    path = without_slashes(path);
    size_t begin = path.len;
    while (begin > 0 && path.data[begin - 1] != '/')
        begin--;
    struct bytes name = bytes_skip(path, begin);
    return name.len == 0 || bytes_equal(name, BYTES_LIT(".")) ||
           bytes_equal(name, BYTES_LIT(".."));
}
