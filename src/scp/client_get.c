/* The client receives: lines and files of the server's, of which each is checked. */
#include <errno.h>

#include "base/err.h"
#include "base/glob.h"
#include "base/mem.h"
#include "scp/client_internal.h"

#define TAKE_BYTES (256 * 1024)

struct get {
    struct scp_dialogue dialogue;
    const struct scp_request *request;
    const struct scp_sink_ops *ops;
    void *arg;
    bool *has_come; /* for each path of the request */
    uint64_t entries_left, bytes_left;
    bool has_times;
    struct scp_line times; /* of the next C or D */
    unsigned depth;
    uint16_t outer[SCP_DEPTH_MAX]; /* path_len outside of each directory */
    size_t path_len;
    char path[PATH_LEN_MAX];
    char why[SCP_CLIENT_WHY_MAX];
};

/* -- what may come -- */

/* A shell's patterns leave hidden files out; a server that does not is not to bring one. */
static int match_pattern(struct bytes pattern, struct bytes name)
{
    bool is_hidden = name.data[0] == '.';
    bool wants_hidden = bytes_start_with(pattern, BYTES_LIT(".")) ||
                        bytes_start_with(pattern, BYTES_LIT("\\."));
    uint64_t steps = GLOB_STEPS_MAX;
    return is_hidden && !wants_hidden ? 0 : glob_match(pattern, name, &steps);
}

/* A name comes once for each path that ends with it; for a pattern, as often as it likes. */
static int check_asked(struct get *g, struct bytes name)
{
    bool is_asked = false, is_named = false;
    for (unsigned i = 0; i < g->request->count; i++) {
        const struct scp_path *path = &g->request->paths[i];
        struct bytes asked = scp_path_name(path->path);
        int r = path->is_pattern             ? match_pattern(asked, name)
                : is_named || g->has_come[i] ? 0
                                             : bytes_equal(asked, name);
        if (r < 0)
            return r;
        if (r == 0)
            continue;
        is_asked = g->has_come[i] = true;
        is_named = is_named || !path->is_pattern;
    }
    return is_asked ? 0 : -FERRY_EBADNAME;
}

static bool is_all_there(const struct get *g)
{
    for (unsigned i = 0; i < g->request->count; i++)
        if (!g->has_come[i])
            return false;
    return true;
}

static int count_entry(struct get *g)
{
    if (g->entries_left == 0)
        return -FERRY_ELIMIT;
    g->entries_left--;
    return 0;
}

/* The path gets one component more. scp_line_parse() has looked where it leads. */
static int enter(struct get *g, struct bytes name)
{
    size_t slash = g->depth > 0;
    if (name.len > NAME_LEN_MAX || g->path_len + slash + name.len > sizeof(g->path))
        return -ENAMETOOLONG;
    if (slash > 0)
        g->path[g->path_len] = '/';
    memcpy(g->path + g->path_len + slash, name.data, name.len);
    g->path_len += slash + name.len;
    return 0;
}

static struct bytes path_of(const struct get *g)
{
    return bytes_of(g->path, g->path_len);
}

/* Checks what a line announces and makes *ret of it; the path is entered. */
static int admit(struct get *g, const struct scp_line *line, struct scp_file *ret)
{
    int r = count_entry(g);
    if (r == 0 && g->depth == 0)
        r = check_asked(g, line->text);
    if (r == 0)
        r = enter(g, line->text);
    if (r < 0)
        return r;
    *ret = (struct scp_file){
        .name = path_of(g),
        .size_bytes = line->kind == SCP_LINE_FILE ? line->size_bytes : 0,
        .mode = line->mode & 0777,
        .has_times = g->has_times,
        .mtime_us = g->times.mtime_us,
        .atime_us = g->times.atime_us,
    };
    g->has_times = false;
    g->why[0] = '\0';
    return ret->size_bytes > g->bytes_left ? -EFBIG : 0;
}

/* What a callback wanted: the server is told that it was done, or that it was not. One that has
 * ended already is heard out: what it said may be all. */
static PARKS int answer(struct get *g, int result)
{
    if (result < 0)
        return result;
    int r = result == 0 ? scp_lines_say_done(&g->dialogue.lines)
                        : scp_dialogue_complain(&g->dialogue, path_of(g), g->why);
    return r == -FERRY_ECLOSED ? 0 : r;
}

/* -- a file -- */

/* All of it is taken, also if nobody wants it any more: the next line is behind it. 0,
 * SCP_SKIP. */
static PARKS int receive_body(struct get *g, uint64_t size)
{
    int skips = 0;
    for (uint64_t offset = 0; offset < size;) {
        struct slices in;
        uint64_t left = size - offset;
        int r = stream_take(g->dialogue.lines.stream,
                            left < TAKE_BYTES ? (size_t)left : TAKE_BYTES, &in);
        if (r < 0)
            return r;
        if (in.len == 0)
            return -FERRY_ECLOSED;
        if (skips == 0)
            skips = g->ops->data(g->arg, offset, in.chunk, in.pieces, in.count);
        offset += in.len;
        slices_drop(&in);
        if (skips < 0)
            return skips;
    }
    return skips;
}

/* 0: the dialogue goes on, and *ret says what became of the file. One that changed meanwhile is
 * complained of behind its body. */
static PARKS int receive_whole(struct get *g, uint64_t size, int *ret)
{
    int r = scp_lines_say_done(&g->dialogue.lines);
    int skips = r == 0 ? receive_body(g, size) : r;
    if (skips < 0)
        return skips;
    r = scp_dialogue_hear(&g->dialogue);
    *ret = r == SCP_SKIP ? -FERRY_ETRUNCATED : skips == SCP_SKIP ? -FERRY_EREFUSED : 0;
    return r < 0 ? r : 0;
}

static PARKS int receive_file(struct get *g, uint64_t size)
{
    int result = 0;
    g->bytes_left -= size;
    int r = receive_whole(g, size, &result);
    int ended = g->ops->file_end(g->arg, r < 0 ? r : result, g->why);
    if (r < 0)
        return r;
    if (result == -FERRY_ETRUNCATED) /* that it is heard */
        return answer(g, 0);
    return answer(g, result < 0 ? SCP_SKIP : ended);
}

static PARKS int take_file(struct get *g, const struct scp_line *line)
{
    struct scp_file file;
    size_t outer = g->path_len;
    int r = admit(g, line, &file);
    if (r < 0)
        return r;
    r = g->ops->file_begin(g->arg, &file, g->why);
    r = r == 0 ? receive_file(g, file.size_bytes) : answer(g, r);
    g->path_len = outer;
    return r;
}

/* -- directories -- */

static PARKS int take_directory(struct get *g, const struct scp_line *line)
{
    struct scp_file directory;
    size_t outer = g->path_len;
    if (!g->request->is_recursive)
        return -FERRY_EPROTO;
    int r = g->depth == SCP_DEPTH_MAX ? -FERRY_ELIMIT : admit(g, line, &directory);
    if (r < 0)
        return r;
    r = g->ops->directory_begin(g->arg, &directory, g->why);
    if (r == 0) {
        g->outer[g->depth++] = (uint16_t)outer;
        return answer(g, 0);
    }
    r = answer(g, r);
    g->path_len = outer;
    return r;
}

static PARKS int leave_directory(struct get *g)
{
    if (g->depth == 0 || g->has_times)
        return -FERRY_EPROTO;
    g->why[0] = '\0';
    int r = answer(g, g->ops->directory_end(g->arg, g->why));
    g->path_len = g->outer[--g->depth];
    return r;
}

/* -- the dialogue -- */

static PARKS int take_times(struct get *g, const struct scp_line *line)
{
    if (!g->request->keeps_times || g->has_times)
        return -FERRY_EPROTO;
    g->times = *line;
    g->has_times = true;
    return answer(g, 0);
}

static PARKS int take_line(struct get *g, const struct scp_line *line)
{
    switch (line->kind) {
    case SCP_LINE_FILE:
        return take_file(g, line);
    case SCP_LINE_DIRECTORY:
        return take_directory(g, line);
    case SCP_LINE_TIMES:
        return take_times(g, line);
    case SCP_LINE_END:
        return leave_directory(g);
    case SCP_LINE_WARNING: /* is not answered: the next line follows */
        scp_dialogue_note(&g->dialogue, line->text);
        return count_entry(g);
    case SCP_LINE_FATAL:
        scp_dialogue_note(&g->dialogue, line->text);
        break;
    }
    return -FERRY_EREFUSED;
}

static PARKS int take_lines(struct get *g)
{
    struct scp_line line;
    struct bytes text;
    int r = scp_lines_say_done(&g->dialogue.lines);
    while (r == 0) {
        r = scp_lines_read(&g->dialogue.lines, &text);
        if (r <= 0)
            break;
        r = scp_line_parse(text, &line);
        if (r == 0)
            r = take_line(g, &line);
    }
    if (r < 0)
        return r;
    if (g->depth > 0 || g->has_times)
        return -FERRY_ECLOSED;
    if (g->dialogue.has_complained)
        return SCP_NOT_ALL;
    return is_all_there(g) ? 0 : -FERRY_ECLOSED;
}

int scp_client_get(struct stream *stream, const struct scp_request *request,
                   const struct scp_sink_ops *ops, void *arg)
{
    struct get *g = mem_new(sizeof(*g));
    if (g == NULL)
        return -ENOMEM;
    g->dialogue.lines.stream = stream;
    g->dialogue.complaint = ops->complaint;
    g->dialogue.arg = g->arg = arg;
    g->request = request;
    g->ops = ops;
    g->entries_left = request->entries_max;
    g->bytes_left = request->bytes_max;
    g->has_come = mem_new(request->count * sizeof(*g->has_come));
    int r = g->has_come != NULL ? take_lines(g) : -ENOMEM;
    mem_free(g->has_come);
    mem_free(g);
    return r;
}
