/* What a protocol brings to the benchmark: rows, servers to be compared with, goals, and a
 * load. All else is the same for every suite:
 *
 *     engine/    takes samples of rows in turn, and measures what they cost
 *     peers/     starts and stops servers as their recipes say, apart from the host
 *     report/    results, statistics, verdicts, and what is printed of them
 *     options/   the command line
 *     machine/   files, folders, and what /proc tells
 *
 * ftp/ is the suite of FTP, ssh/ that of ssh; floor/ is the bound that ftp/ shows beside real
 * servers, and compat/ stands in for ftpbench.
 */
#pragma once
#include <stddef.h>

#include "base/attr.h"

struct bench;
struct goal_table;
struct probe_talk;
struct recipe_list;
struct row_table;
struct target;

/* An option that makes no sense here. */
struct bench_refusal {
    const char *option; /* its long name */
    const char *why;
};

struct bench_suite {
    const char *name; /* "ftp", of `ferry bench NAME` */
    unsigned port;    /* of a server whose port was not told */
    const struct row_table *rows;
    const struct recipe_list *recipes;
    const struct goal_table *goals;
    const struct probe_talk *probe;
    const struct bench_refusal *refusals; /* end with one without a name; NULL: none */
    /* How long files are in most rows, as the report's head says; NULL: as --filesize says. */
    const char *files, *files_quick;
    const char *floor; /* what it is, in lines of the report's legend; NULL: there is none */

    /* Makes the loads, target->load of each; the servers are known, and none is started yet.
     * close() in any case: it also tells the results what was moved. */
    MUST_CHECK int (*open)(struct bench *);
    void (*close)(struct bench *);
    /* Ends the sessions that are open on a server; rows can open others. */
    PARKS void (*hang_up)(struct target *);

    /* -- of a server that runs already; NULL if the suite refuses --url -- */

    /* Proves that the rows can be measured; explains a failure in results->error. */
    PARKS MUST_CHECK int (*try_out)(struct bench *);
    /* Removes what was stored; says in results->notice what may be left. */
    PARKS void (*clean_up)(struct bench *);
};
