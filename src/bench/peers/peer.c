#include "bench/peers/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "bench/peers/peer_etc.h"
#include "bench/peers/peer_inside.h"
#include "bench/peers/peer_program.h"
#include "bench/peers/recipe_text.h"
#include "crypto/random.h"
#include "task/sys.h"

#define PATH_BYTES   (STAGE_PATH_MAX + 64)
#define LOG_MAX      (16 * 1024 * 1024)
#define POLL_MS      20
#define TALK_MS      2000
#define GREETING_MAX 1024
#define PID_TEXT_MAX 24
#define STOP_MS      20000
#define PORT_TRIES   100
#define PORT_FIRST   10000 /* below those that the kernel gives to connections */
#define PORT_COUNT   20000

static int fail(struct peer *p, const char *what, int r)
{
    snprintf(p->error, sizeof(p->error), "%s: %s", what, err_text(r));
    return r;
}

/* -- waiting, in a thread that may -- */

/* Whether the descriptor (-1: none, just a while) is readable before the time is over. */
static bool wait_readable(int fd, int ms)
{
    int epoll = sys_epoll_create();
    if (epoll < 0)
        return false;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP};
    int n = fd < 0 ? 0 : sys_epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    usec_t until = clock_after((usec_t)ms * USEC_PER_MS);
    while (n == 0 || n == -EINTR) {
        usec_t now = clock_now();
        if (now >= until)
            break;
        n = sys_epoll_wait(epoll, &event, 1, (int)((until - now) / USEC_PER_MS) + 1);
    }
    sys_close(epoll);
    return n > 0;
}

/* -- its port -- */

static int bind_port(uint32_t host, unsigned port, struct addr *ret)
{
    *ret = (struct addr){.len = sizeof(ret->u.v4)};
    ret->u.v4 = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(host),
    };
    int fd = sys_socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
        return fd;
    /* All servers say this of theirs, so what an earlier one left is in nobody's way. */
    const int on = 1;
    int r = sys_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (r == 0)
        r = sys_bind(fd, &ret->u.any, ret->len);
    if (r == 0)
        r = sys_listen(fd, 1);
    sys_close(fd);
    return r;
}

static int find_port(uint32_t host, struct addr *ret)
{
    int r = -EADDRINUSE;
    for (unsigned i = 0; i < PORT_TRIES && r == -EADDRINUSE; i++) {
        uint16_t random;
        r = crypto_random(&random, sizeof(random));
        if (r == 0)
            r = bind_port(host, PORT_FIRST + random % PORT_COUNT, ret);
    }
    return r;
}

/* -- starting -- */

static int spawn(struct peer *p, const struct stage *stage, const char *log, int lifeline)
{
    char listen[ADDR_TEXT_MAX];
    const char *const argv[] = {"ferry",
                                "bench",
                                "run-peer",
                                p->list->suite,
                                p->recipe->name,
                                recipe_variant_name(p->variant),
                                stage->base,
                                addr_format(&p->addr, listen),
                                NULL};
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, .mode = 0600};
    int output = sys_openat2(AT_FDCWD, log, &how);
    if (output < 0)
        return output;
    const struct peer_program program = {
        .path = "/proc/self/exe",
        .argv = argv,
        .environment = environ,
        .input = lifeline,
        .output = output,
    };
    int r = peer_program_start(&program, &p->keeper);
    sys_close(output);
    return r;
}

static int start_keeper(struct peer *p, const struct stage *stage)
{
    char work[PATH_BYTES], log[PATH_BYTES + 8];
    peer_work_path(p->recipe, p->variant, stage->base, sizeof(work), work);
    snprintf(log, sizeof(log), "%s/" PEER_LOG_FILE, work);
    folder_remove(work); /* of an earlier start */
    int r = folder_make(work, 0711);
    if (r < 0)
        return r;
    int ends[2];
    r = sys_pipe(ends);
    if (r < 0)
        return r;
    r = spawn(p, stage, log, ends[0]);
    sys_close(ends[0]);
    if (r < 0)
        sys_close(ends[1]);
    else
        p->lifeline = ends[1];
    return r;
}

/* -- is it there? -- */

static bool has_line(const char *text, const char *beginning)
{
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        if (strncmp(line, beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

/* Reads to the end of the greeting and takes leave. */
static bool has_greeted(int fd, const struct recipe_list *list, char text[GREETING_MAX])
{
    size_t len = 0;
    usec_t until = clock_after(TALK_MS * USEC_PER_MS);
    bool is_greeted = false;
    while (len < GREETING_MAX - 1 && clock_now() < until && wait_readable(fd, POLL_MS * 10)) {
        ssize_t n = sys_recv(fd, text + len, GREETING_MAX - 1 - len, 0);
        if (n <= 0)
            break;
        len += (size_t)n;
        text[len] = '\0';
        if (is_greeted)
            continue;
        is_greeted = has_line(text, list->greeting);
        if (is_greeted && sys_send(fd, list->parting, strlen(list->parting), 0) < 0)
            break;
    }
    return is_greeted;
}

static bool answers(const struct peer *p)
{
    char *text = mem_raw(GREETING_MAX);
    int fd = text != NULL ? sys_socket(AF_INET, SOCK_STREAM, 0) : -1;
    int r = fd >= 0 ? sys_connect(fd, &p->addr.u.any, p->addr.len) : -EBADF;
    bool is_there = (r == 0 || r == -EINPROGRESS) && has_greeted(fd, p->list, text);
    sys_close(fd);
    mem_free(text);
    return is_there;
}

static bool has_ended(struct peer *p)
{
    int status;
    int r = p->keeper == 0 ? -ECHILD : sys_waitpid((pid_t)p->keeper, &status, WNOHANG);
    if (r == 0)
        return false;
    p->keeper = 0;
    return true;
}

static int wait_for_greeting(struct peer *p)
{
    usec_t until = clock_after(PEER_READY_US);
    while (!answers(p)) {
        if (has_ended(p))
            return -ECHILD;
        if (clock_now() >= until)
            return -ETIMEDOUT;
        (void)wait_readable(-1, POLL_MS);
    }
    return 0;
}

/* -- what it left in its folder -- */

static int read_pid(struct peer *p, const char *work)
{
    char path[PATH_BYTES + 8];
    snprintf(path, sizeof(path), "%s/" PEER_PID_FILE, work);
    struct buf text;
    buf_init(&text, PID_TEXT_MAX);
    int r = file_read(path, &text);
    uint64_t pid = 0;
    if (r == 0)
        r = text_u64(buf_bytes(&text), 10, INT32_MAX, &pid);
    buf_done(&text);
    p->pid = r == 0 ? (unsigned)pid : 0;
    return r;
}

static void read_error(struct peer *p, const char *work, int result)
{
    char path[PATH_BYTES + 8], said[PEER_ERROR_MAX / 2] = "";
    snprintf(path, sizeof(path), "%s/" PEER_LOG_FILE, work);
    struct buf text;
    buf_init(&text, LOG_MAX);
    if (file_read(path, &text) == 0)
        text_copy_printable(said, sizeof(said), peer_program_last_words(buf_bytes(&text)));
    buf_done(&text);
    if (result == -ETIMEDOUT)
        snprintf(p->error, sizeof(p->error), "it does not greet; its last words: %s", said);
    else if (said[0] != '\0')
        memcpy(p->error, said, sizeof(said));
    else
        (void)fail(p, "it did not start", result);
}

int peer_start(struct peer *p, const struct stage *stage, const struct recipe_list *list,
               const struct recipe *recipe, enum recipe_variant variant)
{
    *p = (struct peer){.list = list, .recipe = recipe, .variant = variant, .lifeline = -1};
    struct peer_place place;
    peer_place_find(recipe, &place);
    if (!recipe_has(recipe, variant))
        return fail(p, "it cannot be run so", -EINVAL);
    if (!place.is_installed) {
        snprintf(p->error, sizeof(p->error), "%s",
                 recipe->package != NULL ? "not installed: ferry bench peers --install"
                                         : "it is not there, beside this program");
        return -ENOENT;
    }
    memcpy(p->version, place.version, sizeof(p->version));
    int r = find_port(recipe_address(list, recipe), &p->addr);
    if (r < 0)
        return fail(p, "no port for it", r);
    r = start_keeper(p, stage);
    if (r < 0)
        return fail(p, "it did not start", r);
    char work[PATH_BYTES];
    peer_work_path(recipe, variant, stage->base, sizeof(work), work);
    r = wait_for_greeting(p);
    if (r == 0)
        r = read_pid(p, work);
    if (r < 0)
        read_error(p, work, r);
    return r;
}

/* The keeper ends when all of the tree has. */
void peer_stop(struct peer *p)
{
    sys_fd_close(&p->lifeline);
    p->pid = 0;
    if (p->keeper == 0)
        return;
    int fd = sys_pidfd_open((pid_t)p->keeper);
    bool is_over = fd >= 0 && wait_readable(fd, STOP_MS);
    sys_close(fd);
    if (!is_over)
        (void)!sys_kill((pid_t)p->keeper, SIGKILL);
    int status;
    (void)!sys_waitpid((pid_t)p->keeper, &status, 0);
    p->keeper = 0;
}

size_t peer_settings_text(const struct peer *p, const struct stage *stage, char *dst,
                          size_t cap)
{
    struct peer_place place;
    peer_place_find(p->recipe, &place);
    char work[PATH_BYTES];
    const struct recipe_words words = {
        .stage = stage,
        .variant = p->variant,
        .work = peer_work_path(p->recipe, p->variant, stage->base, sizeof(work), work),
        .root = place.root,
        .listen = &p->addr,
        .accounts = 1, /* the others are like it */
    };
    struct buf text;
    buf_init(&text, RECIPE_TEXT_MAX);
    int r = 0;
    for (unsigned i = 0; r == 0 && i < RECIPE_ARGS_MAX && p->recipe->args[i] != NULL; i++) {
        if (i > 0)
            r = buf_append_byte(&text, ' ');
        if (r == 0)
            r = recipe_text_fill(p->recipe->args[i], &words, &text);
    }
    for (unsigned i = 0; r == 0 && i < RECIPE_FILES_MAX && p->recipe->files[i].name; i++) {
        r = buf_printf(&text, "\n\n# %s/%s\n", work, p->recipe->files[i].name);
        if (r == 0)
            r = recipe_text_fill(p->recipe->files[i].text, &words, &text);
    }
    if (r == 0 && p->recipe->pam != NULL)
        r = buf_printf(&text, "\n\n# /etc/pam.d/%s\n%s", p->recipe->pam,
                       peer_etc_pam(p->recipe));
    size_t len = r < 0 ? 0 : text_copy(dst, cap, buf_bytes(&text));
    buf_wipe(&text);
    return len;
}
