/* The ways of one file, from inside. */
#pragma once
#include "client/copy/file.h"
#include "client/copy/relay.h"

/* The endpoints of one try; NULL: a stream. */
struct copy_try {
    struct copy_file *file;
    struct endpoint *source, *target;
    int source_result, target_result; /* of their last calls, for copy_end_leave() */
};

#define COPY_ANEW 1 /* a result: the part was of another state of the source */

PARKS int copy_try_get(struct copy_try *); /* from a server to this machine */
PARKS int copy_try_put(struct copy_try *); /* from anywhere to a server, or a stream to here */
PARKS int copy_try_output(struct copy_try *); /* to a stream */

/* Notes whose failure it is, with words. */
int copy_try_source(struct copy_try *, int result);
int copy_try_target(struct copy_try *, int result);
int copy_try_fail(struct copy_try *, enum copy_side, int result, const char *why);

/* The permission bits that a new file gets; 0: the usual. */
uint32_t copy_try_mode(const struct copy_try *);
/* What of the source is to be set, where it is preserved; *old: what is replaced, or NULL.
 * false: nothing is. */
bool copy_try_attributes(const struct copy_try *, const struct endpoint_facts *old,
                         struct endpoint_facts *ret);
/* SHA-256 of so many bytes of the source and of a path of the target. 0: they are the same. 1:
 * they are not. -EOPNOTSUPP. */
PARKS int copy_try_compare(struct copy_try *, const char *target_path, uint64_t bytes);
/* After all of it is there, before it gets its name: with settings.verifies. */
PARKS int copy_try_verify(struct copy_try *, const char *target_path, uint64_t bytes);
/* The source as it was opened against what has come of it. 0, COPY_ANEW, -FERRY_ETRUNCATED. */
int copy_try_check_size(struct copy_try *, const struct endpoint_facts *, uint64_t offset,
                        uint64_t end);

/* Runs the source's get() in a task of its own, into a relay. */
struct copy_giver {
    struct copy_try *try;
    struct scope scope;
    struct copy_relay relay;
    struct endpoint_got got;
    struct endpoint_get get;
    int result;
    bool has_more; /* than was promised, when it was joined */
};

/* The taker has all that was promised, and no wish to look further: waits until the giver is
 * through, or has more. */
PARKS int copy_giver_join(struct copy_giver *);
MUST_CHECK int copy_giver_start(struct copy_giver *, struct copy_try *, uint64_t offset);
/* result: of the taker. Joins; how the two went together. */
PARKS int copy_giver_end(struct copy_giver *, int result);
