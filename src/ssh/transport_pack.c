/* Compression of a transport: who has the packer when, and what comes compressed. */
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "io/compress.h"
#include "ssh/transport_internal.h"

/* What is decompressed shares chunks: of one, so much at least is free for the next packet. */
#define UNPACK_CHUNK  (256 * 1024)
#define UNPACK_LEAST  (64 * 1024)
#define TELLING_BYTES 1024 /* less of a step tells nothing of a level's speed */

static bool is_automatic(const struct ssh_transport *t)
{
    return t->settings->compression == COMPRESS_AUTO;
}

static bool packs(const struct ssh_transport *t)
{
    return t->packer != NULL || t->is_packing;
}

/* -- the level -- */

/* The kernel would take megabytes at once, and hide from the controller what the link does. */
static void bound_unsent(const struct ssh_transport *t)
{
    stream_bound_unsent(t->lower, controller_unsent_max(&t->controller));
}

static int decide(struct ssh_transport *t)
{
    usec_t now = clock_now();
    int level;
    if (controller_decide(&t->controller, now, &level))
        bound_unsent(t);
    return level;
}

static int choose_level(struct ssh_transport *t, struct ssh_packer *p)
{
    struct stream_info sink;
    if (t->is_storing)
        return coder_set_level(p->coder, 0);
    if (!is_automatic(t))
        return coder_set_level(p->coder, t->settings->compression);
    stream_info(t->lower, &sink);
    controller_round_trip(&t->controller, sink.rtt_us);
    controller_sink(&t->controller, clock_now(), sink.acked_bytes, sink.rate_bytes_per_s,
                    sink.unsent_bytes + t->out.bytes);
    return coder_set_level(p->coder, decide(t));
}

static void learn(struct ssh_transport *t, const struct ssh_packer *p)
{
    if (is_automatic(t) && !t->is_storing && p->in_bytes >= TELLING_BYTES)
        controller_step(&t->controller, clock_now(), p->level, p->in_bytes, p->out_bytes,
                        p->took_us > 0 ? p->took_us : 1);
}

size_t ssh_transport_unsent_max(const struct ssh_transport *t, size_t most)
{
    size_t max = t->unsent_bound > 0 ? t->unsent_bound : most;
    if (packs(t) && is_automatic(t) && !t->is_storing)
        max = controller_unsent_max(&t->controller);
    return max < most ? max : most;
}

void ssh_transport_bound_unsent(struct ssh_transport *t, size_t bytes)
{
    t->unsent_bound = bytes != SIZE_MAX ? bytes : 0;
    stream_bound_unsent(t->lower, bytes);
}

void ssh_transport_store(struct ssh_transport *t, bool is_storing)
{
    t->is_storing = is_storing;
}

/* -- what is agreed on, and when it begins -- */

struct bytes ssh_transport_compressions(const struct ssh_transport *t)
{
    if (t->settings->compression == 0)
        return BYTES_LIT("none");
    return t->settings->role == SSH_CLIENT ? BYTES_LIT("zlib@openssh.com,none")
                                           : BYTES_LIT("none,zlib@openssh.com");
}

static bool is_packed(const struct ssh_chosen *chosen, enum ssh_role sender)
{
    enum ssh_direction d = sender == SSH_CLIENT ? SSH_TO_SERVER : SSH_TO_CLIENT;
    return chosen->compression[d] != SSH_COMPRESSION_NONE;
}

int ssh_transport_start_packing(struct ssh_transport *t, const struct ssh_chosen *chosen)
{
    t->packer = ssh_packer_free(t->packer);
    if (!is_packed(chosen, t->settings->role))
        return 0;
    if (!is_automatic(t))
        return ssh_packer_new(t->settings->compression, &t->packer);
    if (t->controller.level_count == 0) /* it outlives the streams */
        controller_init(&t->controller, CODEC_ZLIB, clock_now());
    return ssh_packer_new(decide(t), &t->packer);
}

int ssh_transport_start_unpacking(struct ssh_transport *t, const struct ssh_chosen *chosen)
{
    /* A packet has its own bound, and a server's connection one, over all streams. */
    static const struct decoder_limits none = {.ratio = 0};
    t->unpacker = decoder_free(t->unpacker);
    if (!is_packed(chosen, t->settings->role == SSH_CLIENT ? SSH_SERVER : SSH_CLIENT))
        return 0;
    return decoder_new(CODEC_ZLIB, &none, &t->unpacker);
}

void ssh_transport_trim_packing(struct ssh_transport *t)
{
    if (t->packer != NULL)
        buf_done(&t->packer->out);
    chunk_unref(t->unpacked);
    t->unpacked = NULL;
}

static void set_packing(struct ssh_transport *t, size_t bytes)
{
    *ssh_transport_worker_output() += bytes - t->packing_bytes;
    t->packing_bytes = bytes;
}

void ssh_transport_free_packing(struct ssh_transport *t)
{
    set_packing(t, 0);
    t->packer = ssh_packer_free(t->packer);
    t->unpacker = decoder_free(t->unpacker);
    chunk_unref(t->unpacked);
    buf_done(&t->last_words);
}

/* -- one message -- */

static int packing_failed(struct ssh_transport *t, int result)
{
    out_queue_break(&t->out, result); /* the peer would miss what was lost of the stream */
    return ssh_transport_fail(t, result, "a packet could not be compressed");
}

int ssh_transport_pack(struct ssh_transport *t, struct bytes payload, struct bytes *ret)
{
    int r = ssh_packer_pack(t->packer, payload, ret);
    return r < 0 ? packing_failed(t, r) : 0;
}

/* -- a room -- */

static int seal_step(struct ssh_transport *t, struct ssh_packer *p)
{
    int r = p->result < 0 ? packing_failed(t, p->result) : 0;
    for (unsigned i = 0; i < p->packet_count && r == 0; i++) {
        uint8_t *packet = p->out.data + p->packets[i].at;
        size_t len;
        r = ssh_transport_seal(t, packet, p->packets[i].payload_len, &len);
        if (r == 0)
            r = out_queue_add_bytes(&t->out, bytes_of(packet, len));
    }
    return r == 0 ? out_queue_push(&t->out) : r;
}

/* A pool that takes no more jobs has no time to compress. */
static int store_step(struct ssh_packer *p)
{
    int level = coder_level(p->coder);
    int r = coder_set_level(p->coder, 0);
    if (r < 0)
        return r;
    ssh_packer_step(p);
    return coder_set_level(p->coder, level);
}

/* In the pool. A failure: the packer is gone, and with it the stream. */
static PARKS int run_step(struct ssh_transport *t, struct ssh_packer *p)
{
    int r = job_start(t->settings->codec_pool, &p->job, NULL);
    if (r == -EBUSY)
        return store_step(p);
    t->packer = NULL;
    r = job_wait(t->settings->codec_pool, &p->job, USEC_NEVER);
    if (r == 0)
        t->packer = p;
    return r;
}

/* Storing is as quick as copying. */
static bool packs_here(const struct ssh_transport *t, const struct ssh_packer *p)
{
    return t->settings->codec_pool == NULL || coder_level(p->coder) == 0;
}

static int pack_here(struct ssh_transport *t, struct ssh_packer *p)
{
    int r = choose_level(t, p);
    while (r == 0 && p->count > 0 && packs_here(t, p)) {
        ssh_packer_step(p);
        learn(t, p);
        r = seal_step(t, p);
        if (r == 0)
            r = choose_level(t, p);
    }
    return r;
}

static PARKS int pack_in_pool(struct ssh_transport *t)
{
    struct ssh_packer *p = t->packer;
    int r = 0;
    while (r == 0 && p->count > 0) {
        r = run_step(t, p);
        if (r < 0)
            return r;
        learn(t, p);
        r = seal_step(t, p);
        if (r == 0)
            r = choose_level(t, p);
    }
    ssh_packer_drop(p);
    return r;
}

/* Whoever owes something is before those who wait for the gate with rooms: they come back. */
static int open_up(struct ssh_transport *t)
{
    int r = 0;
    if (t->last_words.len > 0)
        return ssh_transport_say(t, buf_bytes(&t->last_words));
    if (!t->is_claimed)
        r = ssh_transport_rekey_if_due(t);
    if (r == 0 && ssh_transport_is_open(t))
        r = ssh_transport_say_owed_pongs(t);
    if (r == 0 && t->settle != NULL)
        r = t->settle(t->settle_arg);
    return r;
}

static void pack_main(void *arg)
{
    struct ssh_transport *t = arg;
    int r = pack_in_pool(t);
    t->is_packing = false;
    set_packing(t, 0);
    if (r == 0)
        r = open_up(t);
    if (r < 0)
        out_queue_break(&t->out, r);
    event_set(&t->packed);
    event_set(&t->opened);
}

/* In a task of its own: whoever sent the room may be cancelled, and others go on. */
static int start_packing_room(struct ssh_transport *t, struct ssh_packer *p)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < p->count; i++)
        bytes += p->pieces[i].iov_len;
    int r = scope_start(t->out.scope, "ssh packer", TASK_NORMAL, pack_main, t, NULL);
    if (r < 0) {
        out_queue_break(&t->out, r);
        return r;
    }
    set_packing(t, bytes);
    t->is_packing = true;
    return 0;
}

int ssh_transport_send_packed(struct ssh_transport *t, struct chunk *c, struct iovec *pieces,
                              unsigned count)
{
    struct ssh_packer *p = t->packer;
    ssh_packer_give(p, c, pieces, count);
    int r = pack_here(t, p);
    if (r == 0 && p->count > 0) {
        r = start_packing_room(t, p);
        if (r == 0)
            return 0;
    }
    ssh_packer_drop(p);
    return r == 0 ? ssh_transport_rekey_if_due(t) : r;
}

int ssh_transport_claim(struct ssh_transport *t)
{
    int r = t->out.error;
    if (!t->is_packing)
        return r;
    t->is_claimed = true;
    while (r == 0 && t->is_packing) {
        event_clear(&t->packed);
        r = event_wait(&t->packed, USEC_NEVER); /* for the pool alone */
        if (r == 0)
            r = t->out.error;
    }
    t->is_claimed = false;
    event_set(&t->opened); /* who waits for the gate looks again, behind the caller */
    return r;
}

size_t ssh_transport_room_max(const struct ssh_transport *t)
{
    return packs(t) ? CODEC_STEP_BYTES : SIZE_MAX;
}

/* -- what comes -- */

/* A place for a payload: behind the last, or at the front if nobody looks at the chunk. */
static int begin_payload(struct ssh_transport *t)
{
    struct chunk *c = t->unpacked;
    if (c != NULL && atomic_load(&c->refs) == 1) {
        c->used = 0; /* what was lent has come back */
        t->unpacked_end = 0;
        return 0;
    }
    if (c != NULL && c->size - t->unpacked_end >= UNPACK_LEAST)
        return 0;
    t->unpacked = chunk_new(UNPACK_CHUNK);
    t->unpacked_end = 0;
    chunk_unref(c);
    return t->unpacked != NULL ? 0 : -ENOMEM;
}

/* Of a payload, len bytes fill the chunk. */
static int move_payload(struct ssh_transport *t, size_t len)
{
    struct chunk *c = chunk_new(SSH_PACKET_MAX);
    if (c == NULL)
        return -ENOMEM;
    memcpy(c->data, t->unpacked->data + t->unpacked_end, len);
    chunk_unref(t->unpacked);
    t->unpacked = c;
    t->unpacked_end = 0;
    return 0;
}

static int unpack(struct ssh_transport *t, struct bytes *packed, size_t *ret_len)
{
    size_t len = 0;
    int r = begin_payload(t);
    while (r == 0) {
        size_t end = t->unpacked_end + len, n;
        size_t room = t->unpacked->size - end;
        r = decoder_step(t->unpacker, packed, t->unpacked->data + end, room, &n);
        if (r != 0)
            break;
        len += n;
        if (n < room)
            break;
        r = len < SSH_PACKET_MAX ? move_payload(t, len) : -FERRY_ELIMIT;
    }
    *ret_len = len;
    return r;
}

/* Of the whole connection, against all that came of it. A client has asked for what it gets. */
static bool is_bomb(const struct ssh_transport *t)
{
    return t->settings->role == SSH_SERVER && t->unpacked_bytes > EXPAND_FREE_BYTES &&
           t->unpacked_bytes / EXPAND_RATIO_MAX > t->traffic.received_bytes;
}

int ssh_transport_unpack(struct ssh_transport *t, struct bytes packed, struct bytes *ret)
{
    size_t len;
    int r = unpack(t, &packed, &len);
    t->unpacked_bytes += len;
    if (r == 0 && is_bomb(t))
        return ssh_transport_fail(t, -FERRY_EPROTO, "packets that decompress to too much");
    if (r == -ENOMEM)
        return ssh_transport_fail(t, r, "%s", err_text(r));
    if (r == -FERRY_ELIMIT)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a packet that decompresses to too much");
    if (r != 0 || packed.len > 0)
        return ssh_transport_fail(t, -FERRY_EPROTO,
                                  "a packet that is not compressed as agreed");
    if (len == 0)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a packet that decompresses to nothing");
    *ret = bytes_of(t->unpacked->data + t->unpacked_end, len);
    t->unpacked_end += len;
    return 0;
}
