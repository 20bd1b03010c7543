#include "client/place/netrc.h"

#include <errno.h>

#define WORD_MAX 512

struct reader {
    struct bytes rest;
    unsigned line;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

static uint8_t skip_one(struct reader *r)
{
    uint8_t c = r->rest.data[0];
    r->line += c == '\n';
    r->rest = bytes_skip(r->rest, 1);
    return c;
}

static void skip_line(struct reader *r)
{
    while (r->rest.len > 0 && skip_one(r) != '\n')
        ;
}

/* Words stand between blanks; one in quotes may have some. A '#' where a keyword may stand
 * begins a comment. 1, 0 at the end, -EINVAL. */
static int next_word(struct reader *r, bool is_keyword, struct bytes *ret)
{
    for (;;) {
        while (r->rest.len > 0 && is_blank(r->rest.data[0]))
            (void)skip_one(r);
        if (r->rest.len == 0)
            return 0;
        if (!is_keyword || r->rest.data[0] != '#')
            break;
        skip_line(r);
    }
    bool is_quoted = r->rest.data[0] == '"' && !is_keyword;
    if (is_quoted)
        (void)skip_one(r);
    *ret = bytes_first(r->rest, 0);
    while (r->rest.len > 0 && (is_quoted ? r->rest.data[0] != '"' && r->rest.data[0] != '\n'
                                         : !is_blank(r->rest.data[0]))) {
        (void)skip_one(r);
        ret->len++;
    }
    if (is_quoted) {
        if (r->rest.len == 0 || r->rest.data[0] != '"')
            return -EINVAL;
        (void)skip_one(r);
    }
    return ret->len <= WORD_MAX && memchr(ret->data, '\0', ret->len) == NULL ? 1 : -EINVAL;
}

/* Lines up to an empty one. */
static void skip_macro(struct reader *r)
{
    skip_line(r);
    while (r->rest.len > 0 && r->rest.data[0] != '\n')
        skip_line(r);
}

enum state { OUTSIDE, OTHER, OURS };

struct search {
    struct bytes machine, login;
    enum state state; /* of the entry that is read */
    struct netrc_entry entry;
    bool has_default;
    struct netrc_entry of_default;
};

static bool is_wanted(const struct search *s)
{
    return s->login.len == 0 || !s->entry.has_login || bytes_equal(s->login, s->entry.login);
}

/* An entry has ended. True: it is what is looked for. */
static bool end_entry(struct search *s)
{
    if (s->state != OURS || !is_wanted(s))
        return false;
    if (!s->entry.is_default)
        return true;
    if (!s->has_default)
        s->of_default = s->entry;
    s->has_default = true;
    return false;
}

static void begin_entry(struct search *s, bool is_ours, bool is_default)
{
    s->state = is_ours ? OURS : OTHER;
    s->entry = (struct netrc_entry){.is_default = is_default};
}

/* login, password, account: the value to the entry. -EINVAL: another word. */
static int take_value(struct search *s, struct bytes word, struct bytes value)
{
    struct netrc_entry *e = &s->entry;
    if (bytes_equal(word, BYTES_LIT("login"))) {
        e->login = value;
        e->has_login = true;
    } else if (bytes_equal(word, BYTES_LIT("password"))) {
        e->password = value;
        e->has_password = true;
    } else if (bytes_equal(word, BYTES_LIT("account"))) {
        e->account = value;
    } else {
        return -EINVAL;
    }
    return s->state == OUTSIDE ? -EINVAL : 0;
}

/* 1: the entry before this word was it. */
static int take_word(struct search *s, struct reader *r, struct bytes word)
{
    struct bytes value;
    if (bytes_equal(word, BYTES_LIT("default"))) {
        if (end_entry(s))
            return 1;
        begin_entry(s, true, true);
        return 0;
    }
    if (bytes_equal(word, BYTES_LIT("macdef"))) {
        skip_macro(r);
        return 0;
    }
    int n = next_word(r, false, &value);
    if (n <= 0)
        return -EINVAL;
    if (!bytes_equal(word, BYTES_LIT("machine")))
        return take_value(s, word, value);
    if (end_entry(s))
        return 1;
    begin_entry(s, bytes_equal_nocase(value, s->machine), false);
    return 0;
}

int netrc_find(struct bytes file, struct bytes machine, struct bytes login,
               struct netrc_entry *ret, unsigned *ret_line)
{
    struct reader r = {.rest = file, .line = 1};
    struct search s = {.machine = machine, .login = login};
    struct bytes word;
    int n = 0;
    while (n == 0 && (n = next_word(&r, true, &word)) == 1)
        n = take_word(&s, &r, word);
    *ret_line = r.line;
    if (n < 0)
        return n;
    if (n == 1 || end_entry(&s)) {
        *ret = s.entry;
        return 0;
    }
    if (!s.has_default)
        return -ENOENT;
    *ret = s.of_default;
    return 0;
}
