/* Both ends of an ssh connection of ours in the deterministic runtime, joined in memory: the
 * test server and the client; with a relay between them if a test wants to change what passes.
 */
#pragma once
#include "ssh/client.h"
#include "ssh_relay.h"
#include "ssh_test_server.h"

struct link {
    struct ssh_offer_settings client_offers, server_offers;
    uint64_t client_rekey_bytes, server_rekey_bytes;
    uint64_t client_rekey_packets, server_rekey_packets;
    int client_compression, server_compression;
    bool packs_in_jobs;        /* else inline */
    uint64_t seed;             /* where reads and writes are cut; 0: nowhere */
    struct bytes before_ident; /* the server's other lines */
    bool has_relay;
    struct relay_way to_server, to_client;

    const struct ssh_signer *signers; /* the client's, before its password */
    unsigned signer_count;
    int (*dialogue)(struct link *); /* the client's, in a task */
    void *state;

    struct scope servers; /* with one task */
    struct test_server server;
    struct ssh_client *client;
    int connected; /* of ssh_client_start() */
    int result;    /* of the dialogue */
    char why[SSH_CLIENT_WHY_MAX];
    struct ssh_traffic traffic;
    struct ssh_chosen chosen;
    usec_t took_us;
};

static inline int take_any_key(void *arg, const struct crypto_key *key, struct bytes blob)
{
    (void)arg;
    (void)key;
    (void)blob;
    return 0;
}

static inline struct pool *link_codec_pool(const struct link *l)
{
    return l->packs_in_jobs ? runtime_codec_pool(runtime_self()) : NULL;
}

static inline void link_client(struct link *l, struct stream *stream, struct scope *scope)
{
    struct ssh_offer *offer = NULL;
    l->connected = ssh_offer_new(SSH_CLIENT, &l->client_offers, &offer);
    if (l->connected < 0) {
        stream_free(stream);
        return;
    }
    const struct ssh_client_settings settings = {
        .user = "ann",
        .password = BYTES_LIT("any"),
        .signers = l->signers,
        .signer_count = l->signer_count,
        .transport = {.role = SSH_CLIENT,
                      .offer = offer,
                      .check_host_key = take_any_key,
                      .rekey_bytes = l->client_rekey_bytes,
                      .rekey_packets = l->client_rekey_packets,
                      .compression = l->client_compression,
                      .codec_pool = link_codec_pool(l)},
        .deadline = clock_after(STALL_US),
    };
    stream->stall_us = STALL_US;
    l->connected = ssh_client_start(&settings, stream, scope, l->why, &l->client);
    if (l->connected == 0) {
        l->result = l->dialogue != NULL ? l->dialogue(l) : 0;
        l->chosen = *ssh_transport_chosen(ssh_client_transport(l->client));
        l->traffic = ssh_transport_traffic(ssh_client_transport(l->client));
        (void)snprintf(l->why, sizeof(l->why), "%s",
                       ssh_transport_why(ssh_client_transport(l->client)));
        l->client = ssh_client_free(l->client);
    }
    ssh_offer_free(offer);
}

static inline void link_main(void *arg)
{
    struct link *l = arg;
    struct stream *ends[4] = {0};
    struct scope scope, relays;
    struct ssh_offer *offer = NULL;
    usec_t began_at = clock_now();
    scope_init(&scope);
    scope_init(&l->servers);
    scope_init(&relays);
    l->result = l->connected = -EIO;
    l->server.result = -EIO;
    int r = memory_pair_new(LINK_BYTES, l->seed, &ends[0], &ends[1]);
    if (r == 0 && l->has_relay)
        r = memory_pair_new(LINK_BYTES, l->seed, &ends[2], &ends[3]);
    if (r == 0)
        r = ssh_offer_new(SSH_SERVER, &l->server_offers, &offer);
    struct stream *server_end_of = l->has_relay ? ends[3] : ends[1];
    if (r == 0 && l->has_relay) {
        ends[1]->stall_us = ends[2]->stall_us = 4 * STALL_US;
        l->to_server.from = l->to_client.to = ends[1];
        l->to_server.to = l->to_client.from = ends[2];
        r = scope_start(&relays, "to server", TASK_NORMAL, relay_main, &l->to_server, NULL);
        if (r == 0)
            r = scope_start(&relays, "to client", TASK_NORMAL, relay_main, &l->to_client, NULL);
    }
    l->server.transport_settings = (struct ssh_transport_settings){
        .role = SSH_SERVER,
        .offer = offer,
        .host_keys = test_host_keys(),
        .rekey_bytes = l->server_rekey_bytes,
        .rekey_packets = l->server_rekey_packets,
        .compression = l->server_compression,
        .codec_pool = link_codec_pool(l),
    };
    l->server.stream = server_end_of;
    if (r == 0 && l->before_ident.len > 0)
        r = stream_write_bytes(server_end_of, l->before_ident);
    if (r == 0)
        r = scope_start(&l->servers, "server", TASK_NORMAL, server_main, &l->server, NULL);
    if (r == 0) {
        server_end_of = NULL;
        link_client(l, ends[0], &scope);
        ends[0] = NULL;
        (void)(scope_wait(&scope, USEC_NEVER) < 0);
        (void)(scope_wait(&l->servers, USEC_NEVER) < 0);
    }
    scope_leave(&scope);
    scope_leave(&l->servers);
    scope_leave(&relays);
    stream_free(ends[0]);
    stream_free(server_end_of);
    if (l->has_relay) {
        stream_free(ends[1]);
        stream_free(ends[2]);
    }
    ssh_offer_free(offer);
    l->took_us = clock_now() - began_at;
}

static inline void link_run(struct link *l, uint64_t runtime_seed)
{
    l->to_server.at = l->to_client.at = 0;
    run_deterministic(runtime_seed, link_main, l);
}

static inline struct link link_of(int (*dialogue)(struct link *))
{
    return (struct link){
        .dialogue = dialogue,
        .to_server = {.flip_bit = UINT64_MAX, .cut_at = UINT64_MAX},
        .to_client = {.flip_bit = UINT64_MAX, .cut_at = UINT64_MAX},
    };
}
