/* A sink that notes what it is told and a source of bytes that are known: scp's client in the
 * harness of its server. */
#pragma once
#include <stdarg.h>

#include "scp/client.h"
#include "scp_harness.h"

#define NOTES_MAX 8192

static int result;
static char notes[NOTES_MAX]; /* a line for each call of the sink */
static unsigned long long wrong_bytes;
static const char *skips;    /* the path whose begin, data or end says SCP_SKIP */
static const char *skips_in; /* "begin", "data" or "end" */
static int fails_with;       /* instead */
static char at_path[PATH_LEN_MAX + 1];
static unsigned long long got_bytes, source_bytes;
static int source_error;
static struct scp_request request;

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 2654435761u >> 13);
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    va_list args;
    size_t len = strlen(notes);
    va_start(args, format);
    (void)vsnprintf(notes + len, sizeof(notes) - len, format, args);
    va_end(args);
}

static int verdict(const char *where, char *ret_why)
{
    if (skips == NULL || strcmp(skips, at_path) != 0 || strcmp(skips_in, where) != 0)
        return 0;
    if (ret_why != NULL)
        (void)snprintf(ret_why, SCP_CLIENT_WHY_MAX, "not wanted");
    return fails_with < 0 ? fails_with : SCP_SKIP;
}

static void note_entry(const char *what, const struct scp_file *f)
{
    (void)snprintf(at_path, sizeof(at_path), "%.*s", (int)f->name.len,
                   (const char *)f->name.data);
    note("%s %s %o", what, at_path, f->mode);
    if (f->has_times)
        note(" @%lld", (long long)(f->mtime_us / (int64_t)USEC_PER_S));
    note("\n");
}

static int on_directory(void *arg, const struct scp_file *f, char ret_why[SCP_CLIENT_WHY_MAX])
{
    (void)arg;
    note_entry("dir", f);
    return verdict("begin", ret_why);
}

static int on_directory_end(void *arg, char ret_why[SCP_CLIENT_WHY_MAX])
{
    (void)arg;
    note("up\n");
    return skips != NULL && strcmp(skips, "up") == 0 ? verdict("end", ret_why) : 0;
}

static int on_file(void *arg, const struct scp_file *f, char ret_why[SCP_CLIENT_WHY_MAX])
{
    (void)arg;
    note_entry("file", f);
    got_bytes = 0;
    return verdict("begin", ret_why);
}

static int on_data(void *arg, uint64_t offset, struct chunk *chunk, const struct iovec *pieces,
                   unsigned count)
{
    (void)arg, (void)chunk;
    wrong_bytes += offset != got_bytes;
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *data = pieces[i].iov_base;
        for (size_t k = 0; k < pieces[i].iov_len; k++)
            wrong_bytes += data[k] != byte_at(offset + k);
        offset += pieces[i].iov_len;
    }
    got_bytes = offset;
    return verdict("data", NULL);
}

static int on_file_end(void *arg, int r, char ret_why[SCP_CLIENT_WHY_MAX])
{
    (void)arg;
    note("%s %llu\n", err_name(r), got_bytes);
    int said = verdict("end", ret_why);
    (void)verdict("data", ret_why);
    return said;
}

static void on_complaint(void *arg, const char *text)
{
    (void)arg;
    note("complaint: %s\n", text);
}

static const struct scp_sink_ops sink = {
    .directory_begin = on_directory,
    .directory_end = on_directory_end,
    .file_begin = on_file,
    .data = on_data,
    .file_end = on_file_end,
    .complaint = on_complaint,
};

static ssize_t give_bytes(void *arg, uint64_t offset, struct chunk *chunk,
                          const struct iovec *pieces, unsigned count)
{
    ssize_t done = 0;
    (void)arg, (void)chunk;
    if (offset >= source_bytes && source_error < 0)
        return source_error;
    for (unsigned i = 0; i < count && offset < source_bytes; i++) {
        uint64_t left = source_bytes - offset;
        size_t len = left < pieces[i].iov_len ? (size_t)left : pieces[i].iov_len;
        for (size_t k = 0; k < len; k++)
            ((uint8_t *)pieces[i].iov_base)[k] = byte_at(offset + k);
        offset += len;
        done += (ssize_t)len;
    }
    return done;
}

static void get_it(struct harness *h)
{
    result = scp_client_get(h->peers, &request, &sink, NULL);
}

static const struct step gets[] = {DOES(get_it)};

static void begin(struct harness *h, uint64_t cut)
{
    h->cut = cut;
    h->seed = cut + 1;
    got_bytes = wrong_bytes = 0;
    result = 77;
    notes[0] = '\0';
}

/* What is asked for: at most 4 paths; those with a '*' are patterns. */
static void ask(const char *const *paths, unsigned count)
{
    static struct scp_path asked[4];
    for (unsigned i = 0; i < count; i++)
        asked[i] = (struct scp_path){bytes_str(paths[i]), strchr(paths[i], '*') != NULL};
    request = (struct scp_request){.is_recursive = true,
                                   .paths = asked,
                                   .count = count,
                                   .entries_max = 100,
                                   .bytes_max = 1 << 20};
}

#define ASK(...)                                                                               \
    ask((const char *const[]){__VA_ARGS__}, ARRAY_LEN(((const char *const[]){__VA_ARGS__})))
