/* KEXINIT (RFC 4253 7.1): what each side offers, and what both then use. */
#pragma once
#include "base/attr.h"
#include "base/bytes.h"
#include "ssh/wire/message.h"

#define SSH_COOKIE_BYTES  16
#define SSH_KEXINIT_MAX   8192 /* bytes of a payload that we read or write */
#define SSH_NAME_LIST_MAX 4096 /* bytes of one list */
#define SSH_NAME_MAX      64   /* bytes of one name (RFC 4251 6) */

/* Lists in the order of the message. Languages are always empty and not kept. */
enum ssh_list {
    SSH_LIST_KEX,
    SSH_LIST_HOST_KEY,
    SSH_LIST_CIPHER_TO_SERVER,
    SSH_LIST_CIPHER_TO_CLIENT,
    SSH_LIST_MAC_TO_SERVER,
    SSH_LIST_MAC_TO_CLIENT,
    SSH_LIST_COMPRESSION_TO_SERVER,
    SSH_LIST_COMPRESSION_TO_CLIENT,
    SSH_LIST_COUNT
};

/* Names between commas, best first; borrowed. In a message of ours the texts are ours; of the
 * peer's they point into its payload. */
struct ssh_kexinit {
    uint8_t cookie[SSH_COOKIE_BYTES];
    struct bytes lists[SSH_LIST_COUNT];
    bool first_kex_packet_follows;
};

/* payload with its message number. -FERRY_EPROTO: also for a list beyond its bound, with an
 * empty name, or a byte that no name has. */
MUST_CHECK int ssh_kexinit_parse(struct bytes payload, struct ssh_kexinit *ret);
struct wire_writer;
void ssh_kexinit_write(struct wire_writer *, const struct ssh_kexinit *);

bool ssh_list_has(struct bytes list, struct bytes name);
/* The first name of `client` that `server` has; empty: none (RFC 4253 7.1). */
struct bytes ssh_list_choose(struct bytes client, struct bytes server);

/* -- what is known here, by number; order of the tables is no preference -- */

enum ssh_kex_kind {
    SSH_KEX_CURVE25519,     /* curve25519-sha256 and @libssh.org (RFC 8731) */
    SSH_KEX_P256,           /* ecdh-sha2-nistp256 (RFC 5656), by setting */
    SSH_KEX_DH14,           /* diffie-hellman-group14-sha256 (RFC 8268) */
    SSH_KEX_DH16,           /* diffie-hellman-group16-sha512 */
    SSH_KEX_DH14_SHA1,      /* diffie-hellman-group14-sha1, for old peers by setting */
    SSH_KEX_MLKEM768_X25519 /* mlkem768x25519-sha256 (draft-ietf-sshm-mlkem-hybrid-kex) */
};

enum ssh_cipher_kind {
    SSH_CIPHER_NONE,
    SSH_CIPHER_AES128_GCM, /* @openssh.com */
    SSH_CIPHER_AES256_GCM,
    SSH_CIPHER_CHACHA20, /* chacha20-poly1305@openssh.com */
    SSH_CIPHER_AES128_CTR,
    SSH_CIPHER_AES192_CTR,
    SSH_CIPHER_AES256_CTR,
    SSH_CIPHER_AES128_CBC, /* for old peers by setting */
    SSH_CIPHER_AES256_CBC,
    SSH_CIPHER_3DES_CBC,
    SSH_CIPHER_COUNT
};

enum ssh_mac_kind {
    SSH_MAC_NONE, /* the cipher's own */
    SSH_MAC_SHA256_ETM,
    SSH_MAC_SHA512_ETM,
    SSH_MAC_SHA256, /* of the packet in clear, as the next ones */
    SSH_MAC_SHA512,
    SSH_MAC_SHA1, /* for old peers by setting */
    SSH_MAC_COUNT
};

#define SSH_ZLIB_DELAYED "zlib@openssh.com"

enum ssh_compression_kind { SSH_COMPRESSION_NONE, SSH_COMPRESSION_ZLIB_DELAYED };

enum ssh_direction { SSH_TO_SERVER, SSH_TO_CLIENT, SSH_DIRECTION_COUNT };

struct ssh_chosen {
    enum ssh_kex_kind kex;
    const char *kex_name, *host_key_name; /* static text: "ssh-ed25519", "rsa-sha2-512", ... */
    enum ssh_cipher_kind cipher[SSH_DIRECTION_COUNT];
    enum ssh_mac_kind mac[SSH_DIRECTION_COUNT];
    enum ssh_compression_kind compression[SSH_DIRECTION_COUNT];
    bool server_has_zlib; /* zlib@openssh.com both ways, whether it was asked for or not */
    bool is_guess_wrong;  /* the peer's first_kex_packet_follows: drop its next packet */
};

/* Chooses from the client's and the server's message. A MAC is chosen only for a cipher without
 * one of its own. peer: whose guess is looked at. -FERRY_EPROTO: nothing in common; *ret_list
 * says in which list. Names that only mark a capability (ext-info-c, kex-strict-...) are never
 * chosen. */
MUST_CHECK int ssh_choose(const struct ssh_kexinit *client, const struct ssh_kexinit *server,
                          enum ssh_role peer, struct ssh_chosen *ret, enum ssh_list *ret_list);

/* CBC with a MAC of the encrypted packet: without strict exchange packets can be taken out at
 * the beginning and nobody notices (CVE-2023-48795). */
bool ssh_chosen_needs_strict(const struct ssh_chosen *);

const char *ssh_cipher_name(enum ssh_cipher_kind); /* as in the lists */
const char *ssh_mac_name(enum ssh_mac_kind);
const char *ssh_list_text(enum ssh_list); /* "key exchange", "cipher to the server", ... */

/* Strict key exchange and EXT_INFO markers. */
#define SSH_STRICT_CLIENT   "kex-strict-c-v00@openssh.com"
#define SSH_STRICT_SERVER   "kex-strict-s-v00@openssh.com"
#define SSH_EXT_INFO_CLIENT "ext-info-c"
#define SSH_EXT_INFO_SERVER "ext-info-s"
