#include "server/banner.h"

/* An address that a client on this machine can use: "any" is reached over loopback. */
static struct addr addr_to_paste(const struct listener_setting *l)
{
    struct addr addr = l->addr;
    if (addr_family(&addr) == AF_INET && addr.u.v4.sin_addr.s_addr == htonl(INADDR_ANY))
        addr.u.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else if (addr_family(&addr) == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&addr.u.v6.sin6_addr))
        addr.u.v6.sin6_addr = in6addr_loopback;
    return addr;
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

static void print_ftp_lines(FILE *out, const struct addr *addr, const struct account_setting *a)
{
    char host[ADDR_TEXT_MAX];
    addr_format(addr, host);
    if (a->anonymous) {
        fprintf(out, "  curl ftp://%s/\n  lftp ftp://%s\n", host, host);
        return;
    }
    const char *password = a->generated ? (const char *)a->password.data : "PASSWORD";
    fprintf(out, "  curl -u %s:%s ftp://%s/\n", a->name, password, host);
    fprintf(out, "  lftp -u %s,%s ftp://%s\n", a->name, password, host);
}

static void print_ssh_lines(FILE *out, const struct addr *addr, const struct account_setting *a)
{
    char host[ADDR_TEXT_MAX];
    fprintf(out, "  sftp -P %u %s@%s\n", addr_port(addr), a->name,
            addr_format_host(addr, host));
}

/* Of the first listener of each kind. */
static void print_lines_to_paste(FILE *out, const struct settings *s)
{
    bool has_printed[2] = {false, false};
    for (unsigned i = 0; i < s->listener_count; i++) {
        const struct listener_setting *l = &s->listeners[i];
        bool is_ssh = settings_listener_is_ssh(l);
        struct addr addr = addr_to_paste(l);
        if (!has_printed[is_ssh])
            (is_ssh ? print_ssh_lines : print_ftp_lines)(out, &addr, &s->accounts[0]);
        has_printed[is_ssh] = true;
    }
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
