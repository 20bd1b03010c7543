#include "ftp/wire/list_argument.h"

static bool is_option_char(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_option_word(struct bytes word)
{
    if (word.len < 2 || word.data[0] != '-')
        return false;
    for (size_t i = 1; i < word.len; i++)
        if (!is_option_char(word.data[i]))
            return false;
    return true;
}

void ftp_list_argument_parse(struct bytes argument, struct ftp_list_argument *ret)
{
    *ret = (struct ftp_list_argument){0};

    while (argument.len > 0) {
        size_t len, at;
        if (!bytes_find(argument, ' ', &len))
            len = argument.len;
        struct bytes word = bytes_first(argument, len);
        bool is_end = bytes_equal(word, BYTES_LIT("--"));
        if (!is_end && !is_option_word(word))
            break;
        argument = bytes_skip(argument, len + 1);
        if (is_end)
            break;
        ret->long_format = ret->long_format || bytes_find(word, 'l', &at);
    }
    ret->path = argument;
}
