/* Internet addresses as values. */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/bytes.h"

struct addr {
    socklen_t len; /* 0: none */

    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } u;
};

#define ADDR_TEXT_MAX 64 /* "[v6%scope]:port" and a NUL */

/* "127.0.0.1:2121", "[::1]:21"; numeric only, the port is required. -EINVAL. */
MUST_CHECK int addr_parse(struct bytes text, struct addr *ret);
const char *addr_format(const struct addr *,
                        char dst[ADDR_TEXT_MAX]); /* with port; returns dst */
const char *addr_format_host(const struct addr *, char dst[ADDR_TEXT_MAX]); /* without */

int addr_family(const struct addr *);
uint16_t addr_port(const struct addr *);
void addr_set_port(struct addr *, uint16_t port);
/* The same host; ::ffff:a.b.c.d equals a.b.c.d. */
bool addr_same_host(const struct addr *, const struct addr *);
bool addr_is_loopback(const struct addr *);
bool addr_is_any(const struct addr *); /* 0.0.0.0 or [::] */
/* Turns ::ffff:a.b.c.d into a.b.c.d, so that PASV and logs show what people expect. */
void addr_unmap(struct addr *);
