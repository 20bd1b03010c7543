/* Packets in memory (RFC 4253 6; AES-GCM as RFC 5647 is deployed; OpenSSH's PROTOCOL for etm
 * MACs and PROTOCOL.chacha20poly1305; RFC 6668 for the MACs of packets in clear):
 *
 *     length (4) | padding length (1) | payload | padding (4..255) | tag or MAC (0..64)
 *
 * A packet is sealed and opened where it lies. The caller has the sequence numbers (of 32 bits,
 * which wrap) and picks the padding's bytes; AES-GCM counts its nonce itself. An object serves
 * one direction of one key epoch. Opening hands out nothing before the tag was found right; a
 * MAC is compared in constant time.
 *
 * A MAC over the packet in clear (encrypt-and-MAC) vouches for a length only after it was
 * believed. With CBC, where a peer fails tells about any block that an attacker puts in the
 * length's place (CVE-2008-5161), and so one reads on to the largest packet first, and does as
 * much work: ssh_packet_veil(). With CTR a wrong one is refused at once. A key stream belongs
 * to its place: it tells only the length that the sender put there, once in a connection, since
 * the connection ends.
 */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "ssh/wire/kexinit.h"

#define SSH_PACKET_HEAD      5         /* bytes before the payload */
#define SSH_PACKET_TAIL_MAX  (32 + 64) /* what sealing puts behind a payload at most */
#define SSH_PACKET_MAX       (256 * 1024) /* largest packet_length that is taken, after the login */
#define SSH_PACKET_MAX_EARLY 35000        /* and before it (RFC 4253 6.1) */

/* The largest payload that is sealed. */
#define SSH_PAYLOAD_MAX (SSH_PACKET_MAX - 32)

#define SSH_KEY_MAX 64 /* bytes of a cipher's or a MAC's key */

struct ssh_cipher;

/* Bytes of key material that a cipher and its MAC want. */
struct ssh_key_sizes {
    size_t iv, key, mac;
};
struct ssh_key_sizes ssh_key_sizes(enum ssh_cipher_kind, enum ssh_mac_kind);

/* SSH_CIPHER_NONE needs no material. Wipe yours afterwards. -ENOMEM; -EINVAL: material of other
 * lengths than ssh_key_sizes() says, or a cipher that wants a MAC without one. */
MUST_CHECK int ssh_cipher_new(enum ssh_cipher_kind, enum ssh_mac_kind, bool for_sealing,
                              struct bytes iv, struct bytes key, struct bytes mac,
                              struct ssh_cipher **ret);
struct ssh_cipher *ssh_cipher_free(struct ssh_cipher *); /* wipes; NULL is fine */
enum ssh_cipher_kind ssh_cipher_kind(const struct ssh_cipher *);
/* When it should be given up: blocks or bytes that have passed (RFC 4344 3.2, OpenSSH's
 * limits), not counting a setting. */
uint64_t ssh_cipher_bytes_max(const struct ssh_cipher *);

/* Bytes of padding and tag behind a payload of this length. */
size_t ssh_packet_tail(const struct ssh_cipher *, size_t payload_len);

/* packet: SSH_PACKET_HEAD bytes, then the payload, then room for ssh_packet_tail() bytes, of
 * which the caller may have set those of the padding (what is there is sent; encrypted, zeros
 * are as good). *ret_len: the packet's length on the wire. -FERRY_ELIMIT: no payload, or one
 * beyond SSH_PAYLOAD_MAX. */
MUST_CHECK int ssh_packet_seal(struct ssh_cipher *, uint32_t sequence, uint8_t *packet,
                               size_t payload_len, size_t *ret_len);

/* Bytes that must be there before the length can be read: 4, or a block that hides it. */
size_t ssh_packet_head(const struct ssh_cipher *);
/* Bytes of the whole packet that begins here. max: of packet_length. -FERRY_EPROTO: too short,
 * too long, or no multiple of the block. Changes nothing in data. May be asked again until the
 * packet is opened, which must be the next that is. */
MUST_CHECK int ssh_packet_length(struct ssh_cipher *, uint32_t sequence, const uint8_t *data,
                                 size_t max, size_t *ret_len);
/* len: from ssh_packet_length(). Decrypts in place; the payload, at least one byte, points into
 * the packet. -FERRY_EPROTO: tag, padding. The object is of no use after a failure of this or
 * of ssh_packet_length(), and what was decrypted before its tag was checked is zeros. */
MUST_CHECK int ssh_packet_open(struct ssh_cipher *, uint32_t sequence, uint8_t *packet,
                               size_t len, struct bytes *ret_payload);

/* After such a failure: bytes, from where the packet begins, that must have come before the
 * peer may notice anything; 0: none. max: as of ssh_packet_length(). */
size_t ssh_packet_veil(const struct ssh_cipher *, size_t max);
/* And when they are here: the work that is left of opening a packet as long as that, so that
 * the time does not tell either. They are overwritten. */
void ssh_packet_discard(struct ssh_cipher *, uint8_t *packet, size_t len);
