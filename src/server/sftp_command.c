#include "server/sftp_command.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/check.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "io/fd_stream.h"
#include "sftp/server.h"
#include "task/runtime.h"
#include "task/sys.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1 };

#define PASSWD_BYTES 4096

struct command {
    struct sftp_settings sftp;
    bool logs; /* -e: to standard error; there is no other log */
    enum log_level level;
    char start[PATH_LEN_MAX + 1];

    struct vroot *root;
    struct runtime *runtime;
    struct session_settings settings;
    struct auth *auth;
    struct session_shared *shared;
    struct session session;
    int result;
};

/* -- options -- */

static int usage(void)
{
    fputs("usage: ferryd sftp-server [-ehR] [-d start_directory] [-f log_facility]\n"
          "           [-l log_level] [-P denied_requests] [-p allowed_requests] [-u umask]\n"
          "       ferryd sftp-server -Q requests\n",
          stderr);
    return EXIT_FAILED;
}

static const struct {
    const char *name;
    enum log_level level;
} levels[] = {
    {"QUIET", LOG_ERROR},  {"FATAL", LOG_ERROR},  {"ERROR", LOG_ERROR},
    {"INFO", LOG_INFO},    {"VERBOSE", LOG_INFO}, {"DEBUG", LOG_DEBUG},
    {"DEBUG1", LOG_DEBUG}, {"DEBUG2", LOG_DEBUG}, {"DEBUG3", LOG_DEBUG},
};

static int set_level(struct command *c, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        if (bytes_equal_nocase(bytes_str(levels[i].name), bytes_str(name))) {
            c->level = levels[i].level;
            c->sftp.log_requests = c->level == LOG_DEBUG;
            return 0;
        }
    }
    fprintf(stderr, "ferryd sftp-server: there is no log level '%s'\n", name);
    return -EINVAL;
}

static int set_umask(const char *text)
{
    uint64_t mask;
    if (text_u64(bytes_str(text), 8, 0777, &mask) < 0) {
        fprintf(stderr, "ferryd sftp-server: '%s' is no umask\n", text);
        return -EINVAL;
    }
    (void)umask((mode_t)mask);
    return 0;
}

/* As there, one that is not to be had is no reason to end. */
static void set_directory(const char *path)
{
    if (chdir(path) < 0)
        fprintf(stderr, "ferryd sftp-server: '%s' is no directory to start in\n", path);
}

static int list(const char *what)
{
    if (!bytes_equal(bytes_str(what), BYTES_LIT("requests"))) {
        fprintf(stderr, "ferryd sftp-server: nothing is known of '%s'\n", what);
        return EXIT_FAILED;
    }
    for (unsigned i = 0; sftp_request_name(i) != NULL; i++)
        puts(sftp_request_name(i));
    return EXIT_DONE;
}

static int apply(struct command *c, int option, const char *value)
{
    switch (option) {
    case 'd':
        set_directory(value);
        return 0;
    case 'e':
        c->logs = true;
        return 0;
    case 'f': /* there is no syslog here */
        return 0;
    case 'l':
        return set_level(c, value);
    case 'P':
        c->sftp.denied = value;
        return 0;
    case 'p':
        c->sftp.allowed = value;
        return 0;
    case 'R':
        c->sftp.read_only = true;
        return 0;
    case 'u':
        return set_umask(value);
    default:
        return -EINVAL;
    }
}

/* -1: go on; else the exit status. Words behind the options have no meaning: `scp -D` passes
 * some. */
static int parse(int argc, char **argv, struct command *c)
{
    int option;
    optind = 1;
    while ((option = getopt(argc, argv, "+d:f:l:P:p:Q:u:cehR")) != -1) {
        if (option == 'Q')
            return list(optarg);
        if (option == 'h' || option == '?')
            return usage();
        if (option != 'c' && apply(c, option, optarg) < 0)
            return EXIT_FAILED;
    }
    if (getcwd(c->start, sizeof(c->start)) == NULL)
        text_copy(c->start, sizeof(c->start), BYTES_LIT("/"));
    c->sftp.start = bytes_str(c->start);
    return -1;
}

/* -- what a session stands on -- */

static void put_line(const char *line, size_t len)
{
    (void)(sys_write(STDERR_FILENO, line, len) < 0); /* nowhere to say so */
}

static mode_t mask_now(void)
{
    mode_t mask = umask(077);
    (void)umask(mask);
    return mask;
}

static int make_account(struct account **ret)
{
    static char text[PASSWD_BYTES]; /* called once */
    struct passwd entry, *found = NULL;
    struct account *a;
    const char *name = "user";
    if (getpwuid_r(getuid(), &entry, text, sizeof(text), &found) == 0 && found != NULL)
        name = found->pw_name;
    int r = account_new(bytes_str(name), &a);
    if (r == 0)
        r = rights_set(&a->rights, BYTES_LIT("/"), RIGHTS_ALL);
    if (r == 0)
        *ret = a;
    return r;
}

/* Absolute links lead where they do for everybody: the root is the system's. */
static int open_session(struct command *c)
{
    mode_t mask = mask_now();
    int r = vroot_open("/", VROOT_IN_ROOT, &c->root);
    if (r == 0)
        r = auth_new(runtime_hash_pool(c->runtime), &c->auth);
    if (r < 0)
        return r;
    c->settings = (struct session_settings){
        .roots = &c->root,
        .auth = c->auth,
        .files_pool = runtime_files_pool(c->runtime),
        .audit_sink = c->logs && c->level >= LOG_INFO ? put_line : NULL,
        .vfs = {.keep_partial = true,
                .sendfile = true,
                .file_mode = 0666 & ~mask,
                .directory_mode = 0777 & ~mask},
    };
    return session_shared_new(&c->settings, &c->shared);
}

static void close_session(struct command *c)
{
    session_shared_free(c->shared);
    auth_free(c->auth);
    vroot_unref(c->root);
}

/* -- serving -- */

static PARKS int serve(struct command *c, struct stream *stream)
{
    struct sftp_server *server;
    int r = sftp_server_new(&c->session, stream, &c->sftp, &server);
    if (r < 0)
        return r;
    do {
        r = sftp_server_run(server);
    } while (r == SFTP_DOZES && stream_wait(stream, NULL, USEC_NEVER) == 0);
    (void)sftp_server_free(server);
    return r;
}

static PARKS int serve_session(struct command *c)
{
    struct addr here;
    struct account *account;
    struct stream *stream;
    int r = addr_parse(BYTES_LIT("127.0.0.1:0"), &here); /* whoever holds the other end */
    if (r == 0)
        r = session_init(&c->session, c->shared, "sftp", &here, &here);
    if (r < 0)
        return r;
    r = make_account(&account);
    if (r == 0)
        r = session_login_account(&c->session, account, "process");
    if (r == 0)
        r = fd_stream_new(STDIN_FILENO, STDOUT_FILENO, 0, &stream);
    if (r == 0) {
        r = serve(c, stream);
        (void)stream_free(stream);
    }
    session_done(&c->session);
    return r;
}

static void run_main(void *arg)
{
    struct command *c = arg;
    c->result = serve_session(c);
}

/* Who runs it ends it like any program: nothing is half done that another would miss. */
static int let_signals_end_it(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    return -pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

static int run(struct command *c)
{
    const struct runtime_settings settings = {.workers = 1, .hash_threads = 1};
    int r = let_signals_end_it();
    if (r == 0)
        r = runtime_new(&settings, &c->runtime);
    if (r < 0)
        return r;
    r = open_session(c);
    if (r == 0)
        r = runtime_run(c->runtime, run_main, c);
    close_session(c);
    (void)runtime_free(c->runtime);
    return r < 0 ? r : c->result;
}

int sftp_command(int argc, char **argv)
{
    static struct command c; /* large, and there is one */
    c.level = LOG_ERROR;
    int status = parse(argc, argv, &c);
    if (status >= 0)
        return status;
    if (c.logs)
        log_setup(LOG_TEXT, c.level, put_line);
    int r = run(&c);
    if (r == 0 || r == -FERRY_ECLOSED)
        return EXIT_DONE;
    fprintf(stderr, "ferryd sftp-server: %s\n", err_text(r));
    return EXIT_FAILED;
}
