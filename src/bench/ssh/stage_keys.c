#include "bench/ssh/stage_keys.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "crypto/random.h"
#include "ssh/wire/key_file.h"

#define HOST_KEY   "state/ssh_host_ed25519_key"
#define CLIENT_KEY "client_key"
#define LINE_4716  70 /* at most 72, RFC 4716 section 3.1 */

const char *stage_ssh_path(const struct stage *s, const char *name,
                           char dst[STAGE_SSH_PATH_MAX])
{
    snprintf(dst, STAGE_SSH_PATH_MAX, "%.255s/ssh/%s", s->base, name);
    return dst;
}

/* -- making them -- */

static int make_folder(const struct stage *s, const char *name, mode_t mode)
{
    char path[STAGE_SSH_PATH_MAX];
    return folder_make(stage_ssh_path(s, name, path), mode);
}

static int write_text(const struct stage *s, const char *name, mode_t mode, struct bytes text)
{
    char path[STAGE_SSH_PATH_MAX];
    return file_write(stage_ssh_path(s, name, path), mode, text);
}

/* A new key in a file for its owner alone. *line: its public line. */
static int make_key(const struct stage *s, const char *name, struct buf *line)
{
    struct crypto_key *key = NULL;
    struct buf text;
    uint32_t check;
    buf_init(&text, SSH_KEY_FILE_MAX);
    int r = crypto_random(&check, sizeof(check));
    if (r == 0)
        r = crypto_key_generate(CRYPTO_ED25519, &key);
    if (r == 0)
        r = ssh_key_file_write(key, BYTES_LIT("bench"), check, &text);
    if (r == 0)
        r = write_text(s, name, 0600, buf_bytes(&text));
    if (r == 0)
        r = ssh_public_line_write(key, BYTES_LIT("bench"), line);
    buf_wipe(&text);
    crypto_key_unref(key);
    return r;
}

int stage_keys_rfc4716(struct bytes line, struct buf *ret)
{
    size_t at;
    if (!bytes_find(line, ' ', &at))
        return -EINVAL;
    line = bytes_skip(line, at + 1);
    if (bytes_find(line, ' ', &at))
        line = bytes_first(line, at);
    int r = buf_append_str(ret, "---- BEGIN SSH2 PUBLIC KEY ----\n");
    while (r == 0 && line.len > 0) {
        r = buf_append_bytes(ret,
                             bytes_first(line, line.len < LINE_4716 ? line.len : LINE_4716));
        if (r == 0)
            r = buf_append_byte(ret, '\n');
        line = bytes_skip(line, LINE_4716);
    }
    return r == 0 ? buf_append_str(ret, "---- END SSH2 PUBLIC KEY ----\n") : r;
}

static int make_authorized(const struct stage *s, struct bytes line)
{
    struct buf text;
    buf_init(&text, SSH_KEY_FILE_MAX);
    int r = write_text(s, "authorized_keys", 0644, line);
    if (r == 0)
        r = stage_keys_rfc4716(line, &text);
    if (r == 0)
        r = write_text(s, "authorized_keys.ssh2", 0644, buf_bytes(&text));
    buf_done(&text);
    return r;
}

static int make_known(const struct stage *s, struct bytes line)
{
    struct buf text;
    buf_init(&text, SSH_KEY_FILE_MAX);
    int r = buf_append_str(&text, "* ");
    if (r == 0)
        r = buf_append_bytes(&text, line);
    if (r == 0)
        r = write_text(s, "known_hosts", 0644, buf_bytes(&text));
    buf_done(&text);
    return r;
}

int stage_ssh_make(const struct stage *s)
{
    struct buf host, client;
    buf_init(&host, SSH_KEY_FILE_MAX);
    buf_init(&client, SSH_KEY_FILE_MAX);
    int r = make_folder(s, "", 0711);
    if (r == 0)
        r = make_folder(s, "state", 0700);
    if (r == 0)
        r = make_folder(s, "local", 0700);
    if (r == 0)
        r = make_key(s, HOST_KEY, &host);
    if (r == 0)
        r = make_key(s, CLIENT_KEY, &client);
    if (r == 0)
        r = make_known(s, buf_bytes(&host));
    if (r == 0)
        r = make_authorized(s, buf_bytes(&client));
    buf_done(&host);
    buf_done(&client);
    return r;
}

/* -- reading them -- */

static int read_key(const struct stage *s, const char *name, struct crypto_key **ret)
{
    char path[STAGE_SSH_PATH_MAX];
    struct buf text;
    buf_init(&text, SSH_KEY_FILE_MAX);
    int r = file_read(stage_ssh_path(s, name, path), &text);
    if (r == 0)
        r = ssh_key_file_parse(buf_bytes(&text), BYTES_NONE, ret);
    buf_wipe(&text);
    return r;
}

int stage_keys_read(const struct stage *s, struct stage_keys *ret)
{
    *ret = (struct stage_keys){0};
    int r = read_key(s, HOST_KEY, &ret->host);
    return r == 0 ? read_key(s, CLIENT_KEY, &ret->client) : r;
}

void stage_keys_done(struct stage_keys *k)
{
    crypto_key_unref(k->host);
    crypto_key_unref(k->client);
    *k = (struct stage_keys){0};
}
