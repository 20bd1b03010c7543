#include "client/place/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/tcp.h"

struct resolve_job {
    struct job job;
    char *host;
    struct addrinfo *found;
    int code; /* of getaddrinfo() */
};

static void job_main(struct job *job)
{
    struct resolve_job *j = (struct resolve_job *)(void *)job;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    const struct addrinfo numeric = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    j->code = getaddrinfo(j->host, NULL, &numeric, &j->found);
    if (j->code != 0)
        j->code = getaddrinfo(j->host, NULL, &hints, &j->found);
}

static void job_release(struct job *job)
{
    struct resolve_job *j = (struct resolve_job *)(void *)job;
    if (j->found != NULL)
        freeaddrinfo(j->found);
    mem_free(j->host);
    mem_free(j);
}

static bool take_next(const struct addrinfo **list, int family, uint16_t port,
                      struct resolved *ret)
{
    const struct addrinfo *a = *list;
    while (a != NULL && a->ai_family != family)
        a = a->ai_next;
    *list = a;
    if (a == NULL || ret->count == RESOLVE_MAX)
        return false;
    struct addr *at = &ret->at[ret->count];
    *list = a->ai_next;
    if (a->ai_addrlen > sizeof(at->u))
        return true;
    *at = (struct addr){.len = a->ai_addrlen};
    memcpy(&at->u, a->ai_addr, a->ai_addrlen);
    addr_set_port(at, port);
    ret->count++;
    return true;
}

/* A network where one of the two leads nowhere costs one try, not all of them. */
static void take_in_turn(const struct addrinfo *found, uint16_t port, struct resolved *ret)
{
    const struct addrinfo *v6 = found, *v4 = found;
    int first = found != NULL ? found->ai_family : AF_INET6;
    int second = first == AF_INET6 ? AF_INET : AF_INET6;
    bool has_more = true;
    ret->count = 0;
    while (has_more) {
        has_more = take_next(&v6, first, port, ret);
        has_more = take_next(&v4, second, port, ret) || has_more;
    }
}

int resolve(struct pool *pool, const char *host, uint16_t port, usec_t deadline,
            struct resolved *ret, const char **ret_why)
{
    struct resolve_job *j = mem_new(sizeof(*j));
    *ret_why = "";
    if (j == NULL)
        return -ENOMEM;
    j->job.run = job_main;
    j->job.free = job_release;
    j->host = mem_strdup(host);
    int r = j->host == NULL ? -ENOMEM : 0;
    if (r < 0) {
        job_release(&j->job);
        return r;
    }
    r = job_run(pool, &j->job, NULL, deadline);
    if (r < 0)
        return r; /* the job goes by itself */
    if (j->code == 0)
        take_in_turn(j->found, port, ret);
    if (j->code != 0 || ret->count == 0) {
        *ret_why = j->code != 0 ? gai_strerror(j->code) : "it has no address";
        r = j->code == EAI_MEMORY ? -ENOMEM : -ENOENT;
    }
    job_release(&j->job);
    return r;
}

usec_t resolved_share(usec_t deadline, unsigned tries_left)
{
    usec_t now = clock_now();
    if (deadline == USEC_NEVER || deadline <= now || tries_left <= 1)
        return deadline;
    return now + (deadline - now) / tries_left;
}

int resolved_connect(const struct resolved *to, usec_t deadline, struct io_fd **ret)
{
    int r = -ENOENT;
    for (unsigned i = 0; i < to->count; i++) {
        r = tcp_connect(&to->at[i], NULL, resolved_share(deadline, to->count - i), ret);
        if (r == 0 || r == -ECANCELED || r == -ENOMEM)
            break;
    }
    return r;
}
