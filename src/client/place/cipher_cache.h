/* The ciphers' speeds, kept from one run to the next: measuring them takes several milliseconds
 * of each start. In XDG_CACHE_HOME (or $HOME/.cache), ferry/ciphers. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "crypto/cipher.h"

/* Reads the speeds, if they are of this CPU and library, or measures and writes them. What
 * fails costs the measurement alone. */
void cipher_cache_use(void);

/* One line: what was measured, and on what. Pure. -EINVAL: it is none, or of something else. */
#define CIPHER_CACHE_LINE_MAX 512
MUST_CHECK int cipher_cache_parse(struct bytes line, struct bytes machine,
                                  struct crypto_speeds *ret);
size_t cipher_cache_format(const struct crypto_speeds *, struct bytes machine,
                           char dst[CIPHER_CACHE_LINE_MAX]);
