/* All that a probe has found, and what follows from it; for people and as JSON. */
#pragma once
#include <stdio.h>

#include "client/probe/data.h"
#include "client/probe/model.h"
#include "client/probe/place.h"
#include "client/probe/transfer.h"
#include "crypto/cipher.h"

#define PROBE_NOTES_MAX   8
#define PROBE_NOTE_MAX    384
#define PROBE_COMMAND_MAX 1024

struct probe_findings {
    const struct probe_place *place;
    char server[128]; /* as it calls itself; "" */
    struct probe_facts facts;
    struct probe_way_seen up, down;
    const char *cipher; /* in use; NULL: none is */
    struct crypto_speeds speeds;
    const char *data_path; /* NULL: none was given */
    const struct probe_sample *sample;
    struct probe_data data;
    struct probe_data noise; /* without --data: what cannot be compressed */
    struct probe_advice advice, noise_advice;
    struct probe_files files;
    struct probe_small small;
    char notes[PROBE_NOTES_MAX][PROBE_NOTE_MAX];
    unsigned note_count;
};

void probe_note(struct probe_findings *, const char *format, ...) PRINTF_LIKE(2, 3);
/* The rest of it from facts, data and sample. */
void probe_conclude(struct probe_findings *);

/* -- what to do, in words that a shell and ssh's configuration take -- */

/* "none", "zlib:4", "auto"; of OpenSSH's own "ssh". */
#define PROBE_COMPRESS_MAX 16
void probe_compress_text(const struct probe_forecast *, char ret[PROBE_COMPRESS_MAX]);
/* ferry cp ..., one line. */
void probe_command_text(const struct probe_findings *, char ret[PROBE_COMMAND_MAX]);
/* Lines for $HOME/.ssh/config; "": the place is not reached by ssh. */
void probe_config_text(const struct probe_findings *, char ret[PROBE_COMMAND_MAX]);
const char *probe_method(const struct probe_findings *);
const char *probe_part_text(enum probe_part);

void probe_print(const struct probe_findings *, FILE *);
MUST_CHECK int probe_print_json(const struct probe_findings *, FILE *); /* -ENOMEM */
