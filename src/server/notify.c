#include "server/notify.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "task/sys.h"

int notify_open(const char *socket_name)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    if (socket_name == NULL || (socket_name[0] != '/' && socket_name[0] != '@'))
        return -1;
    size_t len = strlen(socket_name);
    if (len >= sizeof(addr.sun_path))
        return -1;
    memcpy(addr.sun_path, socket_name, len);
    if (addr.sun_path[0] == '@')
        addr.sun_path[0] = '\0'; /* the abstract namespace, unix(7) */
    int fd = sys_socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0)
        return -1;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    if (sys_connect(fd, (const struct sockaddr *)&addr, size) < 0)
        sys_fd_close(&fd);
    return fd < 0 ? -1 : fd;
}

void notify_send(int fd, const char *state)
{
    if (fd >= 0)
        (void)!sys_send(fd, state, strlen(state), 0);
}
