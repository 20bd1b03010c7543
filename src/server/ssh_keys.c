#include "server/ssh_keys.h"

#include <errno.h>
#include <linux/openat2.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/wire.h"
#include "crypto/random.h"
#include "ssh/wire/authorized_keys.h"
#include "ssh/wire/key.h"
#include "ssh/wire/key_file.h"
#include "task/sys.h"

#define TEMPORARY_NAME "ssh_host_key.new"

static const struct {
    const char *name;
    enum crypto_key_kind kind;
    bool is_nistp256; /* by setting */
} host_keys[] = {
    {"ssh_host_ed25519_key", CRYPTO_ED25519, false},
    {"ssh_host_ecdsa_key", CRYPTO_ECDSA_P256, true},
    {"ssh_host_rsa_key", CRYPTO_RSA, false},
};

/* ret: initialised with a cap of max + 1 bytes, reserved at once: what is read may be a secret.
 * -FERRY_ELIMIT: the file is longer than max. */
static int read_whole(int fd, size_t max, struct buf *ret)
{
    int r = buf_reserve(ret, max + 1);
    while (r == 0 && ret->len <= max) {
        ssize_t n = sys_read(fd, ret->data + ret->len, max + 1 - ret->len);
        if (n <= 0)
            return (int)n;
        buf_added(ret, (size_t)n);
    }
    return r != 0 ? r : -FERRY_ELIMIT;
}

/* -- host keys: reading -- */

static int check_host_key(int dir, int fd, const char *name, struct refusal *why)
{
    struct stat st, parent;
    int r = sys_fstat(fd, &st);
    if (r == 0)
        r = sys_fstat(dir, &parent);
    if (r != 0)
        return refuse(why, "host key %s: %s", name, err_text(r));
    if (!S_ISREG(st.st_mode))
        return refuse(why, "host key %s: no regular file", name);
    if (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != parent.st_uid)
        return refuse(why, "host key %s: it belongs to another user", name);
    if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return refuse(why, "host key %s: others can use it (its mode must be 0600)", name);
    return 0;
}

static int parse_host_key(int fd, enum crypto_key_kind kind, struct crypto_key **ret)
{
    struct buf text;
    struct crypto_key *key = NULL;
    buf_init(&text, SSH_KEY_FILE_MAX + 1);
    int r = read_whole(fd, SSH_KEY_FILE_MAX, &text);
    if (r == 0)
        r = ssh_key_file_parse(buf_bytes(&text), BYTES_NONE, &key);
    buf_wipe(&text);
    if (r == 0 && crypto_key_public(key).kind != kind) {
        crypto_key_unref(key);
        return -FERRY_EPROTO;
    }
    if (r == 0)
        *ret = key;
    return r;
}

/* What an operator is told of a file that holds no key for us. */
static const char *parse_failure(int r)
{
    switch (r) {
    case -FERRY_EPROTO:
    case -FERRY_ELIMIT:
        return "no private key of this kind";
    case -FERRY_EAUTH:
    case -EPROTONOSUPPORT:
        return "it is encrypted; a host key has no passphrase";
    default:
        return err_text(r);
    }
}

/* Takes the descriptor. */
static int read_host_key(int dir, int fd, const char *name, enum crypto_key_kind kind,
                         struct crypto_key **ret, struct refusal *why)
{
    int r = check_host_key(dir, fd, name, why);
    if (r == 0) {
        r = parse_host_key(fd, kind, ret);
        if (r < 0)
            r = refuse(why, "host key %s: %s", name, parse_failure(r));
    }
    sys_close(fd);
    return r;
}

/* -- host keys: the first start -- */

/* What an interrupted start left is in the way once. */
static int open_temporary(int dir)
{
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                           .mode = S_IRUSR | S_IWUSR};
    int fd = sys_openat2(dir, TEMPORARY_NAME, &how);
    if (fd != -EEXIST)
        return fd;
    int r = sys_unlinkat(dir, TEMPORARY_NAME, 0);
    return r < 0 ? r : sys_openat2(dir, TEMPORARY_NAME, &how);
}

static int write_temporary(int dir, struct bytes text)
{
    int fd = open_temporary(dir);
    int r = fd < 0 ? fd : 0;
    while (r == 0 && text.len > 0) {
        ssize_t n = sys_write(fd, text.data, text.len);
        if (n <= 0)
            r = n < 0 ? (int)n : -EIO;
        else
            text = bytes_skip(text, (size_t)n);
    }
    if (r == 0)
        r = sys_fsync(fd);
    sys_close(fd);
    return r;
}

/* Whole and on the disk, or not there: clients remember this key. */
static int write_host_key(int dir, const char *name, const struct crypto_key *key)
{
    struct buf text;
    uint32_t check;
    buf_init(&text, SSH_KEY_FILE_MAX);
    int r = crypto_random(&check, sizeof(check));
    if (r == 0)
        r = ssh_key_file_write(key, BYTES_LIT("ferryd"), check, &text);
    if (r == 0)
        r = write_temporary(dir, buf_bytes(&text));
    buf_wipe(&text);
    if (r == 0)
        r = sys_renameat2(dir, TEMPORARY_NAME, dir, name, 0);
    return r == 0 ? sys_fsync(dir) : r;
}

static int log_made(const char *name, const struct crypto_key *key)
{
    struct buf blob;
    char fingerprint[SSH_FINGERPRINT_TEXT];
    buf_init(&blob, SSH_KEY_BLOB_MAX);
    int r = buf_reserve(&blob, SSH_KEY_BLOB_MAX);
    if (r == 0) {
        struct wire_writer w = wire_writer_of(blob.data, SSH_KEY_BLOB_MAX);
        ssh_key_write(&w, key);
        r = ssh_fingerprint(bytes_of(w.data, w.len), fingerprint);
    }
    buf_done(&blob);
    if (r != 0)
        return r;
    struct log_record record;
    log_begin(&record, LOG_INFO, "host_key_made");
    log_text(&record, "file", name);
    log_text(&record, "fingerprint", fingerprint);
    log_end(&record);
    return 0;
}

static int make_host_key(int dir, const char *name, enum crypto_key_kind kind,
                         struct crypto_key **ret, struct refusal *why)
{
    struct crypto_key *key = NULL;
    if (kind == CRYPTO_RSA)
        log_event(LOG_INFO, "host_keys_making", "reason",
                  "the first start makes host keys; that of RSA can take some seconds");
    int r = crypto_key_generate(kind, &key);
    if (r == 0)
        r = write_host_key(dir, name, key);
    if (r == 0)
        r = log_made(name, key);
    if (r < 0) {
        crypto_key_unref(key);
        return refuse(why, "host key %s cannot be made: %s", name, err_text(r));
    }
    *ret = key;
    return 0;
}

/* O_NONBLOCK: a FIFO must not hold up the start. */
static int load_host_key(int dir, const char *name, enum crypto_key_kind kind,
                         struct crypto_key **ret, struct refusal *why)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY};
    int fd = sys_openat2(dir, name, &how);
    if (fd >= 0)
        return read_host_key(dir, fd, name, kind, ret, why);
    if (fd == -ENOENT)
        return make_host_key(dir, name, kind, ret, why);
    if (fd == -ELOOP)
        return refuse(why, "host key %s: no regular file", name);
    return refuse(why, "host key %s: %s", name, err_text(fd));
}

int ssh_host_keys_load(int state_dir_fd, const struct ssh_setting *ssh,
                       struct ssh_host_keys *ret, struct refusal *why)
{
    struct ssh_host_keys keys = {.legacy = ssh->legacy};
    for (size_t i = 0; i < ARRAY_LEN(host_keys); i++) {
        struct crypto_key *key = NULL;
        if (host_keys[i].is_nistp256 && !ssh->nistp256)
            continue;
        const char *name = host_keys[i].name;
        int r = load_host_key(state_dir_fd, name, host_keys[i].kind, &key, why);
        if (r == 0) {
            r = ssh_host_keys_add(&keys, key);
            crypto_key_unref(key);
            if (r < 0)
                r = refuse(why, "host key %s: %s", name, err_text(r));
        }
        if (r < 0) {
            ssh_host_keys_done(&keys);
            return r;
        }
    }
    *ret = keys;
    return 0;
}

/* -- keys that let in -- */

static void warn(const char *path, unsigned line, const char *reason)
{
    struct log_record r;
    log_begin(&r, LOG_WARNING, "authorized_key_refused");
    log_text(&r, "file", path);
    log_u64(&r, "line", line);
    log_text(&r, "reason", reason);
    log_end(&r);
}

/* The blob, and that it is a key of the type that the line says. -FERRY_EPROTO, -ENOMEM. */
static int read_blob(const struct ssh_authorized *a, struct buf *ret)
{
    struct crypto_key *key = NULL;
    int r = ssh_base64_decode(a->blob_text, ret);
    if (r == 0)
        r = ssh_key_parse(buf_bytes(ret), &key);
    if (r < 0)
        return r == -FERRY_ELIMIT ? -FERRY_EPROTO : r;
    bool is_type = bytes_equal(bytes_str(ssh_key_type(key)), a->type);
    crypto_key_unref(key);
    return is_type ? 0 : -FERRY_EPROTO;
}

/* A text of the line's, terminated. */
static int copy_text(struct bytes text, struct buf *ret)
{
    int r = buf_append_bytes(ret, text);
    return r == 0 ? buf_append_byte(ret, '\0') : r;
}

static int copy_command(const struct ssh_authorized *a, struct buf *ret)
{
    int r = ssh_authorized_command(a, ret);
    return r == 0 ? buf_append_byte(ret, '\0') : r;
}

static int add_key(const struct ssh_authorized *a, struct account *account)
{
    struct buf blob, from, command;
    buf_init(&blob, SSH_KEY_BLOB_MAX);
    buf_init(&from, SSH_AUTHORIZED_LINE_MAX);
    buf_init(&command, SSH_AUTHORIZED_LINE_MAX);
    int r = read_blob(a, &blob);
    if (r == 0 && a->from.len > 0)
        r = copy_text(a->from, &from);
    if (r == 0 && a->has_command)
        r = copy_command(a, &command);
    if (r == 0) {
        const struct account_key key = {
            .blob = blob.data,
            .blob_len = blob.len,
            .from = (char *)from.data,
            .command = (char *)command.data,
            .expires_s = a->expires_s,
        };
        r = account_add_key(account, &key);
    }
    buf_done(&blob);
    buf_done(&from);
    buf_done(&command);
    return r;
}

static int add_line(const char *path, unsigned number, struct bytes line,
                    struct account *account, struct refusal *why)
{
    struct ssh_authorized a;
    const char *reason;
    switch (ssh_authorized_parse(line, &a, &reason)) {
    case SSH_AUTHORIZED_EMPTY:
        return 0;
    case SSH_AUTHORIZED_REFUSED:
        warn(path, number, reason);
        return 0;
    case SSH_AUTHORIZED_KEY:
        break;
    }
    int r = add_key(&a, account);
    if (r == -FERRY_EPROTO)
        warn(path, number, "the key is broken, or of a size that is not taken");
    else if (r == -FERRY_ELIMIT)
        return refuse(why, "%s: more than %d keys for one account", path, ACCOUNT_KEYS_MAX);
    else if (r < 0)
        return refuse(why, "%s: %s", path, err_text(r));
    return 0;
}

static int add_lines(const char *path, struct bytes text, struct account *account,
                     struct refusal *why)
{
    int r = 0;
    for (unsigned number = 1; r == 0 && text.len > 0; number++)
        r = add_line(path, number, bytes_take_until(&text, '\n'), account, why);
    return r;
}

static int check_authorized(int fd, const char *path, struct refusal *why)
{
    struct stat st;
    int r = sys_fstat(fd, &st);
    if (r < 0)
        return refuse(why, "%s: %s", path, err_text(r));
    if (!S_ISREG(st.st_mode))
        return refuse(why, "%s: no regular file", path);
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse(why, "%s: others may write it", path);
    return 0;
}

int ssh_authorized_keys_read(const char *path, struct account *account, struct refusal *why)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return refuse(why, "%s: %s", path, err_text(fd));
    struct buf text;
    buf_init(&text, SSH_AUTHORIZED_FILE_MAX + 1);
    int r = check_authorized(fd, path, why);
    if (r == 0) {
        r = read_whole(fd, SSH_AUTHORIZED_FILE_MAX, &text);
        if (r < 0)
            r = refuse(why, "%s: %s", path,
                       r == -FERRY_ELIMIT ? "longer than 1 MB" : err_text(r));
    }
    sys_close(fd);
    if (r == 0)
        r = add_lines(path, buf_bytes(&text), account, why);
    buf_done(&text);
    return r;
}
