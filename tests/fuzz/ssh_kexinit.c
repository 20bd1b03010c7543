/* layers: ssh_wire */
/* A peer's KEXINIT: what is read is written the same, and what is chosen stands in both lists,
 * whichever side the peer is. */
#include "base/wire.h"
#include "invariant.h"
#include "ssh/wire/kexinit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct ssh_kexinit ours = {
    .lists = {
        BYTES_LIT("curve25519-sha256,diffie-hellman-group16-sha512," SSH_STRICT_CLIENT),
        BYTES_LIT("ssh-ed25519,rsa-sha2-512"),
        BYTES_LIT("aes128-gcm@openssh.com,aes128-ctr"),
        BYTES_LIT("aes256-ctr,chacha20-poly1305@openssh.com"),
        BYTES_LIT("hmac-sha2-256-etm@openssh.com,hmac-sha2-256"),
        BYTES_LIT("hmac-sha2-512-etm@openssh.com,hmac-sha2-512"),
        BYTES_LIT("none,zlib@openssh.com"),
        BYTES_LIT("zlib@openssh.com,none"),
    }};

static void check_written(const struct ssh_kexinit *k)
{
    static uint8_t message[SSH_KEXINIT_MAX];
    struct ssh_kexinit again;
    struct wire_writer w = wire_writer_of(message, sizeof(message));
    ssh_kexinit_write(&w, k);
    INVARIANT(wire_write_end(&w) == 0);
    INVARIANT(ssh_kexinit_parse(bytes_of(message, w.len), &again) == 0);
    INVARIANT(memcmp(again.cookie, k->cookie, sizeof(k->cookie)) == 0);
    INVARIANT(again.first_kex_packet_follows == k->first_kex_packet_follows);
    for (int i = 0; i < SSH_LIST_COUNT; i++)
        INVARIANT(bytes_equal(again.lists[i], k->lists[i]));
}

static bool is_in_both(const struct ssh_kexinit *peer, enum ssh_list list, const char *name)
{
    return ssh_list_has(peer->lists[list], bytes_str(name)) &&
           ssh_list_has(ours.lists[list], bytes_str(name));
}

static void check_choice(const struct ssh_kexinit *peer, enum ssh_role role)
{
    struct ssh_chosen c;
    enum ssh_list failed = SSH_LIST_COUNT;
    const struct ssh_kexinit *client = role == SSH_CLIENT ? peer : &ours;
    const struct ssh_kexinit *server = role == SSH_CLIENT ? &ours : peer;
    if (ssh_choose(client, server, role, &c, &failed) < 0) {
        INVARIANT(failed < SSH_LIST_COUNT);
        return;
    }
    INVARIANT(is_in_both(peer, SSH_LIST_KEX, c.kex_name));
    INVARIANT(is_in_both(peer, SSH_LIST_HOST_KEY, c.host_key_name));
    INVARIANT(!c.is_guess_wrong || peer->first_kex_packet_follows);
    for (int d = 0; d < SSH_DIRECTION_COUNT; d++) {
        INVARIANT(c.cipher[d] != SSH_CIPHER_NONE);
        INVARIANT(
            is_in_both(peer, SSH_LIST_CIPHER_TO_SERVER + d, ssh_cipher_name(c.cipher[d])));
        bool is_ctr = c.cipher[d] >= SSH_CIPHER_AES128_CTR;
        INVARIANT((c.mac[d] != SSH_MAC_NONE) == is_ctr);
        if (is_ctr)
            INVARIANT(is_in_both(peer, SSH_LIST_MAC_TO_SERVER + d, ssh_mac_name(c.mac[d])));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ssh_kexinit k;
    if (ssh_kexinit_parse(bytes_of(data, len), &k) < 0)
        return 0;
    check_written(&k);
    check_choice(&k, SSH_CLIENT);
    check_choice(&k, SSH_SERVER);
    return 0;
}
