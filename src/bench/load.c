#include "bench/load.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "crypto/random.h"
#include "task/sys.h"

#define BLOCK_BYTES (1024 * 1024)
#define FILE_BYTES_MAX                                                                         \
    (64 * 1024 * 1024)             /* larger sources are a block sent again and again          \
                                    */
#define CLOSED_US (5 * USEC_PER_S) /* to remove files, whatever the timeout */

/* -- life time -- */

/* A file in memory is sent by sendfile, which costs this side less than a copy. */
static int make_file(struct load *l, uint64_t len)
{
    l->file = sys_memfd("ferry-bench");
    if (l->file < 0)
        return l->file;
    for (uint64_t off = 0; off < len;) {
        uint64_t rest = len - off;
        ssize_t n = sys_write(l->file, l->block, rest < BLOCK_BYTES ? rest : BLOCK_BYTES);
        if (n < 0)
            return (int)n;
        off += (uint64_t)n;
    }
    return 0;
}

int load_init(struct load *l, const struct bench_options *o, const struct addr *server)
{
    *l = (struct load){.options = o, .server = *server, .file = -1};
    l->settings = (struct ftp_client_settings){
        .connect_us = o->timeout_us,
        .answer_us = o->timeout_us,
        .stall_us = o->timeout_us,
    };
    ftp_client_init(&l->lone, &l->settings);
    l->block = mem_raw(BLOCK_BYTES);
    l->crowd = mem_raw(o->clients * sizeof(*l->crowd));
    if (l->block == NULL || l->crowd == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < o->clients; i++)
        ftp_client_init(&l->crowd[i], &l->settings);
    memset(l->block, 'x', BLOCK_BYTES);
    char tag[9];
    int r = crypto_random_base32(tag, sizeof(tag) - 1);
    if (r < 0)
        return r;
    snprintf(l->stem, sizeof(l->stem), "ferry-bench-%s", tag);
    if (o->file_bytes <= FILE_BYTES_MAX)
        r = make_file(l, o->file_bytes);
    l->source = (struct ftp_source){
        .fd = l->file, .block = bytes_of(l->block, BLOCK_BYTES), .len = o->file_bytes};
    return r;
}

void load_done(struct load *l)
{
    sys_fd_close(&l->file);
    mem_free(l->block);
    mem_free(l->crowd);
    l->block = NULL;
    l->crowd = NULL;
}

void load_close(struct load *l)
{
    ftp_client_close(&l->lone);
    for (unsigned i = 0; i < l->options->clients; i++)
        ftp_client_close(&l->crowd[i]);
}

/* -- sessions and files -- */

int load_login(struct load *l, struct ftp_client *c)
{
    int r = ftp_client_connect(c, &l->server, NULL);
    if (r == 0)
        r = ftp_client_login(c, bytes_str(l->options->server.user),
                             bytes_str(l->options->server.password));
    return r;
}

static const char *crowd_name(const struct load *l, unsigned index, char dst[LOAD_NAME_MAX])
{
    snprintf(dst, LOAD_NAME_MAX, "%s-%u", l->stem, index);
    return dst;
}

static int store(struct load *l, struct ftp_client *c, const char *name)
{
    uint64_t bytes;
    int r = ftp_client_stor(c, bytes_str(name), &l->source, &bytes);
    if (r == 0)
        l->stored_bytes += bytes;
    return r;
}

int load_store(struct load *l)
{
    l->has_stored = true;
    return store(l, &l->lone, l->stem);
}

int load_remove_lone(struct load *l)
{
    if (!l->has_stored)
        return 0;
    int r = ftp_client_dele(&l->lone, bytes_str(l->stem));
    l->has_stored = r < 0;
    return r;
}

int load_store_as(struct load *l, unsigned index)
{
    char name[LOAD_NAME_MAX];
    if (index >= l->crowd_stored)
        l->crowd_stored = index + 1;
    return store(l, &l->crowd[index], crowd_name(l, index, name));
}

int load_retrieve(struct load *l, struct ftp_client *c)
{
    uint64_t bytes;
    int r = ftp_client_retr(c, bytes_str(l->stem), NULL, &bytes);
    if (r < 0)
        return r;
    l->retrieved_bytes += bytes;
    return bytes == l->options->file_bytes ? 0 : -FERRY_ETRUNCATED;
}

int load_quit(struct load *l, unsigned *ret_failed)
{
    int r = 0;
    unsigned count = l->options->clients, at;
    for (at = 0; at < count && r == 0; at++)
        r = ftp_client_send(&l->crowd[at], "QUIT", BYTES_NONE);
    for (unsigned i = 0; i < count && r == 0; i++) {
        struct ftp_answer answer;
        r = ftp_client_answer(&l->crowd[i], &answer);
        at = i + 1;
    }
    *ret_failed = at - 1;
    return r;
}

int load_remove_files(struct load *l, unsigned *ret_left)
{
    *ret_left = (l->has_stored ? 1 : 0) + l->crowd_stored;
    if (*ret_left == 0)
        return 0;
    struct ftp_client_settings settings = {CLOSED_US, CLOSED_US, CLOSED_US};
    struct ftp_client c;
    ftp_client_init(&c, &settings);
    int r = load_login(l, &c);
    for (unsigned i = 0; i < l->crowd_stored && r == 0; i++) {
        char name[LOAD_NAME_MAX];
        r = ftp_client_dele(&c, bytes_str(crowd_name(l, i, name)));
        if (r == -FERRY_EREFUSED) /* it never got there */
            r = 0;
        if (r == 0)
            --*ret_left;
    }
    if (r == 0 && l->has_stored) {
        r = ftp_client_dele(&c, bytes_str(l->stem));
        if (r == 0 || r == -FERRY_EREFUSED)
            --*ret_left;
    }
    if (ftp_client_is_open(&c))
        (void)!ftp_client_quit(&c);
    ftp_client_close(&c);
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
