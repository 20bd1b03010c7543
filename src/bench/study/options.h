/* The arguments of `ferry bench compression`, levels, methods and ciphers. */
#pragma once
#include <stdio.h>

#include "bench/study/study.h"

/* 0, or -1 when what is wrong was written to `err`. */
MUST_CHECK int study_options_parse(const char *suite, int argc, char **argv, FILE *err,
                                   struct study_options *ret);
void study_options_print_help(const struct study_suite *, FILE *);
