/* Hosts that guess passwords: N failed logins of a host within BAN_WINDOW_US, over whatever
 * protocols, and for BAN_US its new connections are refused, and passwords on those it has.
 *
 * Failures are counted in windows: those of this and of the last one count, older ones are
 * forgotten. So N within a window's length always ban, and N spread over more than two never
 * do. A right password takes nothing back, or one's own account would buy more guesses. Nobody
 * is exempt, loopback neither.
 *
 * Thread-safe; BANS_MAX hosts are remembered, and the one whose last failure is oldest goes
 * first. Memory is reserved at the start.
 */
#pragma once
#include "auth/host.h"
#include "base/clock.h"

struct bans;

/* failures: N; 0: nobody is ever banned. -ENOMEM. */
MUST_CHECK int bans_new(unsigned failures, struct bans **ret);
struct bans *bans_free(struct bans *); /* NULL is fine; returns NULL */

/* Counts a failed login; true: the host is banned from now on. */
bool bans_fail(struct bans *, const struct host *, usec_t now);
bool bans_has(struct bans *, const struct host *, usec_t now);
