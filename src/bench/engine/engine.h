/* Rows one after the other, and in each the servers in turn, sample by sample. */
#pragma once
#include "bench/engine/bench.h"

/* Runs what the options ask for. 0: all of it is complete (a server that failed in a row has
 * its cell say so, and goes on in the next). With a single server the first failure is the end:
 * results->error or its cell says why. Or -ECANCELED: rows that are complete are kept. */
PARKS MUST_CHECK int engine_run(struct bench *);
