/* Progress on a terminal: a line for the file, one for all if there are several.
 *
 * Laying out a line is pure. Drawing goes to the terminal alone, after a second, at most five
 * times in one, and never waits for a terminal that is stopped.
 */
#pragma once
#include "client/copy/copy.h"

#define COPY_AMOUNT_MAX 16
#define COPY_LINE_MAX   1024 /* columns, and bytes enough for them */

/* "1.2 GB", "999 B": powers of 1000. */
void copy_amount_text(uint64_t bytes, char ret[COPY_AMOUNT_MAX]);

struct copy_line {
    struct bytes name; /* shown with '?' for what is no character, cut in the middle */
    uint64_t done_bytes, of_bytes;
    bool has_size;
    uint64_t bytes_per_s; /* 0: not known */
};

/* Of at most `width` columns (and COPY_LINE_MAX), with what fits: the share, then as much of
 * the name as there is room for, then time left, rate and amount. Returns its columns. */
unsigned copy_line_layout(const struct copy_line *, unsigned width,
                          char ret[COPY_LINE_MAX * 4]);

#define COPY_PROGRESS_FIRST_US USEC_PER_S
#define COPY_PROGRESS_EVERY_US (200 * USEC_PER_MS)

struct copy_progress {
    int fd;
    bool was_drawn;
    unsigned rows; /* columns of the lines that stand there; 0: none */
    unsigned columns[2];
    usec_t began_at;
    /* of the rate: what had moved some time ago */
    uint64_t before_bytes, bytes_per_s;
    usec_t before_at;
};

void copy_progress_init(struct copy_progress *, int fd);
/* Cannot park. */
void copy_progress_draw(struct copy_progress *, const struct copy *);
void copy_progress_clear(struct copy_progress *);
