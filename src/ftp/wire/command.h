/* A command line as verb and argument (RFC 959 5.3). */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

#define FTP_VERB_MAX 7

struct ftp_request {
    char verb[FTP_VERB_MAX + 1]; /* in capitals, terminated; the rest of the array is 0 */
    struct bytes argument;       /* borrowed from the line; empty if there is none */
};

/* The verb is a letter, then letters, digits and '-', in any case; spaces before it are passed
 * over. Exactly one space is removed between verb and argument: all others, also at the end,
 * belong to the argument, since a name may begin or end with spaces.
 *
 * -EINVAL: no verb (an empty line), or a character that no verb has; -FERRY_ELIMIT: a verb of
 * more than FTP_VERB_MAX. Both are 500. SITE and OPTS parse their argument with it again. */
MUST_CHECK int ftp_command_parse(struct bytes line, struct ftp_request *ret);
