/* What the sessions of all workers share. For session/ only. */
#pragma once
#include "auth/bans.h"
#include "session/limits.h"
#include "session/session.h"

struct session_shared {
    struct session_settings settings;
    struct limits limits;
    struct bans *bans;
    _Atomic uint64_t last_id;
};
