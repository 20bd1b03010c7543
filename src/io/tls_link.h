/* How OpenSSL reaches a socket: a BIO that reads and writes through task/sys.h, never waits,
 * and keeps what became of it. Between tls.c and tls_link.c. */
#pragma once
#include <stdbool.h>

#include <openssl/bio.h>

#include "task/fd.h"

/* What the BIO's data points to. */
struct tls_link {
    struct io_fd *fd;
    int failure;    /* of the socket */
    bool has_ended; /* the socket; whether that was told before is OpenSSL's to know */
};

/* For BIO_new(); BIO_meth_free() at the end. NULL: no memory. */
BIO_METHOD *tls_link_method_new(void);
