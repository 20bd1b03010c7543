/* ftp://USER:PASSWORD@HOST:PORT (RFC 1738 3.2; hosts and escapes as of RFC 3986). */
#pragma once
#include <stdint.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/limits.h"

#define BENCH_HOST_MAX 253 /* RFC 1035 2.3.4 */

/* What a URL leaves out is an empty text, or port 0. Wipe it: it holds a password. */
struct bench_url {
    char host[BENCH_HOST_MAX + 1]; /* without the brackets of IPv6 */
    char user[USER_NAME_MAX + 1];
    char password[PASSWORD_MAX + 1];
    uint16_t port;
};

/* NULL, or what is wrong with it: static text. *ret is written in any case. The path may be "/"
 * alone. */
const char *bench_url_parse(struct bytes, struct bench_url *ret) MUST_CHECK;
