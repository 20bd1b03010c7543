/* Lines of listings of FTP servers. Pure. */
#pragma once
#include "client/remote/endpoint.h"

/* A line of MLSD or MLST (RFC 3659 7): "type=file;size=5;modify=20200102030405; name".
 * 1: a name with its facts; 0: the directory itself, or its parent; -FERRY_EPROTO. */
MUST_CHECK int ftp_listed_facts(struct bytes line, struct bytes *ret_name,
                                struct endpoint_facts *ret);
/* A line of LIST, as `ls -l` has them and nearly all servers send: the year is the latest that
 * makes a time which is not in the future. 1; 0: a line without a name ("total 5"), "." and
 * ".."; -FERRY_EPROTO: none of that form. */
MUST_CHECK int ftp_listed_line(struct bytes line, int64_t now_us, struct bytes *ret_name,
                               struct endpoint_facts *ret);
