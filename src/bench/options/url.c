#include "bench/options/url.h"

#include "base/text.h"

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char upper = text_upper((char)c);
    return upper >= 'A' && upper <= 'F' ? upper - 'A' + 10 : -1;
}

/* Undoes %XX into dst of cap bytes. False: too long, a broken escape, or one for NUL. */
static bool decode(struct bytes s, char *dst, size_t cap)
{
    size_t len = 0;
    for (size_t i = 0; i < s.len; i++) {
        int c = s.data[i];
        if (c == '%') {
            int high = i + 2 < s.len ? hex_digit(s.data[i + 1]) : -1;
            int low = i + 2 < s.len ? hex_digit(s.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = high * 16 + low;
            i += 2;
        }
        if (c == '\0' || len + 1 >= cap)
            return false;
        dst[len++] = (char)c;
    }
    dst[len] = '\0';
    return true;
}

static const char *take_login(struct bytes login, struct bench_url *u)
{
    size_t at;
    struct bytes user = login, password = BYTES_NONE;
    if (bytes_find(login, ':', &at)) {
        user = bytes_first(login, at);
        password = bytes_skip(login, at + 1);
    }
    if (!decode(user, u->user, sizeof(u->user)))
        return "its user is too long, or has a broken %-escape";
    if (!decode(password, u->password, sizeof(u->password)))
        return "its password is too long, or has a broken %-escape";
    return NULL;
}

static const char *take_port(struct bytes text, struct bench_url *u)
{
    uint64_t port;
    if (text.len == 0)
        return NULL;
    if (text.data[0] != ':' || text_u64(bytes_skip(text, 1), 10, UINT16_MAX, &port) < 0 ||
        port == 0)
        return "its port is no number from 1 to 65535";
    u->port = (uint16_t)port;
    return NULL;
}

static const char *take_host(struct bytes text, struct bench_url *u)
{
    size_t end = text.len, skip = 0;
    if (text.len > 0 && text.data[0] == '[') {
        text = bytes_skip(text, 1);
        skip = 1;
        if (!bytes_find(text, ']', &end))
            return "its host has no closing bracket";
    } else {
        (void)bytes_find(text, ':', &end);
    }
    if (end == 0)
        return "it names no host";
    if (!decode(bytes_first(text, end), u->host, sizeof(u->host)))
        return "its host is too long, or has a broken %-escape";
    return take_port(bytes_skip(text, end + skip), u);
}

const char *bench_url_parse(struct bytes text, struct bench_url *ret)
{
    static const struct bytes scheme = BYTES_LIT("ftp://");
    *ret = (struct bench_url){0};
    if (!bytes_equal_nocase(bytes_first(text, scheme.len), scheme))
        return "it does not begin with ftp://";
    text = bytes_skip(text, scheme.len);
    size_t path;
    if (bytes_find(text, '/', &path)) {
        if (path + 1 < text.len)
            return "a path is not supported: files are written to the login folder";
        text = bytes_first(text, path);
    }
    /* A password may hold an unescaped '@': the last one ends it. */
    size_t at = text.len;
    while (at > 0 && text.data[at - 1] != '@')
        at--;
    if (at > 0) {
        const char *wrong = take_login(bytes_first(text, at - 1), ret);
        if (wrong != NULL)
            return wrong;
    }
    return take_host(bytes_skip(text, at), ret);
}
