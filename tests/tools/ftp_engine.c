/* layers: ftp */
/* Our FTP client in MODE Z as a program, for tests against other servers:
 *
 *     ftp_engine PORT USER PASSWORD LEVEL get REMOTE LOCAL | put LOCAL REMOTE | list PATH
 *
 * LEVEL is 0 to 9, "auto", or "none" for MODE S. A line on standard output says how many bytes
 * of the file, and over the wire, were moved; a failure is told on standard error. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "ftp/client.h"
#include "io/compress.h"
#include "task/runtime.h"

#define PATIENCE_US (30 * USEC_PER_S)

struct engine {
    char **args; /* behind the program's name */
    int count;
    struct ftp_client client;
    int result;
};

static const struct ftp_client_settings settings = {
    .connect_us = PATIENCE_US, .answer_us = PATIENCE_US, .stall_us = PATIENCE_US};

static int write_out(void *arg, struct bytes piece)
{
    return fwrite(piece.data, 1, piece.len, arg) == piece.len ? 0 : -FERRY_ETRUNCATED;
}

static int get(struct engine *e, const char *verb, const char *remote, const char *local)
{
    uint64_t bytes;
    FILE *f = fopen(local, "we");
    if (f == NULL)
        return -FERRY_EBADNAME;
    const struct ftp_sink sink = {write_out, f};
    int r = ftp_client_receive(&e->client, verb, bytes_str(remote), &sink, &bytes);
    return fclose(f) != 0 && r == 0 ? -FERRY_ETRUNCATED : r;
}

static int put(struct engine *e, const char *local, const char *remote)
{
    struct stat st;
    uint64_t bytes;
    int fd = open(local, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -FERRY_EBADNAME;
    const struct ftp_source source = {.fd = fd, .len = (uint64_t)st.st_size};
    int r = ftp_client_stor(&e->client, bytes_str(remote), &source, &bytes);
    (void)close(fd);
    return r;
}

static int run(struct engine *e)
{
    struct addr server;
    char text[ADDR_TEXT_MAX];
    const char *level = e->args[3], *verb = e->args[4];
    (void)snprintf(text, sizeof(text), "127.0.0.1:%s", e->args[0]);
    ftp_client_init(&e->client, &settings);
    int r = addr_parse(bytes_str(text), &server);
    if (r == 0)
        r = ftp_client_connect(&e->client, &server, NULL);
    if (r == 0)
        r = ftp_client_login(&e->client, bytes_str(e->args[1]), bytes_str(e->args[2]));
    if (r == 0)
        r = ftp_client_type(&e->client, 'I');
    if (r == 0 && strcmp(level, "none") != 0)
        r = ftp_client_mode(&e->client, 'Z',
                            strcmp(level, "auto") == 0 ? COMPRESS_AUTO : level[0] - '0');
    if (r < 0)
        return r;
    if (strcmp(verb, "put") == 0)
        return put(e, e->args[5], e->args[6]);
    if (strcmp(verb, "list") == 0)
        return get(e, "LIST", e->args[5], "/dev/stderr");
    return get(e, "RETR", e->args[5], e->args[6]);
}

static void engine_main(void *arg)
{
    struct engine *e = arg;
    e->result = run(e);
    if (e->result < 0)
        (void)fprintf(stderr, "ftp_engine: %s (%d %s)\n", err_text(e->result), e->client.code,
                      e->client.text);
    else
        (void)printf("%" PRIu64 " bytes, %" PRIu64 " over the wire\n", e->client.moved_bytes,
                     e->client.wire_bytes);
    ftp_client_close(&e->client);
}

int main(int argc, char **argv)
{
    struct engine e = {.args = argv + 1, .count = argc - 1};
    const struct runtime_settings one_worker = {.workers = 1};
    struct runtime *rt;
    if (argc < 7 || (strcmp(argv[5], "list") != 0 && argc < 8)) {
        (void)fprintf(stderr, "usage: ftp_engine PORT USER PASSWORD LEVEL COMMAND ...\n");
        return 2;
    }
    if (runtime_signals_setup() < 0 || runtime_new(&one_worker, &rt) < 0 ||
        runtime_run(rt, engine_main, &e) < 0)
        return 1;
    (void)runtime_free(rt);
    return e.result < 0;
}
