/* Both ends of an ssh connection of ours in the deterministic runtime, joined in memory: a
 * server without accounts, which lets in whoever asks, and the client; with a relay between
 * them if a test wants to change what passes. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "ssh/client.h"
#include "ssh/connection_internal.h"
#include "ssh/wire/auth.h"

#define LINK_BYTES (16 * 1024)
#define STALL_US   (30 * USEC_PER_S)

/* -- what both sides need, made once -- */

static inline struct crypto_key *test_key(enum crypto_key_kind kind)
{
    static struct crypto_key *keys[CRYPTO_RSA + 1];
    if (keys[kind] == NULL)
        TASK_ASSERT(crypto_key_generate(kind, &keys[kind]) == 0);
    return keys[kind];
}

static inline struct ssh_host_keys *test_host_keys(void)
{
    static struct ssh_host_keys all;
    if (all.count == 0)
        for (int kind = CRYPTO_ED25519; kind <= CRYPTO_RSA; kind++)
            TASK_ASSERT(ssh_host_keys_add(&all, test_key((enum crypto_key_kind)kind)) == 0);
    return &all;
}

/* -- services -- */

struct served {
    struct ssh_channel *channel;
    uint64_t count; /* of the command: its number */
};

/* The bytes that source sends and sink expects: of no short period. */
static inline uint8_t pattern_at(uint64_t at)
{
    return (uint8_t)(at * 2654435761u >> 13);
}

static inline void pattern_fill(uint8_t *dst, size_t len, uint64_t at)
{
    for (size_t i = 0; i < len; i++)
        dst[i] = pattern_at(at + i);
}

static inline bool is_pattern(const uint8_t *data, size_t len, uint64_t at)
{
    for (size_t i = 0; i < len; i++)
        if (data[i] != pattern_at(at + i))
            return false;
    return true;
}

static inline int served_open(void *arg, struct ssh_channel *ch, struct bytes text, void **ret)
{
    (void)arg;
    struct served *s = mem_new(sizeof(*s));
    if (s == NULL)
        return -ENOMEM;
    s->channel = ch;
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] >= '0' && text.data[i] <= '9')
            s->count = s->count * 10 + (uint64_t)(text.data[i] - '0');
    *ret = s;
    return 0;
}

static inline void served_close(void *service)
{
    mem_free(service);
}

/* Sends back what comes: rooms filled from slices. */
static inline int run_echo(void *service)
{
    struct served *s = service;
    struct stream *stream = ssh_channel_stream(s->channel);
    for (;;) {
        struct slices in;
        int r = stream_take(stream, 100 * 1000, &in);
        if (r < 0)
            return r;
        if (in.len == 0)
            return 0;
        r = stream_write(stream, in.pieces, (int)in.count);
        slices_drop(&in);
        if (r < 0)
            return r;
    }
}

/* The same, but without a task while nothing comes. */
static inline int run_dozing_echo(void *service)
{
    struct served *s = service;
    struct stream *stream = ssh_channel_stream(s->channel);
    while (!list_empty(&s->channel->input)) {
        uint8_t data[700];
        ssize_t n = stream_read(stream, data, sizeof(data));
        int r = n > 0 ? stream_write_bytes(stream, bytes_of(data, (size_t)n)) : (int)n;
        if (r < 0)
            return r;
        s->count += (uint64_t)n;
    }
    return s->channel->has_peer_eof ? (int)(s->count % 251) : SSH_SERVICE_DOZES;
}

/* Takes all; status 0 if it was the pattern, and `count` bytes of it. */
static inline int run_sink(void *service)
{
    struct served *s = service;
    uint64_t at = 0;
    for (;;) {
        struct slices in;
        int r = stream_take(ssh_channel_stream(s->channel), 64 * 1024, &in);
        if (r < 0)
            return r;
        if (in.len == 0)
            return at == s->count ? 0 : 2;
        bool is_right = true;
        for (unsigned i = 0; i < in.count; i++) {
            is_right = is_right && is_pattern(in.pieces[i].iov_base, in.pieces[i].iov_len, at);
            at += in.pieces[i].iov_len;
        }
        slices_drop(&in);
        if (!is_right)
            return 3;
    }
}

static inline int send_pattern(struct stream *stream, uint64_t count)
{
    uint64_t at = 0;
    while (at < count) {
        struct room room;
        size_t most = pattern_at(at + 1) % 8 == 0 ? 200 * 1000 : 5000; /* of any size */
        size_t want = count - at < most ? (size_t)(count - at) : most;
        int r = stream_room(stream, want, &room);
        if (r < 0)
            return r;
        uint64_t filled = at;
        for (unsigned i = 0; i < room.count; i++) {
            pattern_fill(room.pieces[i].iov_base, room.pieces[i].iov_len, filled);
            filled += room.pieces[i].iov_len;
        }
        size_t len = room.len > 7 && at % 3 == 0 ? room.len - 7 : room.len;
        r = stream_send(stream, &room, len);
        if (r < 0)
            return r;
        at += len;
    }
    return 0;
}

static inline int run_source(void *service)
{
    struct served *s = service;
    return send_pattern(ssh_channel_stream(s->channel), s->count);
}

/* Ends at once, whatever the peer sends. */
static inline int run_status(void *service)
{
    struct served *s = service;
    return (int)s->count;
}

/* The same, but late. */
static inline int run_late(void *service)
{
    int r = task_sleep_until(clock_after(5 * USEC_PER_S));
    return r == 0 ? run_status(service) : r;
}

static inline int run_complain(void *service)
{
    struct served *s = service;
    int r = ssh_channel_write_error(s->channel, BYTES_LIT("no such thing\n"));
    return r < 0 ? r : 7;
}

static const struct ssh_service test_services[] = {
    {"echo", false, served_open, run_echo, served_close},
    {"echo", true, served_open, run_echo, served_close},
    {"doze", false, served_open, run_dozing_echo, served_close},
    {"sink", false, served_open, run_sink, served_close},
    {"source", false, served_open, run_source, served_close},
    {"status", false, served_open, run_status, served_close},
    {"late", false, served_open, run_late, served_close},
    {"complain", false, served_open, run_complain, served_close},
    {NULL, false, NULL, NULL, NULL},
};

/* -- the server -- */

struct test_server {
    struct ssh_transport_settings transport_settings;
    struct stream *stream;
    struct ssh_transport *transport;
    struct ssh_connection *connection;
    struct event wake;
    struct scope services, flushers;
    int result;
    char why[128];
    struct ssh_traffic traffic;
    size_t unsent_most, held_most;
    unsigned channels_most;
};

static inline int server_next(struct test_server *s, struct ssh_packet *ret)
{
    for (;;) {
        int r = ssh_transport_next(s->transport, ret);
        if (r == SSH_NEXT_PACKET || r < 0)
            return r;
        if (r == SSH_NEXT_MORE) {
            r = stream_wait(s->stream, NULL, clock_after(STALL_US));
            if (r == 0)
                r = ssh_transport_fill(s->transport);
        }
        if (r < 0)
            return r;
    }
}

static inline int server_let_in(struct test_server *s)
{
    struct ssh_packet packet;
    uint8_t accept[64];
    const uint8_t success = SSH_MSG_USERAUTH_SUCCESS;
    struct wire_writer w = wire_writer_of(accept, sizeof(accept));
    ssh_service_write(&w, SSH_MSG_SERVICE_ACCEPT, BYTES_LIT("ssh-userauth"));
    int r = server_next(s, &packet);
    if (r == SSH_NEXT_PACKET)
        r = ssh_transport_say(s->transport, bytes_of(accept, w.len));
    if (r < 0)
        return r;
    ssh_transport_service_accepted(s->transport);
    r = server_next(s, &packet);
    if (r == SSH_NEXT_PACKET)
        r = ssh_transport_say(s->transport, bytes_of(&success, 1));
    if (r < 0)
        return r;
    ssh_transport_auth_succeeded(s->transport);
    return 0;
}

static inline void server_look(struct test_server *s)
{
    if (ssh_transport_unsent(s->transport) > s->unsent_most)
        s->unsent_most = ssh_transport_unsent(s->transport);
    if (s->connection->held_bytes > s->held_most)
        s->held_most = s->connection->held_bytes;
    if (s->connection->count > s->channels_most)
        s->channels_most = s->connection->count;
}

static inline int server_wait(struct test_server *s)
{
    usec_t deadline = clock_after(STALL_US);
    if (ssh_transport_deadline(s->transport) < deadline)
        deadline = ssh_transport_deadline(s->transport);
    if (clock_now() >= deadline)
        return -ETIMEDOUT;
    int r = stream_wait(s->stream, &s->wake, deadline);
    if (r == 0)
        return ssh_transport_fill(s->transport);
    return r == 1 ? 0 : r;
}

static inline int server_serve(struct test_server *s)
{
    int r = 0;
    while (r >= 0) {
        struct ssh_packet packet;
        event_clear(&s->wake);
        r = ssh_connection_settle(s->connection);
        ssh_connection_sweep(s->connection);
        server_look(s);
        if (r == 0 &&
            (ssh_connection_is_full(s->connection) ||
             ssh_transport_unsent(s->transport) > SSH_OUTPUT_CAP + SSH_CONTROL_OUTPUT_MAX)) {
            r = event_wait(&s->wake, clock_after(STALL_US));
            continue;
        }
        if (r == 0)
            r = ssh_transport_next(s->transport, &packet);
        if (r == SSH_NEXT_MORE)
            r = server_wait(s);
        else if (r == SSH_NEXT_PACKET)
            r = ssh_connection_dispatch(s->connection, &packet);
    }
    return r;
}

static inline void server_end(struct test_server *s, int r)
{
    if (s->connection != NULL)
        ssh_connection_break(s->connection);
    if (s->transport != NULL) {
        (void)snprintf(s->why, sizeof(s->why), "%s", ssh_transport_why(s->transport));
        s->traffic = ssh_transport_traffic(s->transport);
        task_shield_begin(clock_after(USEC_PER_S));
        if (r != -FERRY_ECLOSED)
            ssh_transport_leave(s->transport, SSH_DISCONNECT_PROTOCOL_ERROR, "no");
        (void)(ssh_transport_drain(s->transport, 0, USEC_NEVER) < 0);
        task_shield_end();
    }
    scope_leave(&s->services);
    scope_leave(&s->flushers);
    ssh_connection_free(s->connection);
    s->connection = NULL;
    ssh_transport_free(s->transport);
    s->transport = NULL;
    s->stream = stream_free(s->stream);
    s->result = r;
}

static inline void server_main(void *arg)
{
    struct test_server *s = arg;
    const struct ssh_connection_settings settings = {
        .services = test_services, .channels_max = SSH_CHANNELS_SESSION, .wake = &s->wake};
    s->transport = NULL;
    s->connection = NULL;
    s->unsent_most = s->held_most = s->channels_most = 0;
    s->why[0] = '\0';
    s->stream->stall_us = STALL_US;
    scope_init(&s->services);
    scope_init(&s->flushers);
    event_init(&s->wake);
    int r = ssh_transport_new(s->stream, &s->flushers, &s->transport_settings, &s->wake,
                              &s->transport);
    if (r == 0)
        r = ssh_transport_start(s->transport, clock_after(STALL_US));
    if (r == 0)
        r = server_let_in(s);
    if (r == 0)
        r = ssh_connection_new(s->transport, &s->services, &settings, &s->connection);
    if (r == 0)
        r = server_serve(s);
    server_end(s, r);
}

/* -- the relay -- */

/* One direction. at: how far it is; change: NULL, or what is done to each byte that passes. */
struct relay_way {
    struct stream *from, *to;
    uint64_t at;
    uint64_t flip_bit;  /* this bit of the whole is flipped; UINT64_MAX: none */
    uint64_t cut_at;    /* so many bytes pass and no more; UINT64_MAX: all */
    struct buf *record; /* NULL, or where all is kept */
};

static inline void relay_main(void *arg)
{
    struct relay_way *w = arg;
    for (;;) {
        uint8_t data[2048];
        ssize_t n = stream_read(w->from, data, sizeof(data));
        if (n <= 0)
            break;
        if (w->flip_bit / 8 >= w->at && w->flip_bit / 8 < w->at + (uint64_t)n)
            data[w->flip_bit / 8 - w->at] ^= (uint8_t)(1u << w->flip_bit % 8);
        if (w->record != NULL)
            TASK_ASSERT(buf_append(w->record, data, (size_t)n) == 0);
        uint64_t left = w->cut_at - w->at;
        size_t len = left < (uint64_t)n ? (size_t)left : (size_t)n;
        w->at += (uint64_t)n;
        if (len > 0 && stream_write_bytes(w->to, bytes_of(data, len)) < 0)
            break;
        if (len < (size_t)n)
            break;
    }
    (void)(stream_end(w->to, 0) < 0);
}

/* -- both -- */

struct link {
    struct ssh_offer_settings client_offers, server_offers;
    uint64_t client_rekey_bytes, server_rekey_bytes;
    uint64_t seed;             /* where reads and writes are cut; 0: nowhere */
    struct bytes before_ident; /* the server's other lines */
    bool has_relay;
    struct relay_way to_server, to_client;

    const struct ssh_signer *signers; /* the client's, before its password */
    unsigned signer_count;
    int (*dialogue)(struct link *); /* the client's, in a task */
    void *state;

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
                      .rekey_bytes = l->client_rekey_bytes},
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
    };
    l->server.stream = server_end_of;
    if (r == 0 && l->before_ident.len > 0)
        r = stream_write_bytes(server_end_of, l->before_ident);
    if (r == 0)
        r = scope_start(&scope, "server", TASK_NORMAL, server_main, &l->server, NULL);
    if (r == 0) {
        server_end_of = NULL;
        link_client(l, ends[0], &scope);
        ends[0] = NULL;
        (void)(scope_wait(&scope, USEC_NEVER) < 0);
    }
    scope_leave(&scope);
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

/* -- steps of dialogues -- */

static inline int open_exec(struct link *l, const char *command, struct ssh_channel **ret)
{
    return ssh_channel_open_session(ssh_client_connection(l->client), false, bytes_str(command),
                                    clock_after(STALL_US), ret);
}

struct writing {
    struct stream *stream;
    uint64_t count;
    int result;
};

static inline void writing_main(void *arg)
{
    struct writing *w = arg;
    w->result = send_pattern(w->stream, w->count);
    int r = stream_end(w->stream, 0); /* also after a failure: who reads comes to an end */
    if (w->result == 0)
        w->result = r;
}

/* Sends the pattern and reads it back, at once. */
static inline int echo_pattern(struct ssh_channel *ch, uint64_t count)
{
    struct scope scope;
    struct writing w = {ssh_channel_stream(ch), count, 0};
    uint64_t at = 0;
    scope_init(&scope);
    int r = scope_start(&scope, "writing", TASK_NORMAL, writing_main, &w, NULL);
    while (r == 0) {
        struct slices in;
        r = stream_take(ssh_channel_stream(ch), 50 * 1000, &in);
        if (r < 0 || in.len == 0)
            break;
        for (unsigned i = 0; i < in.count; i++) {
            TASK_ASSERT(is_pattern(in.pieces[i].iov_base, in.pieces[i].iov_len, at));
            at += in.pieces[i].iov_len;
        }
        slices_drop(&in);
    }
    scope_leave(&scope);
    if (r == 0)
        r = w.result;
    return r == 0 && at != count ? -EIO : r;
}

/* All channels are forgotten by both sides, or the connection is. */
static inline int wait_forgotten(struct link *l)
{
    for (unsigned i = 0; i < 1000; i++) {
        if (ssh_client_result(l->client) < 0)
            return ssh_client_result(l->client);
        if (ssh_connection_channels(ssh_client_connection(l->client)) == 0)
            return 0;
        int r = task_sleep_until(clock_after(100 * USEC_PER_MS));
        if (r < 0)
            return r;
    }
    return -ETIMEDOUT;
}
