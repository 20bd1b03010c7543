/* layers: ssh */
/* A side of a connection and what a peer may send it. Input: a byte that says which side and
 * from where on, then
 *
 *     0, 1   to a server, a client: bytes from the first on
 *     2, 3   an ident and packets without keys: of each two bytes of length, then the payload
 *     4, 5   packets under fixed keys, behind the login
 *     6, 7   the same, compressed: what the payloads are compressed to
 *     8, 9   the same, and they are compressed on the way
 *
 * Whatever comes, the connection ends, and holds nothing then; what it had to say had a bound.
 */
#include <errno.h>

#include "../runtime_fixture.h"
#include "base/mem.h"
#include "invariant.h"
#include "io/memory.h"
#include "ssh/connection_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define INPUT_MAX  (64 * 1024)
#define LINK_BYTES (8 * 1024)
#define WAIT_US    (10 * USEC_PER_S)

struct run {
    enum ssh_role role;
    unsigned from; /* 0 to 4: see above */
    struct bytes input;
    struct stream *stream, *far;
    struct ssh_transport *transport;
    struct ssh_connection *connection;
    struct ssh_transport_settings settings;
    struct ssh_connection_settings channels;
    struct event wake;
    struct scope services, flushers;
    size_t unsent_most;
};

/* -- what is served: an echo -- */

static int echo_open(void *arg, struct ssh_channel *ch, struct bytes text, void **ret)
{
    (void)arg;
    (void)text;
    *ret = ch;
    return 0;
}

static int echo_run(void *service)
{
    struct stream *stream = ssh_channel_stream(service);
    for (;;) {
        struct slices in;
        int r = stream_take(stream, 3000, &in);
        if (r < 0 || in.len == 0)
            return r;
        r = stream_write(stream, in.pieces, (int)in.count);
        slices_drop(&in);
        if (r < 0)
            return r;
    }
}

static void echo_close(void *service)
{
    (void)service;
}

static const struct ssh_service services[] = {
    {"echo", false, echo_open, echo_run, echo_close},
    {"sftp", true, echo_open, echo_run, echo_close},
    {NULL, false, NULL, NULL, NULL},
};

/* -- fixed keys -- */

static struct ssh_cipher *cipher_new(bool for_sealing)
{
    static const uint8_t material[SSH_KEY_MAX] = "fixed";
    struct ssh_key_sizes z = ssh_key_sizes(SSH_CIPHER_AES128_GCM, SSH_MAC_NONE);
    struct ssh_cipher *c = NULL;
    INVARIANT(ssh_cipher_new(SSH_CIPHER_AES128_GCM, SSH_MAC_NONE, for_sealing,
                             bytes_of(material, z.iv), bytes_of(material, z.key), BYTES_NONE,
                             &c) == 0);
    return c;
}

/* As after the login. */
static void skip_login(struct ssh_transport *t, bool is_packed)
{
    static struct ssh_ident ident = {.text = "SSH-2.0-fuzz", .len = 12};
    ssh_cipher_free(t->sealing);
    ssh_cipher_free(t->opening);
    t->sealing = cipher_new(true);
    t->opening = cipher_new(false);
    t->phase = SSH_PHASE_RUNNING;
    t->is_open = t->has_greeted = t->is_strict = true;
    t->session_id.len = 32;
    t->peer_ident = mem_dup(&ident, sizeof(ident));
    INVARIANT(t->peer_ident != NULL);
    for (unsigned d = 0; d < SSH_DIRECTION_COUNT && is_packed; d++)
        t->chosen.compression[d] = SSH_COMPRESSION_ZLIB_DELAYED;
    INVARIANT(ssh_transport_start_packing(t, &t->chosen) == 0);
    INVARIANT(ssh_transport_start_unpacking(t, &t->chosen) == 0);
}

/* -- the side that is tried -- */

static int serve(struct run *run)
{
    int r = 0;
    while (r >= 0) {
        struct ssh_packet packet;
        event_clear(&run->wake);
        r = ssh_connection_settle(run->connection);
        ssh_connection_sweep(run->connection);
        if (ssh_transport_unsent(run->transport) > run->unsent_most)
            run->unsent_most = ssh_transport_unsent(run->transport);
        if (r == 0)
            r = ssh_transport_next(run->transport, &packet);
        if (r == SSH_NEXT_PACKET) {
            r = ssh_connection_dispatch(run->connection, &packet);
        } else if (r == SSH_NEXT_MORE) {
            r = stream_wait(run->stream, &run->wake, clock_after(WAIT_US));
            if (r == 0)
                r = ssh_transport_fill(run->transport);
        }
    }
    return r;
}

static int live(struct run *run)
{
    run->channels = (struct ssh_connection_settings){
        .services = services, .channels_max = SSH_CHANNELS_SESSION, .wake = &run->wake};
    int r = ssh_transport_new(run->stream, &run->flushers, &run->settings, &run->wake,
                              &run->transport);
    if (r == 0 && run->from < 2)
        r = ssh_transport_start(run->transport, clock_after(WAIT_US));
    else if (r == 0)
        skip_login(run->transport, run->from > 2);
    if (r < 0 || run->from < 2)
        return r;
    r = ssh_connection_new(run->transport, &run->services, &run->channels, &run->connection);
    return r == 0 ? serve(run) : r;
}

static void side_main(void *arg)
{
    struct run *run = arg;
    int r = live(run);
    INVARIANT(run->from < 2 || r < 0);
    if (run->connection != NULL)
        ssh_connection_break(run->connection);
    if (run->transport != NULL)
        ssh_transport_leave(run->transport, SSH_DISCONNECT_BY_APPLICATION, "done");
    scope_leave(&run->services);
    scope_leave(&run->flushers);
    /* a message for each of the input, and what bulk there is */
    INVARIANT(run->unsent_most <= SSH_OUTPUT_CAP + SSH_CONTROL_OUTPUT_MAX + 8 * INPUT_MAX);
    if (run->connection != NULL) {
        LIST_EACH(it, &run->connection->channels)
        ssh_channel_drop_input(LIST_ENTRY(it, struct ssh_channel, node));
        INVARIANT(run->connection->held_bytes == 0 && run->connection->waiting == 0);
    }
    run->connection = ssh_connection_free(run->connection);
    run->transport = ssh_transport_free(run->transport);
    run->stream = stream_free(run->stream);
}

/* -- the peer -- */

static struct bytes pack(struct coder *coder, struct bytes payload, struct buf *out)
{
    buf_clear(out);
    INVARIANT(coder_step(coder, payload, CODER_SYNC, out) == 0);
    return buf_bytes(out);
}

static void feed(struct run *run)
{
    static uint8_t packet[SSH_PACKET_HEAD + 2 * INPUT_MAX + SSH_PACKET_TAIL_MAX];
    struct buf packed;
    struct coder *coder = NULL;
    struct ssh_cipher *sealing = NULL;
    uint32_t sequence = 0;
    struct bytes rest = run->input;
    int r = 0;
    if (run->from == 0) {
        (void)(rest.len > 0 && stream_write_bytes(run->far, rest) < 0);
        return;
    }
    if (run->from == 1) {
        r = stream_write_bytes(run->far, BYTES_LIT("SSH-2.0-fuzz\r\n"));
        INVARIANT(ssh_cipher_new(SSH_CIPHER_NONE, SSH_MAC_NONE, true, BYTES_NONE, BYTES_NONE,
                                 BYTES_NONE, &sealing) == 0);
    } else {
        sealing = cipher_new(true);
    }
    buf_init(&packed, 2 * INPUT_MAX);
    if (run->from == 4)
        INVARIANT(coder_new(CODEC_ZLIB, 6, &coder) == 0);
    while (r == 0 && rest.len > 2) {
        size_t len = (size_t)rest.data[0] << 8 | rest.data[1];
        struct bytes payload = bytes_first(bytes_skip(rest, 2), len > 0 ? len : 1);
        rest = bytes_skip(rest, 2 + payload.len);
        if (coder != NULL)
            payload = pack(coder, payload, &packed);
        memset(packet, 0, SSH_PACKET_HEAD + payload.len + SSH_PACKET_TAIL_MAX);
        memcpy(packet + SSH_PACKET_HEAD, payload.data, payload.len);
        INVARIANT(ssh_packet_seal(sealing, sequence++, packet, payload.len, &len) == 0);
        r = stream_write_bytes(run->far, bytes_of(packet, len));
    }
    ssh_cipher_free(sealing);
    coder_free(coder);
    buf_done(&packed);
}

static void read_main(void *arg)
{
    struct stream *far = arg;
    uint8_t data[2000];
    while (stream_read(far, data, sizeof(data)) > 0)
        ;
}

static struct ssh_host_keys *host_keys(void)
{
    static struct ssh_host_keys all;
    struct crypto_key *key = NULL;
    if (all.count == 0) {
        INVARIANT(crypto_key_generate(CRYPTO_ED25519, &key) == 0);
        INVARIANT(ssh_host_keys_add(&all, key) == 0);
        crypto_key_unref(key);
    }
    return &all;
}

static void run_main(void *arg)
{
    struct run *run = arg;
    struct scope side, reader;
    scope_init(&side);
    scope_init(&reader);
    scope_init(&run->services);
    scope_init(&run->flushers);
    event_init(&run->wake);
    if (run->input.len % 2 == 0) /* rooms are compressed by a task of their own */
        run->settings.codec_pool = runtime_codec_pool(runtime_self());
    INVARIANT(memory_pair_new(LINK_BYTES, 0, &run->stream, &run->far) == 0);
    run->stream->stall_us = run->far->stall_us = WAIT_US;
    INVARIANT(scope_start(&side, "side", TASK_NORMAL, side_main, run, NULL) == 0);
    INVARIANT(scope_start(&reader, "reader", TASK_NORMAL, read_main, run->far, NULL) == 0);
    feed(run);
    (void)(stream_end(run->far, 0) < 0);
    INVARIANT(scope_wait(&side, USEC_NEVER) == 0);
    scope_leave(&side);
    scope_leave(&reader);
    stream_free(run->far);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct ssh_offer *offers[SSH_ROLE_COUNT];
    const struct ssh_offer_settings all = {.nistp256 = true, .legacy = true};
    if (len < 1 || len > INPUT_MAX)
        return 0;
    struct run run = {
        .role = data[0] % 2 == 0 ? SSH_SERVER : SSH_CLIENT,
        .from = data[0] / 2 % 5u,
        .input = bytes_of(data + 1, len - 1),
    };
    if (offers[run.role] == NULL)
        INVARIANT(ssh_offer_new(run.role, &all, &offers[run.role]) == 0);
    run.settings = (struct ssh_transport_settings){.role = run.role,
                                                   .offer = offers[run.role],
                                                   .host_keys = host_keys(),
                                                   .compression = 6};
    if (run.role == SSH_CLIENT)
        run.settings.host_keys = NULL;
    run_deterministic(1, run_main, &run);
    return 0;
}
