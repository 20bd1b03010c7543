#include "server/exec/words.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"

struct splitter {
    struct bytes rest;
    char *out;
    struct words *words;
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Means something else to a shell. A leading "~" or "#" too, but scp sends such names bare. */
static bool is_for_shells(uint8_t c)
{
    return c == '\0' || strchr(";|&<>()`$*?[", c) != NULL;
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
        *s->out++ = (char)c;
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
        *s->out++ = (char)c;
    }
    return -EINVAL;
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
            *s->out++ = (char)next(s);
        } else if (is_for_shells(c)) {
            return -EINVAL;
        } else {
            *s->out++ = (char)c;
        }
        if (r < 0)
            return r;
    }
    *s->out++ = '\0';
    return 0;
}

static int split(struct splitter *s)
{
    for (;;) {
        while (s->rest.len > 0 && is_blank(s->rest.data[0]))
            s->rest = bytes_skip(s->rest, 1);
        if (s->rest.len == 0)
            return 0;
        if (s->words->count == WORDS_MAX)
            return -FERRY_ELIMIT;
        s->words->at[s->words->count++] = s->out;
        int r = take_word(s);
        if (r < 0)
            return r;
    }
}

int words_split(struct bytes line, struct words *ret)
{
    struct words words = {.text =
                              mem_raw(line.len + 1)}; /* words are no longer than the line */
    if (words.text == NULL)
        return -ENOMEM;
    struct splitter s = {line, words.text, &words};
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
