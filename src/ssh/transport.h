/* The transport of one ssh connection, either role: ident, key exchange, packets (RFC 4253).
 *
 * One task, the session task, reads: it alone calls ssh_transport_start(), _next(), _fill() and
 * the rekey it leads to. Any task of the worker may seal: sealing never parks, takes the
 * sequence number, encrypts in place and appends to the output queue. Nothing is numbered or
 * encrypted before.
 *
 * The gate is closed from our KEXINIT to our NEWKEYS: then only ssh_transport_say() of messages
 * below 50 (but SERVICE) passes. It is also closed while a room is compressed in the pool, for
 * all messages: they are one stream. Others wait in ssh_transport_gate(), with what they hold,
 * or, if they may not wait, keep what they owe as counters and seal it when settle() is called,
 * or _next() says that the gate has opened.
 *
 * Received packets are decrypted in place; data stays where it was received, or decompressed,
 * and whoever keeps it takes a reference of the chunk (ssh_packet.chunk).
 *
 * Failures: -FERRY_EPROTO (the peer broke the protocol, or a tag is wrong), -FERRY_ECLOSED (it
 * went away, or said DISCONNECT), -FERRY_EREFUSED (nothing in common), -FERRY_ESTALLED,
 * -ETIMEDOUT (of the deadline), -FERRY_EAUTH (client: the host key was not taken), -ECANCELED,
 * -ENOMEM. ssh_transport_why() has it in words. The object is good for ssh_transport_leave()
 * only after a failure.
 */
#pragma once
#include "io/chunk.h"
#include "io/out_queue.h"
#include "ssh/host_keys.h"
#include "ssh/offer.h"
#include "ssh/state.h"
#include "ssh/wire/exchange.h"
#include "ssh/wire/ident.h"
#include "task/pool.h"

struct ssh_transport;

struct ssh_transport_settings {
    enum ssh_role role;
    const struct ssh_offer *offer;
    struct pool *pool; /* for key exchange and signatures; NULL: inline */
    /* zlib@openssh.com is offered (a server) or asked for (a client), with this level of what
     * we send: 1 to 9 or COMPRESS_AUTO (io/compress.h). 0: neither. */
    int compression;
    struct pool *codec_pool; /* for compression; NULL: inline */
    /* server */
    const struct ssh_host_keys *host_keys;
    /* client: is this the server's key? 0, or a failure that ends the connection; called in the
     * session task, where it may park. */
    PARKS int (*check_host_key)(void *arg, const struct crypto_key *, struct bytes blob);
    void *check_arg;
    /* Rekey after so much in one direction or so long; 0: by the cipher's own limit alone. */
    uint64_t rekey_bytes, rekey_packets;
    usec_t rekey_us;
};

/* Borrows lower and settings; scope is for the queue's flusher and must outlive the object.
 * wake: set when sending failed. */
MUST_CHECK int ssh_transport_new(struct stream *lower, struct scope *,
                                 const struct ssh_transport_settings *, struct event *wake,
                                 struct ssh_transport **ret);
struct ssh_transport *ssh_transport_free(struct ssh_transport *); /* NULL is fine */
/* Whose share of the pool its jobs take. Borrows it. Without this, or with NULL: nobody's. */
void ssh_transport_set_share(struct ssh_transport *, struct pool_share *);

/* Sends our ident now, if it was not sent: a server's that has a stack before its client
 * speaks. Cannot park. */
MUST_CHECK int ssh_transport_greet(struct ssh_transport *);
/* Idents and the first key exchange. */
PARKS MUST_CHECK int ssh_transport_start(struct ssh_transport *, usec_t deadline);

struct ssh_packet {
    struct bytes payload; /* with its message number; valid until the next call of _next() */
    struct chunk *chunk;  /* it lies in; whoever keeps the data takes a reference */
};

enum ssh_next {
    SSH_NEXT_PACKET, /* for the caller: SERVICE_*, 50 and above */
    SSH_NEXT_MORE,   /* nothing is here: ssh_transport_fill(), or wait or doze first */
    SSH_NEXT_OPENED  /* the gate has opened: seal what is owed */
};

/* The next message that concerns the caller. Checks each against the state table, and deals
 * with those of the transport itself, key exchanges too: PARKS only for their pool jobs, and to
 * give way. */
PARKS MUST_CHECK int ssh_transport_next(struct ssh_transport *, struct ssh_packet *ret);
/* Reads once from lower: parks until bytes come (or its stall time). 0 bytes: -FERRY_ECLOSED.
 */
PARKS MUST_CHECK int ssh_transport_fill(struct ssh_transport *);
/* For a session that is to doze: gives back memory that only a busy connection needs. false:
 * it may not, since a part of a packet has come, something is to be sent, or keys change. */
bool ssh_transport_shrink(struct ssh_transport *);

/* -- sending -- */

bool ssh_transport_is_open(const struct ssh_transport *); /* the gate */
PARKS MUST_CHECK int ssh_transport_gate(struct ssh_transport *, usec_t deadline);
/* Somebody waits for new keys, which come behind the peer's data: it must be read. */
bool ssh_transport_is_awaited(const struct ssh_transport *);
/* Seals one message, copied, and sends what goes. Above 49 only while the gate is open
 * (else -EINVAL, and the end of the connection). Cannot park. */
MUST_CHECK int ssh_transport_say(struct ssh_transport *, struct bytes payload);
/* The same with what a writer wrote; what did not fit in it is its failure. */
MUST_CHECK int ssh_transport_say_written(struct ssh_transport *, const struct wire_writer *);
/* Seals payloads in place: each piece has SSH_PACKET_HEAD bytes before it and
 * SSH_PACKET_TAIL_MAX behind it in the chunk. Takes the chunk's reference, also on failure. The
 * gate is open (else as above), and may be closed behind it. Cannot park. */
MUST_CHECK int ssh_transport_send(struct ssh_transport *, struct chunk *, struct iovec *pieces,
                                  unsigned count);
/* The bytes that one room had better not pass: while it is compressed all others wait. */
size_t ssh_transport_room_max(const struct ssh_transport *);
/* The bytes that had better be unsent at most: `most`, or less where a level of compression is
 * to be chosen by what goes. */
size_t ssh_transport_unsent_max(const struct ssh_transport *, size_t most);
/* From now on no more than that many are, and the kernel holds no more of them either;
 * SIZE_MAX: as many as before, but for the kernel's. */
void ssh_transport_bound_unsent(struct ssh_transport *, size_t bytes);
/* What we send is stored, not compressed again, where compression was agreed on; and until it
 * is told otherwise. */
void ssh_transport_store(struct ssh_transport *, bool is_storing);
/* Called when the gate has opened after a room, before anybody who waits for it. Cannot park;
 * NULL: nobody. */
void ssh_transport_set_settle(struct ssh_transport *, int (*settle)(void *arg), void *arg);
/* Not yet taken by the stream. */
size_t ssh_transport_unsent(const struct ssh_transport *);
/* Until at most so much is unsent, and nothing is being compressed. */
PARKS MUST_CHECK int ssh_transport_drain(struct ssh_transport *, size_t at_most,
                                         usec_t deadline);
/* Asks for new keys now, or behind the room that is being compressed; they come as
 * SSH_NEXT_OPENED. No-op while an exchange is under way. */
MUST_CHECK int ssh_transport_rekey(struct ssh_transport *);
/* When an exchange that is under way must be done; USEC_NEVER: there is none. */
usec_t ssh_transport_deadline(const struct ssh_transport *);
/* DISCONNECT with a reason and a text, as far as it goes without waiting. */
void ssh_transport_leave(struct ssh_transport *, enum ssh_disconnect, const char *text);

/* -- the phase, whose only other writers are the key exchange and ssh_transport_leave() -- */

enum ssh_phase ssh_transport_phase(const struct ssh_transport *);
/* SERVICE -> AUTH. */
void ssh_transport_service_accepted(struct ssh_transport *);
/* AUTH -> RUNNING, from one place of each role: when USERAUTH_SUCCESS was sealed or came.
 * Larger packets begin, and compression if it was agreed on: the next packet is the first. What
 * a client says without having heard of its success is lost then, as with OpenSSH. -ENOMEM. */
MUST_CHECK int ssh_transport_auth_succeeded(struct ssh_transport *);

/* -- what is known -- */

struct bytes ssh_transport_session_id(const struct ssh_transport *);
const struct ssh_chosen *ssh_transport_chosen(const struct ssh_transport *);
const struct ssh_ident *ssh_transport_peer_ident(const struct ssh_transport *);
unsigned ssh_transport_quirks(const struct ssh_transport *);
/* The peer's server-sig-algs (RFC 8308); empty: it said nothing. */
struct bytes ssh_transport_signature_algorithms(const struct ssh_transport *);

/* Bytes on the wire, both ways, and key exchanges done. */
struct ssh_traffic {
    uint64_t sent_bytes, received_bytes;
    unsigned exchanges;
};
/* Nothing of ours decides by it: tests see by it whether, and when, new keys were made. */
struct ssh_traffic ssh_transport_traffic(const struct ssh_transport *);
/* Of the stream below. */
void ssh_transport_stream_info(const struct ssh_transport *, struct stream_info *ret);
/* What failed, in words for a log: "no common cipher to the server", "wrong tag"; never NULL.
 */
const char *ssh_transport_why(const struct ssh_transport *);
