/* systemd's readiness notice (sd_notify(3)), by a plain datagram: no library. */
#pragma once

/* Connects to the socket that $NOTIFY_SOCKET names, before the sandbox forbids it. socket_name
 * may be NULL. -1: there is none to notify. */
int notify_open(const char *socket_name);
/* "READY=1", "STOPPING=1". -1 is fine; a failure has nobody to be told to. */
void notify_send(int fd, const char *state);
