/* The server's side of TLS, for tests of our client: a task with a plain stream, and OpenSSL
 * between two buffers. Failures are returned, so that a broken peer can be played. */
#pragma once
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/err.h"
#include "io/stream.h"
#include "runtime_fixture.h"

/* A context with a certificate of its own making, signed by nobody, that ran out in 1970. */
static inline SSL_CTX *tls_peer_context(int max_version)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    TASK_ASSERT(ctx != NULL && key != NULL && cert != NULL);
    ASN1_TIME_set(X509_getm_notBefore(cert), 0);
    ASN1_TIME_set(X509_getm_notAfter(cert), 1);
    TASK_ASSERT(X509_set_pubkey(cert, key) == 1 && X509_sign(cert, key, EVP_sha256()) > 0);
    TASK_ASSERT(SSL_CTX_use_certificate(ctx, cert) == 1);
    TASK_ASSERT(SSL_CTX_use_PrivateKey(ctx, key) == 1);
    TASK_ASSERT(SSL_CTX_set_session_id_context(ctx, (const uint8_t *)"t", 1) == 1);
    if (max_version != 0)
        TASK_ASSERT(SSL_CTX_set_max_proto_version(ctx, max_version) == 1);
    X509_free(cert);
    EVP_PKEY_free(key);
    return ctx;
}

struct tls_peer {
    struct stream *s; /* borrowed */
    SSL *ssl;
};

static inline void tls_peer_init(struct tls_peer *p, SSL_CTX *ctx, struct stream *s)
{
    *p = (struct tls_peer){.s = s, .ssl = SSL_new(ctx)};
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    TASK_ASSERT(p->ssl != NULL && in != NULL && out != NULL);
    BIO_set_mem_eof_return(in, -1); /* empty: more will come */
    SSL_set_bio(p->ssl, in, out);
    SSL_set_accept_state(p->ssl);
}

static inline void tls_peer_done(struct tls_peer *p)
{
    SSL_free(p->ssl);
    p->ssl = NULL;
    ERR_clear_error();
}

/* Sends what OpenSSL has written. */
static inline int tls_peer_flush(struct tls_peer *p)
{
    char *data;
    long len = BIO_get_mem_data(SSL_get_wbio(p->ssl), &data);
    int r = len > 0 ? stream_write_bytes(p->s, bytes_of(data, (size_t)len)) : 0;
    (void)BIO_reset(SSL_get_wbio(p->ssl));
    return r;
}

/* After a call that did not succeed: 0 when it is to be repeated, 1 at close_notify. */
static inline int tls_peer_continue(struct tls_peer *p, int result)
{
    uint8_t data[1024];
    int error = SSL_get_error(p->ssl, result);
    int r = tls_peer_flush(p);
    if (error == SSL_ERROR_ZERO_RETURN)
        return 1;
    if (r < 0)
        return r;
    if (error != SSL_ERROR_WANT_READ)
        return -FERRY_EPROTO;
    ssize_t n = stream_read(p->s, data, sizeof(data));
    if (n == 0)
        return -FERRY_ETRUNCATED;
    if (n > 0)
        TASK_ASSERT(BIO_write(SSL_get_rbio(p->ssl), data, (int)n) == n);
    return n < 0 ? (int)n : 0;
}

static inline int tls_peer_accept(struct tls_peer *p)
{
    int r = 0, ok;
    ERR_clear_error();
    while ((ok = SSL_do_handshake(p->ssl)) != 1 && r == 0) {
        r = tls_peer_continue(p, ok);
        ERR_clear_error();
    }
    return ok == 1 ? tls_peer_flush(p) : r;
}

/* 1 and more: bytes; 0: close_notify. */
static inline ssize_t tls_peer_read(struct tls_peer *p, void *data, size_t max)
{
    for (;;) {
        size_t n;
        ERR_clear_error();
        int ok = SSL_read_ex(p->ssl, data, max, &n);
        if (ok == 1)
            return (ssize_t)n;
        int r = tls_peer_continue(p, ok);
        if (r != 0)
            return r < 0 ? r : 0;
    }
}

static inline int tls_peer_write(struct tls_peer *p, struct bytes data)
{
    size_t n;
    ERR_clear_error();
    TASK_ASSERT(SSL_write_ex(p->ssl, data.data, data.len, &n) == 1 && n == data.len);
    return tls_peer_flush(p);
}

static inline int tls_peer_close_notify(struct tls_peer *p)
{
    ERR_clear_error();
    (void)SSL_shutdown(p->ssl);
    return tls_peer_flush(p);
}
