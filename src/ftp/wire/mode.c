#include "ftp/wire/mode.h"

#include <errno.h>

#include "base/text.h"

/* The next word; *text is what follows it and its spaces. Empty at the end. */
static struct bytes next_word(struct bytes *text)
{
    size_t end = text->len;
    (void)bytes_find(*text, ' ', &end);
    struct bytes word = bytes_first(*text, end);
    *text = bytes_skip(*text, end);
    while (text->len > 0 && text->data[0] == ' ')
        *text = bytes_skip(*text, 1);
    return word;
}

static int parse_level(struct bytes value, int *level)
{
    if (bytes_equal_nocase(value, BYTES_LIT("AUTO"))) {
        *level = FTP_MODE_LEVEL_AUTO;
        return 0;
    }
    uint64_t n;
    if (text_u64(value, 10, FTP_MODE_LEVEL_MAX, &n) < 0)
        return -EINVAL;
    *level = (int)n;
    return 0;
}

static int parse_engine(struct bytes value, int *level)
{
    (void)level;
    return bytes_equal_nocase(value, BYTES_LIT("ZLIB")) ? 0 : -EINVAL;
}

static const struct {
    const char *name;
    int (*parse)(struct bytes value, int *level);
} parameters[] = {{"LEVEL", parse_level}, {"ENGINE", parse_engine}};

static int parse_parameter(struct bytes name, struct bytes value, int *level)
{
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
        if (bytes_equal_nocase(name, bytes_str(parameters[i].name)))
            return parameters[i].parse(value, level);
    return -EINVAL;
}

int ftp_mode_parse(struct bytes text, int *ret_level)
{
    int level = FTP_MODE_LEVEL_AUTO;
    if (!bytes_equal_nocase(next_word(&text), BYTES_LIT("Z")))
        return -EINVAL;
    while (text.len > 0) {
        struct bytes name = next_word(&text);
        if (parse_parameter(name, next_word(&text), &level) < 0)
            return -EINVAL;
    }
    *ret_level = level;
    return 0;
}
