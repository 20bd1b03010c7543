#include "server/config_value.h"

#include <assert.h>
#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "io/compress.h"
#include "vfs/vfs.h"

#define SECONDS_MAX     (7 * 24 * 3600)
#define REKEY_BYTES_MIN (16 * 1024)
#define DES_HASH_LEN    13

/* In characters behind the last '$', that of MD5; no other is shorter. */
#define DIGEST_LEN_MIN 22

int config_value_size(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    uint64_t n;
    int r = text_size(bytes_str(value), &n);
    if (r == 0 && n <= INT64_MAX) {
        *(long *)ret = (long)n;
        return 0;
    }
    if (r == 0 || r == -ERANGE)
        cfg_error(cfg, "%s: '%s' is too large for a size", opt->name, value);
    else
        cfg_error(cfg, "%s: '%s' is not a size: digits, then perhaps K, M, G or T", opt->name,
                  value);
    return -1;
}

int config_value_rekey_bytes(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    if (config_value_size(cfg, opt, value, ret) < 0)
        return -1;
    long n = *(long *)ret;
    if (n == 0 || n >= REKEY_BYTES_MIN)
        return 0;
    cfg_error(cfg, "%s: '%s' is neither 0 nor at least 16K", opt->name, value);
    return -1;
}

static int parse_number(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret, uint64_t max)
{
    uint64_t n;
    if (text_u64(bytes_str(value), 10, max, &n) < 0) {
        cfg_error(cfg, "%s: '%s' is not a number from 0 to %llu", opt->name, value,
                  (unsigned long long)max);
        return -1;
    }
    *(long *)ret = (long)n;
    return 0;
}

int config_value_count(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    return parse_number(cfg, opt, value, ret, INT32_MAX);
}

int config_value_seconds(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    return parse_number(cfg, opt, value, ret, SECONDS_MAX);
}

static int parse_word(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret,
                      const char *zero, const char *one)
{
    bool is_one = bytes_equal(bytes_str(value), bytes_str(one));
    if (!is_one && !bytes_equal(bytes_str(value), bytes_str(zero))) {
        cfg_error(cfg, "%s: '%s' is neither %s nor %s", opt->name, value, zero, one);
        return -1;
    }
    *(long *)ret = is_one;
    return 0;
}

int config_value_compression(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    struct bytes text = bytes_str(value);
    uint64_t level = 0;
    if (bytes_equal(text, BYTES_LIT("auto"))) {
        *(long *)ret = COMPRESS_AUTO;
        return 0;
    }
    bool is_off = bytes_equal(text, BYTES_LIT("off"));
    if (!is_off && (text_u64(text, 10, CODEC_ZLIB_LEVEL_MAX, &level) < 0 || level == 0)) {
        cfg_error(cfg, "%s: '%s' is neither off nor auto nor a level from 1 to %d", opt->name,
                  value, CODEC_ZLIB_LEVEL_MAX);
        return -1;
    }
    *(long *)ret = (long)level;
    return 0;
}

int config_value_sync(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    static_assert(VFS_SYNC_NONE == 0 && VFS_SYNC_FILE == 1, "the words' order");
    return parse_word(cfg, opt, value, ret, "none", "file");
}

int config_value_links(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    static_assert(VROOT_BENEATH == 0 && VROOT_IN_ROOT == 1, "the words' order");
    return parse_word(cfg, opt, value, ret, "beneath", "in-root");
}

int config_value_log_format(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    static_assert(LOG_TEXT == 0 && LOG_JSON == 1, "the words' order");
    return parse_word(cfg, opt, value, ret, "text", "json");
}

static int keep_text(const char *value, void *ret)
{
    *(const char **)ret = value;
    return 0;
}

int config_value_address(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    struct addr addr;
    if (addr_parse(bytes_str(value), &addr) == 0)
        return keep_text(value, ret);
    cfg_error(cfg, "%s: '%s' is not a numeric ADDRESS:PORT", opt->name, value);
    return -1;
}

int config_masquerade_parse(const char *value, struct addr *ret)
{
    char text[ADDR_TEXT_MAX];
    bool is_v6 = strchr(value, ':') != NULL;
    int n = snprintf(text, sizeof(text), is_v6 ? "[%s]:0" : "%s:0", value);
    if (n < 0 || (size_t)n >= sizeof(text))
        return -EINVAL;
    return addr_parse(bytes_str(text), ret);
}

int config_value_masquerade(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    struct addr addr;
    if (config_masquerade_parse(value, &addr) == 0)
        return keep_text(value, ret);
    cfg_error(cfg, "%s: '%s' is not a numeric address", opt->name, value);
    return -1;
}

int config_ports_parse(const char *value, uint16_t *ret_first, uint16_t *ret_last)
{
    struct bytes text = bytes_str(value);
    size_t dash;
    uint64_t first, last;
    if (!bytes_find(text, '-', &dash) ||
        text_u64(bytes_first(text, dash), 10, UINT16_MAX, &first) < 0 ||
        text_u64(bytes_skip(text, dash + 1), 10, UINT16_MAX, &last) < 0)
        return -EINVAL;
    if (first < 1024 || first > last)
        return -ERANGE;
    *ret_first = (uint16_t)first;
    *ret_last = (uint16_t)last;
    return 0;
}

int config_value_ports(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    uint16_t first, last;
    if (config_ports_parse(value, &first, &last) == 0)
        return keep_text(value, ret);
    cfg_error(cfg, "%s: '%s' is not FIRST-LAST with 1024 <= FIRST <= LAST <= 65535", opt->name,
              value);
    return -1;
}

/* Where the server is started from must not change what it serves. */
int config_value_path(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    if (value[0] == '/')
        return keep_text(value, ret);
    cfg_error(cfg, "%s: '%s' is no absolute path", opt->name, value);
    return -1;
}

int config_value_right(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    unsigned right;
    if (right_parse(bytes_str(value), &right) == 0)
        return keep_text(value, ret);
    cfg_error(cfg, "%s: '%s' is no right", opt->name, value);
    return -1;
}

/* crypt(3) looks at no more than the beginning, where any word passes for a DES hash. */
static bool is_hash(const char *value)
{
    if (value[0] != '$' && value[0] != '_' && strlen(value) != DES_HASH_LEN)
        return false;
    int r = crypt_checksalt(value);
    return r == CRYPT_SALT_OK || r == CRYPT_SALT_METHOD_LEGACY || r == CRYPT_SALT_TOO_CHEAP;
}

/* Method and salt alone, or a hash that was cut, would be an account without a login. */
static bool has_digest(const char *value)
{
    const char *last = strrchr(value, '$');
    return last == NULL || strlen(last + 1) >= DIGEST_LEN_MIN;
}

int config_value_hash(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *ret)
{
    if (is_hash(value) && has_digest(value))
        return keep_text(value, ret);
    cfg_error(cfg, "%s: %s", opt->name,
              is_hash(value) ? "cut off: no password can have it"
                             : "of no method that crypt(5) knows");
    return -1;
}
