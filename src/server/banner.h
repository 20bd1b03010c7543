/* What ferryd says on standard output, for people and for scripts that wait for it. */
#pragma once
#include <stdio.h>

#include "server/settings.h"

/* Who serves what, a generated password (the only place that ever shows one), lines to paste;
 * then "listening SCHEME ADDRESS:PORT" for each listener. */
void banner_print(FILE *, const struct settings *);
void banner_ready(FILE *); /* "ready" */
