#include "server/banner.h"

/* An address that a client on this machine can use: "any" is reached over loopback. */
static const char *host_to_paste(const struct listener_setting *l, char text[ADDR_TEXT_MAX])
{
    struct addr addr = l->addr;
    if (addr_family(&addr) == AF_INET && addr.u.v4.sin_addr.s_addr == htonl(INADDR_ANY))
        addr.u.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else if (addr_family(&addr) == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&addr.u.v6.sin6_addr))
        addr.u.v6.sin6_addr = in6addr_loopback;
    return addr_format(&addr, text);
}

static void print_account(FILE *out, const struct account_setting *a)
{
    if (a->anonymous)
        fprintf(out, "  account   %s (any password, read only)\n", a->name);
    else
        fprintf(out, "  account   %s\n", a->name);
    if (a->generated)
        fprintf(out, "  password  %.*s\n", (int)a->password.len,
                (const char *)a->password.data);
}

static void print_lines_to_paste(FILE *out, const struct settings *s)
{
    const struct account_setting *a = &s->accounts[0];
    char host[ADDR_TEXT_MAX];
    host_to_paste(&s->listeners[0], host);
    if (a->anonymous) {
        fprintf(out, "  curl ftp://%s/\n  lftp ftp://%s\n", host, host);
        return;
    }
    const char *password = a->generated ? (const char *)a->password.data : "PASSWORD";
    fprintf(out, "  curl -u %s:%s ftp://%s/\n", a->name, password, host);
    fprintf(out, "  lftp -u %s,%s ftp://%s\n", a->name, password, host);
}

void banner_print(FILE *out, const struct settings *s)
{
    fprintf(out, "ferryd %s serves %s\n\n", FERRY_VERSION,
            s->dir != NULL ? s->dir : "what its configuration says");
    if (s->dir != NULL) {
        for (unsigned i = 0; i < s->account_count; i++)
            print_account(out, &s->accounts[i]);
        fputc('\n', out);
        print_lines_to_paste(out, s);
        fputc('\n', out);
    }
    for (unsigned i = 0; i < s->listener_count; i++) {
        char text[ADDR_TEXT_MAX];
        fprintf(out, "listening %s %s\n", s->listeners[i].scheme,
                addr_format(&s->listeners[i].addr, text));
    }
    fflush(out);
}

void banner_ready(FILE *out)
{
    fputs("ready\n", out);
    fflush(out);
}
