/* Randomness from the kernel. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* -errno if the kernel gives none; waits only before the kernel's pool is first seeded, at
 * boot. */
MUST_CHECK int crypto_random(void *dst, size_t len);
/* len base32 characters (a-z 2-7) and a NUL: dst has len + 1 bytes. */
MUST_CHECK int crypto_random_base32(char *dst, size_t len);
