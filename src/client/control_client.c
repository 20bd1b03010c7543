#include "client/control_client.h"

#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "client/command.h"
#include "session/control_path.h"
#include "task/fd.h"
#include "task/runtime.h"
#include "task/sys.h"

#define ANSWER_US    (15 * USEC_PER_S) /* for everything; the server's own deadline is shorter */
#define READ_AT_ONCE 4096

struct control_call {
    const char *state_dir;
    char *request; /* a line */
    control_object_fn *on_object;
    void *arg;
    usec_t deadline;
    bool ended;
    int result;      /* of the connection */
    char *complaint; /* the server's; NULL: none */
};

static int connect_to(const char *state_dir, struct io_fd **ret)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    int dir = sys_openat2(AT_FDCWD, state_dir, &how);
    if (dir < 0)
        return dir;
    struct sockaddr_un addr;
    socklen_t len = control_socket_addr(dir, &addr);
    int fd = sys_socket(AF_UNIX, SOCK_STREAM, 0);
    int r = fd < 0 ? fd : sys_connect(fd, (const struct sockaddr *)&addr, len);
    sys_close(dir);
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    return io_fd_new(fd, ret);
}

static int send_request(struct control_call *call, struct io_fd *f)
{
    const char *data = call->request;
    size_t len = strlen(data);
    while (len > 0) {
        unsigned edges = io_fd_edges(f, IO_WRITE);
        ssize_t n = sys_send(io_fd_number(f), data, len, 0);
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_WRITE, edges);
            n = io_fd_wait(f, IO_WRITE, call->deadline);
        }
        if (n < 0)
            return (int)n;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static int take_object(struct control_call *call, struct bytes line)
{
    json_t *object = json_loadb((const char *)line.data, line.len, 0, NULL);
    if (object == NULL)
        return -FERRY_EPROTO;
    int r = 0;
    if (json_is_true(json_object_get(object, "end"))) {
        const char *error = json_string_value(json_object_get(object, "error"));
        call->ended = true;
        call->complaint = error != NULL ? mem_strdup(error) : NULL;
        if (error != NULL && call->complaint == NULL)
            r = -ENOMEM;
    } else {
        call->on_object(object, call->arg);
    }
    json_decref(object);
    return r;
}

static int take_lines(struct control_call *call, struct buf *in)
{
    size_t end;
    int r = 0;
    while (r == 0 && !call->ended && bytes_find(buf_bytes(in), '\n', &end)) {
        r = take_object(call, bytes_first(buf_bytes(in), end));
        buf_consume(in, end + 1);
    }
    return r;
}

static int read_answer(struct control_call *call, struct io_fd *f, struct buf *in)
{
    while (!call->ended) {
        int r = buf_reserve(in, READ_AT_ONCE);
        if (r < 0)
            return r;
        unsigned edges = io_fd_edges(f, IO_READ);
        ssize_t n = sys_recv(io_fd_number(f), in->data + in->len, READ_AT_ONCE, 0);
        if (n == 0)
            return -FERRY_ECLOSED;
        if (n == -EAGAIN) {
            io_fd_not_ready(f, IO_READ, edges);
            r = io_fd_wait(f, IO_READ, call->deadline);
        } else if (n < 0) {
            r = (int)n;
        } else {
            buf_added(in, (size_t)n);
            r = take_lines(call, in);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

static void call_main(void *arg)
{
    struct control_call *call = arg;
    struct io_fd *f = NULL;
    struct buf in;
    buf_init(&in, CONTROL_REPLY_MAX + READ_AT_ONCE);
    call->deadline = clock_after(ANSWER_US);
    call->result = connect_to(call->state_dir, &f);
    if (call->result == 0)
        call->result = send_request(call, f);
    if (call->result == 0)
        call->result = read_answer(call, f, &in);
    (void)io_fd_close(f);
    buf_done(&in);
}

static int run_call(struct control_call *call)
{
    const struct runtime_settings settings = {
        .workers = 1, .pool_threads = 1, .hash_threads = 1};
    struct runtime *runtime;
    int r = runtime_new(&settings, &runtime);
    if (r < 0)
        return r;
    r = runtime_run(runtime, call_main, call);
    (void)runtime_free(runtime);
    return r < 0 ? r : call->result;
}

static bool is_nobody_there(int result)
{
    return result == -ENOENT || result == -ENOTDIR || result == -ECONNREFUSED;
}

static void explain(const struct control_call *call, int result)
{
    if (is_nobody_there(result))
        fprintf(stderr, "ferry: no ferryd is running with state directory %s (see --state)\n",
                call->state_dir);
    else if (result < 0)
        fprintf(stderr, "ferry: ferryd with state directory %s: %s\n", call->state_dir,
                err_text(result));
    else
        fprintf(stderr, "ferry: %s\n", call->complaint);
}

int control_ask(const char *state_dir, json_t *request, control_object_fn *on_object, void *arg)
{
    struct control_call call = {.state_dir = state_dir, .on_object = on_object, .arg = arg};
    char *text = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
    json_decref(request);
    int r = -ENOMEM;
    if (text != NULL) {
        struct buf line;
        buf_init(&line, CONTROL_REQUEST_MAX);
        r = buf_printf(&line, "%s\n", text);
        if (r >= 0)
            r = buf_append_byte(&line, '\0');
        call.request = (char *)line.data;
        if (r >= 0)
            r = run_call(&call);
        buf_done(&line);
        mem_free(text);
    }
    if (r < 0 || call.complaint != NULL)
        explain(&call, r);
    int code = is_nobody_there(r)                ? EXIT_NO_LOGIN
               : r < 0 || call.complaint != NULL ? EXIT_FAILED
                                                 : EXIT_OK;
    mem_free(call.complaint);
    return code;
}
