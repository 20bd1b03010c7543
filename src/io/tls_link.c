#include "io/tls_link.h"

#include <errno.h>

#include "io/tcp.h"
#include "task/sys.h"

static int socket_result(struct tls_link *l, enum io_dir dir, unsigned edges, ssize_t n,
                         BIO *bio)
{
    if (n == -EAGAIN) {
        io_fd_not_ready(l->fd, dir, edges);
        if (dir == IO_READ)
            BIO_set_retry_read(bio);
        else
            BIO_set_retry_write(bio);
        return -1;
    }
    if (n < 0)
        l->failure = tcp_result(n);
    return n < 0 ? -1 : (int)n;
}

static int bio_read(BIO *bio, char *data, int len)
{
    struct tls_link *l = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    unsigned edges = io_fd_edges(l->fd, IO_READ);
    ssize_t n = sys_recv(io_fd_number(l->fd), data, (size_t)len, 0);
    l->has_ended = n == 0;
    return socket_result(l, IO_READ, edges, n, bio);
}

static int bio_write(BIO *bio, const char *data, int len)
{
    struct tls_link *l = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    unsigned edges = io_fd_edges(l->fd, IO_WRITE);
    ssize_t n = sys_send(io_fd_number(l->fd), data, (size_t)len, 0);
    return socket_result(l, IO_WRITE, edges, n, bio);
}

static long bio_control(BIO *bio, int command, long number, void *arg)
{
    (void)bio;
    (void)number;
    (void)arg;
    return command == BIO_CTRL_FLUSH; /* nothing is held back; all else is not known */
}

BIO_METHOD *tls_link_method_new(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "ferry socket");
    if (m == NULL)
        return NULL;
    BIO_meth_set_read(m, bio_read);
    BIO_meth_set_write(m, bio_write);
    BIO_meth_set_ctrl(m, bio_control);
    return m;
}
