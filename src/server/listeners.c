#include "server/listeners.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/tcp.h"
#include "task/sys.h"

#define BACKLOG 1024 /* connections that wait for an accept, a worker; the kernel caps it */

static int *place(const struct listeners *l, unsigned listener, unsigned worker)
{
    return &l->fds[(size_t)listener * l->workers + worker];
}

int listeners_open(struct settings *s, unsigned workers, struct listeners *ret,
                   struct refusal *why)
{
    size_t places = (size_t)s->listener_count * workers;
    struct listeners l = {.count = s->listener_count, .workers = workers};
    l.fds = mem_new(places * sizeof(*l.fds));
    if (l.fds == NULL)
        return refuse(why, "out of memory");
    for (size_t i = 0; i < places; i++)
        l.fds[i] = -1;
    for (unsigned i = 0; i < l.count; i++) {
        struct listener_setting *listener = &s->listeners[i];
        int r = tcp_listen_shared(&listener->addr, BACKLOG, workers, place(&l, i, 0));
        if (r < 0) {
            char text[ADDR_TEXT_MAX];
            listeners_close(&l);
            return refuse(why, "cannot listen on %s %s: %s", listener->scheme,
                          addr_format(&listener->addr, text), err_text(r));
        }
    }
    *ret = l;
    return 0;
}

int listeners_take(struct listeners *l, unsigned listener, unsigned worker)
{
    int fd = *place(l, listener, worker);
    *place(l, listener, worker) = -1;
    return fd;
}

void listeners_close(struct listeners *l)
{
    for (size_t i = 0; i < (size_t)l->count * l->workers; i++)
        sys_fd_close(&l->fds[i]);
    mem_free(l->fds);
    *l = (struct listeners){0};
}
