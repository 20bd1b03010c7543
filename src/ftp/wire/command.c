#include "ftp/wire/command.h"

#include <errno.h>

#include "base/err.h"
#include "base/text.h"

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_verb_char(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

int ftp_command_parse(struct bytes line, struct ftp_request *ret)
{
    size_t start = 0;
    while (start < line.len && line.data[start] == ' ')
        start++;
    struct bytes rest = bytes_skip(line, start);

    size_t len;
    if (!bytes_find(rest, ' ', &len))
        len = rest.len;
    if (len == 0 || !is_letter((char)rest.data[0]))
        return -EINVAL;

    char verb[FTP_VERB_MAX + 1] = {0};
    for (size_t i = 0; i < len; i++) {
        if (!is_verb_char((char)rest.data[i]))
            return -EINVAL;
        if (i < FTP_VERB_MAX)
            verb[i] = text_upper((char)rest.data[i]);
    }
    if (len > FTP_VERB_MAX)
        return -FERRY_ELIMIT;

    memcpy(ret->verb, verb, sizeof(verb));
    ret->argument = bytes_skip(rest, len + 1);
    return 0;
}
