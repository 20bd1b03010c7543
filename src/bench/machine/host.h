/* The machine that a run took place on, as /proc has it. */
#pragma once
#include "base/bytes.h"

#define HOST_TEXT_MAX 64

struct host {
    char cpu[HOST_TEXT_MAX];    /* of the first core; empty: not said */
    char kernel[HOST_TEXT_MAX]; /* its release; empty: not known */
    unsigned cores;             /* that are on; 0: not known */
};

/* What cannot be read stays empty. */
void host_read(struct host *ret);
/* proc(5) /proc/cpuinfo: lines of "KEY : VALUE". */
void host_parse_cpuinfo(struct bytes, struct host *);
