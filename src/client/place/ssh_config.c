#include "client/place/ssh_config.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

#define PATTERN_STEPS 100000 /* of all patterns of a line */
#define NOTES_CAP     (SSH_CONFIG_NOTES_MAX + 256)

/* One file while it is read. */
struct reader {
    struct ssh_config *config;
    const char *name;
    unsigned line, depth;
    bool applies; /* what stands here is for this host */
    ssh_config_include *include;
    void *arg;
    char *why;
};

typedef int keyword_fn(struct reader *, struct bytes value);

struct keyword {
    const char *name;
    keyword_fn *take;
    bool always; /* also where nothing applies */
};

void ssh_config_init(struct ssh_config *c, const struct ssh_config_who *who)
{
    *c = (struct ssh_config){.who = who};
    buf_init(&c->notes, NOTES_CAP);
}

void ssh_config_done(struct ssh_config *c)
{
    mem_free(c->host_name);
    mem_free(c->user);
    mem_free(c->ciphers);
    for (unsigned i = 0; i < c->identity_count; i++)
        mem_free(c->identities[i]);
    for (unsigned i = 0; i < c->known_hosts_count; i++)
        mem_free(c->known_hosts[i]);
    buf_done(&c->notes);
    *c = (struct ssh_config){0};
}

/* -- words -- */

static int refuse(struct reader *rd, const char *what)
{
    (void)snprintf(rd->why, SSH_CONFIG_WHY_MAX, "%.120s line %u: %s", rd->name, rd->line, what);
    return -EINVAL;
}

/* What is not followed. Of too much of it the beginning is enough. */
static void note(struct reader *rd, struct bytes word, const char *what)
{
    struct buf *b = &rd->config->notes;
    char text[64];
    if (b->len >= SSH_CONFIG_NOTES_MAX)
        return;
    (void)text_copy_printable(text, sizeof(text), word);
    (void)(buf_printf(b, "%.100s line %u: %s %s\n", rd->name, rd->line, text, what) < 0);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static struct bytes trim(struct bytes s)
{
    while (s.len > 0 && is_blank(s.data[0]))
        s = bytes_skip(s, 1);
    while (s.len > 0 && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

/* The next argument of a line, without its quotes; empty and false: there is none. A '#' ends
 * the line where an argument would begin. */
static bool next_word(struct bytes *rest, struct bytes *ret)
{
    *rest = trim(*rest);
    if (rest->len == 0 || rest->data[0] == '#')
        return false;
    size_t end = 0;
    if (rest->data[0] == '"') {
        *rest = bytes_skip(*rest, 1);
        if (!bytes_find(*rest, '"', &end))
            end = rest->len;
        *ret = bytes_first(*rest, end);
        *rest = bytes_skip(*rest, end + 1);
        return true;
    }
    while (end < rest->len && !is_blank(rest->data[end]))
        end++;
    *ret = bytes_first(*rest, end);
    *rest = bytes_skip(*rest, end);
    return true;
}

static int one_word(struct reader *rd, struct bytes value, struct bytes *ret)
{
    struct bytes more;
    if (!next_word(&value, ret) || ret->len == 0)
        return refuse(rd, "a value is missing");
    return next_word(&value, &more) ? refuse(rd, "there is more than one value") : 0;
}

static int keep(struct bytes word, char **ret)
{
    char *text = mem_raw(word.len + 1);
    if (text == NULL)
        return -ENOMEM;
    (void)text_copy(text, word.len + 1, word);
    *ret = text;
    return 0;
}

/* The first value rules. */
static int keep_first(struct reader *rd, struct bytes value, char **ret)
{
    struct bytes word;
    int r = one_word(rd, value, &word);
    return r < 0 || *ret != NULL ? r : keep(word, ret);
}

static int flag(struct reader *rd, struct bytes value, enum ssh_config_flag *ret)
{
    struct bytes word;
    int r = one_word(rd, value, &word);
    if (r < 0)
        return r;
    bool is_yes = bytes_equal_nocase(word, BYTES_LIT("yes")) ||
                  bytes_equal_nocase(word, BYTES_LIT("true"));
    bool is_no = bytes_equal_nocase(word, BYTES_LIT("no")) ||
                 bytes_equal_nocase(word, BYTES_LIT("false"));
    if (!is_yes && !is_no)
        return refuse(rd, "the value is neither yes nor no");
    if (*ret == SSH_FLAG_UNSET)
        *ret = is_yes ? SSH_FLAG_YES : SSH_FLAG_NO;
    return 0;
}

/* -- for whom -- */

/* 1: one matches; 0: none; -1: one with '!' does, which outweighs the others. */
static int match_pattern(struct bytes pattern, const char *host, uint64_t *steps)
{
    bool is_not = pattern.len > 0 && pattern.data[0] == '!';
    if (is_not)
        pattern = bytes_skip(pattern, 1);
    if (glob_match(pattern, bytes_str(host), steps) != 1)
        return 0;
    return is_not ? -1 : 1;
}

static int kw_host(struct reader *rd, struct bytes value)
{
    uint64_t steps = PATTERN_STEPS;
    bool matches = false, is_refused = false;
    struct bytes word;
    unsigned count = 0;
    for (; next_word(&value, &word); count++) {
        int m = match_pattern(word, rd->config->who->alias, &steps);
        matches = matches || m > 0;
        is_refused = is_refused || m < 0;
    }
    rd->applies = matches && !is_refused;
    return count > 0 ? 0 : refuse(rd, "a pattern is missing");
}

/* Patterns between commas, of the name that is connected to. */
static bool match_list(const struct ssh_config *c, struct bytes list)
{
    const char *host = c->host_name != NULL ? c->host_name : c->who->alias;
    uint64_t steps = PATTERN_STEPS;
    bool matches = false;
    while (list.len > 0) {
        int m = match_pattern(bytes_take_until(&list, ','), host, &steps);
        if (m < 0)
            return false;
        matches = matches || m > 0;
    }
    return matches;
}

static int kw_match(struct reader *rd, struct bytes value)
{
    struct bytes word, list;
    unsigned count = 0;
    rd->applies = true;
    for (; next_word(&value, &word); count++) {
        if (bytes_equal_nocase(word, BYTES_LIT("all")))
            continue;
        if (!bytes_equal_nocase(word, BYTES_LIT("host"))) {
            note(rd, word, "is no criterion of Match that is known here: it applies to nobody");
            rd->applies = false;
            return 0;
        }
        if (!next_word(&value, &list))
            return refuse(rd, "a pattern is missing");
        rd->applies = rd->applies && match_list(rd->config, list);
    }
    return count > 0 ? 0 : refuse(rd, "a criterion is missing");
}

static int kw_include(struct reader *rd, struct bytes value)
{
    struct bytes word;
    if (rd->depth + 1 >= SSH_CONFIG_DEPTH_MAX)
        return refuse(rd, "files include each other too deep");
    while (next_word(&value, &word)) {
        char *pattern;
        int r = keep(word, &pattern);
        if (r < 0)
            return r;
        r = rd->include(rd->arg, rd->config, pattern, rd->depth + 1);
        mem_free(pattern);
        if (r < 0)
            return r;
    }
    return 0;
}

/* -- settings -- */

static int kw_host_name(struct reader *rd, struct bytes value)
{
    char *text = NULL;
    if (rd->config->host_name != NULL)
        return 0;
    int r = keep_first(rd, value, &text);
    if (r < 0)
        return r;
    r = ssh_config_expand(rd->config, text, &rd->config->host_name);
    mem_free(text);
    return r == -EINVAL ? refuse(rd, "an unknown % in the host's name") : r;
}

static int kw_user(struct reader *rd, struct bytes value)
{
    return keep_first(rd, value, &rd->config->user);
}

static int kw_ciphers(struct reader *rd, struct bytes value)
{
    return keep_first(rd, value, &rd->config->ciphers);
}

static int number(struct reader *rd, struct bytes value, uint64_t max, uint64_t *ret)
{
    struct bytes word;
    int r = one_word(rd, value, &word);
    if (r < 0)
        return r;
    return text_u64(word, 10, max, ret) < 0 || *ret == 0 ? refuse(rd, "the number is none") : 0;
}

static int kw_port(struct reader *rd, struct bytes value)
{
    uint64_t port;
    int r = number(rd, value, UINT16_MAX, &port);
    if (r == 0 && rd->config->port == 0)
        rd->config->port = (uint16_t)port;
    return r;
}

static int kw_connect_timeout(struct reader *rd, struct bytes value)
{
    uint64_t seconds;
    struct bytes word;
    int r = one_word(rd, value, &word);
    if (r < 0 || bytes_equal_nocase(word, BYTES_LIT("none")))
        return r;
    r = number(rd, value, 86400, &seconds);
    if (r == 0 && rd->config->connect_s == 0)
        rd->config->connect_s = (uint32_t)seconds;
    return r;
}

static int kw_compression(struct reader *rd, struct bytes value)
{
    return flag(rd, value, &rd->config->compression);
}

static int kw_identities_only(struct reader *rd, struct bytes value)
{
    return flag(rd, value, &rd->config->identities_only);
}

static int kw_hash_known_hosts(struct reader *rd, struct bytes value)
{
    return flag(rd, value, &rd->config->hash_known_hosts);
}

/* These add up. */
static int kw_identity_file(struct reader *rd, struct bytes value)
{
    struct ssh_config *c = rd->config;
    struct bytes word;
    int r = one_word(rd, value, &word);
    if (r < 0)
        return r;
    if (c->identity_count == ARRAY_LEN(c->identities)) {
        note(rd, word, "is one key too many");
        return 0;
    }
    r = keep(word, &c->identities[c->identity_count]);
    c->identity_count += r == 0;
    return r;
}

static int kw_user_known_hosts(struct reader *rd, struct bytes value)
{
    struct ssh_config *c = rd->config;
    struct bytes word;
    if (c->known_hosts_count > 0)
        return 0;
    while (next_word(&value, &word) && c->known_hosts_count < ARRAY_LEN(c->known_hosts)) {
        int r = keep(word, &c->known_hosts[c->known_hosts_count]);
        if (r < 0)
            return r;
        c->known_hosts_count++;
    }
    return c->known_hosts_count > 0 ? 0 : refuse(rd, "a value is missing");
}

static int kw_strict(struct reader *rd, struct bytes value)
{
    static const struct {
        const char *name;
        enum ssh_config_strict strict;
    } words[] = {
        {"yes", SSH_STRICT_YES},          {"ask", SSH_STRICT_ASK},
        {"true", SSH_STRICT_YES},         {"accept-new", SSH_STRICT_ACCEPT_NEW},
        {"no", SSH_STRICT_ACCEPT_NEW},    {"off", SSH_STRICT_ACCEPT_NEW},
        {"false", SSH_STRICT_ACCEPT_NEW},
    };
    struct bytes word;
    int r = one_word(rd, value, &word);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(words); i++) {
        if (!bytes_equal_nocase(word, bytes_str(words[i].name)))
            continue;
        if (rd->config->strict == SSH_STRICT_UNSET)
            rd->config->strict = words[i].strict;
        return 0;
    }
    return r < 0 ? r : refuse(rd, "the value is none of yes, no, ask and accept-new");
}

static int kw_proxy(struct reader *rd, struct bytes value)
{
    struct bytes word;
    if (!next_word(&value, &word))
        return refuse(rd, "a value is missing");
    if (!rd->config->has_seen_proxy)
        rd->config->has_proxy = !bytes_equal_nocase(word, BYTES_LIT("none"));
    rd->config->has_seen_proxy = true;
    return 0;
}

static const struct keyword keywords[] = {
    {"Host", kw_host, true},
    {"Match", kw_match, true},
    {"Include", kw_include, false},
    {"HostName", kw_host_name, false},
    {"User", kw_user, false},
    {"Port", kw_port, false},
    {"IdentityFile", kw_identity_file, false},
    {"IdentitiesOnly", kw_identities_only, false},
    {"Ciphers", kw_ciphers, false},
    {"Compression", kw_compression, false},
    {"UserKnownHostsFile", kw_user_known_hosts, false},
    {"StrictHostKeyChecking", kw_strict, false},
    {"HashKnownHosts", kw_hash_known_hosts, false},
    {"ConnectTimeout", kw_connect_timeout, false},
    {"ProxyJump", kw_proxy, false},
    {"ProxyCommand", kw_proxy, false},
};

static const struct keyword *find_keyword(struct bytes name)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (bytes_equal_nocase(name, bytes_str(keywords[i].name)))
            return &keywords[i];
    return NULL;
}

/* -- a file -- */

/* "Keyword value", "Keyword=value", "Keyword = value". */
static void split(struct bytes line, struct bytes *ret_name, struct bytes *ret_value)
{
    size_t end = 0;
    while (end < line.len && !is_blank(line.data[end]) && line.data[end] != '=')
        end++;
    *ret_name = bytes_first(line, end);
    struct bytes value = trim(bytes_skip(line, end));
    if (value.len > 0 && value.data[0] == '=')
        value = trim(bytes_skip(value, 1));
    *ret_value = value;
}

static int take_line(struct reader *rd, struct bytes line)
{
    struct bytes name, value;
    size_t at;
    line = trim(line);
    if (line.len == 0 || line.data[0] == '#')
        return 0;
    if (line.len > SSH_CONFIG_LINE_MAX)
        return refuse(rd, "the line is too long");
    if (bytes_find(line, '\0', &at))
        return refuse(rd, "there is a NUL in the line");
    split(line, &name, &value);
    const struct keyword *keyword = find_keyword(name);
    if (keyword == NULL) {
        if (rd->applies)
            note(rd, name, "is passed over");
        return 0;
    }
    return rd->applies || keyword->always ? keyword->take(rd, value) : 0;
}

int ssh_config_read(struct ssh_config *c, struct bytes text, const char *name, unsigned depth,
                    ssh_config_include *include, void *arg, char ret_why[SSH_CONFIG_WHY_MAX])
{
    struct reader rd = {.config = c,
                        .name = name,
                        .depth = depth,
                        .applies = true,
                        .include = include,
                        .arg = arg,
                        .why = ret_why};
    if (text.len > SSH_CONFIG_FILE_MAX)
        return -FERRY_ELIMIT;
    while (text.len > 0) {
        rd.line++;
        int r = take_line(&rd, bytes_take_until(&text, '\n'));
        if (r < 0)
            return r;
    }
    return 0;
}

/* -- % and ~ -- */

static int put_percent(const struct ssh_config *c, char code, struct buf *b)
{
    const struct ssh_config_who *who = c->who;
    const char *user = c->user != NULL ? c->user : who->local_user;
    switch (code) {
    case '%':
        return buf_append_byte(b, '%');
    case 'd':
        return buf_append_str(b, who->home);
    case 'h':
        return buf_append_str(b, c->host_name != NULL ? c->host_name : who->alias);
    case 'n':
        return buf_append_str(b, who->alias);
    case 'u':
        return buf_append_str(b, who->local_user);
    case 'r':
        return buf_append_str(b, who->remote_user != NULL ? who->remote_user : user);
    case 'p':
        return buf_printf(b, "%u", c->port != 0 ? c->port : 22);
    default:
        return -EINVAL;
    }
}

static int expand(const struct ssh_config *c, const char *text, struct buf *b)
{
    int r = 0;
    if (text[0] == '~' && (text[1] == '/' || text[1] == '\0')) {
        r = buf_append_str(b, c->who->home);
        text++;
    }
    for (; r >= 0 && *text != '\0'; text++) {
        if (*text != '%')
            r = buf_append_byte(b, (uint8_t)*text);
        else
            r = put_percent(c, *++text, b);
        if (*text == '\0')
            return -EINVAL;
    }
    return r < 0 ? r : buf_append_byte(b, '\0');
}

int ssh_config_expand(const struct ssh_config *c, const char *text, char **ret)
{
    struct buf b;
    buf_init(&b, PATH_LEN_MAX + 1);
    int r = expand(c, text, &b);
    if (r == 0) {
        *ret = mem_strdup((const char *)b.data);
        r = *ret == NULL ? -ENOMEM : 0;
    }
    buf_done(&b);
    return r;
}
