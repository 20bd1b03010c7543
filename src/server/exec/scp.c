/* scp: the server's end of `scp -O` and of its likes. */
#include "scp/scp.h"

#include "server/exec/exec.h"

struct scp_arguments {
    struct scp_options options;
    bool sends, receives; /* -f, -t: one of them */
    unsigned first;       /* word behind the options */
};

static bool take_letter(struct scp_arguments *a, char letter)
{
    switch (letter) {
    case 'f':
        a->sends = true;
        break;
    case 't':
        a->receives = true;
        break;
    case 'r':
        a->options.is_recursive = true;
        break;
    case 'p':
        a->options.keeps_times = true;
        break;
    case 'd':
        a->options.needs_directory = true;
        break;
    case 'v': /* how much its client says */
    case 'q':
        break;
    default:
        return false;
    }
    return true;
}

static bool parse(const struct words *words, struct scp_arguments *ret)
{
    struct scp_arguments a = {.first = 1};
    for (; a.first < words->count; a.first++) {
        const char *word = words->at[a.first];
        if (word[0] != '-' || word[1] == '\0')
            break;
        if (strcmp(word, "--") == 0) {
            a.first++;
            break;
        }
        for (const char *letter = word + 1; *letter != '\0'; letter++)
            if (!take_letter(&a, *letter))
                return false;
    }
    *ret = a;
    return a.sends != a.receives && a.first < words->count;
}

/* A pattern may stand for one directory, but not for several. */
static PARKS int receive(struct exec *e, const struct scp_options *options, struct bytes names)
{
    struct bytes target = bytes_take_until(&names, '\0');
    if (names.len > 0)
        return exec_usage(e);
    return scp_receive(e->session, e->stream, options, (const char *)target.data);
}

int exec_scp(struct exec *e)
{
    struct scp_arguments a;
    struct buf names;
    if (!parse(&e->words, &a))
        return exec_usage(e);
    int r = exec_names(e, a.first, BYTES_LIT("/"), &names);
    if (r == 0 && a.sends)
        r = scp_send(e->session, e->stream, &a.options, buf_bytes(&names));
    else if (r == 0)
        r = receive(e, &a.options, buf_bytes(&names));
    buf_done(&names);
    return r;
}
