#include "bench/report/size_text.h"

#include <math.h>
#include <stdio.h>

const char *size_text(double bytes, char dst[SIZE_TEXT_MAX])
{
    static const char letters[] = "BKMGTPE";
    unsigned i = 0;
    while (fabs(bytes) >= 1024 && letters[i + 1] != '\0') {
        bytes /= 1024;
        i++;
    }
    snprintf(dst, SIZE_TEXT_MAX, "%.1f%c", bytes, letters[i]);
    return dst;
}
