/* The first part of a connection: idents and the first key exchange. */
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "ssh/transport_internal.h"

#define OWN_IDENT "SSH-2.0-ferry_0.1"
/* A stock client that prefers another cipher sends its KEXINIT without waiting for ours; we
 * wait so long for it, to offer what it has and we want. */
#define KEXINIT_WAIT_US (100 * USEC_PER_MS)

int ssh_transport_greet(struct ssh_transport *t)
{
    if (t->has_greeted)
        return 0;
    t->has_greeted = true;
    int r = out_queue_add_bytes(&t->out, BYTES_LIT(OWN_IDENT "\r\n"));
    return r == 0 ? out_queue_push(&t->out) : r;
}

struct bytes ssh_transport_own_ident(void)
{
    return BYTES_LIT(OWN_IDENT);
}

/* Waits for bytes no longer than to the deadline, which also ends a peer that has something to
 * say all the time. */
static int fill_until(struct ssh_transport *t, usec_t deadline)
{
    if (clock_now() >= deadline)
        return -ETIMEDOUT;
    int r = stream_wait(t->lower, NULL, deadline);
    return r == 0 ? ssh_transport_fill(t) : r;
}

/* A server may send other lines before its ident; a client may not (RFC 4253 4.2). */
static int read_ident(struct ssh_transport *t, usec_t deadline)
{
    size_t before = 0, used;
    t->peer_ident = mem_new(sizeof(*t->peer_ident));
    if (t->peer_ident == NULL)
        return -ENOMEM;
    for (;;) {
        struct bytes data = BYTES_NONE;
        if (t->in != NULL)
            data = bytes_of(t->in->data + t->start, t->end - t->start);
        int r = ssh_ident_parse(data, &used, t->peer_ident);
        if (r < 0)
            return ssh_transport_fail(t, r, "what the peer sent is no ssh ident");
        if (r == SSH_IDENT_MORE) {
            if (data.len > SSH_IDENT_BEFORE_MAX)
                return ssh_transport_fail(t, -FERRY_EPROTO, "no ident in what the peer sent");
            r = fill_until(t, deadline);
            if (r < 0)
                return r;
            continue;
        }
        t->start += used;
        if (r == SSH_IDENT_FOUND)
            return 0;
        before += used;
        if (t->settings->role == SSH_SERVER || before > SSH_IDENT_BEFORE_MAX)
            return ssh_transport_fail(t, -FERRY_EPROTO, "what the peer sent is no ssh ident");
    }
}

/* A client's KEXINIT that has come before ours decides what we offer: it is dealt with like any
 * other, and ours is sent then. */
static int wait_for_kexinit(struct ssh_transport *t)
{
    usec_t until = clock_after(KEXINIT_WAIT_US);
    while (t->kex == NULL && t->phase == SSH_PHASE_KEXINIT) {
        struct ssh_packet packet;
        int r = ssh_transport_next(t, &packet);
        if (r == SSH_NEXT_MORE)
            r = fill_until(t, until);
        if (r < 0)
            return r == -ETIMEDOUT ? 0 : r;
    }
    return 0;
}

int ssh_transport_start(struct ssh_transport *t, usec_t deadline)
{
    int r = ssh_transport_greet(t);
    if (r == 0)
        r = read_ident(t, deadline);
    if (r == 0 && t->settings->role == SSH_SERVER)
        r = wait_for_kexinit(t);
    if (r == 0 && t->kex == NULL && t->phase == SSH_PHASE_KEXINIT)
        r = ssh_kex_begin(t, NULL);
    while (r >= 0 && t->phase < SSH_PHASE_SERVICE) {
        struct ssh_packet packet;
        r = ssh_transport_next(t, &packet);
        if (r == SSH_NEXT_MORE)
            r = fill_until(t, deadline);
    }
    return r < 0 ? r : 0;
}
