#include "server/exec/exec.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

#define NOT_FOUND 127 /* as a shell's */
#define USAGE     2
#define LINE_MAX  512

static const struct exec_command commands[] = {
    {"cat", "[--] FILE...", exec_cat},
};

/* -- saying -- */

static PARKS int complain_line(struct exec *e, const char *line)
{
    return ssh_channel_write_error(e->channel, bytes_str(line));
}

int exec_complain(struct exec *e, const char *path, int error)
{
    char line[LINE_MAX];
    snprintf(line, sizeof(line), "%s: %.300s: %s\n", e->command->name, path, err_text(error));
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

/* -- as a service -- */

static const struct exec_command *find(const struct words *words)
{
    for (unsigned i = 0; words->count > 0 && i < ARRAY_LEN(commands); i++)
        if (strcmp(words->at[0], commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

int exec_open(void *arg, struct ssh_channel *ch, struct bytes text, void **ret)
{
    struct session *session = arg;
    struct exec *e = mem_new(sizeof(*e));
    if (e == NULL)
        return -ENOMEM;
    *e = (struct exec){session, ch, ssh_channel_stream(ch), {0}, NULL};
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

void exec_close(void *service)
{
    struct exec *e = service;
    words_done(&e->words);
    mem_free(e);
}
