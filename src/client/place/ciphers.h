/* Which ciphers are offered: of -c and of ssh's Ciphers. Pure but for the order of this CPU,
 * which crypto_speeds() measures. */
#pragma once
#include "base/attr.h"
#include "base/buf.h"

/* The list for an offer. spec: names between commas, or with '+', '-' (patterns) or '^' before
 * them added to, taken from or put before the usual ones (ssh_config(5)). Names that are not
 * known here are left out; is_strict: they are -EINVAL. -ENOENT: none is left; -ENOMEM,
 * -FERRY_ELIMIT. */
MUST_CHECK int ciphers_resolve(const char *spec, bool is_strict, struct buf *ret);
