#include "server/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "task/sys.h"

#define PASSWD_TEXT_MAX        16384 /* of one entry of the user database */
#define DESCRIPTORS_OF_SESSION 3     /* control, data, file */
#define DESCRIPTORS_OF_PROCESS 100   /* logs, loops, roots, jobs that were left behind */
#define MAPPINGS_OF_STACK      2     /* it and its guard */
#define MAPPINGS_OF_PROCESS    1000  /* libraries, heaps, threads */

static int find_user(const char *name, struct identity *ret, struct refusal *why)
{
    char *text = mem_raw(PASSWD_TEXT_MAX);
    if (text == NULL)
        return refuse(why, "out of memory");
    struct passwd entry, *found = NULL;
    int r = getpwnam_r(name, &entry, text, PASSWD_TEXT_MAX, &found);
    if (found != NULL) {
        ret->uid = found->pw_uid;
        ret->gid = found->pw_gid;
        ret->name = mem_strdup(name);
    }
    mem_free(text);
    if (found == NULL)
        return refuse(why, "user '%s': %s", name, r != 0 ? err_text(-r) : "there is none");
    return ret->name == NULL ? refuse(why, "out of memory") : 0;
}

static int find_owner(const char *path, struct identity *ret, struct refusal *why)
{
    struct stat st;
    int r = sys_fstatat(AT_FDCWD, path, &st, 0);
    if (r < 0)
        return refuse(why, "%s: %s", path, err_text(r));
    ret->uid = st.st_uid;
    ret->gid = st.st_gid;
    return 0;
}

int privileges_choose(const struct settings *s, struct identity *ret, struct refusal *why)
{
    struct identity who = {.uid = geteuid(), .gid = getegid()};
    bool is_root = who.uid == 0;
    int r = 0;
    if (s->user != NULL)
        r = find_user(s->user, &who, why);
    else if (is_root)
        r = find_owner(s->accounts[0].root, &who, why);
    if (r == 0 && !is_root && who.uid != geteuid())
        r = refuse(why, "only root can become user '%s'", s->user);
    who.changes = is_root;
    if (r == 0)
        *ret = who;
    else
        identity_done(&who);
    return r;
}

void identity_done(struct identity *who)
{
    mem_free(who->name);
    *who = (struct identity){0};
}

unsigned privileges_raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0 && getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    return limit.rlim_cur > UINT32_MAX ? UINT32_MAX : (unsigned)limit.rlim_cur;
}

unsigned privileges_descriptors_for(unsigned sessions, unsigned listening_sockets)
{
    uint64_t n = (uint64_t)sessions * DESCRIPTORS_OF_SESSION + listening_sockets +
                 DESCRIPTORS_OF_PROCESS;
    return n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
}

unsigned privileges_tasks_awake(void)
{
    char line[32] = "";
    FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
    if (f == NULL)
        return 0;
    bool has_line = fgets(line, sizeof(line), f) != NULL;
    (void)fclose(f);
    struct bytes digits = bytes_first(bytes_str(line), strcspn(line, "\n"));
    uint64_t mappings;
    if (!has_line || text_u64(digits, 10, UINT32_MAX, &mappings) < 0 ||
        mappings <= MAPPINGS_OF_PROCESS)
        return 0;
    return (unsigned)(mappings - MAPPINGS_OF_PROCESS) / MAPPINGS_OF_STACK;
}

static int change_identity(const struct identity *who)
{
    int r = who->name != NULL ? initgroups(who->name, who->gid) : setgroups(0, NULL);
    if (r < 0 || setresgid(who->gid, who->gid, who->gid) < 0 ||
        setresuid(who->uid, who->uid, who->uid) < 0)
        return -errno;
    return 0;
}

/* Needs CAP_SETPCAP; a process without it can gain nothing from the set either, once it has no
 * new privileges. */
static int empty_bounding_set(void)
{
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EPERM)
            return -errno;
    return 0;
}

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
        return -errno;
    if (syscall(SYS_capset, &header, none) < 0)
        return -errno;
    return 0;
}

bool privileges_leave_core(void)
{
#ifdef NDEBUG
    return false;
#else
    return true;
#endif
}

int privileges_drop(const struct identity *who)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    int r = empty_bounding_set();
    if (r == 0 && who->changes)
        r = change_identity(who);
    if (r == 0)
        r = drop_capabilities();
    if (r < 0)
        return r;
    /* Becoming another user has cleared it: a debug build wants its core back. */
    return prctl(PR_SET_DUMPABLE, (unsigned long)privileges_leave_core(), 0, 0, 0) < 0 ? -errno
                                                                                       : 0;
}
