#include "io/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "base/text.h"

/* An inet_pton() input: the longest numeric IPv6 address and a NUL. */
#define HOST_TEXT_MAX 48

static int parse_port(struct bytes text, uint16_t *ret)
{
    uint64_t port;
    int r = text_u64(text, 10, UINT16_MAX, &port);
    if (r < 0)
        return -EINVAL;
    *ret = (uint16_t)port;
    return 0;
}

static int parse_host(int family, struct bytes text, void *ret)
{
    char host[HOST_TEXT_MAX];
    size_t nul;
    if (text.len >= sizeof(host) || bytes_find(text, 0, &nul))
        return -EINVAL;
    (void)text_copy(host, sizeof(host), text);
    return inet_pton(family, host, ret) == 1 ? 0 : -EINVAL;
}

static int parse_v4(struct bytes host, struct bytes port, struct addr *a)
{
    uint16_t number;
    a->len = sizeof(a->u.v4);
    a->u.v4.sin_family = AF_INET;
    int r = parse_host(AF_INET, host, &a->u.v4.sin_addr);
    if (r == 0)
        r = parse_port(port, &number);
    if (r == 0)
        addr_set_port(a, number);
    return r;
}

/* host is what stands between the brackets. A scope is a number (RFC 4007, 11.2): turning the
 * name of an interface into one would ask the system. */
static int parse_v6(struct bytes host, struct bytes port, struct addr *a)
{
    uint16_t number;
    uint64_t scope = 0;
    size_t percent;
    int r = 0;
    a->len = sizeof(a->u.v6);
    a->u.v6.sin6_family = AF_INET6;
    if (bytes_find(host, '%', &percent)) {
        r = text_u64(bytes_skip(host, percent + 1), 10, UINT32_MAX, &scope);
        host = bytes_first(host, percent);
    }
    if (r == 0)
        r = parse_host(AF_INET6, host, &a->u.v6.sin6_addr);
    if (r == 0)
        r = parse_port(port, &number);
    if (r < 0)
        return -EINVAL;
    a->u.v6.sin6_scope_id = (uint32_t)scope;
    addr_set_port(a, number);
    return 0;
}

int addr_parse(struct bytes text, struct addr *ret)
{
    struct addr a = {0};
    size_t at;
    int r = -EINVAL;
    if (text.len > 0 && text.data[0] == '[') {
        if (bytes_find(text, ']', &at) && at + 1 < text.len && text.data[at + 1] == ':')
            r = parse_v6(bytes_skip(bytes_first(text, at), 1), bytes_skip(text, at + 2), &a);
    } else if (bytes_find(text, ':', &at)) {
        r = parse_v4(bytes_first(text, at), bytes_skip(text, at + 1), &a);
    }
    if (r == 0)
        *ret = a;
    return r;
}

const char *addr_format_host(const struct addr *a, char dst[ADDR_TEXT_MAX])
{
    char host[INET6_ADDRSTRLEN];
    switch (addr_family(a)) {
    case AF_INET:
        (void)inet_ntop(AF_INET, &a->u.v4.sin_addr, dst, ADDR_TEXT_MAX);
        break;
    case AF_INET6:
        (void)inet_ntop(AF_INET6, &a->u.v6.sin6_addr, host, sizeof(host));
        if (a->u.v6.sin6_scope_id != 0)
            (void)snprintf(dst, ADDR_TEXT_MAX, "%s%%%u", host, a->u.v6.sin6_scope_id);
        else
            (void)text_copy(dst, ADDR_TEXT_MAX, bytes_str(host));
        break;
    default:
        (void)text_copy(dst, ADDR_TEXT_MAX, BYTES_LIT("-"));
        break;
    }
    return dst;
}

const char *addr_format(const struct addr *a, char dst[ADDR_TEXT_MAX])
{
    char host[ADDR_TEXT_MAX];
    (void)addr_format_host(a, host);
    if (addr_family(a) == AF_INET6)
        (void)snprintf(dst, ADDR_TEXT_MAX, "[%.54s]:%u", host, addr_port(a));
    else if (addr_family(a) == AF_INET)
        (void)snprintf(dst, ADDR_TEXT_MAX, "%.15s:%u", host, addr_port(a));
    else
        (void)text_copy(dst, ADDR_TEXT_MAX, bytes_str(host));
    return dst;
}

int addr_family(const struct addr *a)
{
    return a->len == 0 ? AF_UNSPEC : a->u.any.sa_family;
}

uint16_t addr_port(const struct addr *a)
{
    switch (addr_family(a)) {
    case AF_INET:
        return ntohs(a->u.v4.sin_port);
    case AF_INET6:
        return ntohs(a->u.v6.sin6_port);
    default:
        return 0;
    }
}

void addr_set_port(struct addr *a, uint16_t port)
{
    if (addr_family(a) == AF_INET)
        a->u.v4.sin_port = htons(port);
    else if (addr_family(a) == AF_INET6)
        a->u.v6.sin6_port = htons(port);
}

void addr_unmap(struct addr *a)
{
    if (addr_family(a) != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&a->u.v6.sin6_addr))
        return;
    struct addr v4 = {.len = sizeof(v4.u.v4)};
    v4.u.v4.sin_family = AF_INET;
    v4.u.v4.sin_port = a->u.v6.sin6_port;
    memcpy(&v4.u.v4.sin_addr, &a->u.v6.sin6_addr.s6_addr[12], sizeof(v4.u.v4.sin_addr));
    *a = v4;
}

bool addr_same_host(const struct addr *a, const struct addr *b)
{
    struct addr x = *a, y = *b;
    addr_unmap(&x);
    addr_unmap(&y);
    if (addr_family(&x) != addr_family(&y))
        return false;
    switch (addr_family(&x)) {
    case AF_INET:
        return x.u.v4.sin_addr.s_addr == y.u.v4.sin_addr.s_addr;
    case AF_INET6:
        return x.u.v6.sin6_scope_id == y.u.v6.sin6_scope_id &&
               memcmp(&x.u.v6.sin6_addr, &y.u.v6.sin6_addr, sizeof(x.u.v6.sin6_addr)) == 0;
    default:
        return false;
    }
}

bool addr_is_loopback(const struct addr *a)
{
    struct addr x = *a;
    addr_unmap(&x);
    if (addr_family(&x) == AF_INET)
        return ntohl(x.u.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return addr_family(&x) == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&x.u.v6.sin6_addr);
}

bool addr_is_any(const struct addr *a)
{
    if (addr_family(a) == AF_INET)
        return a->u.v4.sin_addr.s_addr == htonl(INADDR_ANY);
    return addr_family(a) == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->u.v6.sin6_addr);
}
