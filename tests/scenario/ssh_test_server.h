/* A server without accounts, which lets in whoever asks, and the keys it has. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "check.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "ssh/wire/transport.h"
#include "ssh_services.h"

#define LINK_BYTES (16 * 1024)
#define STALL_US   (30 * USEC_PER_S)

/* -- keys, made once -- */

static inline struct crypto_key *test_key(enum crypto_key_kind kind)
{
    static struct crypto_key *keys[CRYPTO_RSA + 1];
    if (keys[kind] == NULL)
        TASK_ASSERT(crypto_key_generate(kind, &keys[kind]) == 0);
    return keys[kind];
}

static inline struct ssh_host_keys *test_host_keys(void)
{
    static struct ssh_host_keys all = {.legacy =
                                           true}; /* for clients that ask for nothing else */
    if (all.count == 0)
        for (int kind = CRYPTO_ED25519; kind <= CRYPTO_RSA; kind++)
            TASK_ASSERT(ssh_host_keys_add(&all, test_key((enum crypto_key_kind)kind)) == 0);
    return &all;
}

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
    return ssh_transport_auth_succeeded(s->transport);
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
