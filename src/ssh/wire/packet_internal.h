/* How ciphers are used on packets, from inside: packet.c has what they have in common. */
#pragma once
#include "crypto/cipher.h"
#include "crypto/digest.h"
#include "ssh/wire/packet.h"

#define SSH_LENGTH_BYTES 4
#define SSH_AES_BLOCK    16
#define SSH_3DES_BLOCK   8

struct ssh_cipher {
    enum ssh_cipher_kind kind;
    const struct ssh_family *family;
    size_t tag_len;

    union {
        struct crypto_gcm *gcm;
        struct crypto_chacha *chacha;
        struct crypto_ctr *ctr;
        struct crypto_cbc *cbc;
    };

    uint8_t nonce[CRYPTO_NONCE_BYTES]; /* GCM's next */
    struct crypto_hmac *mac;           /* of CTR and CBC */

    /* Where the length is encrypted with the packet: its first block in clear, from when the
     * length is asked for until the packet is opened. What runs decrypts it once. */
    uint8_t first[SSH_AES_BLOCK];
    bool has_first;
    size_t worked_on; /* bytes of a packet whose MAC is wrong */
};

/* What ciphers that are used in one way have in common. `packet` begins with the length field,
 * and len counts it, but not the tag, which follows. */
struct ssh_family {
    size_t block; /* what is padded is a multiple of it */
    size_t head;  /* bytes that tell the length */
    size_t tag_len;
    bool is_length_padded; /* the length field counts in that */
    bool has_mac;          /* a MAC of its own choosing, instead of a tag */
    bool is_veiled;        /* where a packet fails must not show: ssh_packet_veil() */
    uint64_t bytes_max;
    int (*set_up)(struct ssh_cipher *, bool for_sealing, struct bytes iv, struct bytes key);
    /* The length field in clear; NULL: it is not encrypted. */
    int (*read_length)(struct ssh_cipher *, uint32_t sequence, const uint8_t *head,
                       uint8_t ret[SSH_LENGTH_BYTES]);
    int (*seal)(struct ssh_cipher *, uint32_t sequence, uint8_t *packet, size_t len);
    int (*open)(struct ssh_cipher *, uint32_t sequence, uint8_t *packet, size_t len);
    int (*apply)(struct ssh_cipher *, uint8_t *data, size_t len); /* the cipher beside a MAC */
    void (*free)(struct ssh_cipher *);
};

extern const struct ssh_family ssh_family_none;
extern const struct ssh_family ssh_family_gcm;
extern const struct ssh_family ssh_family_chacha;
extern const struct ssh_family ssh_family_ctr;
extern const struct ssh_family ssh_family_ctr_clear_mac;
extern const struct ssh_family ssh_family_cbc;
extern const struct ssh_family ssh_family_cbc_clear_mac;
extern const struct ssh_family ssh_family_3des;
extern const struct ssh_family ssh_family_3des_clear_mac;
