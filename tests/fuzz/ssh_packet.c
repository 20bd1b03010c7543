/* layers: ssh_wire */
/* Packets under fixed keys. Input: a byte that says which cipher and what is done, then
 *
 *     even   packets as they come from the wire: each payload lies in its packet
 *     odd    a payload, sealed, and of its last four bytes where and how it is changed on the
 *            way: it is opened unchanged or not at all
 */
#include "base/wire.h"
#include "invariant.h"
#include "ssh/wire/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define INPUT_MAX 4096

static const struct suite {
    enum ssh_cipher_kind cipher;
    enum ssh_mac_kind mac;
} suites[] = {
    {SSH_CIPHER_NONE, SSH_MAC_NONE},
    {SSH_CIPHER_AES128_GCM, SSH_MAC_NONE},
    {SSH_CIPHER_AES256_GCM, SSH_MAC_NONE},
    {SSH_CIPHER_CHACHA20, SSH_MAC_NONE},
    {SSH_CIPHER_AES128_CTR, SSH_MAC_SHA256_ETM},
    {SSH_CIPHER_AES192_CTR, SSH_MAC_SHA512_ETM},
    {SSH_CIPHER_AES256_CTR, SSH_MAC_SHA256_ETM},
    {SSH_CIPHER_AES128_CTR, SSH_MAC_SHA256},
    {SSH_CIPHER_AES192_CTR, SSH_MAC_SHA512},
    {SSH_CIPHER_AES256_CTR, SSH_MAC_SHA512},
    {SSH_CIPHER_AES128_CBC, SSH_MAC_SHA1},
    {SSH_CIPHER_AES256_CBC, SSH_MAC_SHA256_ETM},
    {SSH_CIPHER_3DES_CBC, SSH_MAC_SHA1},
    {SSH_CIPHER_3DES_CBC, SSH_MAC_SHA512_ETM},
    {SSH_CIPHER_AES128_CTR, SSH_MAC_SHA1},
};

static struct ssh_cipher *cipher_new(const struct suite *s, bool for_sealing)
{
    static const uint8_t material[SSH_KEY_MAX] = "fixed";
    struct ssh_key_sizes z = ssh_key_sizes(s->cipher, s->mac);
    struct ssh_cipher *c = NULL;
    INVARIANT(ssh_cipher_new(s->cipher, s->mac, for_sealing, bytes_of(material, z.iv),
                             bytes_of(material, z.key), bytes_of(material, z.mac), &c) == 0);
    return c;
}

/* What failed is read on, and wiped, but for a tag and what is no whole block. */
static void discard(struct ssh_cipher *c, struct bytes in, size_t at)
{
    static uint8_t rest[INPUT_MAX + 128];
    size_t len = ssh_packet_veil(c, INPUT_MAX);
    INVARIANT(len == 0 || (len > INPUT_MAX && len <= sizeof(rest)));
    if (len == 0)
        return;
    memset(rest, 0xee, sizeof(rest));
    memcpy(rest, in.data + at, in.len - at);
    ssh_packet_discard(c, rest, len);
    INVARIANT(len == sizeof(rest) || rest[len] == 0xee);
}

static void open_all(const struct suite *s, struct bytes in)
{
    static uint8_t wire[INPUT_MAX];
    struct ssh_cipher *c = cipher_new(s, false);
    uint32_t sequence = 0;
    size_t at = 0, len, again;
    memcpy(wire, in.data, in.len);
    int rc = 0;
    while (rc == 0 && in.len - at >= ssh_packet_head(c)) {
        struct bytes payload;
        rc = ssh_packet_length(c, sequence, wire + at, INPUT_MAX, &len);
        if (rc < 0 || len > in.len - at)
            break;
        INVARIANT(ssh_packet_length(c, sequence, wire + at, INPUT_MAX, &again) == 0);
        INVARIANT(again == len && memcmp(wire + at, in.data + at, len) == 0);
        rc = ssh_packet_open(c, sequence++, wire + at, len, &payload);
        if (rc < 0)
            break;
        INVARIANT(payload.data == wire + at + SSH_PACKET_HEAD && payload.len > 0);
        INVARIANT(payload.len + SSH_PACKET_HEAD + 4 <= len);
        at += len;
    }
    if (rc < 0)
        discard(c, in, at);
    ssh_cipher_free(c);
}

static void seal_change_open(const struct suite *s, struct bytes payload, size_t where,
                             uint8_t how)
{
    static uint8_t packet[2 * INPUT_MAX];
    struct ssh_cipher *seal = cipher_new(s, true), *open = cipher_new(s, false);
    size_t len, opened_len;
    struct bytes opened;
    memset(packet, 0, sizeof(packet));
    memcpy(packet + SSH_PACKET_HEAD, payload.data, payload.len);
    INVARIANT(ssh_packet_seal(seal, 7, packet, payload.len, &len) == 0);
    INVARIANT(len == SSH_PACKET_HEAD + payload.len + ssh_packet_tail(seal, payload.len));
    packet[where % len] ^= how;
    bool is_opened =
        ssh_packet_length(open, 7, packet, sizeof(packet) - 128, &opened_len) == 0 &&
        ssh_packet_open(open, 7, packet, opened_len, &opened) == 0;
    INVARIANT(how != 0 || is_opened);
    if (s->cipher != SSH_CIPHER_NONE)
        INVARIANT(how == 0 || !is_opened);
    if (how == 0)
        INVARIANT(opened_len == len && bytes_equal(opened, payload));
    ssh_cipher_free(seal);
    ssh_cipher_free(open);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 6 || len > INPUT_MAX)
        return 0;
    const struct suite *s = &suites[(data[0] >> 1) % ARRAY_LEN(suites)];
    struct bytes in = bytes_of(data + 1, len - 1);
    if (data[0] % 2 == 0) {
        open_all(s, in);
        return 0;
    }
    struct bytes payload = bytes_first(in, in.len - 4);
    uint32_t change = wire_u32(in.data + payload.len);
    seal_change_open(s, payload, change >> 8, (uint8_t)change);
    return 0;
}
