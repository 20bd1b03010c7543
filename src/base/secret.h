/* A secret owns its bytes and wipes them. It is never logged: base/log.h has no way to. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"

struct secret {
    uint8_t *data; /* terminated with a NUL that len does not count */
    size_t len;
};

MUST_CHECK int secret_copy(struct bytes, struct secret *ret);
void secret_done(struct secret *); /* wipes; {0} is fine */

/* Time depends on the lengths alone. */
bool secret_equal(struct bytes, struct bytes);
