/* Where a server's program is, and which version. Blocking. */
#pragma once
#include <stdbool.h>

#include "bench/peers/recipe.h"
#include "bench/peers/stage.h"

#define PEER_VERSION_MAX 64

/* Packages that `ferry bench peers --install` unpacked, each in a folder named after the peer.
 */
#define PEERS_FOLDER       "/var/cache/ferry/peers"
#define PEERS_VERSION_FILE "version"

struct peer_place {
    char root[STAGE_PATH_MAX]; /* "": the system's own; of ferryd, its folder */
    char version[PEER_VERSION_MAX];
    bool is_installed; /* false: the rest says nothing */
};

void peer_place_find(const struct recipe *, struct peer_place *ret);
