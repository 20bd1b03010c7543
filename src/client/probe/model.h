/* What a copy will do on a link, by each level of compression: the rates that ferry probe
 * predicts, and what it recommends. Pure.
 *
 * A copy is as fast as its slowest part:
 *
 *     compressing   of this CPU, in bytes of the file, as measured on the data
 *     link          as measured with noise, divided by the ratio
 *     receiving     decompressing (taken to cost there what it costs here) and what the wire's
 *                   bytes cost, one after the other: one process does both
 *
 * Without compression the measured rate is the prediction. "auto" is ferry's own choice while
 * it runs: the best of the levels that the controller knows (codec/controller.h), less what
 * choosing costs. OpenSSH's own compression has level 6 and no thread of its own.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define PROBE_LEVELS 10 /* of zlib: 0 is none */

enum probe_part { PROBE_UNKNOWN, PROBE_LINK, PROBE_CPU_HERE, PROBE_PEER, PROBE_ROUND_TRIPS };

/* Bytes of files, each second; 0: not measured. */
struct probe_rates {
    double up, down;
    enum probe_part up_limit, down_limit; /* what held it back */
};

/* What a level makes of the data, on this CPU. */
struct probe_level {
    double ratio; /* output to input */
    double bytes_per_s;
};

struct probe_data {
    struct probe_level levels[PROBE_LEVELS]; /* [0] is not looked at */
    double expand_bytes_per_s;               /* of output, at level 6 */
};

struct probe_facts {
    struct probe_rates rates;
    double cipher_bytes_per_s; /* of the cipher in use here; 0: none is */
    usec_t rtt_us;             /* of a small request */
    bool is_ssh;
    bool can_compress; /* zlib@openssh.com, or MODE Z */
    bool is_ferry;     /* the server picks its level as we do */
    bool has_tar;
};

enum probe_way { PROBE_WAY_NONE, PROBE_WAY_LEVEL, PROBE_WAY_AUTO, PROBE_WAY_OPENSSH };

struct probe_forecast {
    enum probe_way way;
    int level; /* LEVEL: that; AUTO: the one that it is expected to take; else 0 */
    double bytes_per_s;
    enum probe_part limit;
};

#define PROBE_FORECASTS (PROBE_LEVELS + 2) /* none, 1 to 9, auto, OpenSSH's */

struct probe_advice {
    struct probe_forecast up[PROBE_FORECASTS];
    unsigned up_count;       /* 0: no rate to the server is known */
    unsigned best;           /* index of what is recommended */
    bool openssh_compresses; /* Compression yes pays */
    /* from the server, without and with compression; 0: not known */
    double down_plain, down_packed;
    bool down_compresses;
};

/* The slower of two counts; where they are nearly equal, each waits for the other now and then.
 */
double probe_lesser(double a, double b);
void probe_advise(const struct probe_facts *, const struct probe_data *,
                  struct probe_advice *ret);
/* The part that holds a transfer of ours back, from its shares of the time (client/probe/
 * steady.h): of this CPU, of being under way, of a full window there. */
enum probe_part probe_limit_of(double cpu, double busy, double full);

/* -- many small files -- */

struct probe_files {
    double mean_bytes;
    unsigned at_once; /* on their way together, by single files */
};

struct probe_small {
    double single_per_s; /* files by SFTP or FTP */
    double tar_per_s;    /* 0: not possible */
    enum probe_part single_limit;
    bool prefers_tar;
};

void probe_small_files(const struct probe_facts *, const struct probe_files *,
                       struct probe_small *ret);
