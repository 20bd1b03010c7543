#include "ssh/wire/ident.h"

#include "base/err.h"

static const struct bytes ident_start = BYTES_LIT("SSH-");

static bool is_printable(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.data[i] < 0x20 || s.data[i] > 0x7e)
            return false;
    return true;
}

/* "1.99" is a server that spoke SSH 1, too (RFC 4253 5.1). */
static bool is_ident(struct bytes line)
{
    struct bytes rest = bytes_skip(line, ident_start.len);
    struct bytes version = bytes_take_until(&rest, '-');
    return is_printable(line) && rest.len > 0 && rest.data[0] != ' ' &&
           (bytes_equal(version, BYTES_LIT("2.0")) || bytes_equal(version, BYTES_LIT("1.99")));
}

int ssh_ident_parse(struct bytes data, size_t *ret_used, struct ssh_ident *ret)
{
    size_t end;
    bool is_whole = bytes_find(bytes_first(data, SSH_IDENT_MAX), '\n', &end);
    if (!is_whole)
        return data.len < SSH_IDENT_MAX ? SSH_IDENT_MORE : -FERRY_EPROTO;
    struct bytes line = bytes_first(data, end);
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    bool is_other = !bytes_start_with(line, ident_start);
    if (!is_other && !is_ident(line))
        return -FERRY_EPROTO;
    *ret_used = end + 1;
    if (is_other)
        return SSH_IDENT_OTHER;
    memcpy(ret->text, line.data, line.len);
    ret->text[line.len] = '\0';
    ret->len = line.len;
    return SSH_IDENT_FOUND;
}

unsigned ssh_ident_quirks(const struct ssh_ident *ident)
{
    static const struct {
        struct bytes software; /* how it begins */
        unsigned quirks;
    } rows[] = {
        {BYTES_LIT("OpenSSH"), SSH_QUIRK_GCM_LAST},
    };
    struct bytes software = bytes_skip(bytes_of(ident->text, ident->len), ident_start.len);
    bytes_take_until(&software, '-');
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (bytes_start_with(software, rows[i].software))
            return rows[i].quirks;
    return 0;
}
