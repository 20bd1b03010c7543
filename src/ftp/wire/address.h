/* Data connection addresses in commands and replies: PORT and 227 (RFC 959 5.3.2), EPRT, EPSV
 * and 229 (RFC 2428). Values; whether an address is allowed is not decided here. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

/* RFC 2428's address families; not those of the system. */
enum ftp_family { FTP_FAMILY_NONE, FTP_FAMILY_IPV4 = 1, FTP_FAMILY_IPV6 = 2 };

struct ftp_address {
    enum ftp_family family;
    uint8_t host[16]; /* network order; IPv4: the first 4, the others 0 */
    uint16_t port;    /* host order */
};

#define FTP_ADDRESS_TEXT_MAX 32 /* "(255,255,255,255,255,255)" and a NUL */

/* "h1,h2,h3,h4,p1,p2", each 0 to 255 in one to three digits, nothing else. -EINVAL: 501.
 * Port 0 is a value like another: the caller refuses it with the ports below 1024. */
MUST_CHECK int ftp_port_parse(struct bytes argument, struct ftp_address *ret);

/* "|1|192.0.2.1|2121|", "|2|2001:db8::1|2121|" with any delimiter of 33 to 126 that is not part
 * of a number. Port 1 to 65535. -EINVAL: 501; -EPROTONOSUPPORT, a family that is neither: 522.
 */
MUST_CHECK int ftp_eprt_parse(struct bytes argument, struct ftp_address *ret);

enum ftp_epsv { FTP_EPSV_ANY, FTP_EPSV_IPV4, FTP_EPSV_IPV6, FTP_EPSV_ALL };

/* EPSV's argument: nothing, "1", "2" or "ALL" in any case. -EINVAL: 501; -EPROTONOSUPPORT,
 * another number: 522. */
MUST_CHECK int ftp_epsv_parse(struct bytes argument, enum ftp_epsv *ret);

/* "(h1,h2,h3,h4,p1,p2)" for 227, of an IPv4 address; "(|||port|)" for 229. Return dst. */
const char *ftp_pasv_format(const struct ftp_address *, char dst[FTP_ADDRESS_TEXT_MAX]);
const char *ftp_epsv_format(uint16_t port, char dst[FTP_ADDRESS_TEXT_MAX]);
