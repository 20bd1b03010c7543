/* The floor's data connections. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>

#include "bench/floor/floor_internal.h"
#include "ftp/wire/address.h"
#include "io/tcp.h"
#include "task/sys.h"

#define DOOR_BACKLOG 4
/* Of one call. Other sessions wait for it, and a socket has rarely room for more. */
#define SENDFILE_BYTES (1024 * 1024)
/* A file that fits into an empty socket: it is sent before a word, and the two replies to it
 * are one write. */
#define SMALL_BYTES (64 * 1024)
/* Of an upload, before it is the others' turn. */
#define STORE_STEPS 3

#define FILE_MODE 0600

#define OPENING  "150 Here it comes.\r\n"
#define COMPLETE "226 Complete.\r\n"

/* -- passive -- */

static void on_door(struct watch *);

static int open_door(struct floor_session *s)
{
    struct addr at = s->floor->settings->listen;
    addr_set_port(&at, 0);
    int r = tcp_listen(&at, DOOR_BACKLOG, &s->door.fd);
    if (r < 0)
        return r;
    s->door.on_ready = on_door;
    s->port = addr_port(&at);
    return 0;
}

void floor_passive(struct floor_session *s, bool is_extended)
{
    const struct addr *at = &s->floor->settings->listen;
    if (!is_extended && addr_family(at) != AF_INET) {
        floor_reply(s, BYTES_LIT("425 EPSV, please.\r\n"));
        return;
    }
    if (s->door.fd < 0 && open_door(s) < 0) {
        floor_reply(s, BYTES_LIT("425 No port.\r\n"));
        return;
    }
    struct ftp_address told = {.family = FTP_FAMILY_IPV4, .port = s->port};
    char address[FTP_ADDRESS_TEXT_MAX], text[FTP_ADDRESS_TEXT_MAX + 16];
    if (is_extended) {
        (void)ftp_epsv_format(s->port, address);
    } else {
        memcpy(told.host, &at->u.v4.sin_addr, sizeof(at->u.v4.sin_addr));
        (void)ftp_pasv_format(&told, address);
    }
    int len = snprintf(text, sizeof(text), "%s %s\r\n", is_extended ? "229" : "227", address);
    floor_reply(s, bytes_of(text, (size_t)len));
}

/* -- the end of a transfer -- */

void floor_transfer_drop(struct floor_session *s)
{
    if (s->is_awaited)
        floor_unwatch(s->floor, &s->door);
    s->is_awaited = false;
    s->transfer = FLOOR_NO_TRANSFER;
    sys_fd_close(&s->data.fd);
    sys_fd_close(&s->file);
}

/* The word first: the client need not wait until the file is closed. */
static void end_with(struct floor_session *s, struct bytes reply)
{
    floor_reply(s, reply);
    floor_transfer_drop(s);
}

static void end_broken(struct floor_session *s)
{
    end_with(s, BYTES_LIT("426 Broken off.\r\n"));
}

void floor_abort(struct floor_session *s)
{
    if (s->transfer == FLOOR_NO_TRANSFER) {
        floor_reply(s, BYTES_LIT("225 Nothing to abort.\r\n"));
        return;
    }
    sys_fd_close(&s->data.fd);
    end_with(s, BYTES_LIT("426 Broken off.\r\n226 Aborted.\r\n"));
}

/* -- steps -- */

/* Closed first: it is what the client waits for, and the word is the next. */
static void end_retrieved(struct floor_session *s, struct bytes reply)
{
    sys_fd_close(&s->data.fd);
    end_with(s, reply);
}

/* false: it is over, well or not. */
static bool send_step(struct floor_session *s, struct bytes complete)
{
    size_t left = (size_t)(s->len - s->off);
    ssize_t n = 0;
    if (left > 0) {
        n = sys_sendfile(s->data.fd, s->file, &s->off,
                         left < SENDFILE_BYTES ? left : SENDFILE_BYTES);
        if (n == -EAGAIN)
            return true;
    }
    if (s->off == s->len)
        end_retrieved(s, complete);
    else if (n <= 0) /* 0: the file has become shorter */
        end_broken(s);
    return s->transfer != FLOOR_NO_TRANSFER;
}

/* What is left in the pipe belongs to no other upload. */
static void drain(struct floor *f, size_t len)
{
    uint8_t waste[1024];
    ssize_t n = 1;
    for (; len > 0 && n > 0; len -= (size_t)n)
        n = sys_read(f->pipe[0], waste, len < sizeof(waste) ? len : sizeof(waste));
    if (n <= 0)
        f->is_over = true;
}

static bool write_piped(struct floor_session *s, size_t len)
{
    struct floor *f = s->floor;
    while (len > 0) {
        ssize_t n = sys_splice(f->pipe[0], s->file, &s->off, len);
        if (n <= 0) {
            drain(f, len);
            return false;
        }
        len -= (size_t)n;
    }
    return true;
}

static bool write_block(struct floor_session *s, size_t len)
{
    for (size_t done = 0; done < len;) {
        const struct iovec piece = {s->floor->block + done, len - done};
        ssize_t n = sys_pwritev(s->file, &piece, 1, s->off);
        if (n <= 0)
            return false;
        done += (size_t)n;
        s->off += n;
    }
    return true;
}

/* By way of a pipe the kernel copies a byte once, out of the packet that brought it; recv() and
 * write() copy it twice, at half as much again. But a file that is over with the first of it
 * costs less without the pipe. */
static void receive_step(struct floor_session *s)
{
    for (unsigned i = 0; i < STORE_STEPS; i++) {
        bool by_pipe = s->off > 0;
        ssize_t n = by_pipe ? sys_splice(s->data.fd, s->floor->pipe[1], NULL, FLOOR_PIPE_BYTES)
                            : sys_recv(s->data.fd, s->floor->block, FLOOR_BLOCK_BYTES, 0);
        if (n == -EAGAIN)
            return;
        if (n > 0 && (by_pipe ? write_piped : write_block)(s, (size_t)n))
            continue;
        if (n == 0)
            end_with(s, BYTES_LIT(COMPLETE));
        else if (n < 0)
            end_broken(s);
        else
            end_with(s, BYTES_LIT("452 Not written.\r\n"));
        return;
    }
}

static void on_data(struct watch *w)
{
    struct floor_session *s = LIST_ENTRY(w, struct floor_session, data);
    if (s->is_over)
        return;
    if (s->transfer == FLOOR_STOR)
        receive_step(s);
    else
        (void)send_step(s, BYTES_LIT(COMPLETE));
}

/* -- the beginning -- */

static void watch_data(struct floor_session *s, unsigned events)
{
    if (floor_watch(s->floor, &s->data, events) < 0)
        end_broken(s);
}

static void start_retrieving(struct floor_session *s)
{
    if (s->len <= SMALL_BYTES && !send_step(s, BYTES_LIT(OPENING COMPLETE)))
        return;
    floor_reply(s, BYTES_LIT(OPENING));
    if (!s->is_over && send_step(s, BYTES_LIT(COMPLETE)))
        watch_data(s, EPOLLOUT);
}

static void start(struct floor_session *s, int fd)
{
    s->data = (struct watch){fd, on_data};
    if (s->transfer == FLOOR_RETR) {
        start_retrieving(s);
        return;
    }
    floor_reply(s, BYTES_LIT(OPENING));
    if (!s->is_over)
        watch_data(s, EPOLLIN);
}

/* The connection is nearly always there: a client connects first. */
static void begin(struct floor_session *s, enum floor_transfer transfer)
{
    s->transfer = transfer;
    s->off = 0;
    int fd = sys_accept(s->door.fd, NULL, NULL);
    if (fd == -EAGAIN) {
        fd = floor_watch(s->floor, &s->door, EPOLLIN);
        s->is_awaited = fd == 0;
        if (fd == 0)
            return;
    }
    if (fd < 0)
        end_with(s, BYTES_LIT("425 No connection.\r\n"));
    else
        start(s, fd);
}

static void on_door(struct watch *w)
{
    struct floor_session *s = LIST_ENTRY(w, struct floor_session, door);
    if (!s->is_awaited || s->is_over)
        return;
    int fd = sys_accept(w->fd, NULL, NULL);
    if (fd == -EAGAIN)
        return;
    floor_unwatch(s->floor, w);
    s->is_awaited = false;
    if (fd < 0)
        end_with(s, BYTES_LIT("425 No connection.\r\n"));
    else
        start(s, fd);
}

/* O_NONBLOCK: a FIFO that lies there must not stop everything. */
static int open_file(struct floor_session *s, const char *name, int flags, struct stat *ret)
{
    const struct open_how how = {
        .flags = (unsigned)(flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
        .mode = (flags & O_CREAT) != 0 ? FILE_MODE : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    s->file = sys_openat2(s->floor->folder, name, &how);
    int r = s->file < 0 ? s->file : sys_fstat(s->file, ret);
    if (r == 0 && !S_ISREG(ret->st_mode))
        r = -EINVAL;
    if (r < 0)
        sys_fd_close(&s->file);
    return r;
}

static bool can_begin(struct floor_session *s)
{
    if (s->transfer != FLOOR_NO_TRANSFER || s->door.fd < 0)
        floor_reply(s, BYTES_LIT("425 PASV first, and one at a time.\r\n"));
    else
        return true;
    return false;
}

void floor_retrieve(struct floor_session *s, const char *name)
{
    struct stat st;
    if (!can_begin(s))
        return;
    if (open_file(s, name, O_RDONLY, &st) < 0) {
        floor_reply(s, BYTES_LIT("550 No such file.\r\n"));
        return;
    }
    s->len = st.st_size;
    begin(s, FLOOR_RETR);
}

void floor_store(struct floor_session *s, const char *name)
{
    struct stat st;
    if (!can_begin(s))
        return;
    if (open_file(s, name, O_WRONLY | O_CREAT | O_TRUNC, &st) < 0) {
        floor_reply(s, BYTES_LIT("553 Not made.\r\n"));
        return;
    }
    begin(s, FLOOR_STOR);
}
