/* tar for a session: its files, its rate and what it shows, an audit record for each file. */
#pragma once
#include "session/session.h"
#include "tar/tar.h"

/* Writes owner, vfs, watch and watch_arg. Borrows the session. */
void tar_request_of_session(struct tar_request *, struct session *);
