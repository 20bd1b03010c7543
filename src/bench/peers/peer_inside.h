/* What runs in the children of peer_start(): first the keeper, which makes the name spaces and
 * waits, in them the first process, which takes in orphans, and beneath it the server itself.
 *
 *     ferry ── keeper ═╪═ first ── server ── ...        ╪: name spaces of mounts and processes
 *
 * The keeper ends when its standard input does, which is the lifeline of struct peer; then the
 * first process is killed, and the kernel ends whatever lives in the name space.
 */
#pragma once
#include "bench/peers/recipe.h"
#include "io/addr.h"

/* In a process of one thread, whose standard error is the server's log. Returns when the server
 * has ended: 0, or -errno of what was in the way, which was written to standard error. */
int peer_inside_run(const struct recipe *, enum recipe_variant, const char *base,
                    const struct addr *listen);

/* BASE/NAME-VARIANT, shared with peer_start(). Returns dst. */
const char *peer_work_path(const struct recipe *, enum recipe_variant, const char *base,
                           size_t cap, char *dst);
/* The file beneath it in which the server's process id stands, before it greets. */
#define PEER_PID_FILE "pid"
#define PEER_LOG_FILE "log"
