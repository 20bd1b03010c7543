/* What one endpoint gives and another takes, with bounded memory between the two tasks.
 *
 * The giving side is an endpoint_take, in whatever order its endpoint has; the taking side an
 * endpoint_fill, in the order of the file. Pieces are not copied but held by their chunk.
 */
#pragma once
#include "client/copy/condition.h"
#include "client/remote/endpoint.h"

#define COPY_RELAY_BYTES ((size_t)8 * 1024 * 1024)
/* Given, if that is the only way to what is missing. */
#define COPY_RELAY_BYTES_MAX ((size_t)64 * 1024 * 1024)

struct copy_relay {
    struct list pieces;         /* by offset */
    uint64_t offset;            /* of the next byte to be taken */
    size_t held;                /* bytes in the list */
    bool has_ended, has_failed; /* the giver is through; and it was not all */
    bool is_cut;                /* the taker is through */
    struct copy_condition changed;
    usec_t gave_wait_us, took_wait_us; /* how long each waited for the other */
};

void copy_relay_init(struct copy_relay *, uint64_t offset);
void copy_relay_done(struct copy_relay *);

/* arg: the relay. -FERRY_ELIMIT: bytes come that leave a gap which is never filled;
 * -FERRY_EPROTO: bytes twice; -ECANCELED: nothing more is taken. */
PARKS endpoint_take copy_relay_take;
/* 0: the end; -ECANCELED: the giver has failed; -FERRY_ETRUNCATED: it ended with a gap. */
PARKS endpoint_fill copy_relay_fill;

/* By the giver: that was all, or all that it got. What is there is still taken, as far as it
 * has no gap. */
void copy_relay_end(struct copy_relay *, bool has_failed);
void copy_relay_cut(struct copy_relay *); /* by the taker: nothing more is taken */
