#include "session/control_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

int control_state_dir(bool is_root, const char *xdg_state_home, const char *home, char **ret)
{
    const char *head = NULL, *tail = NULL;
    if (is_root) {
        head = "/var/lib";
        tail = "/ferryd";
    } else if (xdg_state_home != NULL && xdg_state_home[0] == '/') {
        head = xdg_state_home;
        tail = "/ferryd";
    } else if (home != NULL && home[0] == '/') {
        head = home;
        tail = "/.local/state/ferryd";
    } else {
        return -ENOENT;
    }
    size_t size = strlen(head) + strlen(tail) + 1;
    *ret = mem_raw(size);
    if (*ret == NULL)
        return -ENOMEM;
    (void)snprintf(*ret, size, "%s%s", head, tail);
    return 0;
}

socklen_t control_socket_addr(int state_fd, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", state_fd,
                   CONTROL_SOCKET_NAME);
    return sizeof(*ret);
}
