/* What is served on ssh channels: joins sftp and exec to ssh (DESIGN 3.2). */
#pragma once
#include "ssh/connection.h"

/* open()'s arg is the channel's struct session. Ends with one that has no open(). */
extern const struct ssh_service services_ssh[];
