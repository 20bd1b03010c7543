/* What the kernel refuses us even if a peer has taken us over: Landlock for files and ports,
 * seccomp for system calls.
 *
 * Both bind the calling thread and what it starts, so they come before the first thread; both
 * need no privilege once there are no new privileges. A path that is open stays usable.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define SANDBOX_TREES_MAX 1100 /* one a root, state and log directory */

enum sandbox_access {
    SANDBOX_READ,  /* open and list */
    SANDBOX_WRITE, /* also make, change, rename and remove files and directories */
    SANDBOX_LINKS, /* symbolic links too */
    SANDBOX_FILES, /* make and write plain files of this directory: logs */
};

struct sandbox_rules {
    struct sandbox_tree {
        int fd; /* of a directory; borrowed */
        enum sandbox_access access;
    } trees[SANDBOX_TREES_MAX];

    unsigned tree_count;

    /* Ports that may be bound besides 0, the kernel's choice. */
    struct sandbox_ports {
        uint16_t first, last, step;
    } ports[32];

    unsigned ports_count;
};

void sandbox_add_tree(struct sandbox_rules *, int fd, enum sandbox_access);
/* first, first + step ... until last. */
void sandbox_add_ports(struct sandbox_rules *, uint16_t first, uint16_t last, uint16_t step);

/* The ABI in force: 1 files, 2 renames across directories, 4 ports too, 6 signals and abstract
 * sockets too; more than this file knows is used as what it knows. -EOPNOTSUPP, -ENOSYS: this
 * kernel has none. Other failures: the process must end. */
MUST_CHECK int sandbox_landlock(const struct sandbox_rules *);

/* From now on every system call that a serving process does not need fails with EPERM: exec,
 * fork, ptrace, mount, sockets other than TCP, memory that can be executed... */
MUST_CHECK int sandbox_seccomp(void);
/* False in sanitizer builds, whose runtimes need calls that a server must not have. */
bool sandbox_has_seccomp(void);
