#include "server/state_dir.h"

#include <errno.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "task/sys.h"

#define LOCK_NAME "lock"

/* mkdir -p, with 0700 for each that is missing. *ret_made: the last one is new. */
static int make_path(const char *path, bool *ret_made)
{
    char *part = mem_strdup(path);
    if (part == NULL)
        return -ENOMEM;
    int r = 0;
    for (char *c = part; r >= 0; c++) {
        char separator = *c;
        if (separator != '\0' && (separator != '/' || c == part))
            continue;
        *c = '\0';
        r = sys_mkdirat(AT_FDCWD, part, 0700);
        *ret_made = r == 0;
        if (r == -EEXIST)
            r = 0;
        *c = separator;
        if (separator == '\0')
            break;
    }
    mem_free(part);
    return r;
}

static int check_directory(int fd, const char *path, const struct identity *who,
                           struct refusal *why)
{
    struct stat st;
    int r = sys_fstat(fd, &st);
    if (r < 0)
        return refuse(why, "state directory %s: %s", path, err_text(r));
    if (st.st_uid != 0 && st.st_uid != geteuid() && (!who->changes || st.st_uid != who->uid))
        return refuse(why, "state directory %s: it belongs to another user", path);
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse(why, "state directory %s: others may write it", path);
    return 0;
}

static int take_lock(int dir, const char *path, int *ret, struct refusal *why)
{
    struct open_how how = {.flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, .mode = 0600};
    int fd = sys_openat2(dir, LOCK_NAME, &how);
    if (fd < 0)
        return refuse(why, "%s/%s: %s", path, LOCK_NAME, err_text(fd));
    int r = sys_flock(fd, LOCK_EX | LOCK_NB);
    if (r < 0) {
        sys_close(fd);
        if (r == -EWOULDBLOCK)
            return refuse(why, "another ferryd runs with state directory %s (see --state)",
                          path);
        return refuse(why, "%s/%s: %s", path, LOCK_NAME, err_text(r));
    }
    *ret = fd;
    return 0;
}

int state_dir_open(const char *path, const struct identity *who, struct state_dir *ret,
                   struct refusal *why)
{
    bool made = false;
    int r = make_path(path, &made);
    if (r < 0)
        return refuse(why, "state directory %s: %s (see --state)", path, err_text(r));
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC};
    struct state_dir state = {.fd = sys_openat2(AT_FDCWD, path, &how), .lock = -1};
    if (state.fd < 0)
        return refuse(why, "state directory %s: %s", path, err_text(state.fd));

    r = check_directory(state.fd, path, who, why);
    if (r == 0 && made && who->changes) {
        r = sys_fchownat(state.fd, "", who->uid, who->gid, AT_EMPTY_PATH);
        if (r < 0)
            r = refuse(why, "state directory %s: %s", path, err_text(r));
    }
    if (r == 0)
        r = take_lock(state.fd, path, &state.lock, why);
    if (r < 0) {
        state_dir_close(&state);
        return r;
    }
    *ret = state;
    return 0;
}

void state_dir_close(struct state_dir *state)
{
    sys_fd_close(&state->lock);
    sys_fd_close(&state->fd);
}
