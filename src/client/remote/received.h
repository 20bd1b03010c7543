/* How far a file has come without a gap, when its parts come in any order. */
#pragma once
#include <stdint.h>

#define RECEIVED_AHEAD_MAX 32

struct received {
    uint64_t end; /* all before it is there */

    /* Parts behind a gap, which do not touch. Those that find no place are forgotten: then less
     * is told than is there, never more. */
    struct received_part {
        uint64_t from, to;
    } ahead[RECEIVED_AHEAD_MAX];

    unsigned count;
};

void received_init(struct received *, uint64_t from);
void received_add(struct received *, uint64_t from, uint64_t to);
