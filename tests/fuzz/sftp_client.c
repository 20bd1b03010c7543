/* layers: sftp */
/* What a server may say to the client: a get, a listing and a stat end, whatever it is, and no
 * more bytes are taken for data than came. The first byte cuts the stream. */
#include "base/err.h"
#include "invariant.h"
#include "io/memory.h"
#include "sftp/client.h"
#include "task/runtime.h"

#define INPUT_MAX (64 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct one {
    struct bytes input;
    struct stream *client, *server;
    uint64_t data_bytes, names;
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

static int count_bytes(void *arg, uint64_t offset, struct chunk *chunk,
                       const struct iovec *pieces, unsigned count)
{
    struct one *o = arg;
    (void)offset, (void)chunk;
    for (unsigned i = 0; i < count; i++)
        o->data_bytes += pieces[i].iov_len;
    return 0;
}

static int count_name(void *arg, struct bytes name, const struct sftp_attributes *a)
{
    struct one *o = arg;
    (void)a;
    o->names++;
    INVARIANT(!sftp_name_is_safe(name) || memchr(name.data, '/', name.len) == NULL);
    return 0;
}

static void ask(struct one *o)
{
    const struct sftp_client_settings settings = {.stall_us = USEC_PER_S};
    const struct sftp_get get = {.sink = count_bytes, .arg = o};
    struct sftp_client *c;
    struct sftp_got got;
    struct sftp_attributes a;
    char name[64];
    if (sftp_client_new(o->client, &settings, &c) < 0)
        return;
    int r = sftp_client_get(c, BYTES_LIT("f"), &get, &got);
    INVARIANT(r < 0 || got.bytes == o->data_bytes);
    (void)(sftp_client_list(c, BYTES_LIT("d"), 100, count_name, o) < 0);
    (void)(sftp_client_stat(c, BYTES_LIT("f"), true, &a) < 0);
    (void)(sftp_client_realpath(c, BYTES_LIT("."), name, sizeof(name)) < 0);
    (void)sftp_client_free(c);
}

static void run_one(void *arg)
{
    struct one *o = arg;
    struct scope scope;
    uint64_t cut = o->input.len > 0 ? o->input.data[0] % 4 : 0;
    o->input = bytes_skip(o->input, 1);
    INVARIANT(memory_pair_new(4096, cut, &o->client, &o->server) == 0);
    scope_init(&scope);
    INVARIANT(scope_start(&scope, "says", TASK_NORMAL, say_all, o, NULL) == 0);
    INVARIANT(scope_start(&scope, "hears", TASK_NORMAL, hear_all, o, NULL) == 0);
    ask(o);
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
    INVARIANT(one.data_bytes <= len && one.names <= len);
    return 0;
}
