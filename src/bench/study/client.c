#include "bench/study/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/peers/peer_program.h"
#include "task/sys.h"

#define COMMAND_MAX  (32 * 1024)
#define WORDS_MAX    96
#define SAID_MAX     (256 * 1024)
#define READ_AT_ONCE 4096

/* No agent, no master connection, nothing of the user's or the host's configuration. The
 * cipher and the compression are the cell's. */
static const char ssh_options[] =
    "-F @HOME@/ssh_config -o BatchMode=yes -o Port=@PORT@ -o LogLevel=ERROR";

/* -- templates -- */

static const char *word_of(const struct client_words *w, struct bytes name)
{
    const struct {
        const char *name, *value;
    } words[] = {
        {"HOST", w->host},   {"PORT", w->port},       {"DATA", w->data},
        {"NAME", w->name},   {"HOME", w->home},       {"PASSWORD", w->password},
        {"FERRY", w->ferry}, {"SSH", ssh_options},    {"DATADIR", w->datadir},
        {"INTO", w->into},   {"HOSTKEY", w->hostkey},
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (bytes_equal(name, bytes_str(words[i].name)))
            return words[i].value;
    return NULL;
}

/* A word is capitals between two @; any other @ is itself. */
static bool takes_word(struct bytes text, struct bytes *ret_name)
{
    size_t n = 1;
    while (n < text.len && text.data[n] >= 'A' && text.data[n] <= 'Z')
        n++;
    *ret_name = bytes_skip(bytes_first(text, n), 1);
    return n > 1 && n < text.len && text.data[n] == '@';
}

static int fill(struct bytes rest, const struct client_words *w, unsigned depth,
                struct buf *ret)
{
    int r = 0;
    while (r == 0 && rest.len > 0) {
        size_t at = rest.len;
        (void)bytes_find(rest, '@', &at);
        r = buf_append_bytes(ret, bytes_first(rest, at));
        rest = bytes_skip(rest, at);
        struct bytes name;
        if (r < 0 || rest.len == 0)
            break;
        if (!takes_word(rest, &name)) {
            r = buf_append_byte(ret, '@');
            rest = bytes_skip(rest, 1);
            continue;
        }
        const char *value = word_of(w, name);
        rest = bytes_skip(rest, name.len + 2);
        r = value == NULL || depth > 1 ? -EINVAL : fill(bytes_str(value), w, depth + 1, ret);
    }
    return r;
}

int client_fill(const char *text, const struct client_words *w, struct buf *ret)
{
    return fill(bytes_str(text), w, 0, ret);
}

/* -- starting -- */

struct words {
    const char *argv[WORDS_MAX + 1];
    unsigned count;
};

static void split(char *line, struct words *w)
{
    while (*line != '\0' && w->count < WORDS_MAX) {
        w->argv[w->count++] = line;
        line += strcspn(line, " ");
        if (*line == ' ')
            *line++ = '\0';
        line += strspn(line, " ");
    }
    w->argv[w->count] = NULL;
}

/* sh -c SCRIPT, or sh -c 'exec "$@"' sh WORD... when it joins a group first. */
static void make_argv(const struct client_call *call, char *command, const char *door,
                      char *script, size_t cap, struct words *w)
{
    *w = (struct words){.count = 0};
    if (!call->is_shell && door == NULL) {
        split(command, w);
        return;
    }
    snprintf(script, cap, "%s%s%s%s", door != NULL ? "echo $$ > " : "",
             door != NULL ? door : "", door != NULL ? "; " : "",
             call->is_shell ? command : "exec \"$@\"");
    w->argv[w->count++] = "/bin/sh";
    w->argv[w->count++] = "-c";
    w->argv[w->count++] = script;
    w->argv[w->count] = NULL;
    if (call->is_shell)
        return;
    w->argv[w->count++] = "sh";
    split(command, w);
}

static int start(const struct client_call *call, char *command, int output, unsigned *ret_pid)
{
    char home[STUDY_PATH_MAX + 8], door[SHARE_PATH_MAX + 16];
    char *script = mem_raw(COMMAND_MAX);
    struct words *w = mem_new(sizeof(*w));
    int r = script == NULL || w == NULL ? -ENOMEM : 0;
    snprintf(home, sizeof(home), "HOME=%s", call->words->home);
    char *const environment[] = {(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                 (char[]){"LC_ALL=C.UTF-8"}, home, NULL};
    if (r == 0) {
        make_argv(call, command, call->share != NULL ? share_door(call->share, door) : NULL,
                  script, COMMAND_MAX, w);
        const struct peer_program program = {
            .path = w->argv[0],
            .argv = w->argv,
            .environment = environment,
            .folder = call->words->home,
            .input = -1,
            .output = output,
        };
        r = w->count > 0 ? peer_program_start(&program, ret_pid) : -EINVAL;
    }
    mem_free(script);
    mem_free(w);
    return r;
}

int client_start(const struct client_call *call, struct client *ret)
{
    int ends[2];
    struct buf command;
    buf_init(&command, COMMAND_MAX);
    *ret = (struct client){.output = -1};
    int r = client_fill(call->command, call->words, &command);
    if (r == 0)
        r = buf_append_byte(&command, '\0');
    if (r == 0)
        r = sys_pipe(ends);
    if (r == 0) {
        ret->began = clock_now();
        r = start(call, (char *)command.data, ends[1], &ret->pid);
        sys_close(ends[1]);
        if (r == 0)
            ret->output = ends[0];
        else
            sys_close(ends[0]);
    }
    buf_wipe(&command); /* a password may stand in it */
    return r;
}

/* -- until its end -- */

/* 1: something was read; 0: it has ended. What is too much is thrown away. */
static int read_some(struct client *c, struct buf *all)
{
    if (all->len > SAID_MAX / 2)
        buf_consume(all, all->len / 2);
    int r = buf_reserve(all, READ_AT_ONCE);
    ssize_t n = r < 0 ? r : sys_read(c->output, all->data + all->len, READ_AT_ONCE);
    if (n > 0)
        buf_added(all, (size_t)n);
    return n > 0 ? 1 : (int)n;
}

static int watch(struct client *c, const struct client_call *call, struct buf *all)
{
    usec_t until = c->began + call->timeout_us;
    usec_t mark = call->at_mark != NULL ? c->began + call->mark_us : USEC_NEVER;
    int r = 1;
    while (r > 0) {
        struct pollfd ends[] = {{.fd = c->output, .events = POLLIN},
                                {.fd = call->signals, .events = POLLIN}};
        usec_t now = clock_now();
        if (now >= until)
            return -ETIMEDOUT;
        if (now >= mark) {
            call->at_mark(call->mark_arg);
            mark = USEC_NEVER;
        }
        usec_t next = mark < until ? mark : until;
        r = sys_poll(ends, 2, next > now ? (int)((next - now) / USEC_PER_MS) + 1 : 0);
        if (r > 0 && (ends[1].revents & POLLIN) != 0)
            return -ECANCELED;
        if (r > 0)
            r = read_some(c, all);
        else if (r == 0)
            r = 1;
    }
    return r;
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

int client_wait(struct client *c, const struct client_call *call, struct study_run *ret,
                struct buf *said)
{
    struct buf all;
    struct rusage usage = {0};
    int status = 0;
    buf_init(&all, SAID_MAX);
    int r = watch(c, call, &all);
    if (r < 0)
        (void)!sys_kill(-(pid_t)c->pid, SIGKILL);
    int waited = sys_wait4((pid_t)c->pid, &status, 0, &usage);
    ret->real_s = (double)(clock_now() - c->began) / (double)USEC_PER_S;
    ret->user_s = seconds(&usage.ru_utime);
    ret->system_s = seconds(&usage.ru_stime);
    sys_fd_close(&c->output);
    if (r == 0 && waited < 0)
        r = waited;
    if (r == 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        r = WIFEXITED(status) && WEXITSTATUS(status) == CLIENT_MISUSED ? -EOPNOTSUPP
                                                                       : -FERRY_EREFUSED;
    if (r == -FERRY_EREFUSED || r == -EOPNOTSUPP)
        (void)!buf_append_bytes(said, peer_program_last_words(buf_bytes(&all)));
    buf_done(&all);
    return r;
}
