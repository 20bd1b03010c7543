/* Between client.c and client_data.c. */
#pragma once
#include "ftp/client.h"

/* The argument holds no line end and no NUL, and the line is not too long. */
bool ftp_client_can_send(const char *verb, struct bytes argument);

/* Closes; returns result, which the connection does not survive. */
int ftp_client_fail(struct ftp_client *, int result);

/* 0 if the reply is of this hundred (2: 2yz); a refusal, or what may not be said here. */
MUST_CHECK int ftp_client_expect(struct ftp_client *, const struct ftp_answer *,
                                 unsigned hundred);

/* Closes the data connection; in_order: what was sent is the whole. */
void ftp_client_drop_data(struct ftp_client *, bool in_order);
