/* layers: scp */
/* What a server may say to the client of a tree, and what one that receives may answer: it
 * ends, whatever it is, and no path leads elsewhere, no file has other bytes than came, no
 * directory is left that was not entered. The first byte cuts the stream. */
#include "base/err.h"
#include "invariant.h"
#include "io/memory.h"
#include "scp/client.h"
#include "task/runtime.h"

#define INPUT_MAX   (64 * 1024)
#define ENTRIES_MAX 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct one {
    struct bytes input;
    bool puts;
    struct stream *client, *server;
    unsigned entries, depth;
    bool in_file;
    uint64_t size, got, all; /* of the file; of it so far; of all files */
};

static void say_all(void *arg)
{
    struct one *o = arg;
    (void)(stream_write_bytes(o->server, o->input) < 0); /* the client may have gone */
    (void)(stream_end(o->server, 0) < 0);
}

static void hear_all(void *arg)
{
    struct one *o = arg;
    uint8_t waste[512];
    while (stream_read(o->server, waste, sizeof(waste)) > 0)
        continue;
}

/* -- the sink -- */

static void check_component(struct bytes name)
{
    size_t at;
    INVARIANT(name.len > 0 && name.len <= 255 && !bytes_find(name, '\0', &at));
    INVARIANT(!bytes_equal(name, BYTES_LIT(".")) && !bytes_equal(name, BYTES_LIT("..")));
}

/* As many components as directories are open, and one. */
static void check_entry(struct one *o, const struct scp_file *f)
{
    struct bytes rest = f->name, first = BYTES_NONE;
    unsigned count = 0;
    size_t at;
    INVARIANT(!o->in_file && f->mode <= 0777 && f->name.len > 0);
    for (; bytes_find(rest, '/', &at); rest = bytes_skip(rest, at + 1)) {
        check_component(bytes_first(rest, at));
        if (count++ == 0)
            first = bytes_first(rest, at);
    }
    check_component(rest);
    if (count == 0)
        first = rest;
    INVARIANT(count == o->depth);
    INVARIANT(bytes_equal(first, BYTES_LIT("d")) || bytes_equal(first, BYTES_LIT("f")) ||
              (first.data[0] != '.' && first.data[first.len - 1] == 'x'));
    o->entries++;
    INVARIANT(o->entries <= ENTRIES_MAX);
}

/* A name with an 's' is skipped. */
static int skip(const struct scp_file *f)
{
    size_t at;
    return bytes_find(f->name, 's', &at) ? SCP_SKIP : 0;
}

static int on_directory(void *arg, const struct scp_file *f, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct one *o = arg;
    (void)ret_why;
    check_entry(o, f);
    int r = skip(f);
    o->depth += r == 0;
    return r;
}

static int on_directory_end(void *arg, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct one *o = arg;
    (void)ret_why;
    INVARIANT(o->depth > 0 && !o->in_file);
    o->depth--;
    return 0;
}

static int on_file(void *arg, const struct scp_file *f, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct one *o = arg;
    (void)ret_why;
    check_entry(o, f);
    o->size = f->size_bytes;
    o->got = 0;
    o->in_file = skip(f) == 0;
    return skip(f);
}

static int on_data(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                   unsigned count)
{
    struct one *o = arg;
    (void)chunk;
    INVARIANT(o->in_file && offset == o->got);
    for (unsigned i = 0; i < count; i++)
        o->got += pieces[i].iov_len;
    INVARIANT(o->got <= o->size);
    return o->got == 13 ? SCP_SKIP : 0;
}

static int on_file_end(void *arg, int result, char ret_why[SCP_CLIENT_WHY_MAX])
{
    struct one *o = arg;
    (void)ret_why;
    INVARIANT(o->in_file && (result < 0 || o->got == o->size));
    o->in_file = false;
    o->all += o->got;
    return o->size == 7 ? SCP_SKIP : 0;
}

static void on_complaint(void *arg, const char *text)
{
    (void)arg;
    for (; *text != '\0'; text++)
        INVARIANT((uint8_t)*text >= ' ' && *text != 0x7f);
}

static const struct scp_sink_ops sink = {
    .directory_begin = on_directory,
    .directory_end = on_directory_end,
    .file_begin = on_file,
    .data = on_data,
    .file_end = on_file_end,
    .complaint = on_complaint,
};

static void get(struct one *o)
{
    static const struct scp_path paths[] = {
        {BYTES_LIT("a/d/"), false}, {BYTES_LIT("f"), false}, {BYTES_LIT("*x"), true}};
    const struct scp_request request = {.is_recursive = true,
                                        .keeps_times = true,
                                        .paths = paths,
                                        .count = 3,
                                        .entries_max = ENTRIES_MAX,
                                        .bytes_max = INT64_MAX};
    int r = scp_client_get(o->client, &request, &sink, o);
    INVARIANT(r <= SCP_NOT_ALL && !o->in_file);
    INVARIANT(r < 0 || o->depth == 0);
}

/* -- put -- */

static ssize_t give(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                    unsigned count)
{
    (void)arg, (void)chunk, (void)count;
    size_t len = pieces[0].iov_len < 100 ? pieces[0].iov_len : 100;
    memset(pieces[0].iov_base, 'x', len);
    return offset > 3000 ? 0 : (ssize_t)len;
}

static int put_some(struct scp_put *p)
{
    const struct scp_file d = {.name = BYTES_LIT("d"), .mode = 0755, .has_times = true},
                          f = {.name = BYTES_LIT("f"), .size_bytes = 5000, .mode = 0644};
    int r = scp_client_put_push(p, &d);
    bool is_in = r == 0;
    if (r >= 0)
        r = scp_client_put_file(p, &f, give, NULL);
    if (r >= 0 && is_in)
        r = scp_client_put_pop(p);
    return r;
}

static void put(struct one *o)
{
    struct scp_put *p;
    int r = scp_client_put_begin(o->client, on_complaint, o, &p);
    if (r < 0)
        return;
    for (unsigned i = 0; i < 4 && r >= 0; i++)
        r = put_some(p);
    int all = scp_client_put_end(p);
    INVARIANT(r <= 0 || all == SCP_NOT_ALL);
}

static void run_one(void *arg)
{
    struct one *o = arg;
    struct scope scope;
    uint64_t cut = o->input.len > 0 ? o->input.data[0] % 4 : 0;
    o->puts = o->input.len > 0 && (o->input.data[0] & 4) != 0;
    o->input = bytes_skip(o->input, 1);
    INVARIANT(memory_pair_new(4096, cut, &o->client, &o->server) == 0);
    scope_init(&scope);
    INVARIANT(scope_start(&scope, "says", TASK_NORMAL, say_all, o, NULL) == 0);
    INVARIANT(scope_start(&scope, "hears", TASK_NORMAL, hear_all, o, NULL) == 0);
    if (o->puts)
        put(o);
    else
        get(o);
    (void)stream_free(o->client);
    INVARIANT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    (void)stream_free(o->server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct runtime_settings settings = {.deterministic = true, .seed = 1};
    if (len > INPUT_MAX)
        return 0;
    struct one one = {.input = bytes_of(data, len)};
    struct runtime *runtime;
    INVARIANT(runtime_new(&settings, &runtime) == 0);
    INVARIANT(runtime_run(runtime, run_one, &one) == 0);
    (void)runtime_free(runtime);
    INVARIANT(one.all <= len);
    return 0;
}
