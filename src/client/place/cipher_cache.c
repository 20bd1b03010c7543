#include "client/place/cipher_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/place/files.h"
#include "task/sys.h"

#define MACHINE_MAX 256

/* "gcm128 gcm256 chacha ctr_hmac MACHINE" */
int cipher_cache_parse(struct bytes line, struct bytes machine, struct crypto_speeds *ret)
{
    struct crypto_speeds found;
    uint64_t *fields[] = {&found.gcm128, &found.gcm256, &found.chacha, &found.ctr_hmac};
    line = bytes_take_until(&line, '\n');
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (text_u64(bytes_take_until(&line, ' '), 10, UINT64_MAX, fields[i]) < 0)
            return -EINVAL;
    if (!bytes_equal(line, machine))
        return -EINVAL;
    *ret = found;
    return 0;
}

size_t cipher_cache_format(const struct crypto_speeds *s, struct bytes machine,
                           char dst[CIPHER_CACHE_LINE_MAX])
{
    int n =
        snprintf(dst, CIPHER_CACHE_LINE_MAX,
                 "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.*s\n", s->gcm128, s->gcm256,
                 s->chacha, s->ctr_hmac, (int)machine.len, (const char *)machine.data);
    return n > 0 && n < CIPHER_CACHE_LINE_MAX ? (size_t)n : 0;
}

/* "model name" of the first CPU, and the library. */
static void describe(char machine[MACHINE_MAX])
{
    struct bytes model = BYTES_LIT("unknown");
    char text[1024];
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
    int fd = sys_openat2(AT_FDCWD, "/proc/cpuinfo", &how);
    ssize_t n = fd >= 0 ? sys_read(fd, text, sizeof(text)) : 0;
    sys_close(fd);
    struct bytes rest = bytes_of(text, n > 0 ? (size_t)n : 0);
    while (rest.len > 0) {
        struct bytes line = bytes_take_until(&rest, '\n');
        if (!bytes_start_with(line, BYTES_LIT("model name")))
            continue;
        (void)bytes_take_until(&line, ':');
        model = bytes_skip(line, 1);
        break;
    }
    size_t len = text_copy_printable(machine, MACHINE_MAX / 2, model);
    machine[len++] = ',';
    (void)text_copy_printable(machine + len, MACHINE_MAX - len, bytes_str(crypto_library()));
}

/* NULL: there is no home, or no memory. */
static char *path_of(const char *name)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    if (cache == NULL || cache[0] != '/') {
        char at_home[64];
        (void)snprintf(at_home, sizeof(at_home), "/.cache%s", name);
        return place_at_home(at_home);
    }
    size_t len = strlen(cache) + strlen(name) + 1;
    char *path = mem_raw(len);
    if (path != NULL)
        (void)snprintf(path, len, "%s%s", cache, name);
    return path;
}

static void make_folder(const char *name)
{
    char *path = path_of(name);
    if (path != NULL)
        (void)(sys_mkdirat(AT_FDCWD, path, 0700) < 0); /* mostly it is there */
    mem_free(path);
}

/* One write of one line: whoever reads half of it measures anew. */
static void keep(const char *path, struct bytes line)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                           .mode = 0600};
    make_folder("");
    make_folder("/ferry");
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd >= 0)
        (void)(sys_write(fd, line.data, line.len) < 0);
    sys_close(fd);
}

void cipher_cache_use(void)
{
    char machine[MACHINE_MAX], line[CIPHER_CACHE_LINE_MAX];
    struct crypto_speeds speeds;
    struct buf text;
    char *path = path_of("/ferry/ciphers");
    if (path == NULL)
        return;
    describe(machine);
    buf_init(&text, CIPHER_CACHE_LINE_MAX);
    if (place_file_read(path, S_IWGRP | S_IWOTH, &text) == 0 &&
        cipher_cache_parse(buf_bytes(&text), bytes_str(machine), &speeds) == 0) {
        crypto_speeds_remember(&speeds);
    } else {
        speeds = crypto_speeds();
        size_t len = cipher_cache_format(&speeds, bytes_str(machine), line);
        if (len > 0)
            keep(path, bytes_of(line, len));
    }
    buf_done(&text);
    mem_free(path);
}
