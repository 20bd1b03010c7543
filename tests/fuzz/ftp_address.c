/* PORT, EPRT and EPSV arguments: what is accepted is in range, and written out reads the same.
 */
#include <arpa/inet.h>
#include <stdio.h>

#include "ftp/wire/address.h"
#include "invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool is_same(const struct ftp_address *a, const struct ftp_address *b)
{
    return a->family == b->family && a->port == b->port && memcmp(a->host, b->host, 16) == 0;
}

static void check_port(struct bytes argument)
{
    struct ftp_address a, again;
    char text[FTP_ADDRESS_TEXT_MAX];

    if (ftp_port_parse(argument, &a) < 0)
        return;
    INVARIANT(a.family == FTP_FAMILY_IPV4 && argument.len >= 11 && argument.len <= 23);
    struct bytes shown = bytes_str(ftp_pasv_format(&a, text));
    INVARIANT(shown.data[0] == '(' && shown.data[shown.len - 1] == ')');
    INVARIANT(ftp_port_parse(bytes_of(text + 1, shown.len - 2), &again) == 0);
    INVARIANT(is_same(&a, &again));
}

static void check_eprt(struct bytes argument)
{
    struct ftp_address a, again;
    char host[INET6_ADDRSTRLEN], text[80];

    if (ftp_eprt_parse(argument, &a) < 0)
        return;
    INVARIANT(a.family == FTP_FAMILY_IPV4 || a.family == FTP_FAMILY_IPV6);
    INVARIANT(a.port > 0);
    int family = a.family == FTP_FAMILY_IPV4 ? AF_INET : AF_INET6;
    INVARIANT(inet_ntop(family, a.host, host, sizeof(host)) != NULL);
    snprintf(text, sizeof(text), "!%u!%s!%u!", a.family, host, a.port);
    INVARIANT(ftp_eprt_parse(bytes_str(text), &again) == 0 && is_same(&a, &again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes argument = bytes_of(data, len);
    enum ftp_epsv epsv;

    check_port(argument);
    check_eprt(argument);
    if (ftp_epsv_parse(argument, &epsv) == 0)
        INVARIANT(epsv <= FTP_EPSV_ALL);
    return 0;
}
