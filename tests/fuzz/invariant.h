/* What must hold for every input; unlike assert() also in a release build. */
#pragma once
#include <stdlib.h>

#define INVARIANT(holds)                                                                       \
    do {                                                                                       \
        if (!(holds))                                                                          \
            abort();                                                                           \
    } while (0)
