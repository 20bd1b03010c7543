/* What ferry cp says: failures with name, side and remedy; JSON; the summary. */
#pragma once
#include <stdio.h>

#include "client/copy/copy.h"
#include "client/copy/options.h"
#include "client/copy/progress.h"

struct copy_report {
    const struct copy_options *options;
    const struct copy_target *target;
    FILE *out, *err;
    struct copy_progress *progress; /* cleared before a line is printed; or NULL */
    usec_t began_at;
    uint64_t kept_bytes, kept_of; /* of files that did not become complete */
    char kept_in[512];
    unsigned kept_files, unchecked_files;
};

void copy_report_event(struct copy_report *, const struct copy_event *);
void copy_report_retrying(struct copy_report *, unsigned attempt, usec_t pause_us,
                          const char *why);
/* Of a server: something people should know, that is no failure. */
void copy_report_note(struct copy_report *, const char *host, const char *text);
/* is_interrupted: by a signal. */
void copy_report_end(struct copy_report *, const struct copy_totals *, int result,
                     bool is_interrupted);

/* What to do about a failure; "" if there is nothing to say. Pure. */
const char *copy_remedy(int result, enum copy_side side);
/* The JSON string of what may be anything, with its quotes. */
void copy_print_json_text(FILE *, struct bytes);
