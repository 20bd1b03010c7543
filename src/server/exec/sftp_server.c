/* sftp-server and internal-sftp: the subsystem sftp, asked for as a command. Its options may be
 * the terms of a key (command="internal-sftp -R"), so one that is not kept is refused. */
#include "server/exec/exec.h"
#include "sftp/server.h"

/* The rest of the bundle, or the next word; NULL: there is none. */
static const char *take_value(const struct words *w, unsigned *next, const char *rest)
{
    if (*rest != '\0')
        return rest;
    return *next < w->count ? w->at[(*next)++] : NULL;
}

static bool take_with_value(struct sftp_settings *s, char letter, const char *value)
{
    switch (letter) {
    case 'd':
        s->start = bytes_str(value);
        return true;
    case 'P':
        s->denied = value;
        return true;
    case 'p':
        s->allowed = value;
        return true;
    default:
        return letter == 'f' || letter == 'l'; /* the log is the server's */
    }
}

static bool take_bundle(const struct words *w, unsigned *next, const char *letter,
                        struct sftp_settings *s)
{
    for (; *letter != '\0'; letter++) {
        if (*letter == 'R') {
            s->read_only = true;
        } else if (*letter != 'e') {
            const char *value = take_value(w, next, letter + 1);
            return value != NULL && take_with_value(s, *letter, value);
        }
    }
    return true;
}

/* Words behind the options have no meaning, as in OpenSSH. */
static bool parse(const struct words *w, struct sftp_settings *ret)
{
    *ret = (struct sftp_settings){0};
    for (unsigned next = 1; next < w->count;) {
        const char *word = w->at[next++];
        if (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0)
            return true;
        if (!take_bundle(w, &next, word + 1, ret))
            return false;
    }
    return true;
}

int exec_sftp_server(struct exec *e)
{
    struct sftp_settings settings;
    if (e->sftp == NULL) { /* else it dozed */
        if (!parse(&e->words, &settings))
            return exec_usage(e);
        int r = sftp_server_new(e->session, e->stream, &settings, &e->sftp);
        if (r < 0)
            return r;
    }
    int r = sftp_server_run(e->sftp);
    return r == SFTP_DOZES ? SSH_SERVICE_DOZES : r;
}
