/* The /etc that a peer sees instead of the host's: the accounts of the stage, a PAM that asks
 * for a password and nothing else, and what libraries read. */
#pragma once
#include "bench/peers/recipe.h"
#include "bench/peers/stage.h"

/* What its service asks of PAM; NULL: it asks somebody else. */
const char *peer_etc_pam(const struct recipe *);

/* WORK/etc, which must not be there yet. */
MUST_CHECK int peer_etc_write(const struct stage *, const struct recipe *, const char *work);
