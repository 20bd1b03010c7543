/* The floor's control connections: lines to commands, and a constant for each. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "bench/floor/floor_internal.h"
#include "ftp/wire/command.h"
#include "task/sys.h"

#define NO_SUCH_FILE    BYTES_LIT("550 No such file.\r\n")
#define NOT_IMPLEMENTED BYTES_LIT("502 Command not implemented.\r\n")

/* -- commands -- */

/* A name in the folder itself, so that removing too stays there; NULL: there can be no such
 * file. The argument stands in a terminated line. */
static const char *file_name(struct bytes argument)
{
    while (argument.len > 0 && argument.data[0] == '/')
        argument = bytes_skip(argument, 1);
    const char *name = (const char *)argument.data;
    if (argument.len == 0 || argument.len > NAME_LEN_MAX || strlen(name) != argument.len)
        return NULL;
    bool is_name =
        strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    return is_name ? name : NULL;
}

static void cmd_retr(struct floor_session *s, const char *name)
{
    floor_retrieve(s, name);
}

static void cmd_stor(struct floor_session *s, const char *name)
{
    floor_store(s, name);
}

static void cmd_dele(struct floor_session *s, const char *name)
{
    int r = sys_unlinkat(s->floor->folder, name, 0);
    floor_reply(s, r < 0 ? NO_SUCH_FILE : BYTES_LIT("250 Removed.\r\n"));
}

static void cmd_size(struct floor_session *s, const char *name)
{
    struct stat st;
    int r = sys_fstatat(s->floor->folder, name, &st, AT_SYMLINK_NOFOLLOW);
    if (r < 0 || !S_ISREG(st.st_mode)) {
        floor_reply(s, NO_SUCH_FILE);
        return;
    }
    char text[32];
    int len = snprintf(text, sizeof(text), "213 %lld\r\n", (long long)st.st_size);
    floor_reply(s, bytes_of(text, (size_t)len));
}

static void cmd_pasv(struct floor_session *s, const char *name)
{
    (void)name;
    floor_passive(s, false);
}

static void cmd_epsv(struct floor_session *s, const char *name)
{
    (void)name;
    floor_passive(s, true);
}

static void cmd_abor(struct floor_session *s, const char *name)
{
    (void)name;
    floor_abort(s);
}

static void cmd_quit(struct floor_session *s, const char *name)
{
    (void)name;
    floor_reply(s, BYTES_LIT("221 Goodbye.\r\n"));
    floor_session_end(s);
}

/* Those of a short dialogue first. */
static const struct command {
    char verb[FTP_VERB_MAX + 1];
    const char *reply; /* NULL: the handler's */
    bool has_name;
    void (*handler)(struct floor_session *, const char *name);
} commands[] = {
    {"PASV", NULL, false, cmd_pasv},
    {"EPSV", NULL, false, cmd_epsv},
    {"RETR", NULL, true, cmd_retr},
    {"STOR", NULL, true, cmd_stor},
    {"USER", "331 Password, please.\r\n", false, NULL},
    {"PASS", "230 Logged in.\r\n", false, NULL},
    {"NOOP", "200 Done.\r\n", false, NULL},
    {"TYPE", "200 Done.\r\n", false, NULL},
    {"DELE", NULL, true, cmd_dele},
    {"SIZE", NULL, true, cmd_size},
    {"QUIT", NULL, false, cmd_quit},
    {"ABOR", NULL, false, cmd_abor},
    {"PWD", "257 \"/\"\r\n", false, NULL},
    {"SYST", "215 UNIX Type: L8\r\n", false, NULL},
};

static void run_command(struct floor_session *s, struct bytes line)
{
    struct ftp_request request;
    const struct command *command = NULL;
    if (ftp_command_parse(line, &request) == 0)
        for (size_t i = 0; i < ARRAY_LEN(commands) && command == NULL; i++)
            if (memcmp(commands[i].verb, request.verb, sizeof(request.verb)) == 0)
                command = &commands[i];
    if (command == NULL) {
        floor_reply(s, NOT_IMPLEMENTED);
        return;
    }
    const char *name = command->has_name ? file_name(request.argument) : NULL;
    if (command->reply != NULL)
        floor_reply(s, bytes_str(command->reply));
    else if (command->has_name && name == NULL)
        floor_reply(s, NO_SUCH_FILE);
    else
        command->handler(s, name);
}

/* -- lines -- */

/* Runs those of the first len bytes of loop->commands and keeps what is behind them. */
static void run_lines(struct floor_session *s, size_t len)
{
    char *at = s->floor->commands;
    size_t line_len;
    while (!s->is_over && bytes_find(bytes_of(at, len), '\n', &line_len)) {
        char *next = at + line_len + 1;
        len -= line_len + 1;
        if (line_len > 0 && at[line_len - 1] == '\r')
            line_len--;
        at[line_len] = '\0';
        run_command(s, bytes_of(at, line_len));
        at = next;
    }
    buf_clear(&s->rest);
    if (!s->is_over && len > 0 && buf_append(&s->rest, at, len) < 0)
        floor_session_end(s);
}

static void on_control(struct watch *w)
{
    struct floor_session *s = LIST_ENTRY(w, struct floor_session, control);
    if (s->is_over)
        return;
    char *to = s->floor->commands;
    size_t kept = s->rest.len;
    if (kept > 0)
        memcpy(to, s->rest.data, kept);
    ssize_t n = sys_recv(w->fd, to + kept, sizeof(s->floor->commands) - kept, 0);
    if (n > 0)
        run_lines(s, kept + (size_t)n);
    else if (n != -EAGAIN)
        floor_session_end(s);
}

/* -- life time -- */

void floor_session_begin(struct floor *f, int fd)
{
    struct floor_session *s = mem_new(sizeof(*s));
    if (s == NULL) {
        sys_close(fd);
        return;
    }
    s->floor = f;
    s->control = (struct watch){fd, on_control};
    s->door.fd = s->data.fd = s->file = -1;
    buf_init(&s->rest, FTP_LINE_MAX);
    list_append(&f->sessions, &s->link);
    if (floor_watch(f, &s->control, EPOLLIN) < 0)
        floor_session_end(s);
    else
        floor_reply(s, BYTES_LIT("220 Ready.\r\n"));
}

void floor_session_end(struct floor_session *s)
{
    s->is_over = true;
    list_remove(&s->link);
    list_append(&s->floor->ended, &s->link);
}

void floor_session_free(struct floor_session *s)
{
    floor_transfer_drop(s);
    sys_close(s->door.fd);
    sys_close(s->control.fd);
    buf_done(&s->rest);
    mem_free(s);
}

void floor_reply(struct floor_session *s, struct bytes text)
{
    if (s->is_over)
        return;
    ssize_t n = sys_send(s->control.fd, text.data, text.len, 0);
    if (n < 0 || (size_t)n != text.len)
        floor_session_end(s);
}
