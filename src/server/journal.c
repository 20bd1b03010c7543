#include "server/journal.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "server/log_writer.h"
#include "task/sys.h"

#define PATIENCE_US (1 * USEC_PER_S) /* at the end, for a pipe that nobody reads */
#define OPEN_FLAGS  (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW)

static struct {
    struct log_writer *log;
    struct log_writer *audit; /* NULL: see log */
    int directory;            /* of the file of audit records */
    const char *name;         /* its name there */
    char *path;
} journal = {.directory = -1};

static void put_log(const char *line, size_t len)
{
    log_writer_put(journal.log, line, len);
}

/* No link is followed: the directory is the server's user's, and root opens the file first. */
static int open_transfers(void)
{
    struct open_how how = {.flags = OPEN_FLAGS | O_CREAT, .mode = 0640};
    return sys_openat2(journal.directory, journal.name, &how);
}

static int reopen_transfers(void *arg)
{
    (void)arg;
    int fd = open_transfers();
    if (fd < 0) {
        struct log_record r;
        log_begin(&r, LOG_WARNING, "cannot_reopen");
        log_text(&r, "file", journal.path);
        log_err(&r, fd);
        log_end(&r);
    }
    return fd;
}

static int open_directory(const struct settings *s)
{
    journal.path = mem_strdup(s->transfers);
    if (journal.path == NULL)
        return -ENOMEM;
    char *slash = strrchr(journal.path, '/');
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    journal.name = slash != NULL ? slash + 1 : journal.path;
    if (slash == NULL)
        return journal.directory = sys_openat2(AT_FDCWD, ".", &how);
    *slash = '\0';
    journal.directory = sys_openat2(AT_FDCWD, journal.path, &how);
    *slash = '/';
    return journal.directory;
}

/* Only a file of the directory's own: who else has a name for it loses it, and a device is not
 * ours to give away (0). */
static int can_give(int fd)
{
    struct stat st;
    int r = sys_fstat(fd, &st);
    if (r < 0 || !S_ISREG(st.st_mode))
        return r;
    return st.st_nlink == 1 ? 1 : -EMLINK;
}

static int give_to(int fd, const struct identity *who)
{
    int r = can_give(fd);
    return r == 1 ? sys_fchownat(fd, "", who->uid, who->gid, AT_EMPTY_PATH) : r;
}

static int open_audit(const struct settings *s, const struct identity *who)
{
    int r = open_directory(s);
    if (r < 0)
        return r;
    int fd = open_transfers();
    if (fd < 0)
        return fd;
    r = who->changes ? give_to(fd, who) : 0;
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    return log_writer_new(fd, LOG_JSON, LOG_RING_BYTES, reopen_transfers, NULL, &journal.audit);
}

/* O_NONBLOCK: a FIFO must not hold up the answer. */
static int check_audit(const struct settings *s, const struct identity *who)
{
    struct open_how how = {.flags = OPEN_FLAGS | O_NONBLOCK};
    int r = open_directory(s);
    if (r < 0)
        return r;
    int fd = sys_openat2(journal.directory, journal.name, &how);
    if (fd == -ENOENT && journal.name[0] != '\0')
        return sys_faccessat(journal.directory, ".", W_OK | X_OK);
    r = fd >= 0 && who->changes ? can_give(fd) : fd;
    sys_close(fd);
    return r;
}

static int open_journal(const struct settings *s, const struct identity *who,
                        int (*open_file)(const struct settings *, const struct identity *),
                        struct refusal *why)
{
    int r =
        log_writer_new(STDERR_FILENO, s->log_format, LOG_RING_BYTES, NULL, NULL, &journal.log);
    if (r < 0)
        return refuse(why, "log: %s", err_text(r));
    log_setup(s->log_format, LOG_INFO, put_log);
    if (s->transfers == NULL)
        return 0;
    if (strrchr(s->transfers, '/') == s->transfers) /* or the sandbox would open all there is */
        return refuse(why, "log { transfers = \"%s\" }: give it a folder of its own, not /",
                      s->transfers);
    r = open_file(s, who);
    return r < 0 ? refuse(why, "log { transfers = \"%s\" }: %s", s->transfers, err_text(r)) : 0;
}

int journal_open(const struct settings *s, const struct identity *who, struct refusal *why)
{
    return open_journal(s, who, open_audit, why);
}

int journal_check(const struct settings *s, const struct identity *who, struct refusal *why)
{
    return open_journal(s, who, check_audit, why);
}

unsigned journal_warn_access(void)
{
    int failure = 0;
    if (journal.directory >= 0)
        failure = sys_faccessat(journal.directory, ".", W_OK | X_OK);
    if (failure == 0)
        return 0;
    struct log_record r;
    log_begin(&r, LOG_WARNING, "unwritable_log");
    log_text(&r, "file", journal.path);
    log_err(&r, failure);
    log_end(&r);
    return 1;
}

void journal_allow(struct sandbox_rules *rules)
{
    if (journal.directory >= 0)
        sandbox_add_tree(rules, journal.directory, SANDBOX_FILES);
}

int journal_start(void)
{
    int r = log_writer_start(journal.log);
    if (r == 0 && journal.audit != NULL)
        r = log_writer_start(journal.audit);
    return r;
}

void journal_reopen(void)
{
    if (journal.audit != NULL)
        log_writer_turn(journal.audit);
}

void journal_close(void)
{
    log_setup(LOG_TEXT, LOG_INFO, NULL);
    journal.audit = log_writer_free(journal.audit, PATIENCE_US);
    journal.log = log_writer_free(journal.log, PATIENCE_US);
    mem_free(journal.path);
    journal.path = NULL;
    sys_fd_close(&journal.directory);
}

void journal_audit(const char *line, size_t len)
{
    log_writer_put(journal.audit != NULL ? journal.audit : journal.log, line, len);
}
