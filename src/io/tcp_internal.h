/* Between the files of io/tcp*.c. */
#pragma once
#include "io/tcp.h"

/* Keeps what the kernel holds unsent to so many bytes. */
void tcp_bound_unsent(struct io_fd *, size_t bytes);

/* A socket of addr's family with SO_REUSEADDR (a port whose last connections are in TIME_WAIT
 * can be bound), IPv6 alone in an IPv6 one ("0.0.0.0:21" and "[::]:21" are two listeners), and
 * bound to it. */
MUST_CHECK int tcp_bound_socket(const struct addr *, bool shares_port, int *ret_fd);
