/* When a part that an earlier try left is gone on with. Pure.
 *
 * A part that is left on purpose (Ctrl-C, a full disk, a server that is gone when the part is
 * here) gets the time of change of its source: so it says of which state of the source it is.
 * One that was cut off has another time; then only its contents can tell, by SHA-256 of both
 * ends. What was moved by this very command is known: as much as came, or was confirmed,
 * without a gap.
 */
#pragma once
#include "client/remote/endpoint.h"

enum copy_resume {
    COPY_RESUME_NO,      /* from the beginning */
    COPY_RESUME_COMPARE, /* if both ends say the same of so many bytes */
    COPY_RESUME_YES
};

enum copy_resume copy_resume_rule(const struct endpoint_facts *source,
                                  const struct endpoint_facts *part, bool verifies);
/* As far as is known, nothing has changed between these two looks at a file. */
bool copy_is_same_state(const struct endpoint_facts *one, const struct endpoint_facts *two);
