#include "ssh/wire/authorized_keys.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/buf.h"
#include "base/civil.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "ssh/wire/key.h"
#include "ssh/wire/pattern.h"

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct bytes skip_blanks(struct bytes b)
{
    size_t n = 0;
    while (n < b.len && is_blank(b.data[n]))
        n++;
    return bytes_skip(b, n);
}

static struct bytes trim(struct bytes b)
{
    while (b.len > 0 && (is_blank(b.data[b.len - 1]) || b.data[b.len - 1] == '\r'))
        b.len--;
    return skip_blanks(b);
}

static struct bytes take(struct bytes *rest, size_t n)
{
    struct bytes head = bytes_first(*rest, n);
    *rest = bytes_skip(*rest, n);
    return head;
}

static struct bytes take_word(struct bytes *rest)
{
    *rest = skip_blanks(*rest);
    size_t n = 0;
    while (n < rest->len && !is_blank(rest->data[n]))
        n++;
    return take(rest, n);
}

/* -- addresses -- */

struct address {
    int family;
    uint8_t bytes[16];
};

static unsigned bits_of(const struct address *a)
{
    return a->family == AF_INET ? 32 : 128;
}

static bool read_address(struct bytes text, struct address *ret)
{
    char copy[INET6_ADDRSTRLEN];
    if (text.len >= sizeof(copy) || text_has_control(text))
        return false;
    text_copy(copy, sizeof(copy), text);
    size_t at;
    ret->family = bytes_find(text, ':', &at) ? AF_INET6 : AF_INET;
    return inet_pton(ret->family, copy, ret->bytes) == 1;
}

static bool bit_of(const struct address *a, unsigned i)
{
    return (a->bytes[i / 8] >> (7 - i % 8) & 1) != 0;
}

/* An address, or one with "/" and the bits that count. has_slash without being sound is a block
 * that somebody got wrong: a typing error must not widen or narrow what was meant. */
struct block {
    bool is_sound, has_slash;
    struct address address;
    unsigned bits;
};

/* IPv4 in IPv6's form is IPv4: a "!" must not be got round so. */
static void unmap(struct block *b)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    unsigned mapped_bits = 8 * sizeof(mapped);
    if (b->address.family != AF_INET6 || b->bits < mapped_bits ||
        memcmp(b->address.bytes, mapped, sizeof(mapped)) != 0)
        return;
    b->address.family = AF_INET;
    b->bits -= mapped_bits;
    memmove(b->address.bytes, b->address.bytes + sizeof(mapped), 4);
}

static struct block read_block(struct bytes text)
{
    struct block b = {0};
    struct bytes bits_text = text;
    size_t at;
    b.has_slash = bytes_find(text, '/', &at);
    struct bytes address = bytes_take_until(&bits_text, '/');
    if (!read_address(address, &b.address))
        return b;
    uint64_t bits = bits_of(&b.address);
    b.is_sound = !b.has_slash || text_u64(bits_text, 10, bits, &bits) == 0;
    b.bits = (unsigned)bits;
    for (unsigned i = b.bits; i < bits_of(&b.address); i++)
        b.is_sound = b.is_sound && !bit_of(&b.address, i);
    unmap(&b);
    return b;
}

static bool is_within(const struct address *a, const struct block *b)
{
    if (a->family != b->address.family)
        return false;
    for (unsigned i = 0; i < b->bits; i++)
        if (bit_of(a, i) != bit_of(&b->address, i))
            return false;
    return true;
}

static bool is_from_sound(struct bytes list)
{
    while (list.len > 0) {
        struct block b = read_block(ssh_pattern_take(&list).text);
        if (b.has_slash && !b.is_sound)
            return false;
    }
    return true;
}

bool ssh_from_matches(struct bytes list, const char *address)
{
    char text[INET6_ADDRSTRLEN]; /* as patterns meet it: in the shortest form */
    struct bytes without_scope = bytes_str(address);
    without_scope = bytes_take_until(&without_scope, '%');
    struct block peer = read_block(without_scope);
    if (!peer.is_sound || peer.has_slash || !is_from_sound(list) ||
        inet_ntop(peer.address.family, peer.address.bytes, text, sizeof(text)) == NULL)
        return false;

    bool is_taken = false;
    while (list.len > 0) {
        struct ssh_pattern p = ssh_pattern_take(&list);
        struct block b = read_block(p.text);
        bool matches =
            b.is_sound ? is_within(&peer.address, &b) : ssh_pattern_matches(p, bytes_str(text));
        if (matches && p.is_negated)
            return false;
        is_taken = is_taken || matches;
    }
    return is_taken;
}

/* -- options -- */

/* What an option does with its value; NULL: fine, or why the key is refused. */
typedef const char *option_set(struct ssh_authorized *, struct bytes value);

static const char *set_from(struct ssh_authorized *a, struct bytes value)
{
    if (a->from.len != 0)
        return "option from is there twice";
    if (value.len == 0)
        return "option from is empty";
    if (!is_from_sound(value))
        return "option from has a wrong block of addresses";
    a->from = value;
    return NULL;
}

static const char *set_command(struct ssh_authorized *a, struct bytes value)
{
    if (a->has_command)
        return "option command is there twice";
    a->has_command = true;
    a->command = value;
    return NULL;
}

/* Two or four digits. */
static bool take_number(struct bytes *digits, size_t count, unsigned *ret)
{
    uint64_t value;
    if (digits->len < count || text_u64(take(digits, count), 10, 9999, &value) != 0)
        return false;
    *ret = (unsigned)value;
    return true;
}

/* YYYYMMDD[HHMM[SS]][Z] (ssh-keygen(1), CERTIFICATES). */
static bool read_time(struct bytes text, int64_t *ret_s)
{
    struct civil c = {0};
    if (text.len > 0 && text.data[text.len - 1] == 'Z')
        text.len--;
    bool is_time = take_number(&text, 4, &c.year) && take_number(&text, 2, &c.month) &&
                   take_number(&text, 2, &c.day);
    if (text.len > 0)
        is_time = is_time && take_number(&text, 2, &c.hour) && take_number(&text, 2, &c.minute);
    if (text.len > 0)
        is_time = is_time && take_number(&text, 2, &c.second);
    int64_t us;
    if (!is_time || text.len > 0 || clock_from_utc(&c, &us) != 0)
        return false;
    *ret_s = us / (int64_t)USEC_PER_S;
    return true;
}

/* Of several the earliest counts. */
static const char *set_expiry(struct ssh_authorized *a, struct bytes value)
{
    int64_t s;
    if (!read_time(value, &s))
        return "option expiry-time is no time";
    if (s < a->expires_s)
        a->expires_s = s;
    return NULL;
}

/* What each of these allows is never done here. */
static const struct {
    struct bytes name;
    bool has_no; /* "no-" may stand in front */
} flags[] = {
    {BYTES_LIT("restrict"), false},
    {BYTES_LIT("port-forwarding"), true},
    {BYTES_LIT("agent-forwarding"), true},
    {BYTES_LIT("X11-forwarding"), true},
    {BYTES_LIT("pty"), true},
    {BYTES_LIT("user-rc"), true},
};

static const struct {
    struct bytes name;
    option_set *set;
} options[] = {
    {BYTES_LIT("from"), set_from},
    {BYTES_LIT("command"), set_command},
    {BYTES_LIT("expiry-time"), set_expiry},
};

static bool is_flag(struct bytes name)
{
    struct bytes no = BYTES_LIT("no-");
    bool has_no = bytes_equal_nocase(bytes_first(name, no.len), no);
    struct bytes rest = has_no ? bytes_skip(name, no.len) : name;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (bytes_equal_nocase(flags[i].name, rest))
            return !has_no || flags[i].has_no;
    return false;
}

static option_set *find_option(struct bytes name)
{
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (bytes_equal_nocase(options[i].name, name))
            return options[i].set;
    return NULL;
}

/* Bytes up to the one that ends it: outside of quotes a blank or, if wanted, a comma. A quote
 * with a backslash in front is none; a backslash is nothing else. */
static size_t option_len(struct bytes b, bool ends_at_comma)
{
    bool is_quoted = false;
    size_t n = 0;
    for (; n < b.len; n++) {
        if (b.data[n] == '\\' && n + 1 < b.len && b.data[n + 1] == '"')
            n++;
        else if (b.data[n] == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted && (is_blank(b.data[n]) || (ends_at_comma && b.data[n] == ',')))
            break;
    }
    return n;
}

/* "text" with nothing behind its last quote. */
static bool unquote(struct bytes *value)
{
    struct bytes v = *value;
    if (v.len < 2 || v.data[0] != '"')
        return false;
    size_t n = 1;
    while (n < v.len && v.data[n] != '"')
        n += v.data[n] == '\\' && n + 1 < v.len && v.data[n + 1] == '"' ? 2 : 1;
    if (n != v.len - 1)
        return false;
    *value = bytes_first(bytes_skip(v, 1), n - 1);
    return true;
}

static const char *read_option(struct ssh_authorized *a, struct bytes option)
{
    if (is_flag(option))
        return NULL;
    struct bytes value = option;
    struct bytes name = bytes_take_until(&value, '=');
    option_set *set = find_option(name);
    if (set == NULL)
        return "an option that is not known here";
    if (!unquote(&value))
        return "an option's value is not between quotes";
    return set(a, value);
}

static const char *read_options(struct ssh_authorized *a, struct bytes list)
{
    for (;;) {
        const char *why = read_option(a, take(&list, option_len(list, true)));
        if (why != NULL || list.len == 0)
            return why;
        list = bytes_skip(list, 1); /* the comma, behind which one more must stand */
    }
}

/* -- lines -- */

static const char *read_line(struct bytes line, struct ssh_authorized *ret)
{
    struct ssh_authorized a = {.expires_s = INT64_MAX};
    enum crypto_key_kind kind;
    struct bytes rest = line;
    size_t at;
    if (line.len > SSH_AUTHORIZED_LINE_MAX)
        return "the line is too long";
    if (bytes_find(line, '\0', &at))
        return "the line has a NUL";
    a.type = take_word(&rest);
    if (!ssh_key_kind_of(a.type, &kind)) { /* then options stand in front */
        rest = line;
        struct bytes list = take(&rest, option_len(rest, false));
        a.type = take_word(&rest);
        const char *why = read_options(&a, list);
        if (!ssh_key_kind_of(a.type, &kind))
            return "no key of a type that is known here";
        if (why != NULL)
            return why;
    }
    a.blob_text = take_word(&rest);
    if (a.blob_text.len == 0)
        return "the key is missing";
    a.comment = trim(rest);
    *ret = a;
    return NULL;
}

enum ssh_authorized_result ssh_authorized_parse(struct bytes line, struct ssh_authorized *ret,
                                                const char **ret_why)
{
    line = trim(line);
    if (line.len == 0 || line.data[0] == '#')
        return SSH_AUTHORIZED_EMPTY;
    const char *why = read_line(line, ret);
    if (why == NULL)
        return SSH_AUTHORIZED_KEY;
    *ret_why = why;
    return SSH_AUTHORIZED_REFUSED;
}

int ssh_authorized_command(const struct ssh_authorized *a, struct buf *ret)
{
    int r = buf_reserve(ret, a->command.len);
    for (size_t i = 0; r == 0 && i < a->command.len; i++) {
        if (bytes_start_with(bytes_skip(a->command, i), BYTES_LIT("\\\"")))
            i++;
        r = buf_append_byte(ret, a->command.data[i]);
    }
    return r;
}
