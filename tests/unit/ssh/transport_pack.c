/* labels: threads */
/* Who seals when a room is compressed in the pool. Packets have no cipher here, so that what
 * went can be read. */
#include <errno.h>

#include "base/err.h"
#include "check.h"
#include "io/compress.h"
#include "io/memory.h"
#include "runtime_fixture.h"
#include "ssh/transport_internal.h"
#include "ssh/wire/channel.h"

#define LINK_BYTES 200000
#define ROOM_BYTES 20000
#define SEEN_MAX   8

struct world {
    struct ssh_transport_settings settings;
    struct ssh_offer *offer;
    struct stream *near, *far;
    struct scope scope, waiting;
    struct ssh_transport *transport;
    struct decoder *decoder;
    uint8_t in[2 * LINK_BYTES], payload[SSH_PACKET_MAX];
    size_t held, wire_bytes;
    unsigned settled;
    uint8_t seen[SEEN_MAX]; /* messages, in order */
    unsigned seen_count;
};

/* As after the login. */
static void world_init(struct world *w, struct pool *pool)
{
    static const struct ssh_offer_settings offers = {.nistp256 = false};
    static const struct decoder_limits limits = {.ratio = 0};
    memset(w, 0, sizeof(*w));
    TASK_ASSERT(memory_pair_new(LINK_BYTES, 0, &w->near, &w->far) == 0);
    TASK_ASSERT(ssh_offer_new(SSH_CLIENT, &offers, &w->offer) == 0);
    w->settings = (struct ssh_transport_settings){
        .role = SSH_CLIENT, .offer = w->offer, .compression = 6, .codec_pool = pool};
    scope_init(&w->scope);
    scope_init(&w->waiting);
    TASK_ASSERT(ssh_transport_new(w->near, &w->scope, &w->settings, NULL, &w->transport) == 0);
    struct ssh_transport *t = w->transport;
    t->phase = SSH_PHASE_RUNNING;
    t->is_open = t->has_greeted = true;
    t->session_id.len = 32;
    t->chosen.compression[SSH_TO_SERVER] = SSH_COMPRESSION_ZLIB_DELAYED;
    TASK_ASSERT(ssh_transport_start_packing(t, &t->chosen) == 0);
    TASK_ASSERT(decoder_new(CODEC_ZLIB, &limits, &w->decoder) == 0);
}

static void world_done(struct world *w)
{
    scope_leave(&w->waiting);
    scope_leave(&w->scope);
    ssh_transport_free(w->transport);
    TASK_ASSERT(*ssh_transport_worker_output() == 0);
    decoder_free(w->decoder);
    ssh_offer_free(w->offer);
    stream_free(w->near);
    stream_free(w->far);
}

/* CHANNEL_DATA of zeros. */
static void send_room(struct world *w)
{
    struct chunk *c = chunk_new(ROOM_BYTES + 100);
    TASK_ASSERT(c != NULL);
    TASK_ASSERT(ssh_transport_gate(w->transport, clock_after(USEC_PER_S)) == 0);
    memset(c->data, 0, c->size);
    uint8_t *payload = c->data + 16;
    ssh_channel_data_head(payload, 0, ROOM_BYTES - SSH_DATA_HEAD);
    c->pieces[0] = (struct iovec){payload, ROOM_BYTES};
    TASK_ASSERT(ssh_transport_send(w->transport, c, c->pieces, 1) == 0);
}

/* All messages that went so far. */
static void look(struct world *w)
{
    TASK_ASSERT(ssh_transport_drain(w->transport, 0, clock_after(USEC_PER_S)) == 0);
    TASK_ASSERT(stream_end(w->near, 0) == 0);
    ssize_t n;
    while ((n = stream_read(w->far, w->in + w->held, sizeof(w->in) - w->held)) > 0)
        w->held += (size_t)n;
    w->wire_bytes = w->held;
    size_t at = 0;
    while (at < w->held) {
        size_t len = wire_u32(w->in + at), padding = w->in[at + 4], got;
        struct bytes packed = bytes_of(w->in + at + SSH_PACKET_HEAD, len - 1 - padding);
        TASK_ASSERT(decoder_step(w->decoder, &packed, w->payload, sizeof(w->payload), &got) ==
                    0);
        TASK_ASSERT(packed.len == 0 && got > 0 && w->seen_count < SEEN_MAX);
        TASK_ASSERT(w->payload[0] != SSH_MSG_CHANNEL_DATA || got == ROOM_BYTES);
        w->seen[w->seen_count++] = w->payload[0];
        at += 4 + len;
    }
}

static void expect(struct world *w, const uint8_t *messages, unsigned count)
{
    look(w);
    TASK_ASSERT(w->seen_count == count && memcmp(w->seen, messages, count) == 0);
}

#define EXPECT(w, ...)                                                                         \
    do {                                                                                       \
        static const uint8_t messages_[] = {__VA_ARGS__};                                      \
        expect(w, messages_, ARRAY_LEN(messages_));                                            \
    } while (0)

static void run(task_fn *fn)
{
    static struct world w;
    run_deterministic(1, fn, &w);
}

static int say_u8(struct world *w, uint8_t message)
{
    return ssh_transport_say(w->transport, bytes_of(&message, 1));
}

/* -- the gate -- */

static void gate_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    send_room(w);
    TASK_ASSERT(!ssh_transport_is_open(w->transport));
    TASK_ASSERT(!ssh_transport_is_awaited(w->transport)); /* the peer's word is not needed */
    TASK_ASSERT(ssh_transport_gate(w->transport, clock_after(USEC_PER_S)) == 0);
    TASK_ASSERT(say_u8(w, SSH_MSG_REQUEST_FAILURE) == 0);
    send_room(w);
    EXPECT(w, SSH_MSG_CHANNEL_DATA, SSH_MSG_REQUEST_FAILURE, SSH_MSG_CHANNEL_DATA);
    TASK_ASSERT(w->wire_bytes < ROOM_BYTES / 10);
    world_done(w);
}

static void nothing_is_sealed_while_a_room_is_compressed(void **state)
{
    (void)state;
    run(gate_main);
}

static void waiter_main(void *arg)
{
    struct world *w = arg;
    if (ssh_transport_gate(w->transport, clock_after(USEC_PER_S)) == 0)
        TASK_ASSERT(say_u8(w, SSH_MSG_REQUEST_SUCCESS) == 0);
}

static int settle(void *arg)
{
    struct world *w = arg;
    return ssh_transport_is_open(w->transport) && w->settled++ == 0
               ? say_u8(w, SSH_MSG_REQUEST_FAILURE)
               : 0;
}

static void start_waiter(struct world *w)
{
    TASK_ASSERT(scope_start(&w->waiting, "waits", TASK_NORMAL, waiter_main, w, NULL) == 0);
}

static void settle_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    ssh_transport_set_settle(w->transport, settle, w);
    send_room(w);
    start_waiter(w);
    TASK_ASSERT(scope_wait(&w->waiting, clock_after(USEC_PER_S)) == 0);
    EXPECT(w, SSH_MSG_CHANNEL_DATA, SSH_MSG_REQUEST_FAILURE, SSH_MSG_REQUEST_SUCCESS);
    world_done(w);
}

static void what_is_owed_comes_before_those_who_wait(void **state)
{
    (void)state;
    run(settle_main);
}

static void claim_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    ssh_transport_set_settle(w->transport, settle, w);
    send_room(w);
    start_waiter(w);
    task_yield(); /* it waits, and was there first */
    TASK_ASSERT(ssh_transport_claim(w->transport) == 0);
    TASK_ASSERT(say_u8(w, SSH_MSG_UNIMPLEMENTED) == 0);
    TASK_ASSERT(scope_wait(&w->waiting, clock_after(USEC_PER_S)) == 0);
    look(w);
    TASK_ASSERT(w->seen[0] == SSH_MSG_CHANNEL_DATA);
    TASK_ASSERT(w->seen[1] == SSH_MSG_UNIMPLEMENTED);
    world_done(w);
}

static void who_claims_the_gate_is_the_next(void **state)
{
    (void)state;
    run(claim_main);
}

/* -- what cannot wait -- */

static void leave_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    send_room(w);
    ssh_transport_leave(w->transport, SSH_DISCONNECT_BY_APPLICATION, "bye");
    TASK_ASSERT(ssh_transport_gate(w->transport, USEC_NEVER) == -FERRY_ECLOSED);
    EXPECT(w, SSH_MSG_CHANNEL_DATA, SSH_MSG_DISCONNECT);
    world_done(w);
}

static void the_last_words_come_behind_the_room(void **state)
{
    (void)state;
    run(leave_main);
}

static void rekey_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    send_room(w);
    TASK_ASSERT(ssh_transport_rekey(w->transport) == 0);
    TASK_ASSERT(w->transport->kex == NULL);
    start_waiter(w); /* for keys then, which do not come */
    EXPECT(w, SSH_MSG_CHANNEL_DATA, SSH_MSG_KEXINIT);
    TASK_ASSERT(w->transport->kex != NULL && ssh_transport_is_awaited(w->transport));
    world_done(w);
}

static void new_keys_are_asked_for_behind_the_room(void **state)
{
    (void)state;
    run(rekey_main);
}

/* -- the pool -- */

static void busy_main(void *arg)
{
    struct world *w = arg;
    struct pool *full;
    TASK_ASSERT(pool_new(1, 0, &full) == 0); /* takes no job */
    world_init(w, full);
    send_room(w);
    send_room(w);
    EXPECT(w, SSH_MSG_CHANNEL_DATA, SSH_MSG_CHANNEL_DATA);
    TASK_ASSERT(w->wire_bytes > 2 * ROOM_BYTES);
    TASK_ASSERT(coder_level(w->transport->packer->coder) == 6);
    world_done(w);
    (void)pool_free(full);
}

static void a_pool_that_is_full_costs_the_ratio_alone(void **state)
{
    (void)state;
    run(busy_main);
}

/* What was stored for want of a thread says nothing of the level that was wanted. */
static void learn_main(void *arg)
{
    struct world *w = arg;
    struct pool *full;
    TASK_ASSERT(pool_new(1, 0, &full) == 0);
    world_init(w, full);
    struct ssh_transport *t = w->transport;
    w->settings.compression = COMPRESS_AUTO;
    TASK_ASSERT(ssh_transport_start_packing(t, &t->chosen) == 0);
    TASK_ASSERT(coder_level(t->packer->coder) != 0);
    send_room(w);
    EXPECT(w, SSH_MSG_CHANNEL_DATA);
    for (unsigned i = 0; i < t->controller.level_count; i++)
        TASK_ASSERT(t->controller.levels[i].steps ==
                    (t->controller.levels[i].level == 0 ? 1 : 0));
    world_done(w);
    (void)pool_free(full);
}

static void what_a_full_pool_stores_is_learned_of_storing(void **state)
{
    (void)state;
    run(learn_main);
}

/* -- mistakes of ours -- */

static void say_early_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    send_room(w);
    TASK_ASSERT(say_u8(w, SSH_MSG_IGNORE) == -EINVAL);
    TASK_ASSERT(ssh_transport_gate(w->transport, USEC_NEVER) == -EINVAL);
    TASK_ASSERT(ssh_transport_unsent(w->transport) == 0);
    world_done(w);
}

static void send_early_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    send_room(w);
    struct chunk *c = chunk_new(ROOM_BYTES);
    TASK_ASSERT(c != NULL);
    c->pieces[0] = (struct iovec){c->data + 16, 1000};
    TASK_ASSERT(ssh_transport_send(w->transport, c, c->pieces, 1) == -EINVAL);
    TASK_ASSERT(ssh_transport_gate(w->transport, USEC_NEVER) == -EINVAL);
    world_done(w);
}

/* With or without assertions. */
static void nothing_goes_out_of_its_turn(void **state)
{
    (void)state;
    run(say_early_main);
    run(send_early_main);
}

static void cancel_main(void *arg)
{
    struct world *w = arg;
    world_init(w, runtime_codec_pool(runtime_self()));
    send_room(w);
    scope_leave(&w->scope); /* with the task that compresses */
    TASK_ASSERT(w->transport->out.error == -ECANCELED);
    TASK_ASSERT(ssh_transport_gate(w->transport, USEC_NEVER) == -ECANCELED);
    world_done(w);
}

static void a_connection_may_end_while_a_room_is_compressed(void **state)
{
    (void)state;
    run(cancel_main);
    static struct world w;
    for (unsigned i = 0; i < 20; i++)
        run_threaded(1, cancel_main, &w);
}

static void steps_run_in_threads(void **state)
{
    (void)state;
    static struct world w;
    for (unsigned i = 0; i < 20; i++)
        run_threaded(1, gate_main, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_sealed_while_a_room_is_compressed),
        cmocka_unit_test(what_is_owed_comes_before_those_who_wait),
        cmocka_unit_test(who_claims_the_gate_is_the_next),
        cmocka_unit_test(the_last_words_come_behind_the_room),
        cmocka_unit_test(new_keys_are_asked_for_behind_the_room),
        cmocka_unit_test(a_pool_that_is_full_costs_the_ratio_alone),
        cmocka_unit_test(what_a_full_pool_stores_is_learned_of_storing),
        cmocka_unit_test(nothing_goes_out_of_its_turn),
        cmocka_unit_test(a_connection_may_end_while_a_room_is_compressed),
        cmocka_unit_test(steps_run_in_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
