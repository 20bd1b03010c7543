#include "client/place/location.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

#define SCHEME_MAX 16
#define TEXT_MAX   (3 * PATH_LEN_MAX + 1024) /* of a whole URL, each byte an escape */

static const struct scheme {
    const char *name;
    enum location_scheme scheme;
    bool is_built;
} schemes[] = {
    {"sftp", LOCATION_SFTP, true},    {"scp", LOCATION_SCP, true},
    {"ftp", LOCATION_FTP, true},      {"ftps", LOCATION_LOCAL, false},
    {"rsync", LOCATION_LOCAL, false}, {"tar", LOCATION_LOCAL, false},
    {"http", LOCATION_LOCAL, false},  {"https", LOCATION_LOCAL, false},
};

/* -- pieces -- */

static int refuse(char why[LOCATION_WHY_MAX], const char *what)
{
    (void)snprintf(why, LOCATION_WHY_MAX, "%s", what);
    return -EINVAL;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char upper = text_upper((char)c);
    return upper >= 'A' && upper <= 'F' ? upper - 'A' + 10 : -1;
}

/* Whether it has more than graphic characters: what no host and no user has. */
static bool has_odd_bytes(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] <= ' ' || s.data[i] == 0x7f)
            return true;
    return false;
}

static int copy(struct bytes s, char **ret)
{
    char *text = mem_raw(s.len + 1);
    if (text == NULL)
        return -ENOMEM;
    (void)text_copy(text, s.len + 1, s);
    *ret = text;
    return 0;
}

/* Undoes %XX. -EINVAL: a broken escape, or one for NUL. */
static int decode(struct bytes s, char **ret)
{
    char *text = mem_raw(s.len + 1);
    size_t len = 0;
    if (text == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s.len; i++) {
        int c = s.data[i];
        if (c == '%') {
            int high = i + 2 < s.len ? hex_digit(s.data[i + 1]) : -1;
            int low = i + 2 < s.len ? hex_digit(s.data[i + 2]) : -1;
            c = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (c == '\0') {
            mem_wipe_free(text, s.len + 1);
            return -EINVAL;
        }
        text[len++] = (char)c;
    }
    text[len] = '\0';
    *ret = text;
    return 0;
}

static int take_part(struct bytes s, bool is_encoded, char **ret)
{
    return is_encoded ? decode(s, ret) : copy(s, ret);
}

static int check_host(const char *host, char why[LOCATION_WHY_MAX])
{
    size_t len = strlen(host);
    if (len == 0)
        return refuse(why, "it names no host");
    if (len > LOCATION_HOST_MAX)
        return refuse(why, "the name of its host is too long");
    if (host[0] == '-' || has_odd_bytes(bytes_str(host)) || strpbrk(host, "/@,*?[]") != NULL)
        return refuse(why, "its host is no name of a host");
    return 0;
}

static int check_user(const char *user, char why[LOCATION_WHY_MAX])
{
    size_t len = strlen(user);
    if (len == 0)
        return refuse(why, "there is no user before its '@'");
    if (len > USER_NAME_MAX || text_has_control(bytes_str(user)))
        return refuse(why, "the name of its user is none");
    return 0;
}

/* "USER" or, of an FTP URL, "USER:PASSWORD". */
static int take_login(struct bytes login, bool is_url, struct location *l,
                      char why[LOCATION_WHY_MAX])
{
    size_t colon;
    struct bytes password = BYTES_NONE;
    bool has_password = is_url && bytes_find(login, ':', &colon);
    if (has_password) {
        password = bytes_skip(login, colon + 1);
        login = bytes_first(login, colon);
        if (l->scheme != LOCATION_FTP)
            return refuse(why, "a password does not belong into a URL of ssh: "
                               "use a key, or wait for the question");
    }
    int r = take_part(login, is_url, &l->user);
    if (r == 0 && has_password)
        r = decode(password, &l->password);
    if (r == -EINVAL)
        return refuse(why, "its login has a broken %-escape");
    if (r == 0 && has_password && strlen(l->password) > PASSWORD_MAX)
        return refuse(why, "its password is too long");
    return r < 0 ? r : check_user(l->user, why);
}

/* Without the brackets of IPv6; *rest: what stands behind it. */
static int take_host(struct bytes text, bool is_url, struct location *l, struct bytes *rest,
                     char why[LOCATION_WHY_MAX])
{
    size_t end = text.len, brackets = 0;
    if (text.len > 0 && text.data[0] == '[') {
        text = bytes_skip(text, 1);
        brackets = 1;
        if (!bytes_find(text, ']', &end))
            return refuse(why, "its host has no closing bracket");
    } else {
        (void)bytes_find(text, ':', &end);
    }
    *rest = bytes_skip(text, end + brackets);
    int r = take_part(bytes_first(text, end), is_url, &l->host);
    if (r == -EINVAL)
        return refuse(why, "its host has a broken %-escape");
    return r < 0 ? r : check_host(l->host, why);
}

/* Sets is_directory, too. */
static int take_path(struct bytes path, bool is_encoded, struct location *l,
                     char why[LOCATION_WHY_MAX])
{
    int r = take_part(path, is_encoded, &l->path);
    if (r == -EINVAL)
        return refuse(why, "its path has a broken %-escape");
    if (r < 0)
        return r;
    size_t len = strlen(l->path);
    if (len > PATH_LEN_MAX)
        return refuse(why, "its path is too long");
    l->is_directory = len == 0 || l->path[len - 1] == '/';
    return 0;
}

/* -- the forms -- */

static int take_port(struct bytes text, struct location *l, char why[LOCATION_WHY_MAX])
{
    uint64_t port;
    if (text.len == 0)
        return 0;
    if (text.data[0] != ':' || text_u64(bytes_skip(text, 1), 10, UINT16_MAX, &port) < 0 ||
        port == 0)
        return refuse(why, "its port is no number from 1 to 65535");
    l->port = (uint16_t)port;
    return 0;
}

/* The path of a URL begins behind the '/' that ends the host (RFC 1738 3.2.2). That of ssh is
 * absolute with it; "/~/" is the home. */
static struct bytes path_of_url(enum location_scheme scheme, struct bytes path)
{
    if (scheme == LOCATION_FTP)
        return bytes_skip(path, 1);
    if (bytes_start_with(path, BYTES_LIT("/~/")))
        return bytes_skip(path, 3);
    return bytes_equal(path, BYTES_LIT("/~")) ? BYTES_NONE : path;
}

static int parse_url(struct bytes text, struct location *l, char why[LOCATION_WHY_MAX])
{
    struct bytes path = BYTES_NONE, rest;
    size_t slash;
    if (bytes_find(text, '/', &slash)) {
        path = bytes_skip(text, slash);
        text = bytes_first(text, slash);
    }
    /* A password may hold an '@' as it is: the last one ends it. */
    size_t at = text.len;
    while (at > 0 && text.data[at - 1] != '@')
        at--;
    int r = at > 0 ? take_login(bytes_first(text, at - 1), true, l, why) : 0;
    if (r == 0)
        r = take_host(bytes_skip(text, at), true, l, &rest, why);
    if (r == 0)
        r = take_port(rest, l, why);
    return r < 0 ? r : take_path(path_of_url(l->scheme, path), true, l, why);
}

/* "~/x" is x from the home directory on. */
static struct bytes path_of_ssh(struct bytes path)
{
    if (bytes_start_with(path, BYTES_LIT("~/")))
        return bytes_skip(path, 2);
    return bytes_equal(path, BYTES_LIT("~")) ? BYTES_NONE : path;
}

/* [USER@]HOST:PATH, and the colon is there. */
static int parse_ssh(struct bytes text, struct location *l, char why[LOCATION_WHY_MAX])
{
    struct bytes rest;
    size_t at, colon;
    int r = 0;
    l->scheme = LOCATION_SSH;
    if (bytes_find(text, '@', &at) && bytes_find(text, ':', &colon) && at < colon) {
        r = take_login(bytes_first(text, at), false, l, why);
        text = bytes_skip(text, at + 1);
    }
    if (r == 0)
        r = take_host(text, false, l, &rest, why);
    if (r < 0)
        return r;
    if (rest.len == 0 || rest.data[0] != ':')
        return refuse(why, "there is no ':' behind its host");
    return take_path(path_of_ssh(bytes_skip(rest, 1)), false, l, why);
}

/* What stands before "://", if that is a scheme's name (RFC 3986 3.1). */
static bool find_scheme(struct bytes text, struct bytes *ret)
{
    size_t colon;
    if (!bytes_find(text, ':', &colon) || colon == 0 || colon > SCHEME_MAX ||
        !bytes_start_with(bytes_skip(text, colon), BYTES_LIT("://")))
        return false;
    for (size_t i = 0; i < colon; i++) {
        char c = text_upper((char)text.data[i]);
        bool is_letter = c >= 'A' && c <= 'Z';
        if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || strchr("+.-", c) != NULL)))
            return false;
    }
    *ret = bytes_first(text, colon);
    return true;
}

static int parse_scheme(struct bytes text, struct bytes name, struct location *l,
                        char why[LOCATION_WHY_MAX])
{
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (!bytes_equal_nocase(bytes_str(schemes[i].name), name))
            continue;
        if (!schemes[i].is_built) {
            (void)snprintf(why, LOCATION_WHY_MAX, "%s:// is not built yet", schemes[i].name);
            return -EINVAL;
        }
        l->scheme = schemes[i].scheme;
        return parse_url(bytes_skip(text, name.len + 3), l, why);
    }
    (void)snprintf(why, LOCATION_WHY_MAX, "%.*s:// is no scheme that ferry knows",
                   (int)name.len, (const char *)name.data);
    return -EINVAL;
}

/* As scp has it: a colon before the first '/', not at the very beginning; or brackets. */
static bool is_remote(struct bytes text)
{
    size_t colon = text.len, slash = text.len, at = 0;
    bool has_colon = bytes_find(text, ':', &colon);
    (void)bytes_find(text, '/', &slash);
    if (bytes_find(text, '@', &at))
        at++;
    if (at < colon && at < slash && text.data[at] == '[')
        return strstr((const char *)text.data + at, "]:") != NULL;
    return has_colon && colon > 0 && colon < slash;
}

static int parse(struct bytes text, struct location *l, char why[LOCATION_WHY_MAX])
{
    struct bytes scheme;
    if (text.len == 0)
        return refuse(why, "the name is empty");
    if (text.len > TEXT_MAX)
        return refuse(why, "it is too long");
    if (find_scheme(text, &scheme))
        return parse_scheme(text, scheme, l, why);
    if (bytes_equal(text, BYTES_LIT("-"))) {
        l->scheme = LOCATION_STANDARD;
        return copy(text, &l->path);
    }
    if (is_remote(text))
        return parse_ssh(text, l, why);
    l->scheme = LOCATION_LOCAL;
    return take_path(text, false, l, why);
}

int location_parse(const char *text, struct location *ret, char ret_why[LOCATION_WHY_MAX])
{
    struct location l = {.scheme = LOCATION_LOCAL};
    ret_why[0] = '\0';
    int r = parse(bytes_str(text), &l, ret_why);
    if (r < 0)
        location_done(&l);
    else
        *ret = l;
    return r;
}

void location_done(struct location *l)
{
    if (l->password != NULL)
        mem_wipe_free(l->password, strlen(l->password));
    mem_free(l->user);
    mem_free(l->host);
    mem_free(l->path);
    *l = (struct location){.scheme = LOCATION_LOCAL};
}

/* -- for messages -- */

static const char *scheme_name(enum location_scheme scheme)
{
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (schemes[i].is_built && schemes[i].scheme == scheme)
            return schemes[i].name;
    return "";
}

/* "[USER@]HOST", IPv6 in brackets. */
static int put_host(const struct location *l, struct buf *b)
{
    bool is_v6 = strchr(l->host, ':') != NULL;
    return buf_printf(b, "%s%s%s%s%s", l->user != NULL ? l->user : "",
                      l->user != NULL ? "@" : "", is_v6 ? "[" : "", l->host, is_v6 ? "]" : "");
}

/* What makes the path of a URL the path that is meant. */
static const char *url_lead(const struct location *l, struct bytes path)
{
    bool is_absolute = path.len > 0 && path.data[0] == '/';
    if (l->scheme == LOCATION_FTP)
        return "/";
    return is_absolute ? "" : path.len > 0 ? "/~/" : "";
}

static int put_location(const struct location *l, struct bytes path, struct buf *b)
{
    int r = 0;
    if (l->host == NULL)
        return buf_append_bytes(b, path);
    if (l->scheme != LOCATION_SSH)
        r = buf_printf(b, "%s://", scheme_name(l->scheme));
    if (r >= 0)
        r = put_host(l, b);
    if (r >= 0 && l->scheme == LOCATION_SSH)
        r = buf_append_byte(b, ':');
    if (r >= 0 && l->scheme != LOCATION_SSH && l->port != 0)
        r = buf_printf(b, ":%u", l->port);
    if (r >= 0 && l->scheme != LOCATION_SSH)
        r = buf_append_str(b, url_lead(l, path));
    return r < 0 ? r : buf_append_bytes(b, path);
}

void location_text(const struct location *l, struct bytes path, size_t cap, char *ret)
{
    struct buf b;
    buf_init(&b, 2 * PATH_LEN_MAX);
    if (put_location(l, path, &b) < 0)
        (void)text_copy(ret, cap, BYTES_LIT("?"));
    else
        (void)text_copy_printable(ret, cap, buf_bytes(&b));
    buf_done(&b);
}
