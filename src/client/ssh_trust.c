#include "client/ssh_trust.h"

#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "crypto/bcrypt.h"
#include "ssh/wire/key_file.h"
#include "ssh/wire/signature.h"
#include "task/sys.h"

#define READ_BYTES      (64 * 1024)
#define PASSPHRASES_MAX 3

struct ssh_trust {
    char host[SSH_HOST_MAX + 1];
    uint16_t port;
    PARKS bool (*take_unknown)(void *, const char *, const char *, const char *);
    void *arg;
    unsigned count;
    struct buf files[SSH_TRUST_FILES_MAX];
    char paths[SSH_TRUST_FILES_MAX][PATH_LEN_MAX + 1];
    char host_keys[SSH_SIGNATURE_NAMES];
    char why[SSH_TRUST_WHY_MAX];
};

/* -- files -- */

/* false: there is no home, or it is too long a path. */
static bool path_at_home(const char *name, char ret[PATH_LEN_MAX + 1])
{
    const char *home = getenv("HOME");
    if (home == NULL || home[0] != '/')
        return false;
    int n = snprintf(ret, PATH_LEN_MAX + 1, "%s/.ssh/%s", home, name);
    return n > 0 && n <= PATH_LEN_MAX;
}

static int open_file(const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK};
    return sys_openat2(AT_FDCWD, path, &how);
}

/* To the end; ret's cap is the most that the file may have. */
static int read_file(int fd, struct buf *ret)
{
    for (;;) {
        size_t left = ret->cap - ret->len;
        if (left == 0)
            return -FERRY_ELIMIT;
        size_t want = left < READ_BYTES ? left : READ_BYTES;
        int r = buf_reserve(ret, want);
        ssize_t n = r == 0 ? sys_read(fd, ret->data + ret->len, want) : r;
        if (n <= 0)
            return (int)n;
        buf_added(ret, (size_t)n);
    }
}

/* -- host keys -- */

static int add_known_hosts(struct ssh_trust *t, const char *path)
{
    struct buf *file = &t->files[t->count];
    if (t->count == SSH_TRUST_FILES_MAX)
        return -FERRY_ELIMIT;
    int fd = open_file(path);
    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR ? 0 : fd;
    buf_init(file, SSH_KNOWN_HOSTS_MAX + 1);
    (void)text_copy(t->paths[t->count++], sizeof(t->paths[0]), bytes_str(path));
    int r = read_file(fd, file);
    sys_close(fd);
    return r;
}

static int add_usual_files(struct ssh_trust *t)
{
    char *path = t->paths[t->count];
    int r = path_at_home("known_hosts", path) ? add_known_hosts(t, path) : 0;
    return r < 0 ? r : add_known_hosts(t, "/etc/ssh/ssh_known_hosts");
}

static void note_types(struct ssh_trust *t)
{
    unsigned types = 0;
    for (unsigned i = 0; i < t->count; i++)
        types |= ssh_known_hosts_types(buf_bytes(&t->files[i]), bytes_str(t->host), t->port);
    (void)ssh_signature_names(types, false, sizeof(t->host_keys), t->host_keys);
}

int ssh_trust_new(const struct ssh_trust_settings *settings, struct ssh_trust **ret)
{
    if (strlen(settings->host) > SSH_HOST_MAX)
        return -FERRY_ELIMIT;
    struct ssh_trust *t = mem_new(sizeof(*t));
    if (t == NULL)
        return -ENOMEM;
    (void)text_copy(t->host, sizeof(t->host), bytes_str(settings->host));
    t->port = settings->port;
    t->take_unknown = settings->take_unknown;
    t->arg = settings->arg;
    int r = settings->files == NULL ? add_usual_files(t) : 0;
    for (unsigned i = 0; settings->files != NULL && i < settings->file_count && r == 0; i++)
        r = add_known_hosts(t, settings->files[i]);
    if (r < 0) {
        (void)ssh_trust_free(t);
        return r;
    }
    note_types(t);
    *ret = t;
    return 0;
}

struct ssh_trust *ssh_trust_free(struct ssh_trust *t)
{
    if (t == NULL)
        return NULL;
    for (unsigned i = 0; i < t->count; i++)
        buf_done(&t->files[i]);
    mem_free(t);
    return NULL;
}

/* Of all files the worst counts, as of all lines of one: revoked, then known, then another. */
static int find(const struct ssh_trust *t, struct bytes blob, enum ssh_known *ret,
                unsigned *ret_file, unsigned *ret_line)
{
    static const unsigned weights[] = {
        [SSH_KNOWN_UNKNOWN] = 0, [SSH_KNOWN_OTHER_TYPE] = 1, [SSH_KNOWN_OTHER] = 2,
        [SSH_KNOWN_MATCH] = 3,   [SSH_KNOWN_REVOKED] = 4,
    };
    *ret = SSH_KNOWN_UNKNOWN;
    *ret_file = *ret_line = 0;
    for (unsigned i = 0; i < t->count; i++) {
        enum ssh_known known;
        unsigned line = 0;
        int r = ssh_known_hosts_find(buf_bytes(&t->files[i]), bytes_str(t->host), t->port, blob,
                                     &known, &line);
        if (r < 0)
            return r;
        if (weights[known] > weights[*ret]) {
            *ret = known;
            *ret_file = i;
            *ret_line = line;
        }
    }
    return 0;
}

static PARKS int ask_for_unknown(struct ssh_trust *t, const struct crypto_key *key,
                                 const char *fingerprint)
{
    const char *type = ssh_key_type(key);
    if (t->take_unknown != NULL && t->take_unknown(t->arg, t->host, type, fingerprint))
        return 0;
    (void)snprintf(t->why, sizeof(t->why), "the host %s is not known; its %s key is %s",
                   t->host, type, fingerprint);
    return -FERRY_EAUTH;
}

int ssh_trust_check(void *trust, const struct crypto_key *key, struct bytes blob)
{
    struct ssh_trust *t = trust;
    char fingerprint[SSH_FINGERPRINT_TEXT];
    enum ssh_known known;
    unsigned file, line;
    t->why[0] = '\0';
    int r = find(t, blob, &known, &file, &line);
    if (r == 0)
        r = ssh_fingerprint(blob, fingerprint);
    if (r < 0)
        return r;
    if (known == SSH_KNOWN_MATCH)
        return 0;
    if (known == SSH_KNOWN_UNKNOWN)
        return ask_for_unknown(t, key, fingerprint);
    (void)snprintf(t->why, sizeof(t->why), "the %s key of %s, %s, %s (line %u of %.100s)",
                   ssh_key_type(key), t->host, fingerprint,
                   known == SSH_KNOWN_REVOKED ? "is revoked"
                                              : "is another one than the host is known by",
                   line, t->paths[file]);
    return -FERRY_EAUTH;
}

const char *ssh_trust_host_keys(const struct ssh_trust *t)
{
    return t->host_keys[0] != '\0' ? t->host_keys : NULL;
}

const char *ssh_trust_why(const struct ssh_trust *t)
{
    return t->why;
}

/* -- keys -- */

/* As OpenSSH has it: a key that others can read is no secret. */
static int check_key_file(int fd)
{
    struct stat st;
    int r = sys_fstat(fd, &st);
    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode))
        return -FERRY_ENOTREG;
    bool is_own = st.st_uid == geteuid() || st.st_uid == 0;
    return is_own && (st.st_mode & (S_IRWXG | S_IRWXO)) == 0 ? 0 : -EPERM;
}

static int parse_key(const char *path, struct bytes text, ssh_passphrase_fn *ask, void *arg,
                     struct crypto_key **ret)
{
    int r = ssh_key_file_unlock(text, BYTES_NONE, crypto_bcrypt_pbkdf, ret);
    for (unsigned i = 0; r == -FERRY_EAUTH && ask != NULL && i < PASSPHRASES_MAX; i++) {
        struct buf passphrase;
        buf_init(&passphrase, PASSWORD_MAX);
        bool has_one =
            buf_reserve(&passphrase, PASSWORD_MAX) == 0 && ask(arg, path, &passphrase);
        if (has_one)
            r = ssh_key_file_unlock(text, buf_bytes(&passphrase), crypto_bcrypt_pbkdf, ret);
        buf_wipe(&passphrase);
        if (!has_one)
            break;
    }
    return r;
}

int ssh_keys_add_file(struct ssh_keys *keys, const char *path, ssh_passphrase_fn *ask,
                      void *arg)
{
    struct buf text;
    if (keys->count == SSH_KEY_FILES_MAX)
        return -FERRY_ELIMIT;
    int fd = open_file(path);
    if (fd < 0)
        return fd;
    buf_init(&text, SSH_KEY_FILE_MAX + 1);
    int r = check_key_file(fd);
    if (r == 0)
        r = buf_reserve(&text, text.cap); /* growing would leave copies */
    if (r == 0)
        r = read_file(fd, &text);
    sys_close(fd);
    if (r == 0)
        r = parse_key(path, buf_bytes(&text), ask, arg, &keys->keys[keys->count]);
    buf_wipe(&text);
    if (r == 0)
        keys->count++;
    return r;
}

int ssh_keys_add_usual(struct ssh_keys *keys, ssh_passphrase_fn *ask, void *arg)
{
    static const char *const names[] = {"id_ed25519", "id_ecdsa", "id_rsa"};
    char *path = mem_raw(PATH_LEN_MAX + 1);
    int r = path == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < ARRAY_LEN(names) && r != -ENOMEM; i++)
        if (path_at_home(names[i], path))
            r = ssh_keys_add_file(keys, path, ask, arg);
    mem_free(path);
    return r == -ENOMEM ? r : 0; /* others are left out */
}

const char *ssh_keys_why(int result)
{
    switch (result) {
    case -ELIBACC:
        return "the key is encrypted: load it into ssh-agent with ssh-add, "
               "or install libbotan-2-19 (or libbotan-3-7)";
    case -EPROTONOSUPPORT:
        return "the key is encrypted by a cipher that is not known here: "
               "load it into ssh-agent with ssh-add";
    case -FERRY_EAUTH:
        return "the key is encrypted, and no passphrase was the right one";
    case -FERRY_EPROTO:
        return "not a private key, or one of a kind that is not known";
    case -EPERM:
        return "others can read the key, or it is another user's";
    default:
        return err_text(result);
    }
}

void ssh_keys_done(struct ssh_keys *keys)
{
    for (unsigned i = 0; i < keys->count; i++)
        crypto_key_unref(keys->keys[i]);
    keys->count = 0;
}
