/* The sessions of the calling worker. For session/ only. */
#pragma once
#include "session/session.h"

/* Ids must be added in rising order. */
void table_add(struct session *);
void table_remove(struct session *);
