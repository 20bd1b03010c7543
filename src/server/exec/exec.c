#include "server/exec/exec.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "server/exec/expand.h"
#include "sftp/server.h"

#define NOT_FOUND      127 /* as a shell's */
#define USAGE          2
#define LINE_MAX       512
#define NAME_SHOWN_MAX 300
#define SFTP_HELP      "[-eR] [-d DIRECTORY] [-f FACILITY] [-l LEVEL] [-P REQUESTS] [-p REQUESTS]"

static const struct exec_command commands[] = {
    {"scp", "[-prdvq] -t DIRECTORY | -f FILE...", exec_scp},
    {"tar", "{c|x}[zpv]f - [--zstd] [-C DIRECTORY] [FILE...]", exec_tar},
    {"cat", "[--] FILE...", exec_cat},
    {"md5sum", "[--] FILE...", exec_digest},
    {"sha1sum", "[--] FILE...", exec_digest},
    {"sha256sum", "[--] FILE...", exec_digest},
    {"sha512sum", "[--] FILE...", exec_digest},
    {"sftp-server", SFTP_HELP, exec_sftp_server},
    {"internal-sftp", SFTP_HELP, exec_sftp_server},
};

/* -- saying -- */

static PARKS int complain_line(struct exec *e, const char *line)
{
    return ssh_channel_write_error(e->channel, bytes_str(line));
}

/* A name may hold what a terminal obeys. */
int exec_complain(struct exec *e, const char *path, int error)
{
    if (xfer_lost_peer(error))
        return error;
    char line[LINE_MAX], name[NAME_SHOWN_MAX];
    text_copy_printable(name, sizeof(name), bytes_str(path));
    snprintf(line, sizeof(line), "%s: %s: %s\n", e->command->name, name, err_text(error));
    int r = complain_line(e, line);
    return r < 0 ? r : 1;
}

int exec_usage(struct exec *e)
{
    char line[LINE_MAX];
    snprintf(line, sizeof(line), "usage: %s %s\n", e->command->name, e->command->help);
    int r = complain_line(e, line);
    return r < 0 ? r : USAGE;
}

static PARKS int say_what_there_is(struct exec *e)
{
    char line[LINE_MAX] = "ferryd serves files and no shell. There are: sftp";
    size_t len = strlen(line);
    for (unsigned i = 0; i < ARRAY_LEN(commands); i++)
        len += (size_t)snprintf(line + len, sizeof(line) - len, ", %s", commands[i].name);
    snprintf(line + len, sizeof(line) - len, "\n");
    int r = complain_line(e, line);
    return r < 0 ? r : NOT_FOUND;
}

/* -- files -- */

static unsigned skip_options(const struct exec *e)
{
    if (e->words.count > 1 && strcmp(e->words.at[1], "--") == 0)
        return 2;
    return e->words.count > 1 && e->words.at[1][0] == '-' ? 0 : 1;
}

/* What one word stands for. */
static PARKS int add_names(struct exec *e, unsigned i, struct bytes cwd, struct buf *names)
{
    size_t before = names->len;
    int r = 0;
    if (e->words.patterns[i] != NULL)
        r = expand_pattern(e->session->vfs, cwd, bytes_str(e->words.patterns[i]), names);
    if (r == 0 && names->len == before)
        r = buf_append(names, e->words.at[i], strlen(e->words.at[i]) + 1);
    return r;
}

int exec_names(struct exec *e, unsigned first, struct bytes cwd, struct buf *ret)
{
    buf_init(ret, EXEC_NAMES_BYTES);
    for (unsigned i = first; i < e->words.count; i++) {
        int r = add_names(e, i, cwd, ret);
        if (r < 0)
            return exec_complain(e, e->words.at[i], r);
    }
    return 0;
}

static PARKS int serve_each(struct exec *e, struct bytes names,
                            PARKS int (*serve)(struct exec *, const char *name))
{
    int status = 0;
    while (names.len > 0) {
        int r = serve(e, (const char *)bytes_take_until(&names, '\0').data);
        if (r < 0)
            return r;
        if (r > 0)
            status = r;
    }
    return status;
}

int exec_each_file(struct exec *e, PARKS int (*serve)(struct exec *, const char *name))
{
    unsigned first = skip_options(e);
    struct buf names;
    if (first == 0 || first == e->words.count)
        return exec_usage(e);
    int r = exec_names(e, first, BYTES_LIT("/"), &names);
    if (r == 0)
        r = serve_each(e, buf_bytes(&names), serve);
    buf_done(&names);
    return r;
}

/* -- as a service -- */

/* Scripts and clients name a program by where it lies on other hosts: /usr/bin/scp. */
static const char *name_of(const char *word)
{
    return word[0] == '/' ? strrchr(word, '/') + 1 : word;
}

static const struct exec_command *find(const struct words *words)
{
    for (unsigned i = 0; words->count > 0 && i < ARRAY_LEN(commands); i++)
        if (strcmp(name_of(words->at[0]), commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

int exec_open(void *arg, struct ssh_channel *ch, struct bytes text, void **ret)
{
    struct session *session = arg;
    struct exec *e = mem_new(sizeof(*e));
    if (e == NULL)
        return -ENOMEM;
    *e = (struct exec){session, ch, ssh_channel_stream(ch), {0}, NULL, NULL};
    if (session->command != NULL) /* the key may run that alone */
        text = bytes_str(session->command);
    int r = words_split(text, &e->words);
    if (r == -ENOMEM) {
        mem_free(e);
        return r;
    }
    e->command = find(&e->words); /* none: the run says so */
    *ret = e;
    return 0;
}

int exec_run(void *service)
{
    struct exec *e = service;
    return e->command != NULL ? e->command->run(e) : say_what_there_is(e);
}

bool exec_is_sftp(const void *service)
{
    const struct exec *e = service;
    return e->command != NULL && e->command->run == exec_sftp_server;
}

void exec_close(void *service)
{
    struct exec *e = service;
    (void)sftp_server_free(e->sftp);
    words_done(&e->words);
    mem_free(e);
}
