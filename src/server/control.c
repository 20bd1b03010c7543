#include "server/control.h"

#include <errno.h>
#include <jansson.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "server/ask.h"
#include "session/control_path.h"
#include "task/sys.h"

#define CONTROL_BACKLOG   16
#define CONTROL_CLIENTS   8                 /* at once; one more is closed */
#define CONTROL_ANSWER_US (10 * USEC_PER_S) /* for a whole request and its answer */

struct control_client {
    struct server *server;
    struct io_fd *fd;
    usec_t deadline;
    unsigned *clients; /* of control_main() */
};

/* -- lines -- */

static int send_all(struct control_client *c, const char *data, size_t len)
{
    while (len > 0) {
        unsigned edges = io_fd_edges(c->fd, IO_WRITE);
        ssize_t n = sys_send(io_fd_number(c->fd), data, len, 0);
        if (n == -EAGAIN) {
            io_fd_not_ready(c->fd, IO_WRITE, edges);
            n = io_fd_wait(c->fd, IO_WRITE, c->deadline);
        }
        if (n < 0)
            return (int)n;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Takes the object. */
static int send_object(struct control_client *c, json_t *object)
{
    char *text =
        object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(object);
    if (text == NULL)
        return -ENOMEM;
    int r = send_all(c, text, strlen(text));
    mem_free(text);
    return r < 0 ? r : send_all(c, "\n", 1);
}

static int send_end(struct control_client *c, const char *error)
{
    return send_object(c, error != NULL ? json_pack("{s:b,s:s}", "end", 1, "error", error)
                                        : json_pack("{s:b}", "end", 1));
}

static int read_line(struct control_client *c, char line[CONTROL_REQUEST_MAX], size_t *ret_len)
{
    size_t len = 0, end;
    while (!bytes_find(bytes_of(line, len), '\n', &end)) {
        if (len == CONTROL_REQUEST_MAX)
            return -FERRY_ELIMIT;
        unsigned edges = io_fd_edges(c->fd, IO_READ);
        ssize_t n = sys_recv(io_fd_number(c->fd), line + len, CONTROL_REQUEST_MAX - len, 0);
        if (n == 0)
            return -FERRY_ECLOSED;
        if (n == -EAGAIN) {
            io_fd_not_ready(c->fd, IO_READ, edges);
            n = io_fd_wait(c->fd, IO_READ, c->deadline);
        }
        if (n < 0)
            return (int)n;
        len += (size_t)n;
    }
    *ret_len = end;
    return 0;
}

/* -- operations -- */

static double seconds(usec_t us)
{
    return (double)us / (double)USEC_PER_S;
}

/* JSON is UTF-8; a name is bytes, and may be cut in the middle of a character. */
static const char *as_utf8(char *text)
{
    for (char *c = text; *c != '\0';) {
        size_t len = text_utf8_len(bytes_str(c));
        if (len == 0) {
            *c = '?';
            len = 1;
        }
        c += len;
    }
    return text;
}

static int send_session(struct control_client *c, struct session_line *l)
{
    return send_object(c, json_pack("{s:I,s:s,s:s,s:s,s:s,s:f,s:f,s:I}", "id",
                                    (json_int_t)l->id, "protocol", l->protocol, "peer", l->peer,
                                    "user", as_utf8(l->user), "doing", l->doing, "age_s",
                                    seconds(l->age_us), "idle_s", seconds(l->idle_us), "bytes",
                                    (json_int_t)l->file_bytes));
}

static int who_of_worker(struct control_client *c, unsigned worker)
{
    uint64_t after = 0;
    for (;;) {
        struct ask *ask;
        int r = ask_new(c->server, ASK_SESSIONS, after, &ask);
        if (r == 0)
            r = ask_worker(ask, worker, c->deadline);
        if (r < 0)
            return r;
        unsigned count = ask->count;
        for (unsigned i = 0; r == 0 && i < count; i++) {
            after = ask->lines[i].id;
            r = send_session(c, &ask->lines[i]);
        }
        ask_free(ask);
        if (r < 0 || count < ASK_LINES)
            return r;
    }
}

static int op_who(struct control_client *c, const json_t *request)
{
    (void)request;
    int r = 0;
    for (unsigned i = 0; r == 0 && i < runtime_workers(c->server->runtime); i++)
        r = who_of_worker(c, i);
    return r < 0 ? r : send_end(c, NULL);
}

static int op_kick(struct control_client *c, const json_t *request)
{
    const json_t *id = json_object_get(request, "id");
    if (!json_is_integer(id) || json_integer_value(id) <= 0)
        return send_end(c, "kick needs the number of a session as \"id\"");
    bool found = false;
    for (unsigned i = 0; !found && i < runtime_workers(c->server->runtime); i++) {
        struct ask *ask;
        int r = ask_new(c->server, ASK_KICK, (uint64_t)json_integer_value(id), &ask);
        if (r == 0)
            r = ask_worker(ask, i, c->deadline);
        if (r < 0)
            return r;
        found = ask->count > 0;
        ask_free(ask);
    }
    return send_end(c, found ? NULL : "there is no such session");
}

static int op_stats(struct control_client *c, const json_t *request)
{
    (void)request;
    for (unsigned i = 0; i < runtime_workers(c->server->runtime); i++) {
        struct ask *ask;
        int r = ask_new(c->server, ASK_STATS, 0, &ask);
        if (r == 0)
            r = ask_worker(ask, i, c->deadline);
        if (r < 0)
            return r;
        const struct worker_stats *s = &ask->stats;
        json_t *object =
            json_pack("{s:i,s:i,s:i,s:i,s:i,s:I,s:I}", "worker", i, "sessions", ask->count,
                      "tasks", s->tasks, "dozing", s->dozing, "stacks", s->stacks, "turns",
                      (json_int_t)s->turns, "longest_turn_us", (json_int_t)s->longest_turn_us);
        ask_free(ask);
        r = send_object(c, object);
        if (r < 0)
            return r;
    }
    return send_end(c, NULL);
}

static const struct control_op {
    const char *name;
    int (*run)(struct control_client *, const json_t *request);
} ops[] = {{"who", op_who}, {"kick", op_kick}, {"stats", op_stats}};

static int answer(struct control_client *c, const json_t *request)
{
    const char *name = json_string_value(json_object_get(request, "op"));
    if (name == NULL)
        return send_end(c, "not a request: a JSON object with \"op\"");
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (bytes_equal(bytes_str(name), bytes_str(ops[i].name)))
            return ops[i].run(c, request);
    return send_end(c, "unknown operation");
}

/* -- clients -- */

static void serve_client(void *arg)
{
    struct control_client *c = arg;
    char line[CONTROL_REQUEST_MAX];
    size_t len;
    int r = read_line(c, line, &len);
    if (r == 0) {
        json_t *request = json_loadb(line, len, 0, NULL);
        r = answer(c, request);
        json_decref(request);
    }
    if (r < 0)
        (void)!send_end(c, err_text(r));
    --*c->clients;
    (void)io_fd_close(c->fd);
    mem_free(c);
}

static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    if (sys_getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    return peer.uid == 0 || peer.uid == geteuid();
}

static void start_client(struct server *server, struct scope *scope, unsigned *clients, int fd)
{
    struct control_client *c = NULL;
    if (*clients < CONTROL_CLIENTS && is_trusted(fd))
        c = mem_new(sizeof(*c));
    if (c == NULL) {
        sys_close(fd);
        return;
    }
    *c = (struct control_client){
        .server = server, .deadline = clock_after(CONTROL_ANSWER_US), .clients = clients};
    int r = io_fd_new(fd, &c->fd);
    if (r == 0)
        r = scope_start(scope, "control_client", TASK_NORMAL, serve_client, c, NULL);
    if (r < 0) {
        (void)io_fd_close(c->fd);
        mem_free(c);
        return;
    }
    ++*clients;
}

void control_main(void *arg)
{
    struct server *server = arg;
    struct scope scope;
    unsigned clients = 0;
    struct io_fd *f;
    if (io_fd_new(server->control_fd, &f) < 0)
        return;
    server->control_fd = -1;
    scope_init(&scope);
    while (!task_is_cancelled()) {
        unsigned edges = io_fd_edges(f, IO_READ);
        int fd = sys_accept(io_fd_number(f), NULL, NULL);
        if (fd >= 0) {
            start_client(server, &scope, &clients, fd);
            continue;
        }
        if (fd == -EAGAIN)
            io_fd_not_ready(f, IO_READ, edges);
        else /* out of descriptors: there will be no new edge */
            (void)!task_sleep_until(clock_after(100 * USEC_PER_MS));
        (void)!io_fd_wait(f, IO_READ, USEC_NEVER);
    }
    scope_leave(&scope);
    (void)io_fd_close(f);
}

void control_done(struct server *server)
{
    struct list *node;
    while ((node = list_pop(&server->asks)) != NULL)
        mem_free(LIST_ENTRY(node, struct ask, node));
}

/* -- the socket -- */

static int bind_socket(int state_fd, int fd, const struct identity *who)
{
    struct sockaddr_un addr;
    socklen_t len = control_socket_addr(state_fd, &addr);
    /* The mode of the socket before bind() is the mode of its name, unix(7). */
    int r = sys_fchmod(fd, 0600);
    if (r == 0)
        r = sys_unlinkat(state_fd, CONTROL_SOCKET_NAME, 0);
    if (r == 0 || r == -ENOENT)
        r = sys_bind(fd, (const struct sockaddr *)&addr, len);
    if (r == 0 && who->changes)
        r = sys_fchownat(state_fd, CONTROL_SOCKET_NAME, who->uid, who->gid,
                         AT_SYMLINK_NOFOLLOW);
    return r < 0 ? r : sys_listen(fd, CONTROL_BACKLOG);
}

int control_listen(int state_fd, const struct identity *who, int *ret_fd, struct refusal *why)
{
    int fd = sys_socket(AF_UNIX, SOCK_STREAM, 0);
    int r = fd < 0 ? fd : bind_socket(state_fd, fd, who);
    if (r < 0) {
        sys_close(fd);
        return refuse(why, "control socket: %s", err_text(r));
    }
    *ret_fd = fd;
    return 0;
}

void control_remove(int state_fd)
{
    (void)!sys_unlinkat(state_fd, CONTROL_SOCKET_NAME, 0);
}
