#include "server/exec/words.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"

struct splitter {
    struct bytes rest;
    char *out;
    char *pattern; /* the same word once more, with what was quoted escaped */
    bool has_magic;
    struct words *words;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Means something else to a shell. A leading "#" too, but scp sends such names bare. */
static bool is_for_shells(uint8_t c)
{
    return c == '\0' || strchr(";|&<>()`$", c) != NULL;
}

static void put(struct splitter *s, uint8_t c, bool is_quoted)
{
    if (is_quoted && strchr("*?[]\\!^-", c) != NULL)
        *s->pattern++ = '\\';
    s->has_magic = s->has_magic || (!is_quoted && strchr("*?[", c) != NULL);
    *s->pattern++ = (char)c;
    *s->out++ = (char)c;
}

static uint8_t next(struct splitter *s)
{
    uint8_t c = s->rest.data[0];
    s->rest = bytes_skip(s->rest, 1);
    return c;
}

static int take_single(struct splitter *s)
{
    while (s->rest.len > 0) {
        uint8_t c = next(s);
        if (c == '\'')
            return 0;
        if (c == '\0')
            return -EINVAL;
        put(s, c, true);
    }
    return -EINVAL;
}

/* Within double quotes a backslash quotes these alone (POSIX 2.2.3). */
static int take_double(struct splitter *s)
{
    while (s->rest.len > 0) {
        uint8_t c = next(s);
        if (c == '"')
            return 0;
        if (c == '\0' || c == '$' || c == '`')
            return -EINVAL;
        if (c == '\\' && s->rest.len > 0 && s->rest.data[0] != '\0' &&
            strchr("$`\"\\", s->rest.data[0]) != NULL)
            c = next(s);
        put(s, c, true);
    }
    return -EINVAL;
}

/* "~" and "~/x": an account's home is the root of what it sees. */
static void take_tilde(struct splitter *s)
{
    if (s->rest.data[0] != '~')
        return;
    if (s->rest.len == 1 || is_blank(s->rest.data[1]))
        put(s, '/', true);
    else if (s->rest.data[1] != '/')
        return;
    s->rest = bytes_skip(s->rest, 1);
}

static int take_word(struct splitter *s)
{
    while (s->rest.len > 0 && !is_blank(s->rest.data[0])) {
        uint8_t c = next(s);
        int r = 0;
        if (c == '\'') {
            r = take_single(s);
        } else if (c == '"') {
            r = take_double(s);
        } else if (c == '\\') {
            if (s->rest.len == 0 || s->rest.data[0] == '\0')
                return -EINVAL;
            put(s, next(s), true);
        } else if (is_for_shells(c)) {
            return -EINVAL;
        } else {
            put(s, c, false);
        }
        if (r < 0)
            return r;
    }
    *s->out++ = '\0';
    return 0;
}

static int add_word(struct splitter *s)
{
    struct words *w = s->words;
    char *pattern = s->pattern;
    if (w->count == WORDS_MAX)
        return -FERRY_ELIMIT;
    w->at[w->count] = s->out;
    s->has_magic = false;
    take_tilde(s);
    int r = take_word(s);
    if (s->has_magic) {
        w->patterns[w->count] = pattern;
        *s->pattern++ = '\0';
    } else {
        s->pattern = pattern;
    }
    w->count++;
    return r;
}

static int split(struct splitter *s)
{
    for (;;) {
        while (s->rest.len > 0 && is_blank(s->rest.data[0]))
            s->rest = bytes_skip(s->rest, 1);
        if (s->rest.len == 0)
            return 0;
        int r = add_word(s);
        if (r < 0)
            return r;
    }
}

/* Words are no longer than the line, and patterns not more than twice that. */
int words_split(struct bytes line, struct words *ret)
{
    struct words words = {.text = mem_raw(3 * line.len + 3)};
    if (words.text == NULL)
        return -ENOMEM;
    struct splitter s = {line, words.text, words.text + line.len + 1, false, &words};
    int r = split(&s);
    if (r < 0) {
        mem_free(words.text);
        return r;
    }
    *ret = words;
    return 0;
}

void words_done(struct words *w)
{
    mem_free(w->text);
    *w = (struct words){0};
}
