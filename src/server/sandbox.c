#include "server/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "task/sys.h"

/* Debian 12's header knows ABI 2; the kernel it runs on may know more. The kernel's numbers. */
#define ACCESS_FS_TRUNCATE  (UINT64_C(1) << 14) /* ABI 3 */
#define ACCESS_FS_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#define ACCESS_NET_BIND_TCP (UINT64_C(1) << 0)  /* ABI 4 */
#define SCOPE_ALL           UINT64_C(3)         /* ABI 6: abstract unix sockets, signals */
#define RULE_NET_PORT       2

struct ruleset {
    uint64_t handled_fs, handled_net, scoped;
};

struct net_port {
    uint64_t allowed, port;
};

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FILES (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | ACCESS_FS_TRUNCATE)
#define WRITES                                                                                 \
    (READS | FILES | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |          \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REFER)

static const uint64_t tree_access[] = {
    [SANDBOX_READ] = READS,
    [SANDBOX_WRITE] = WRITES,
    [SANDBOX_LINKS] = WRITES | LANDLOCK_ACCESS_FS_MAKE_SYM,
    [SANDBOX_FILES] = FILES,
};

/* What each ABI lets us handle: everything it knows, so that nothing is left open. */
static const struct abi {
    uint64_t fs, net, scoped;
    size_t size; /* of struct ruleset then: an older kernel refuses a longer one */
} abis[] = {
    [1] = {(UINT64_C(1) << 13) - 1, 0, 0, sizeof(uint64_t)},
    [2] = {(UINT64_C(1) << 14) - 1, 0, 0, sizeof(uint64_t)},
    [3] = {(UINT64_C(1) << 15) - 1, 0, 0, sizeof(uint64_t)},
    [4] = {(UINT64_C(1) << 15) - 1, ACCESS_NET_BIND_TCP, 0, 2 * sizeof(uint64_t)},
    [5] = {(UINT64_C(1) << 16) - 1, ACCESS_NET_BIND_TCP, 0, 2 * sizeof(uint64_t)},
    [6] = {(UINT64_C(1) << 16) - 1, ACCESS_NET_BIND_TCP, SCOPE_ALL, 3 * sizeof(uint64_t)},
};

void sandbox_add_tree(struct sandbox_rules *rules, int fd, enum sandbox_access access)
{
    if (rules->tree_count < SANDBOX_TREES_MAX)
        rules->trees[rules->tree_count++] = (struct sandbox_tree){fd, access};
}

void sandbox_add_ports(struct sandbox_rules *rules, uint16_t first, uint16_t last,
                       uint16_t step)
{
    if (rules->ports_count < ARRAY_LEN(rules->ports))
        rules->ports[rules->ports_count++] = (struct sandbox_ports){first, last, step};
}

static int add_rule(int set, unsigned type, const void *rule)
{
    return syscall(SYS_landlock_add_rule, set, type, rule, 0) < 0 ? -errno : 0;
}

static int allow_tree(int set, const struct abi *abi, int fd, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access & abi->fs,
                                              .parent_fd = fd};
    return add_rule(set, LANDLOCK_RULE_PATH_BENEATH, &rule);
}

static int allow_port(int set, uint16_t port)
{
    struct net_port rule = {.allowed = ACCESS_NET_BIND_TCP, .port = port};
    return add_rule(set, RULE_NET_PORT, &rule);
}

static int allow_ports(int set, const struct sandbox_rules *rules)
{
    int r = allow_port(set, 0);
    for (unsigned i = 0; i < rules->ports_count; i++)
        for (unsigned port = rules->ports[i].first; r == 0 && port <= rules->ports[i].last;
             port += rules->ports[i].step)
            r = allow_port(set, (uint16_t)port);
    return r;
}

/* LeakSanitizer reads /proc/self at exit. */
static int allow_sanitizer(int set, const struct abi *abi)
{
    if (sandbox_has_seccomp())
        return 0;
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return -errno;
    int r = allow_tree(set, abi, proc, READS);
    sys_close(proc);
    return r;
}

int sandbox_landlock(const struct sandbox_rules *rules)
{
    long known = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (known <= 0)
        return known < 0 ? -errno : -ENOSYS;
    int version = known < (long)ARRAY_LEN(abis) ? (int)known : (int)ARRAY_LEN(abis) - 1;
    const struct abi *abi = &abis[version];

    struct ruleset handled = {abi->fs, abi->net, abi->scoped};
    int set = (int)syscall(SYS_landlock_create_ruleset, &handled, abi->size, 0);
    if (set < 0)
        return -errno;
    int r = allow_sanitizer(set, abi);
    for (unsigned i = 0; r == 0 && i < rules->tree_count; i++)
        r = allow_tree(set, abi, rules->trees[i].fd, tree_access[rules->trees[i].access]);
    if (r == 0 && abi->net != 0)
        r = allow_ports(set, rules);
    if (r == 0 && syscall(SYS_landlock_restrict_self, set, 0) < 0)
        r = -errno;
    sys_close(set);
    return r < 0 ? r : version;
}
