/* What held a copy back: from figures to a verdict (pure), and in words. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/clock.h"

struct endpoint;

struct copy_figures {
    usec_t elapsed_us, cpu_us; /* of this process, all threads */
    usec_t waited_us;  /* threads that could run had no CPU; may be of several at a time */
    usec_t blocked_us; /* files of this machine kept it waiting */
    uint64_t bytes, files;
    uint64_t limit_bytes_per_s; /* that was asked for; 0: none */
    bool sends, receives;       /* over a network; both: between two servers */
    unsigned at_once;           /* files under way together */
    usec_t window_us; /* ssh: the other end gave no window; may be of several at a time */
    /* of the connection, or of data connections, as the kernel counts; 0: not known */
    bool has_link;
    usec_t busy_us;        /* something of ours was under way */
    usec_t peer_full_us;   /* of that: the peer's window was full */
    usec_t buffer_full_us; /* of that: our send buffer was too small */
    uint32_t rtt_us;
    uint64_t rate_bytes_per_s;                              /* as it was delivered last */
    const char *method, *why_method, *cipher, *compression; /* or NULL */
};

enum copy_limit {
    COPY_LIMIT_BOTH_HERE, /* CPU and disks, in turn */
    COPY_LIMIT_SHORT,     /* nothing can be said of so little */
    COPY_LIMIT_ASKED,     /* --limit */
    COPY_LIMIT_CPU_HERE,
    COPY_LIMIT_PEER, /* its CPU or its disk */
    COPY_LIMIT_LINK,
    COPY_LIMIT_FAR,    /* one of these two: a receiver cannot tell */
    COPY_LIMIT_WINDOW, /* more round trips than its window has bytes for */
    COPY_LIMIT_ROUND_TRIPS,
    COPY_LIMIT_DISK_HERE
};

/* Of what is far away a sender knows more than a receiver: COPY_LIMIT_FAR. */
enum copy_limit copy_limit_of(const struct copy_figures *);
void copy_explain_print(FILE *, const struct copy_figures *);
/* So far, of the threads that this process has; 0: the kernel does not tell. */
usec_t copy_cpu_waited_us(void);
/* Method, cipher, and what the kernel tells of the connections of a server's endpoint now. */
void copy_figures_of(struct endpoint *, struct copy_figures *);
