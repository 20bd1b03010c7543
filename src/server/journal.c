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
    struct open_how how = {.flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
                                    O_NOFOLLOW,
                           .mode = 0640};
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

static int open_directory(void)
{
    char *slash = strrchr(journal.path, '/');
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC};
    journal.name = slash != NULL ? slash + 1 : journal.path;
    if (slash == NULL)
        return sys_openat2(AT_FDCWD, ".", &how);
    *slash = '\0';
    int fd = sys_openat2(AT_FDCWD, journal.path, &how);
    *slash = '/';
    return fd;
}

/* Only a file of the directory's own: who else has a name for it loses it, and a device is not
 * ours to give away. */
static int give_to(int fd, const struct identity *who)
{
    struct stat st;
    int r = sys_fstat(fd, &st);
    if (r < 0 || !S_ISREG(st.st_mode))
        return r;
    return st.st_nlink == 1 ? sys_fchownat(fd, "", who->uid, who->gid, AT_EMPTY_PATH) : -EMLINK;
}

static int open_audit(const struct settings *s, const struct identity *who)
{
    journal.path = mem_strdup(s->transfers);
    if (journal.path == NULL)
        return -ENOMEM;
    journal.directory = open_directory();
    if (journal.directory < 0)
        return journal.directory;
    int fd = open_transfers();
    if (fd < 0)
        return fd;
    int r = who->changes ? give_to(fd, who) : 0;
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    return log_writer_new(fd, LOG_JSON, LOG_RING_BYTES, reopen_transfers, NULL, &journal.audit);
}

int journal_open(const struct settings *s, const struct identity *who, struct refusal *why)
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
    r = open_audit(s, who);
    return r < 0 ? refuse(why, "log { transfers = \"%s\" }: %s", s->transfers, err_text(r)) : 0;
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
