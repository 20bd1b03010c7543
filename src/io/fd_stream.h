/* A stream over two descriptors of any kind: pipes, sockets, terminals, files. What a program
 * has as its standard input and output. */
#pragma once
#include "io/stream.h"

/* Takes both descriptors, which may be one, also on failure. They are made non-blocking and are
 * what they were before when the stream is freed: others may have them, too. Those that epoll
 * refuses (a file, /dev/null) never wait, and are read and written on the loop. -ENOMEM, or how
 * epoll failed. */
MUST_CHECK int fd_stream_new(int in_fd, int out_fd, usec_t stall_us, struct stream **ret);
