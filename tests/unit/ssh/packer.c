/* Payloads as packets of one deflate stream. */
#include "ssh/packer.h"

#include "check.h"
#include "ssh/wire/packet.h"

#define PAYLOAD_MAX SSH_PAYLOAD_MAX

static uint8_t out[PAYLOAD_MAX + 1];

static size_t unpack(struct decoder *d, struct bytes packed)
{
    size_t len;
    assert_int_equal(decoder_step(d, &packed, out, sizeof(out), &len), 0);
    assert_int_equal(packed.len, 0);
    return len;
}

static struct decoder *decoder(void)
{
    static const struct decoder_limits limits = {.ratio = 0};
    struct decoder *d;
    assert_int_equal(decoder_new(CODEC_ZLIB, &limits, &d), 0);
    return d;
}

/* Of no short period: hard to compress. */
static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * i * 2654435761u >> 17);
}

static void each_payload_can_be_read_without_the_next(void **state)
{
    (void)state;
    for (int level = 0; level <= 9; level++) {
        struct ssh_packer *p;
        struct decoder *d = decoder();
        assert_int_equal(ssh_packer_new(level, &p), 0);
        for (size_t len = 1; len <= PAYLOAD_MAX; len = len * 3 + 1) {
            static uint8_t payload[PAYLOAD_MAX];
            struct bytes packed;
            for (size_t i = 0; i < len; i++)
                payload[i] = byte_at(i + len);
            assert_int_equal(ssh_packer_pack(p, bytes_of(payload, len), &packed), 0);
            assert_int_equal(unpack(d, packed), len);
            assert_memory_equal(out, payload, len);
        }
        decoder_free(d);
        ssh_packer_free(p);
    }
}

/* Pieces of a room, in steps; each becomes a packet with place for all that sealing adds. */
static void run_room(int level, unsigned count, size_t piece, unsigned steps)
{
    struct ssh_packer *p;
    struct decoder *d = decoder();
    struct chunk *c = chunk_new(count * piece);
    assert_int_equal(ssh_packer_new(level, &p), 0);
    assert_non_null(c);
    for (unsigned i = 0; i < count; i++) {
        c->pieces[i] = (struct iovec){c->data + i * piece, piece};
        for (size_t k = 0; k < piece; k++)
            c->data[i * piece + k] = byte_at(i + k);
    }
    unsigned seen = 0, ran = 0;
    ssh_packer_give(p, chunk_ref(c), c->pieces, count);
    while (p->count > 0) {
        ssh_packer_step(p);
        ran++;
        assert_int_equal(p->result, 0);
        size_t behind = 0, in = 0, packed = 0;
        for (unsigned i = 0; i < p->packet_count; i++) {
            size_t at = p->packets[i].at, len = p->packets[i].payload_len;
            assert_true(at >= behind);
            behind = at + SSH_PACKET_HEAD + len + SSH_PACKET_TAIL_MAX;
            assert_true(behind <= p->out.len);
            in += unpack(d, bytes_of(p->out.data + at + SSH_PACKET_HEAD, len));
            packed += len;
            assert_memory_equal(out, c->data + seen++ * piece, piece);
        }
        assert_int_equal(in, p->in_bytes);
        assert_int_equal(packed, p->out_bytes);
    }
    assert_int_equal(seen, count);
    assert_int_equal(ran, steps);
    ssh_packer_drop(p);
    assert_int_equal(atomic_load(&c->refs), 1);
    chunk_unref(c);
    decoder_free(d);
    ssh_packer_free(p);
}

static void a_room_goes_in_steps(void **state)
{
    (void)state;
    for (int level = 0; level <= 9; level += 3) {
        run_room(level, 1, 1, 1);
        run_room(level, 2, 32 * 1024 + 9, 1);
        run_room(level, 15, 32 * 1024 + 9, 8);
        run_room(level, ROOM_PIECES_MAX, 73, 1);
        run_room(level, 2, SSH_PAYLOAD_MAX - 1024, 2);
    }
}

static void what_is_dropped_is_let_go(void **state)
{
    (void)state;
    struct ssh_packer *p;
    struct chunk *c = chunk_new(100);
    assert_int_equal(ssh_packer_new(6, &p), 0);
    c->pieces[0] = (struct iovec){c->data, 100};
    ssh_packer_give(p, chunk_ref(c), c->pieces, 1);
    ssh_packer_free(p); /* with what it had */
    assert_int_equal(atomic_load(&c->refs), 1);
    chunk_unref(c);
    assert_null(ssh_packer_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_payload_can_be_read_without_the_next),
        cmocka_unit_test(a_room_goes_in_steps),
        cmocka_unit_test(what_is_dropped_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
