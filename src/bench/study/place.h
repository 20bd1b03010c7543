/* Where a study takes place: the stage with its folders, a home for client programs, servers
 * that are started when a cell first asks for them, and a shaped link. Blocking. */
#pragma once
#include "bench/machine/usage.h"
#include "bench/peers/peer.h"
#include "bench/study/client.h"
#include "bench/study/link.h"
#include "bench/study/shaper.h"
#include "bench/study/share.h"
#include "bench/study/study.h"

#define PLACE_IN "in" /* what clients write to, in the folder of every account */

struct place {
    struct stage *stage;
    struct link link;
    int link_result; /* why there is none; 0: there is */
    char link_error[STUDY_REASON_MAX];
    struct shaper shaper; /* in its place */
    struct share share;
    int share_result;
    int signals; /* a signalfd */
    char home[STUDY_PATH_MAX], datadir[STUDY_PATH_MAX], empty[STUDY_PATH_MAX];
    char ferry[STUDY_PATH_MAX], into[STUDY_PATH_MAX];
    char hostkey[STUDY_LABEL_MAX]; /* its fingerprint, for PuTTY's programs */
    struct peer peers[STUDY_SERVERS];
    int results[STUDY_SERVERS]; /* of starting; 1: not tried */
};

/* -EPERM: not root; -errno. place_close() in any case. */
MUST_CHECK int place_open(struct place *, unsigned cpu_share);
void place_close(struct place *);

const char *place_server_name(enum study_server);
/* Starts it unless it runs. -ENOENT: not installed; -errno; why is in the peer. */
MUST_CHECK int place_server(struct place *, enum study_server, const struct peer **ret);
/* Words for a cell whose data this is. */
void place_words(const struct place *, enum study_server, const struct study_data *,
                 bool is_relayed, bool is_empty, char datadir[STUDY_PATH_MAX],
                 struct client_words *ret);
/* Has a relay stand before the server, where there is no link of name spaces or a round trip is
 * wanted; what its self-test found is put into the link. -EOPNOTSUPP: this server's protocol
 * goes past a relay. */
MUST_CHECK int place_relay(struct place *, enum study_server, struct study_link *);
/* An empty folder for what comes. */
MUST_CHECK int place_clean(const struct place *);
/* Whether so many bytes lie there, in files. -FERRY_ETRUNCATED: not, or others. */
MUST_CHECK int place_check(const struct place *, uint64_t bytes);
/* Bytes that lie there so far. */
MUST_CHECK int place_count(const struct place *, uint64_t *ret);
/* Processor time of the server's tree so far, once its sessions have ended. All 0: no server.
 */
void place_server_cpu(const struct place *, enum study_server, unsigned processes,
                      struct usage *ret);
/* Processes of its tree, for the above. */
unsigned place_server_processes(const struct place *, enum study_server);
/* Until somebody listens where clients of STUDY_NO_SERVER go. */
MUST_CHECK int place_wait_listener(const struct place *);
