/* What a reader must know to repeat a study: versions of programs, what was moved, and what
 * could not be had here. Servers' versions come when they start. Blocking. */
#pragma once
#include "bench/study/study.h"

/* Once data is made and the place is open. */
void study_record(struct study *);
