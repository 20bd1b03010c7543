/* A client by hand on a server of ours, joined in memory. */
#pragma once
#include "ssh_hand_exchange.h"

struct hand_link {
    int (*client)(struct by_hand *);
    uint64_t seed, rekey_bytes;
    int compression; /* of the server */
    bool packs_in_jobs;
    struct ssh_offer_settings offers;
    struct test_server server;
    int result;
};

static inline void hand_main(void *arg)
{
    struct hand_link *l = arg;
    static struct by_hand h;
    struct ssh_offer *offer = NULL;
    struct scope scope;
    struct stream *server_end_of = NULL;
    hand_init(&h);
    scope_init(&scope);
    TASK_ASSERT(memory_pair_new(LINK_BYTES, l->seed, &h.stream, &server_end_of) == 0);
    h.stream->stall_us = 2 * STALL_US;
    TASK_ASSERT(ssh_offer_new(SSH_SERVER, &l->offers, &offer) == 0);
    l->server.stream = server_end_of;
    l->server.transport_settings = (struct ssh_transport_settings){
        .role = SSH_SERVER,
        .offer = offer,
        .host_keys = test_host_keys(),
        .rekey_bytes = l->rekey_bytes,
        .compression = l->compression,
        .codec_pool = l->packs_in_jobs ? runtime_codec_pool(runtime_self()) : NULL,
    };
    TASK_ASSERT(scope_start(&scope, "server", TASK_NORMAL, server_main, &l->server, NULL) == 0);
    l->result = l->client(&h);
    hand_done(&h);
    (void)(scope_wait(&scope, USEC_NEVER) < 0);
    scope_leave(&scope);
    ssh_offer_free(offer);
}

static inline struct hand_link hand_run(int (*client)(struct by_hand *), uint64_t rekey_bytes)
{
    static struct hand_link l;
    l = (struct hand_link){.client = client, .rekey_bytes = rekey_bytes};
    run_deterministic(1, hand_main, &l);
    return l;
}
