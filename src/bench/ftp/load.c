#include "bench/ftp/load.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "crypto/random.h"
#include "task/sys.h"

#define BLOCK_BYTES (1024 * 1024)
#define CLOSED_US   (5 * USEC_PER_S) /* to remove files, whatever the timeout */

/* -- life time -- */

static int fill_file(struct load_source *s, uint64_t len)
{
    while (s->file_len < len) {
        uint64_t rest = len - s->file_len;
        ssize_t n = sys_write(s->file, s->block, rest < BLOCK_BYTES ? rest : BLOCK_BYTES);
        if (n < 0)
            return (int)n;
        if (n == 0)
            return -ENOSPC;
        s->file_len += (uint64_t)n;
        if (s->file_len < len && n < BLOCK_BYTES)
            return -ENOSPC; /* the blocks would not line up */
    }
    return 0;
}

int load_source_init(struct load_source *s, uint64_t len)
{
    *s = (struct load_source){.file = -1};
    s->block = mem_raw(BLOCK_BYTES);
    if (s->block == NULL)
        return -ENOMEM;
    int r = crypto_random(s->block, BLOCK_BYTES);
    if (r < 0)
        return r;
    s->file = sys_memfd("ferry-bench");
    if (s->file < 0)
        return s->file;
    return fill_file(s, len < LOAD_FILE_MAX ? len : LOAD_FILE_MAX);
}

void load_source_done(struct load_source *s)
{
    sys_fd_close(&s->file);
    mem_free(s->block);
    s->block = NULL;
}

int load_init(struct load *l, const struct load_settings *settings)
{
    *l = (struct load){.settings = settings};
    ftp_client_init(&l->lone, &settings->client);
    char tag[9];
    int r = crypto_random_base32(tag, sizeof(tag) - 1);
    if (r == 0)
        snprintf(l->stem, sizeof(l->stem), "ferry-bench-%s", tag);
    return r;
}

void load_close(struct load *l)
{
    ftp_client_close(&l->lone);
    for (unsigned i = 0; i < l->crowd_count; i++)
        ftp_client_close(&l->crowd[i]);
    mem_free(l->crowd);
    l->crowd = NULL;
    l->crowd_count = 0;
}

/* -- sessions -- */

/* 127.1.0.1 and on: an address takes part in few connections before its turn comes again. */
static void choose_source(struct load *l, struct addr *ret)
{
    unsigned n = l->logins++ % (250 * 250 * 100);
    uint32_t host = UINT32_C(127) << 24 | (1 + n / (250 * 250)) << 16 | (n / 250 % 250) << 8 |
                    (1 + n % 250);
    *ret = (struct addr){.len = sizeof(ret->u.v4)};
    ret->u.v4.sin_family = AF_INET;
    ret->u.v4.sin_addr.s_addr = htonl(host);
}

int load_login(struct load *l, struct ftp_client *c, const char *user)
{
    const struct load_settings *s = l->settings;
    struct addr from;
    bool is_local = addr_family(s->server) == AF_INET && addr_is_loopback(s->server);
    if (is_local)
        choose_source(l, &from);
    int r = ftp_client_connect(c, s->server, is_local ? &from : NULL);
    if (r == 0)
        r = ftp_client_login(c, bytes_str(user != NULL ? user : s->user),
                             bytes_str(s->password));
    return r;
}

int load_open_lone(struct load *l)
{
    if (ftp_client_is_open(&l->lone))
        return 0;
    int r = load_login(l, &l->lone, NULL);
    return r == 0 ? ftp_client_type(&l->lone, 'I') : r;
}

int load_reserve(struct load *l, unsigned count)
{
    if (count <= l->crowd_count)
        return 0;
    struct ftp_client *more = mem_raw(count * sizeof(*more));
    if (more == NULL)
        return -ENOMEM;
    if (l->crowd_count > 0)
        memcpy(more, l->crowd, l->crowd_count * sizeof(*more));
    for (unsigned i = l->crowd_count; i < count; i++)
        ftp_client_init(&more[i], &l->settings->client);
    mem_free(l->crowd);
    l->crowd = more;
    l->crowd_count = count;
    return 0;
}

int load_quit(struct load *l, unsigned *ret_failed)
{
    int r = 0;
    unsigned count = l->crowd_count, at;
    for (at = 0; at < count && r == 0; at++)
        r = ftp_client_send(&l->crowd[at], "QUIT", BYTES_NONE);
    for (unsigned i = 0; i < count && r == 0; i++) {
        struct ftp_answer answer;
        r = ftp_client_answer(&l->crowd[i], &answer);
        at = i + 1;
    }
    *ret_failed = at > 0 ? at - 1 : 0;
    return r;
}

/* -- files -- */

const char *load_name(const struct load *l, const char *kind, unsigned index,
                      char dst[LOAD_NAME_MAX])
{
    snprintf(dst, LOAD_NAME_MAX, "%s-%s%u", l->stem, kind, index);
    return dst;
}

int load_store(struct load *l, struct ftp_client *c, const char *name, uint64_t len)
{
    const struct load_source *from = l->settings->source;
    const struct ftp_source source = {
        .fd = len <= from->file_len ? from->file : -1,
        .block = bytes_of(from->block, BLOCK_BYTES),
        .len = len,
    };
    uint64_t bytes;
    int r = ftp_client_stor(c, bytes_str(name), &source, &bytes);
    if (r == 0)
        l->stored_bytes += bytes;
    return r;
}

static int retrieve(struct load *l, struct ftp_client *c, const char *name, uint64_t len,
                    const struct ftp_sink *sink)
{
    uint64_t bytes;
    int r = ftp_client_retr(c, bytes_str(name), sink, &bytes);
    if (r < 0)
        return r;
    l->retrieved_bytes += bytes;
    return bytes == len ? 0 : -FERRY_ETRUNCATED;
}

int load_retrieve(struct load *l, struct ftp_client *c, const char *name, uint64_t len)
{
    return retrieve(l, c, name, len, NULL);
}

struct comparison {
    const uint8_t *block;
    uint64_t offset;
};

static int compare(void *arg, struct bytes data)
{
    struct comparison *c = arg;
    while (data.len > 0) {
        size_t at = (size_t)(c->offset % BLOCK_BYTES), n = BLOCK_BYTES - at;
        if (n > data.len)
            n = data.len;
        if (memcmp(c->block + at, data.data, n) != 0)
            return -FERRY_EPROTO;
        c->offset += n;
        data = bytes_skip(data, n);
    }
    return 0;
}

int load_verify(struct load *l, struct ftp_client *c, const char *name, uint64_t len)
{
    struct comparison comparison = {.block = l->settings->source->block};
    const struct ftp_sink sink = {.take = compare, .arg = &comparison};
    return retrieve(l, c, name, len, &sink);
}

int load_remove(struct ftp_client *c, const char *name)
{
    int r = ftp_client_dele(c, bytes_str(name));
    return r == -FERRY_EREFUSED ? 0 : r;
}

int load_remove_crowd_files(struct load *l, struct ftp_client *c)
{
    int r = 0;
    while (l->crowd_stored > 0 && r == 0) {
        char name[LOAD_NAME_MAX];
        r = load_remove(c, load_name(l, "", l->crowd_stored - 1, name));
        if (r == 0)
            l->crowd_stored--;
    }
    return r;
}

int load_remove_files(struct load *l, unsigned *ret_left)
{
    *ret_left = (l->has_stored ? 1 : 0) + l->crowd_stored;
    if (*ret_left == 0)
        return 0;
    struct ftp_client_settings settings = l->settings->client;
    settings.connect_us = settings.answer_us = settings.stall_us = CLOSED_US;
    struct ftp_client c;
    ftp_client_init(&c, &settings);
    int r = load_login(l, &c, NULL);
    if (r == 0)
        r = load_remove_crowd_files(l, &c);
    if (r == 0 && l->has_stored) {
        r = load_remove(&c, l->stem);
        l->has_stored = r < 0;
    }
    if (ftp_client_is_open(&c))
        (void)!ftp_client_quit(&c);
    ftp_client_close(&c);
    *ret_left = (l->has_stored ? 1 : 0) + l->crowd_stored;
    return *ret_left == 0 ? 0 : r;
}

/* -- failures -- */

/* The server's text may be in any character set. */
static size_t copy_utf8(char *dst, size_t cap, struct bytes s)
{
    size_t len = 0;
    while (s.len > 0) {
        size_t n = text_utf8_len(s);
        if (len + (n > 0 ? n : 1) >= cap)
            break;
        if (n > 0)
            memcpy(dst + len, s.data, n);
        else
            dst[len] = '?';
        len += n > 0 ? n : 1;
        s = bytes_skip(s, n > 0 ? n : 1);
    }
    dst[len] = '\0';
    return len;
}

void load_explain(char *dst, size_t cap, const char *what, const struct ftp_client *c,
                  int result)
{
    char text[FTP_CLIENT_TEXT_MAX];
    bool is_said = result == -FERRY_EREFUSED || result == -FERRY_EAUTH ||
                   (result == -FERRY_ECLOSED && c->code == 421);
    copy_utf8(text, sizeof(text), bytes_str(c->text));
    if (is_said && c->code >= 400)
        snprintf(dst, cap, "%s: the server says: %u %s", what, c->code, text);
    else
        snprintf(dst, cap, "%s: %s", what, err_text(result));
}
