#include "ssh/packer.h"

#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ssh/wire/packet.h"

/* Of a step: two payloads of any size, or many small ones. */
#define OUT_MAX (2 * SSH_PACKET_MAX)

/* -- life -- */

static void packer_run(struct job *job)
{
    ssh_packer_step((struct ssh_packer *)(void *)job);
}

static void packer_free(struct job *job)
{
    struct ssh_packer *p = (struct ssh_packer *)(void *)job;
    ssh_packer_drop(p);
    coder_free(p->coder);
    buf_done(&p->out);
    mem_free(p);
}

int ssh_packer_new(int level, struct ssh_packer **ret)
{
    struct ssh_packer *p = mem_new(sizeof(*p));
    if (p == NULL)
        return -ENOMEM;
    p->job.run = packer_run;
    p->job.free = packer_free;
    buf_init(&p->out, OUT_MAX);
    int r = coder_new(CODEC_ZLIB, level, &p->coder);
    if (r < 0) {
        (void)ssh_packer_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

struct ssh_packer *ssh_packer_free(struct ssh_packer *p)
{
    if (p != NULL)
        packer_free(&p->job);
    return NULL;
}

/* -- packing -- */

void ssh_packer_give(struct ssh_packer *p, struct chunk *c, struct iovec *pieces,
                     unsigned count)
{
    p->chunk = c;
    p->pieces = pieces;
    p->count = count;
}

void ssh_packer_drop(struct ssh_packer *p)
{
    chunk_unref(p->chunk);
    ssh_packer_give(p, NULL, NULL, 0);
}

/* Appends it, compressed and flushed: the peer reads it without what comes later. */
static int pack(struct ssh_packer *p, struct bytes payload)
{
    int r = 0;
    do {
        struct bytes part = bytes_first(payload, CODEC_STEP_BYTES);
        payload = bytes_skip(payload, part.len);
        r = coder_step(p->coder, part, payload.len > 0 ? CODER_MORE : CODER_SYNC, &p->out);
    } while (r == 0 && payload.len > 0);
    return r;
}

static int put_zeros(struct buf *b, size_t len)
{
    int r = buf_reserve(b, len);
    if (r < 0)
        return r;
    memset(b->data + b->len, 0, len);
    buf_added(b, len);
    return 0;
}

static int pack_packet(struct ssh_packer *p, struct bytes payload)
{
    int r = put_zeros(&p->out, SSH_PACKET_HEAD);
    size_t at = p->out.len;
    if (r == 0)
        r = pack(p, payload);
    if (r < 0)
        return r;
    size_t len = p->out.len - at;
    p->packets[p->packet_count].at = at - SSH_PACKET_HEAD;
    p->packets[p->packet_count++].payload_len = len;
    p->in_bytes += payload.len;
    p->out_bytes += len;
    return put_zeros(&p->out, SSH_PACKET_TAIL_MAX);
}

void ssh_packer_step(struct ssh_packer *p)
{
    usec_t began_at = clock_now();
    p->packet_count = 0;
    p->level = coder_level(p->coder);
    p->in_bytes = p->out_bytes = 0;
    p->result = 0;
    buf_clear(&p->out);
    do {
        struct bytes payload = bytes_of(p->pieces->iov_base, p->pieces->iov_len);
        p->result = pack_packet(p, payload);
        p->pieces++;
        p->count--;
    } while (p->result == 0 && p->count > 0 && p->in_bytes < CODEC_STEP_BYTES);
    p->took_us = clock_now() - began_at;
}

int ssh_packer_pack(struct ssh_packer *p, struct bytes payload, struct bytes *ret)
{
    buf_clear(&p->out);
    int r = pack(p, payload);
    if (r == 0)
        *ret = buf_bytes(&p->out);
    return r;
}
