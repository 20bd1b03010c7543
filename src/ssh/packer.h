/* Compression of what we send, zlib@openssh.com (OpenSSH's PROTOCOL 1.2, RFC 4253 6.2): the
 * payloads of all packets, in order of their sealing, are one deflate stream that is flushed
 * with each packet. For ssh/transport*.c.
 *
 * A packer is a pool job that owns all it needs: it is the pool's while it runs, and gone when
 * the task that waits for it is cancelled.
 */
#pragma once
#include "base/buf.h"
#include "codec/codec.h"
#include "io/chunk.h"
#include "task/pool.h"

struct ssh_packer {
    struct job job;
    struct coder *coder;

    /* given: payloads that are left. The chunk is the packer's */
    struct chunk *chunk;
    struct iovec *pieces;
    unsigned count;

    /* made of the first of them: packets to be sealed where they lie, with zeros for padding
     * and tag */
    struct buf out;

    struct {
        size_t at, payload_len;
    } packets[ROOM_PIECES_MAX];

    unsigned packet_count;
    int result;

    /* of the last step */
    int level;
    size_t in_bytes, out_bytes;
    usec_t took_us;
};

/* Level 0 stores. -ENOMEM. */
MUST_CHECK int ssh_packer_new(int level, struct ssh_packer **ret);
struct ssh_packer *ssh_packer_free(struct ssh_packer *); /* NULL is fine */

/* What is next: takes the chunk's reference. */
void ssh_packer_give(struct ssh_packer *, struct chunk *, struct iovec *pieces, unsigned count);
/* The rest of what was given is not wanted any more. */
void ssh_packer_drop(struct ssh_packer *);
/* Packs the payloads that are next, until CODEC_STEP_BYTES went; they are taken off `pieces`.
 */
void ssh_packer_step(struct ssh_packer *);
/* One payload, on the spot. *ret: valid until the next call. -ENOMEM; the stream is of no use
 * after a failure. */
MUST_CHECK int ssh_packer_pack(struct ssh_packer *, struct bytes payload, struct bytes *ret);
