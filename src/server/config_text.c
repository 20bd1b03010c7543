#include "server/config_text.h"

#include <linux/openat2.h>

#include "base/err.h"
#include "task/sys.h"

#define READ_AT_ONCE 4096

static int read_file(const char *path, struct buf *ret)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    ssize_t n = fd < 0 ? fd : 1;
    while (n > 0) {
        n = buf_reserve(ret, READ_AT_ONCE);
        if (n == 0)
            n = sys_read(fd, ret->data + ret->len, READ_AT_ONCE);
        if (n > 0)
            buf_added(ret, (size_t)n);
    }
    sys_close(fd);
    return (int)n;
}

int config_text_read(const char *path, struct buf *ret, struct refusal *why)
{
    size_t nul;
    buf_init(ret, CONFIG_BYTES_MAX + READ_AT_ONCE);
    int r = read_file(path, ret);
    if (r == 0 && bytes_find(buf_bytes(ret), '\0', &nul))
        return refuse(why, "%s: not a text: it holds a NUL", path);
    if (r == 0)
        r = buf_append_byte(ret, '\0');
    if (r < 0)
        return refuse(why, "%s: %s", path, err_text(r));
    config_text_blank_comments((char *)ret->data, ret->len - 1);
    const char *opener;
    unsigned line = config_text_open_line((const char *)ret->data, ret->len - 1, &opener);
    if (line != 0)
        return refuse(why, "%s:%u: what %s opens here is never closed", path, line, opener);
    return 0;
}

/* The end of the quoted text that begins at i; past len if it has none. */
static size_t skip_quoted(const char *text, size_t len, size_t i)
{
    char quote = text[i++];
    while (i < len && text[i] != quote)
        i += text[i] == '\\' ? 2 : 1;
    return i < len ? i + 1 : len + 1;
}

/* A slash in an unquoted path begins no comment. */
static bool begins_word(const char *text, size_t i)
{
    return i == 0 || strchr(" \t\r\n={}(),;+\"'", text[i - 1]) != NULL;
}

/* The end of the comment that begins at i; i for an open one, which stays to be found. */
static size_t comment_end(const char *text, size_t len, size_t i, bool is_block)
{
    const char *end =
        is_block ? memmem(text + i + 2, len - i - 2, "*/", 2) : memchr(text + i, '\n', len - i);
    if (end == NULL)
        return is_block ? i : len;
    return (size_t)(end - text) + (is_block ? 2 : 0);
}

static size_t blank(char *text, size_t len, size_t i, bool is_block)
{
    size_t end = comment_end(text, len, i, is_block);
    if (end == i)
        return len;
    for (; i < end; i++)
        if (text[i] != '\n')
            text[i] = ' ';
    return end;
}

void config_text_blank_comments(char *text, size_t len)
{
    size_t i = 0;
    while (i < len) {
        char next = i + 1 < len ? text[i + 1] : '\0';
        if (text[i] == '"' || text[i] == '\'') {
            i = skip_quoted(text, len, i);
        } else if (text[i] == '#') {
            i = blank(text, len, i, false);
        } else if (text[i] == '/' && (next == '/' || next == '*') && begins_word(text, i)) {
            i = blank(text, len, i, next == '*');
        } else {
            i++;
        }
    }
}

static bool begins_comment(const char *text, size_t len, size_t i)
{
    return i + 1 < len && text[i] == '/' && text[i + 1] == '*' && begins_word(text, i);
}

unsigned config_text_open_line(const char *text, size_t len, const char **ret_opener)
{
    unsigned line = 1, opened = 0, depth = 0;
    size_t i = 0;
    *ret_opener = "'{'";
    while (i < len) {
        size_t next = i + 1;
        if (text[i] == '"' || text[i] == '\'')
            next = skip_quoted(text, len, i);
        else if (begins_comment(text, len, i))
            next = len + 1;
        else if (text[i] == '{' && depth++ == 0)
            opened = line;
        else if (text[i] == '}' && depth > 0)
            depth--;
        if (next > len) {
            *ret_opener = text[i] == '/' ? "a comment" : "a quote";
            return line;
        }
        for (; i < next; i++)
            line += text[i] == '\n';
    }
    return depth > 0 ? opened : 0;
}
