#include "bench/peers/recipe_text.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"

struct filling {
    const struct recipe_words *words;
    unsigned account; /* of the line */
    struct buf *out;
};

/* -- words -- */

static int put_folder(const struct filling *f)
{
    return buf_append_str(f->out, f->words->stage->files);
}

static int put_work(const struct filling *f)
{
    return buf_append_str(f->out, f->words->work);
}

static int put_root(const struct filling *f)
{
    return buf_append_str(f->out, f->words->root);
}

static int put_port(const struct filling *f)
{
    return buf_printf(f->out, "%u", addr_port(f->words->listen));
}

static int put_address(const struct filling *f)
{
    char text[ADDR_TEXT_MAX];
    return buf_append_str(f->out, addr_format_host(f->words->listen, text));
}

static int put_password(const struct filling *f)
{
    return buf_append_str(f->out, f->words->stage->password);
}

static int put_uid(const struct filling *f)
{
    return buf_printf(f->out, "%u", f->words->stage->uid);
}

static int put_gid(const struct filling *f)
{
    return buf_printf(f->out, "%u", f->words->stage->gid);
}

static int put_name(const struct filling *f)
{
    char name[STAGE_NAME_MAX];
    return buf_append_str(f->out, stage_account(f->account, name));
}

static int put_hash(const struct filling *f)
{
    return buf_append_str(f->out, f->words->stage->hashes[f->account]);
}

static const struct {
    const char *name;
    int (*put)(const struct filling *);
} words[] = {
    {"FOLDER", put_folder},   {"WORK", put_work},         {"ROOT", put_root},
    {"PORT", put_port},       {"PASSWORD", put_password}, {"UID", put_uid},
    {"GID", put_gid},         {"NAME", put_name},         {"HASH", put_hash},
    {"ADDRESS", put_address},
};

static int put_word(const struct filling *f, struct bytes name)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (bytes_equal(name, bytes_str(words[i].name)))
            return words[i].put(f);
    return -EINVAL;
}

/* A word is capitals between two @; any other @ is itself. */
static bool starts_with_word(struct bytes text, struct bytes *ret_name)
{
    size_t n = 1;
    while (n < text.len && text.data[n] >= 'A' && text.data[n] <= 'Z')
        n++;
    if (n == 1 || n == text.len || text.data[n] != '@')
        return false;
    *ret_name = bytes_first(bytes_skip(text, 1), n - 1);
    return true;
}

static int put_line(const struct filling *f, struct bytes line)
{
    int r = 0;
    while (r == 0 && line.len > 0) {
        size_t at = line.len;
        (void)bytes_find(line, '@', &at);
        r = buf_append_bytes(f->out, bytes_first(line, at));
        line = bytes_skip(line, at);
        struct bytes name;
        if (r < 0 || line.len == 0)
            break;
        if (starts_with_word(line, &name)) {
            r = put_word(f, name);
            line = bytes_skip(line, name.len + 2);
        } else {
            r = buf_append_byte(f->out, '@');
            line = bytes_skip(line, 1);
        }
    }
    return r;
}

/* -- lines -- */

/* "plain,hashed" */
static int is_one_of(struct bytes list, enum recipe_variant variant)
{
    bool is_in = false;
    while (list.len > 0) {
        char name[32];
        enum recipe_variant v;
        text_copy(name, sizeof(name), bytes_take_until(&list, ','));
        if (recipe_variant_find(name, &v) < 0)
            return -EINVAL;
        is_in = is_in || v == variant;
    }
    return is_in;
}

/* The conditions before a line. Returns whether it is wanted; *line is the rest. */
static int read_conditions(const struct recipe_words *w, struct bytes *line,
                           unsigned *ret_times)
{
    *ret_times = 1;
    size_t end;
    while (line->len > 0 && line->data[0] == '!' && bytes_find(*line, ' ', &end)) {
        struct bytes condition = bytes_skip(bytes_first(*line, end), 1);
        *line = bytes_skip(*line, end + 1);
        if (bytes_equal(condition, BYTES_LIT("each"))) {
            *ret_times = w->accounts;
            continue;
        }
        int r = is_one_of(condition, w->variant);
        if (r <= 0)
            return r;
    }
    return true;
}

int recipe_text_fill(const char *text, const struct recipe_words *w, struct buf *ret)
{
    struct filling f = {.words = w, .out = ret};
    struct bytes rest = bytes_str(text);
    while (rest.len > 0) {
        size_t end = rest.len;
        bool has_end = bytes_find(rest, '\n', &end);
        struct bytes line = bytes_first(rest, end);
        rest = bytes_skip(rest, end + 1);
        unsigned times;
        int r = read_conditions(w, &line, &times);
        if (r == 0)
            continue;
        for (f.account = 0; r > 0 && f.account < times; f.account++) {
            int result = put_line(&f, line);
            if (result == 0 && has_end)
                result = buf_append_byte(ret, '\n');
            r = result < 0 ? result : r;
        }
        if (r < 0)
            return r;
    }
    return 0;
}
