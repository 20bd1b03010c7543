/* A transport from inside: for ssh/transport*.c and ssh/kex*.c. */
#pragma once
#include "base/buf.h"
#include "base/wire.h"
#include "codec/controller.h"
#include "ssh/kex.h"
#include "ssh/packer.h"
#include "ssh/transport.h"
#include "ssh/wire/packet.h"

struct ssh_transport {
    const struct ssh_transport_settings *settings;
    struct stream *lower;
    struct event *wake;
    struct pool_share *share;
    struct out_queue out;
    enum ssh_phase phase;
    bool is_strict;
    bool has_greeted;
    bool is_open;        /* the gate, as far as keys go */
    bool has_opened;     /* and ssh_transport_next() has not told yet */
    bool drops_next;     /* a guess of the peer's that was wrong */
    bool wants_ext_info; /* the peer's first KEXINIT asked for it */
    bool has_ended;      /* nobody waits for the gate any more */
    bool is_packing;     /* a room is compressed: the gate is closed */
    bool is_claimed;     /* the session task is the next to seal: the gate stays closed */
    bool wants_keys;     /* was asked for while packing */
    struct event opened; /* the gate, or it has ended */
    unsigned waiting;    /* tasks that wait for the gate */
    int (*settle)(void *arg);
    void *settle_arg;

    /* received, not parsed yet: bytes [start, end) of the chunk */
    struct chunk *in;
    size_t start, end;
    size_t need;     /* the packet that begins there takes so much; 0: not known yet */
    int failure;     /* of it, to be told when it is all there */
    size_t in_bytes; /* size of the next chunk */

    /* one direction each; sequence numbers wrap at 32 bits */
    struct ssh_cipher *sealing, *opening, *next_opening;
    uint32_t send_sequence, receive_sequence;

    /* since the keys changed, what moved; and when they did */
    uint64_t sent_bytes, received_bytes, sent_packets, received_packets;
    usec_t keys_at;
    struct ssh_traffic traffic; /* of the whole connection */

    /* compression, one direction each; NULL: none, or none yet */
    struct ssh_packer *packer; /* NULL while a job has it, too */
    struct event packed;       /* the room that is_packing tells of was */
    size_t packing_bytes;
    bool is_storing;              /* what is sent has been compressed already */
    size_t unsent_bound;          /* by who has a stream above; 0: none */
    struct buf last_words;        /* DISCONNECT, said behind that room */
    struct controller controller; /* of the level, over all streams; if it is automatic */
    struct decoder *unpacker;
    struct chunk *unpacked; /* what was decompressed last */
    size_t unpacked_end;
    uint64_t unpacked_bytes; /* of all that came */

    struct ssh_kex *kex; /* while an exchange is under way */
    struct ssh_chosen chosen;
    struct ssh_hash session_id; /* len 0: no exchange was finished */
    struct buf host_key;        /* client: the server's blob, which stays the same */
    struct ssh_ident *peer_ident;
    struct buf signature_algorithms;
    struct buf pongs; /* owed, while the gate is closed: strings */
    char why[96];
};

struct bytes ssh_transport_own_ident(void);
/* Bytes in rooms and queues of all connections of this worker; a connection stays on one. */
size_t *ssh_transport_worker_output(void);
/* Begins an exchange when the keys have moved or lived enough. */
MUST_CHECK int ssh_transport_rekey_if_due(struct ssh_transport *);
/* Who waits for the gate, now or later, gets -FERRY_ECLOSED. */
void ssh_transport_end_waits(struct ssh_transport *);
/* Sets why, and returns result. */
int ssh_transport_fail(struct ssh_transport *, int result, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Seals a payload that stands at packet + SSH_PACKET_HEAD. *ret_len: on the wire. */
MUST_CHECK int ssh_transport_seal(struct ssh_transport *, uint8_t *packet, size_t payload_len,
                                  size_t *ret_len);
/* Wakes the session task if ssh_transport_is_awaited(). */
void ssh_transport_read_on(struct ssh_transport *);
/* PONGs that were owed while the gate was closed. */
MUST_CHECK int ssh_transport_say_owed_pongs(struct ssh_transport *);

/* -- compression: transport_pack.c -- */

/* Names for KEXINIT, both directions. */
struct bytes ssh_transport_compressions(const struct ssh_transport *);
/* From the next packet on, as was chosen for that direction; a new stream each time (RFC 4253
 * 6.2). */
MUST_CHECK int ssh_transport_start_packing(struct ssh_transport *, const struct ssh_chosen *);
MUST_CHECK int ssh_transport_start_unpacking(struct ssh_transport *, const struct ssh_chosen *);
/* For one message, with the packer at home. *ret: valid until the next. A failure ends the
 * connection. */
MUST_CHECK int ssh_transport_pack(struct ssh_transport *, struct bytes payload,
                                  struct bytes *ret);
/* ssh_transport_send(), compressed. */
MUST_CHECK int ssh_transport_send_packed(struct ssh_transport *, struct chunk *,
                                         struct iovec *pieces, unsigned count);
/* For the session task, which must seal something whatever the gate says: until no room is
 * being packed. Nobody else seals before the caller parks. */
PARKS MUST_CHECK int ssh_transport_claim(struct ssh_transport *);
/* The payload of a packet that was opened. *ret lies in t->unpacked. */
MUST_CHECK int ssh_transport_unpack(struct ssh_transport *, struct bytes packed,
                                    struct bytes *ret);
/* Gives back what only a busy connection needs. */
void ssh_transport_trim_packing(struct ssh_transport *);
void ssh_transport_free_packing(struct ssh_transport *);
