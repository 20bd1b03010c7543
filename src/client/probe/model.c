#include "client/probe/model.h"

#include <math.h>

#include "base/attr.h"

#define MOST         0.8  /* of the time: that is what it waits for */
#define AUTO_COSTS   0.97 /* what is left of the best level's rate while it is looked for */
#define EQUAL        0.99 /* to the best */
#define GAIN_LEAST   1.05 /* less is not worth the CPU */
#define OPENSSH      6    /* its level since 7.4 */
#define COPIED_PER_S 3e9  /* what a byte costs besides, in a process that reads or writes it */

/* The levels that codec/controller.h chooses among. */
static const bool is_of_controller[PROBE_LEVELS] = {
    [1] = true, [2] = true, [3] = true, [4] = true, [5] = true, [6] = true, [9] = true,
};

/* Round trips of one small file as ferry cp has them: by SFTP stat, open, write, close, rename;
 * by FTP stat, EPSV, a connection, STOR, its end, RNFR, RNTO. */
#define TRIPS_SFTP 5
#define TRIPS_FTP  7

/* A file of tar: its header and half a block. */
#define TAR_MEMBER_BYTES 768.0
/* What making a file costs a server with a disk, whichever way it came: taken to be so much. */
#define MAKE_FILE_US 300.0

double probe_lesser(double a, double b)
{
    double low = fmin(a, b), high = fmax(a, b);
    return low > 0 ? low * pow(1 + pow(low / high, 8), -1.0 / 8) : 0;
}

enum probe_part probe_limit_of(double cpu, double busy, double full)
{
    if (cpu >= MOST)
        return PROBE_CPU_HERE;
    if (busy < MOST)
        return PROBE_UNKNOWN;
    return full >= busy / 2 ? PROBE_PEER : PROBE_LINK;
}

/* What a receiver does for a byte of the file: it expands it, and decrypts and copies its part
 * of the wire. */
static double receive_rate(const struct probe_facts *f, double wire_per_s, double ratio,
                           double expand_per_s)
{
    double per_wire_byte = 1 / COPIED_PER_S;
    if (f->cipher_bytes_per_s > 0)
        per_wire_byte += 1 / f->cipher_bytes_per_s;
    if (f->rates.up_limit == PROBE_PEER) /* then it is known */
        per_wire_byte = fmax(per_wire_byte, 1 / wire_per_s);
    double seconds = ratio * per_wire_byte + 1 / COPIED_PER_S;
    if (expand_per_s > 0)
        seconds += 1 / expand_per_s;
    return 1 / seconds;
}

static enum probe_part limit_among(double compress, double link, double receive,
                                   enum probe_part plain)
{
    if (compress <= link && compress <= receive)
        return PROBE_CPU_HERE;
    if (receive < link)
        return PROBE_PEER;
    return plain == PROBE_UNKNOWN ? PROBE_UNKNOWN : PROBE_LINK;
}

static struct probe_forecast packed(const struct probe_facts *f, const struct probe_data *d,
                                    int level, double plain)
{
    const struct probe_level *l = &d->levels[level];
    double link = l->ratio > 0 ? plain / l->ratio : 0;
    double receive = receive_rate(f, plain, l->ratio, d->expand_bytes_per_s);
    return (struct probe_forecast){
        .way = PROBE_WAY_LEVEL,
        .level = level,
        .bytes_per_s = probe_lesser(probe_lesser(l->bytes_per_s, link), receive),
        .limit = limit_among(l->bytes_per_s, link, receive, f->rates.up_limit),
    };
}

/* One process compresses and encrypts. */
static struct probe_forecast openssh(const struct probe_facts *f, const struct probe_data *d,
                                     double plain)
{
    const struct probe_level *l = &d->levels[OPENSSH];
    struct probe_forecast r = packed(f, d, OPENSSH, plain);
    double cipher = f->cipher_bytes_per_s > 0 ? l->ratio / f->cipher_bytes_per_s : 0;
    double own = l->bytes_per_s > 0 ? 1 / (1 / l->bytes_per_s + cipher + 1 / COPIED_PER_S) : 0;
    double link = l->ratio > 0 ? plain / l->ratio : 0;
    r.way = PROBE_WAY_OPENSSH;
    r.level = 0;
    r.bytes_per_s = fmin(r.bytes_per_s, probe_lesser(own, link));
    return r;
}

/* Of levels that do the same, the one that costs less CPU. */
static struct probe_forecast automatic(const struct probe_forecast *of, unsigned count)
{
    double most = 0;
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || is_of_controller[of[i].level])
            most = fmax(most, of[i].bytes_per_s);
    unsigned best = 0;
    while (best + 1 < count && (of[best].bytes_per_s < most * EQUAL ||
                                (best > 0 && !is_of_controller[of[best].level])))
        best++;
    struct probe_forecast own = of[best];
    own.way = PROBE_WAY_AUTO;
    own.bytes_per_s *= AUTO_COSTS;
    return own;
}

/* Who gains nothing by compression does without; else ferry's own choice, which follows what
 * changes, unless a level that it does not know is clearly better. */
static unsigned choose(const struct probe_advice *a)
{
    unsigned best = 0, automatic_at = 0;
    for (unsigned i = 1; i < a->up_count; i++) {
        if (a->up[i].way == PROBE_WAY_AUTO)
            automatic_at = i;
        if (a->up[i].way != PROBE_WAY_OPENSSH && a->up[i].bytes_per_s > a->up[best].bytes_per_s)
            best = i;
    }
    if (a->up[best].bytes_per_s < a->up[0].bytes_per_s * GAIN_LEAST)
        return 0;
    return a->up[automatic_at].bytes_per_s * GAIN_LEAST >= a->up[best].bytes_per_s
               ? automatic_at
               : best;
}

static void advise_up(const struct probe_facts *f, const struct probe_data *d,
                      struct probe_advice *a)
{
    double plain = f->rates.up;
    if (plain <= 0)
        return;
    a->up[a->up_count++] = (struct probe_forecast){
        .way = PROBE_WAY_NONE, .bytes_per_s = plain, .limit = f->rates.up_limit};
    if (!f->can_compress)
        return;
    for (int level = 1; level < PROBE_LEVELS; level++)
        a->up[a->up_count++] = packed(f, d, level, plain);
    struct probe_forecast own = automatic(a->up, a->up_count);
    a->up[a->up_count++] = own;
    if (f->is_ssh)
        a->up[a->up_count++] = openssh(f, d, plain);
    a->best = choose(a);
}

/* The server's CPU is taken to be as ours. */
static void advise_down(const struct probe_facts *f, const struct probe_data *d,
                        struct probe_advice *a)
{
    a->down_plain = f->rates.down;
    if (f->rates.down <= 0 || !f->can_compress)
        return;
    struct probe_forecast all[PROBE_LEVELS] = {
        {.way = PROBE_WAY_NONE, .bytes_per_s = f->rates.down}};
    for (int level = 1; level < PROBE_LEVELS; level++)
        all[level] = packed(f, d, level, f->rates.down);
    a->down_packed = f->is_ferry ? automatic(all, PROBE_LEVELS).bytes_per_s
                     : f->is_ssh ? openssh(f, d, f->rates.down).bytes_per_s
                                 : all[OPENSSH].bytes_per_s;
    a->down_compresses = a->down_packed >= a->down_plain * GAIN_LEAST;
}

void probe_advise(const struct probe_facts *f, const struct probe_data *d,
                  struct probe_advice *ret)
{
    *ret = (struct probe_advice){.best = 0};
    advise_up(f, d, ret);
    advise_down(f, d, ret);
    for (unsigned i = 0; i < ret->up_count; i++)
        if (ret->up[i].way == PROBE_WAY_OPENSSH)
            ret->openssh_compresses =
                ret->up[i].bytes_per_s >= ret->up[0].bytes_per_s * GAIN_LEAST;
}

void probe_small_files(const struct probe_facts *f, const struct probe_files *files,
                       struct probe_small *ret)
{
    *ret = (struct probe_small){.single_limit = PROBE_UNKNOWN};
    double rate = f->rates.up, at_once = files->at_once > 0 ? files->at_once : 1;
    if (rate <= 0)
        return;
    double trips = f->is_ssh ? TRIPS_SFTP : TRIPS_FTP;
    double by_trips = at_once * 1e6 / (trips * fmax((double)f->rtt_us, 1));
    double by_bytes = rate / fmax(files->mean_bytes, 1), by_files = 1e6 / MAKE_FILE_US;
    ret->single_per_s = probe_lesser(probe_lesser(by_trips, by_bytes), by_files);
    ret->single_limit = f->rates.up_limit;
    if (by_trips < by_bytes && by_trips < by_files)
        ret->single_limit = PROBE_ROUND_TRIPS;
    else if (by_files < by_bytes)
        ret->single_limit = PROBE_PEER;
    if (f->is_ssh && f->has_tar)
        ret->tar_per_s = probe_lesser(rate / (files->mean_bytes + TAR_MEMBER_BYTES), by_files);
    ret->prefers_tar = ret->tar_per_s > ret->single_per_s * GAIN_LEAST;
}
