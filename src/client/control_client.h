/* One question to a running ferryd over its control socket (server/control.h has the protocol).
 */
#pragma once
#include <jansson.h>

#include "base/attr.h"

/* Gets each object of the answer but the last; borrowed. */
typedef void control_object_fn(const json_t *object, void *arg);

/* Sends the request (taken) and hands on the answer. 0, or an exit code when why was printed.
 * Runs a runtime of its own: not from a task. */
MUST_CHECK int control_ask(const char *state_dir, json_t *request, control_object_fn *,
                           void *arg);
