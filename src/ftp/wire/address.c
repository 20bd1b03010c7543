#include "ftp/wire/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "base/text.h"

#define PORT_FIELDS 6

/* Cuts the bytes before the delimiter off the front of *s, and the delimiter with them. */
static bool take_field(struct bytes *s, uint8_t delimiter, struct bytes *ret)
{
    size_t at;

    if (!bytes_find(*s, delimiter, &at))
        return false;
    *ret = bytes_first(*s, at);
    *s = bytes_skip(*s, at + 1);
    return true;
}

int ftp_port_parse(struct bytes argument, struct ftp_address *ret)
{
    uint8_t value[PORT_FIELDS];

    for (size_t i = 0; i < PORT_FIELDS; i++) {
        struct bytes field = argument;
        if (i + 1 < PORT_FIELDS && !take_field(&argument, ',', &field))
            return -EINVAL;
        uint64_t number;
        if (field.len > 3 || text_u64(field, 10, UINT8_MAX, &number) < 0)
            return -EINVAL;
        value[i] = (uint8_t)number;
    }
    *ret = (struct ftp_address){.family = FTP_FAMILY_IPV4};
    memcpy(ret->host, value, 4);
    ret->port = (uint16_t)(value[4] << 8 | value[5]);
    return 0;
}

static int parse_family(struct bytes text, enum ftp_family *ret)
{
    uint64_t number;
    int result = text_u64(text, 10, UINT64_MAX, &number);

    if (result == -EINVAL)
        return -EINVAL;
    if (result < 0 || (number != FTP_FAMILY_IPV4 && number != FTP_FAMILY_IPV6))
        return -EPROTONOSUPPORT;
    *ret = (enum ftp_family)number;
    return 0;
}

static int parse_host(struct bytes text, struct ftp_address *a)
{
    char host[INET6_ADDRSTRLEN];

    if (text.len >= sizeof(host) || text_has_control(text))
        return -EINVAL;
    text_copy(host, sizeof(host), text);
    int family = a->family == FTP_FAMILY_IPV4 ? AF_INET : AF_INET6;
    return inet_pton(family, host, a->host) == 1 ? 0 : -EINVAL;
}

int ftp_eprt_parse(struct bytes argument, struct ftp_address *ret)
{
    if (argument.len == 0)
        return -EINVAL;
    uint8_t delimiter = argument.data[0];
    if (delimiter < 33 || delimiter > 126 || (delimiter >= '0' && delimiter <= '9'))
        return -EINVAL;

    struct bytes rest = bytes_skip(argument, 1);
    struct bytes family, host, port;
    if (!take_field(&rest, delimiter, &family) || !take_field(&rest, delimiter, &host) ||
        !take_field(&rest, delimiter, &port) || rest.len > 0)
        return -EINVAL;

    struct ftp_address a = {0};
    int result = parse_family(family, &a.family);
    if (result < 0)
        return result;
    uint64_t number;
    if (parse_host(host, &a) < 0 || port.len > 5 ||
        text_u64(port, 10, UINT16_MAX, &number) < 0 || number == 0)
        return -EINVAL;
    a.port = (uint16_t)number;
    *ret = a;
    return 0;
}

int ftp_epsv_parse(struct bytes argument, enum ftp_epsv *ret)
{
    if (argument.len == 0) {
        *ret = FTP_EPSV_ANY;
        return 0;
    }
    if (bytes_equal_nocase(argument, BYTES_LIT("ALL"))) {
        *ret = FTP_EPSV_ALL;
        return 0;
    }
    enum ftp_family family;
    int result = parse_family(argument, &family);
    if (result < 0)
        return result;
    *ret = family == FTP_FAMILY_IPV4 ? FTP_EPSV_IPV4 : FTP_EPSV_IPV6;
    return 0;
}

const char *ftp_pasv_format(const struct ftp_address *a, char dst[FTP_ADDRESS_TEXT_MAX])
{
    snprintf(dst, FTP_ADDRESS_TEXT_MAX, "(%u,%u,%u,%u,%u,%u)", a->host[0], a->host[1],
             a->host[2], a->host[3], a->port >> 8, a->port & 0xffu);
    return dst;
}

const char *ftp_epsv_format(uint16_t port, char dst[FTP_ADDRESS_TEXT_MAX])
{
    snprintf(dst, FTP_ADDRESS_TEXT_MAX, "(|||%u|)", port);
    return dst;
}
