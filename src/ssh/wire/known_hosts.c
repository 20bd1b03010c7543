#include "ssh/wire/known_hosts.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "base/wire.h"
#include "crypto/digest.h"
#include "ssh/wire/base64.h"
#include "ssh/wire/kexinit.h"
#include "ssh/wire/key.h"
#include "ssh/wire/pattern.h"

#define HASH_MARK  BYTES_LIT("|1|") /* HMAC-SHA1 (ssh-keygen -H) */
#define SHA1_BYTES 20
#define SALT_MAX   64

/* -- the host that is looked for -- */

/* As lines have it: in lower case, with the port unless it is 22. */
struct host_name {
    struct bytes text;
    char memory[SSH_HOST_MAX + sizeof("[]:65535")];
};

static int name_host(struct bytes host, uint16_t port, struct host_name *ret)
{
    if (host.len > SSH_HOST_MAX)
        return -FERRY_ELIMIT;
    char *at = ret->memory;
    bool has_port = port != SSH_PORT;
    if (has_port)
        *at++ = '[';
    for (size_t i = 0; i < host.len; i++) {
        uint8_t c = host.data[i];
        *at++ = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    if (has_port)
        at += snprintf(at, sizeof("]:65535"), "]:%u", (unsigned)port);
    ret->text = bytes_of(ret->memory, (size_t)(at - ret->memory));
    return 0;
}

static int hash_host(struct bytes salt, struct bytes host, uint8_t ret[CRYPTO_DIGEST_MAX])
{
    struct crypto_hmac *h;
    int r = crypto_hmac_new(CRYPTO_SHA1, salt, &h);
    if (r != 0)
        return r;
    r = crypto_hmac(h, &host, 1, ret);
    crypto_hmac_free(h);
    return r;
}

/* "|1|salt|hash". A field like that is one host: no list, no pattern. */
static int match_hashed(const struct host_name *host, struct bytes field, bool *ret)
{
    struct buf salt, hash;
    uint8_t own[CRYPTO_DIGEST_MAX];
    struct bytes hash_text = bytes_skip(field, HASH_MARK.len);
    struct bytes salt_text = bytes_take_until(&hash_text, '|');
    buf_init(&salt, SALT_MAX);
    buf_init(&hash, SALT_MAX);
    int r = ssh_base64_decode(salt_text, &salt);
    if (r == 0)
        r = ssh_base64_decode(hash_text, &hash);
    if (r == 0 && (salt.len != SHA1_BYTES || hash.len != SHA1_BYTES))
        r = -FERRY_EPROTO;
    if (r == 0)
        r = hash_host(buf_bytes(&salt), host->text, own);
    if (r == 0)
        *ret = bytes_equal(buf_bytes(&hash), bytes_of(own, SHA1_BYTES));
    buf_done(&salt);
    buf_done(&hash);
    return r;
}

/* -FERRY_EPROTO, -FERRY_ELIMIT: the field cannot be read. */
static int match_host(const struct host_name *host, struct bytes field, bool *ret)
{
    if (bytes_start_with(field, HASH_MARK))
        return match_hashed(host, field, ret);
    bool is_matched = false;
    while (field.len > 0) {
        struct ssh_pattern p = ssh_pattern_take(&field);
        bool matches = ssh_pattern_matches(p, host->text);
        if (matches && p.is_negated) {
            *ret = false;
            return 0;
        }
        is_matched = is_matched || matches;
    }
    *ret = is_matched;
    return 0;
}

/* -- lines -- */

struct entry {
    bool is_revoked;
    struct bytes hosts, type, blob_text;
};

static struct bytes take_word(struct bytes *rest)
{
    size_t start = 0;
    while (start < rest->len && (rest->data[start] == ' ' || rest->data[start] == '\t'))
        start++;
    size_t end = start;
    while (end < rest->len && rest->data[end] != ' ' && rest->data[end] != '\t')
        end++;
    struct bytes word = bytes_skip(bytes_first(*rest, end), start);
    *rest = bytes_skip(*rest, end);
    return word;
}

/* false: nothing, a comment, another marker's, or not to be read. */
static bool read_entry(struct bytes line, struct entry *ret)
{
    size_t at;
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    if (bytes_find(line, '\0', &at))
        return false;
    struct entry e = {.hosts = take_word(&line)};
    if (e.hosts.len == 0 || e.hosts.data[0] == '#')
        return false;
    if (e.hosts.data[0] == '@') {
        e.is_revoked = bytes_equal(e.hosts, BYTES_LIT("@revoked"));
        if (!e.is_revoked)
            return false;
        e.hosts = take_word(&line);
    }
    e.type = take_word(&line);
    e.blob_text = take_word(&line);
    *ret = e;
    return e.blob_text.len > 0;
}

static struct bytes type_of(struct bytes blob)
{
    struct wire_reader r = wire_reader_of(blob);
    return wire_get_string(&r, SSH_NAME_MAX);
}

/* What the line of a matching host says of the key. */
static int judge_key(const struct entry *e, struct bytes key_blob, enum ssh_known *ret)
{
    struct buf blob;
    buf_init(&blob, SSH_KEY_BLOB_MAX);
    int r = ssh_base64_decode(e->blob_text, &blob);
    struct bytes type = type_of(buf_bytes(&blob));
    if (r == 0 && (type.len == 0 || !bytes_equal(type, e->type)))
        r = -FERRY_EPROTO;
    bool is_same = r == 0 && bytes_equal(buf_bytes(&blob), key_blob);
    bool is_type = bytes_equal(e->type, type_of(key_blob));
    buf_done(&blob);
    if (r != 0)
        return r;
    if (e->is_revoked)
        *ret = is_same ? SSH_KNOWN_REVOKED : SSH_KNOWN_UNKNOWN;
    else
        *ret = is_same ? SSH_KNOWN_MATCH : is_type ? SSH_KNOWN_OTHER : SSH_KNOWN_OTHER_TYPE;
    return 0;
}

static int judge_line(struct bytes line, const struct host_name *host, struct bytes key_blob,
                      enum ssh_known *ret)
{
    struct entry e;
    bool is_host;
    *ret = SSH_KNOWN_UNKNOWN;
    if (!read_entry(line, &e))
        return 0;
    int r = match_host(host, e.hosts, &is_host);
    if (r == 0 && is_host)
        r = judge_key(&e, key_blob, ret);
    return r == -ENOMEM ? r : 0;
}

int ssh_known_hosts_find(struct bytes file, struct bytes host, uint16_t port,
                         struct bytes key_blob, enum ssh_known *ret, unsigned *ret_line)
{
    static const int weights[] = {
        [SSH_KNOWN_UNKNOWN] = 0, [SSH_KNOWN_OTHER_TYPE] = 1, [SSH_KNOWN_OTHER] = 2,
        [SSH_KNOWN_MATCH] = 3,   [SSH_KNOWN_REVOKED] = 4,
    };
    struct host_name name;
    enum ssh_known found = SSH_KNOWN_UNKNOWN;
    unsigned line = 0;
    int r = name_host(host, port, &name);
    for (unsigned n = 1; r == 0 && file.len > 0; n++) {
        enum ssh_known known;
        r = judge_line(bytes_take_until(&file, '\n'), &name, key_blob, &known);
        if (r == 0 && weights[known] > weights[found]) {
            found = known;
            line = n;
        }
    }
    if (r != 0)
        return r;
    *ret = found;
    *ret_line = line;
    return 0;
}

unsigned ssh_known_hosts_types(struct bytes file, struct bytes host, uint16_t port)
{
    struct host_name name;
    unsigned types = 0;
    if (name_host(host, port, &name) != 0)
        return 0;
    while (file.len > 0) {
        struct entry e;
        enum crypto_key_kind kind;
        bool is_host;
        if (read_entry(bytes_take_until(&file, '\n'), &e) && !e.is_revoked &&
            ssh_key_kind_of(e.type, &kind) && match_host(&name, e.hosts, &is_host) == 0 &&
            is_host)
            types |= 1u << kind;
    }
    return types;
}

/* What would be a pattern, a list, a marker, a hash or another field is no name of a host. */
static bool is_host_name(struct bytes host)
{
    for (size_t i = 0; i < host.len; i++)
        if (host.data[i] <= ' ' || host.data[i] == 0x7f ||
            memchr("*?!,|@#[]", host.data[i], 9) != NULL)
            return false;
    return host.len > 0;
}

/* What follows the host, with the end of the line. */
static int add_key(struct bytes key_blob, struct buf *ret)
{
    int r = buf_append_byte(ret, ' ');
    if (r == 0)
        r = buf_append_bytes(ret, type_of(key_blob));
    if (r == 0)
        r = buf_append_byte(ret, ' ');
    if (r == 0)
        r = ssh_base64_encode(key_blob, ret);
    return r == 0 ? buf_append_byte(ret, '\n') : r;
}

int ssh_known_hosts_line(struct bytes host, uint16_t port, struct bytes key_blob,
                         struct buf *ret)
{
    struct host_name name;
    if (!is_host_name(host) || type_of(key_blob).len == 0)
        return -EINVAL;
    int r = name_host(host, port, &name);
    if (r == 0)
        r = buf_append_bytes(ret, name.text);
    return r == 0 ? add_key(key_blob, ret) : r;
}

int ssh_known_hosts_line_hashed(struct bytes host, uint16_t port,
                                const uint8_t salt[SSH_SALT_BYTES], struct bytes key_blob,
                                struct buf *ret)
{
    uint8_t digest[CRYPTO_DIGEST_MAX];
    struct bytes salt_bytes = bytes_of(salt, SSH_SALT_BYTES);
    struct host_name name;
    if (!is_host_name(host) || type_of(key_blob).len == 0)
        return -EINVAL;
    int r = name_host(host, port, &name);
    if (r == 0)
        r = hash_host(salt_bytes, name.text, digest);
    if (r == 0)
        r = buf_append_str(ret, "|1|");
    if (r == 0)
        r = ssh_base64_encode(salt_bytes, ret);
    if (r == 0)
        r = buf_append_byte(ret, '|');
    if (r == 0)
        r = ssh_base64_encode(bytes_of(digest, crypto_digest_len(CRYPTO_SHA1)), ret);
    return r == 0 ? add_key(key_blob, ret) : r;
}
