/* The studies: tables of cells, each a client program under one condition.
 *
 * The suites beside this folder compare servers by pairs of samples. A study asks another
 * question, what a copy costs by this program, cipher, method or level over that link, so it
 * has an engine of its own: every cell is run in turn, round after round, with real, user and
 * system time of the client's process tree and the processor time of the server's. Servers are
 * the recipes of the other suites.
 *
 *     study.c    tables and cells; compression.c, ciphers.c, methods.c, levels.c fill them
 *     engine.c   runs the cells          client.c   one client program
 *     place.c    folders, servers        data.c     what is moved
 *     link.c     shaped links            share.c    less of the processor for the sender
 *     goals.c    targets, and verdicts on them
 *     results.c  medians, rates and names of cells
 *     text.c, json.c, markdown.c, html.c what is printed
 *
 * All of it blocks, in the one thread of the process.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/clock.h"
#include "bench/peers/stage.h"
#include "bench/study/goal.h"

#define STUDY_RUNS_MAX    20
#define STUDY_CELLS_MAX   1024
#define STUDY_TABLES_MAX  8
#define STUDY_COLUMNS_MAX 12
#define STUDY_ROWS_MAX    48
#define STUDY_LINKS_MAX   8
#define STUDY_DATA_MAX    24
#define STUDY_PATH_MAX    320
#define STUDY_REASON_MAX  200
#define STUDY_NOTES_MAX   40
#define STUDY_GROUPS_MAX  2
#define STUDY_SOURCES_MAX 8
#define STUDY_LEVELS      3
#define STUDY_GOALS_MAX   24

struct study_options {
    unsigned runs;
    unsigned cpu_share; /* percent of one core for the sender; 0: all it can get */
    uint64_t bytes;     /* of the data; 0: the study's */
    bool quick, full, help;
    /* borrowed from argv; NULL: not given */
    const char *only; /* cells whose names hold this */
    const char *json, *md, *html, *baseline;
};

/* Where the client's bytes go. */
enum study_server {
    STUDY_NO_SERVER, /* a receiver that the cell starts, or none */
    STUDY_SSHD,
    STUDY_FERRYD_SSH,
    STUDY_VSFTPD,
    STUDY_FERRYD_FTP,
    STUDY_RSYNCD,
    STUDY_SERVERS
};

struct study_link {
    char name[STUDY_LABEL_MAX];
    uint64_t bytes_per_s; /* of a plain TCP stream; 0: loopback as it is */
    usec_t round_trip_us; /* by a relay, which FTP's data connections go past; 0: none */
    double measured;      /* bytes per second by the self-test; 0: none was made */
    usec_t measured_trip_us;
    unsigned tests;
    char error[STUDY_REASON_MAX];
};

struct study_data {
    char name[STUDY_LABEL_MAX];
    char path[STUDY_PATH_MAX];
    char note[STUDY_NOTE_MAX]; /* what it is made of */
    uint64_t bytes, gz_bytes;  /* gz_bytes: by gzip -6; 0: not asked */
    unsigned files;            /* 0: a file alone; else a folder of so many */
};

enum study_state {
    STUDY_WAITING, /* was not run, or not to its end */
    STUDY_MEASURED,
    STUDY_RETIRED, /* what it would measure is gone from today's programs, or never was there */
    STUDY_NOT_INSTALLED,
    STUDY_FAILED
};

struct study;

struct study_run {
    double real_s, user_s, system_s, server_user_s, server_system_s;
    uint64_t bytes; /* that came in real_s */
};

/* Seconds after the client's start between which alone is measured; it is ended then. */
struct study_window {
    unsigned from_s, until_s; /* both 0: all of it, to its end */
};

/* A file that a group of data is made of, as the study of levels has a table of them. */
struct study_source {
    unsigned group;
    char what[STUDY_LABEL_MAX], path[STUDY_PATH_MAX];
    uint64_t bytes, at_level[STUDY_LEVELS]; /* by gzip -1, -6, -9 */
};

struct study_cell {
    /* what: filled in by the suite */
    unsigned table, row, column;
    const char *program;  /* beneath /usr/bin; NULL: ferry, or none */
    char *command;        /* template, see client.h; owned */
    char *receiver;       /* likewise, started before the client and waited for; NULL: none */
    bool is_shell;        /* for /bin/sh; else words between blanks */
    bool subtracts_start; /* the same command with an empty file is taken off */
    enum study_server server;
    unsigned link, data;
    struct study_window window;
    /* In place of a command: seconds of one run. */
    double (*measure)(const struct study *, const struct study_cell *);
    unsigned detail; /* for it */

    /* what came of it */
    enum study_state state;
    char reason[STUDY_REASON_MAX]; /* of every state but MEASURED */
    struct study_run runs[STUDY_RUNS_MAX];
    unsigned count;
};

enum study_chart { STUDY_BARS, STUDY_LINES };

struct study_table {
    char title[2 * STUDY_LABEL_MAX];
    char corner[STUDY_LABEL_MAX]; /* heading of the rows */
    char rows[STUDY_ROWS_MAX][STUDY_LABEL_MAX];
    char columns[STUDY_COLUMNS_MAX][STUDY_LABEL_MAX];
    unsigned row_count, column_count;
    bool is_rate;    /* KB/s, as the data's bytes over real time; else seconds */
    bool lists_runs; /* each run with its times, and averages, as one of the studies has it */
    bool tells_rate; /* KB/s behind the seconds */
    /* Columns are named "1 x", "2 x", and stand beneath these; NULL: they do not. In each group
     * of a row the best is marked. */
    const char *groups[STUDY_GROUPS_MAX];
    enum study_chart chart;
};

struct study {
    const struct study_suite *suite;
    const struct study_options *options;
    struct study_table tables[STUDY_TABLES_MAX];
    struct study_link links[STUDY_LINKS_MAX];
    struct study_data data[STUDY_DATA_MAX];
    struct study_source sources[STUDY_SOURCES_MAX];
    struct study_goal goals[STUDY_GOALS_MAX]; /* of study_run()'s end */
    struct study_cell *cells;                 /* STUDY_CELLS_MAX */
    char notes[STUDY_NOTES_MAX][STUDY_NOTE_MAX];
    char versions[STUDY_NOTES_MAX][STUDY_NOTE_MAX]; /* of programs and servers */
    unsigned table_count, link_count, data_count, cell_count, note_count, version_count;
    unsigned source_count, goal_count;
    char error[STUDY_REASON_MAX]; /* what ended it early */
    int64_t began_at_us;
    usec_t took_us;
    struct place *place;                /* while it runs */
    void (*progress)(const char *what); /* what is under way; NULL: nothing any more */
};

struct study_suite {
    const char *name;
    const char *title;
    const char *origin; /* what the study did, a line of its kind */
    /* Makes tables, links and cells. The place is open: data can be made. */
    MUST_CHECK int (*fill)(struct study *);
    /* Says what the cells are held against; NULL: nothing. */
    void (*judge)(struct study *);
};

extern const struct study_suite study_compression, study_ciphers, study_methods, study_levels;

/* -- for fill() -- */

/* The number of what was added; -E2BIG. */
struct study_heading {
    const char *title, *corner;
    bool is_rate, lists_runs, tells_rate;
    const char *groups[STUDY_GROUPS_MAX]; /* not copied */
    enum study_chart chart;
};

MUST_CHECK int study_add_table(struct study *, const struct study_heading *);
MUST_CHECK int study_add_link(struct study *, const char *name, uint64_t bytes_per_s);
/* The same with a round trip. */
MUST_CHECK int study_add_far_link(struct study *, const char *name, uint64_t bytes_per_s,
                                  usec_t round_trip_us);
/* A row of that label of the table, found or added. */
MUST_CHECK int study_row(struct study *, unsigned table, const char *label);
MUST_CHECK int study_column(struct study *, unsigned table, const char *label);

/* A cell whose texts are templates that it copies. `why` (NULL: nothing) is why it is retired.
 */
struct study_what {
    unsigned table;
    const char *row, *column;
    const char *program, *command, *receiver;
    bool is_shell, subtracts_start;
    enum study_server server;
    unsigned link, data;
    struct study_window window;
    const char *retired;
    double (*measure)(const struct study *, const struct study_cell *);
    unsigned detail;
};

MUST_CHECK int study_add(struct study *, const struct study_what *);
void study_note(struct study *, const char *format, ...) PRINTF_LIKE(2, 3);
/* One for each program and server, however often it is said. */
void study_version(struct study *, const char *format, ...) PRINTF_LIKE(2, 3);

/* -- the run -- */

void study_progress(const struct study *, const char *what);
/* The whole of it: stage, data, servers, links, runs. 0, also when single cells failed; -EPERM:
 * not root; -ECANCELED: a signal, and what was measured stands; -errno with study->error. */
MUST_CHECK int study_run(struct study *);
MUST_CHECK int study_new(const struct study_suite *, const struct study_options *,
                         struct study **ret);
struct study *study_free(struct study *);
