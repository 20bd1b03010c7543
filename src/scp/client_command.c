/* The commands that the server runs for us, through a shell of its own. */
#include <errno.h>

#include "base/err.h"
#include "scp/client_internal.h"

/* A word for a shell. The first failure is kept. */
struct word {
    struct buf *out;
    bool is_quoted;
    int result;
};

static void put(struct word *w, const char *text)
{
    if (w->result == 0)
        w->result = buf_append_str(w->out, text);
}

static void put_bare(struct word *w, uint8_t c)
{
    put(w, w->is_quoted ? "'" : "");
    w->is_quoted = false;
    if (w->result == 0)
        w->result = buf_append_byte(w->out, c);
}

static void put_literal(struct word *w, uint8_t c)
{
    put(w, w->is_quoted ? "" : "'");
    w->is_quoted = true;
    if (c == '\'')
        put(w, "'\\''");
    else if (w->result == 0)
        w->result = buf_append_byte(w->out, c);
}

static int end_word(struct word *w)
{
    put(w, w->is_quoted ? "'" : "");
    return w->result;
}

/* Where the ']' of the set is that begins with s (behind its '['), as glob_match() sees it; 0:
 * it has none. */
static size_t set_len(struct bytes s)
{
    size_t at = s.len > 0 && (s.data[0] == '!' || s.data[0] == '^');
    for (size_t first = at; at < s.len; at++) {
        if (s.data[at] == ']' && at > first)
            return at;
        if (s.data[at] == '\\' && at + 1 < s.len)
            at++;
    }
    return 0;
}

/* The next byte, for itself; the escape before it is ours and not the shell's. */
static void put_next(struct word *w, struct bytes *rest)
{
    if (rest->data[0] == '\\' && rest->len > 1)
        *rest = bytes_skip(*rest, 1);
    put_literal(w, rest->data[0]);
    *rest = bytes_skip(*rest, 1);
}

/* "[a-z]": its brackets, its negation and its ranges are bare, its members are not. */
static void put_set(struct word *w, struct bytes inside)
{
    put_bare(w, '[');
    if (inside.data[0] == '!' || inside.data[0] == '^') {
        inside = bytes_skip(inside, 1);
        put_bare(w, '!'); /* the one that POSIX has */
    }
    while (inside.len > 0) {
        put_next(w, &inside);
        if (inside.len > 1 && inside.data[0] == '-') {
            inside = bytes_skip(inside, 1);
            put_bare(w, '-');
            put_next(w, &inside);
        }
    }
    put_bare(w, ']');
}

static void put_component(struct word *w, struct bytes rest)
{
    while (rest.len > 0) {
        uint8_t c = rest.data[0];
        size_t len = c == '[' ? set_len(bytes_skip(rest, 1)) : 0;
        if (c == '*' || c == '?') {
            put_bare(w, c);
            rest = bytes_skip(rest, 1);
        } else if (len > 0) {
            put_set(w, bytes_first(bytes_skip(rest, 1), len));
            rest = bytes_skip(rest, len + 2);
        } else {
            put_next(w, &rest);
        }
    }
}

/* A set ends with its component, for a shell as for us. */
static int append_pattern(struct buf *ret, struct bytes path)
{
    struct word w = {.out = ret};
    size_t at;
    for (; bytes_find(path, '/', &at); path = bytes_skip(path, at + 1)) {
        put_component(&w, bytes_first(path, at));
        put_bare(&w, '/');
    }
    put_component(&w, path);
    return end_word(&w);
}

static int append_quoted(struct buf *ret, struct bytes path)
{
    struct word w = {.out = ret};
    if (path.len == 0)
        put(&w, "''");
    for (size_t i = 0; i < path.len; i++)
        put_literal(&w, path.data[i]);
    return end_word(&w);
}

static int append_path(struct buf *ret, const struct scp_path *path)
{
    size_t at;
    if (bytes_find(path->path, '\0', &at))
        return -EINVAL;
    int r = buf_append_byte(ret, ' ');
    if (r < 0)
        return r;
    return path->is_pattern ? append_pattern(ret, path->path) : append_quoted(ret, path->path);
}

static int append_command(struct buf *ret, const struct scp_request *request, char direction)
{
    int r = buf_printf(ret, "scp -%c%s%s%s --", direction, request->is_recursive ? " -r" : "",
                       request->keeps_times ? " -p" : "",
                       direction == 't' && request->needs_directory ? " -d" : "");
    for (unsigned i = 0; i < request->count && r == 0; i++)
        r = append_path(ret, &request->paths[i]);
    return r;
}

struct bytes scp_path_name(struct bytes path)
{
    while (path.len > 0 && path.data[path.len - 1] == '/')
        path.len--;
    size_t begin = path.len;
    while (begin > 0 && path.data[begin - 1] != '/')
        begin--;
    path = bytes_skip(path, begin);
    bool is_elsewhere = bytes_equal(path, BYTES_LIT(".")) || bytes_equal(path, BYTES_LIT(".."));
    return is_elsewhere ? BYTES_NONE : path;
}

int scp_client_get_command(const struct scp_request *request, struct buf *ret)
{
    for (unsigned i = 0; i < request->count; i++)
        if (scp_path_name(request->paths[i].path).len == 0)
            return -FERRY_EBADNAME;
    return append_command(ret, request, 'f');
}

int scp_client_put_command(const struct scp_request *request, struct buf *ret)
{
    return append_command(ret, request, 't');
}
