#include "ssh/wire/kexinit.h"

#include "base/err.h"
#include "base/wire.h"
#include "ssh/wire/signature.h"

/* -- what is known -- */

struct known {
    struct bytes name;
    unsigned kind;
};

static const struct known kexes[] = {
    {BYTES_LIT("mlkem768x25519-sha256"), SSH_KEX_MLKEM768_X25519},
    {BYTES_LIT("curve25519-sha256"), SSH_KEX_CURVE25519},
    {BYTES_LIT("curve25519-sha256@libssh.org"), SSH_KEX_CURVE25519},
    {BYTES_LIT("ecdh-sha2-nistp256"), SSH_KEX_P256},
    {BYTES_LIT("diffie-hellman-group14-sha256"), SSH_KEX_DH14},
    {BYTES_LIT("diffie-hellman-group16-sha512"), SSH_KEX_DH16},
    {BYTES_LIT("diffie-hellman-group14-sha1"), SSH_KEX_DH14_SHA1},
};
static const struct known ciphers[] = {
    {BYTES_LIT("aes128-gcm@openssh.com"), SSH_CIPHER_AES128_GCM},
    {BYTES_LIT("aes256-gcm@openssh.com"), SSH_CIPHER_AES256_GCM},
    {BYTES_LIT("chacha20-poly1305@openssh.com"), SSH_CIPHER_CHACHA20},
    {BYTES_LIT("aes128-ctr"), SSH_CIPHER_AES128_CTR},
    {BYTES_LIT("aes192-ctr"), SSH_CIPHER_AES192_CTR},
    {BYTES_LIT("aes256-ctr"), SSH_CIPHER_AES256_CTR},
    {BYTES_LIT("aes128-cbc"), SSH_CIPHER_AES128_CBC},
    {BYTES_LIT("aes256-cbc"), SSH_CIPHER_AES256_CBC},
    {BYTES_LIT("3des-cbc"), SSH_CIPHER_3DES_CBC},
};
static const struct known macs[] = {
    {BYTES_LIT("hmac-sha2-256-etm@openssh.com"), SSH_MAC_SHA256_ETM},
    {BYTES_LIT("hmac-sha2-512-etm@openssh.com"), SSH_MAC_SHA512_ETM},
    {BYTES_LIT("hmac-sha2-256"), SSH_MAC_SHA256},
    {BYTES_LIT("hmac-sha2-512"), SSH_MAC_SHA512},
    {BYTES_LIT("hmac-sha1"), SSH_MAC_SHA1},
};
static const struct known compressions[] = {
    {BYTES_LIT("none"), SSH_COMPRESSION_NONE},
    {BYTES_LIT(SSH_ZLIB_DELAYED), SSH_COMPRESSION_ZLIB_DELAYED},
};

/* By list; of host keys ssh/wire/signature.h knows the names. Markers are in none of them, and
 * no cipher or MAC "none" either. */
static const struct {
    const char *text;
    const struct known *known;
    size_t count;
} lists[SSH_LIST_COUNT] = {
    [SSH_LIST_KEX] = {"key exchange", kexes, ARRAY_LEN(kexes)},
    [SSH_LIST_HOST_KEY] = {"host key", NULL, 0},
    [SSH_LIST_CIPHER_TO_SERVER] = {"cipher to the server", ciphers, ARRAY_LEN(ciphers)},
    [SSH_LIST_CIPHER_TO_CLIENT] = {"cipher to the client", ciphers, ARRAY_LEN(ciphers)},
    [SSH_LIST_MAC_TO_SERVER] = {"MAC to the server", macs, ARRAY_LEN(macs)},
    [SSH_LIST_MAC_TO_CLIENT] = {"MAC to the client", macs, ARRAY_LEN(macs)},
    [SSH_LIST_COMPRESSION_TO_SERVER] = {"compression to the server", compressions,
                                        ARRAY_LEN(compressions)},
    [SSH_LIST_COMPRESSION_TO_CLIENT] = {"compression to the client", compressions,
                                        ARRAY_LEN(compressions)},
};

/* *ret: its name is static text. */
static bool find_known(enum ssh_list list, struct bytes name, struct known *ret)
{
    if (list == SSH_LIST_HOST_KEY) {
        const struct ssh_signature *s = ssh_signature_find(name);
        if (s != NULL)
            *ret = (struct known){bytes_str(s->name), (unsigned)s->scheme};
        return s != NULL;
    }
    for (size_t i = 0; i < lists[list].count; i++) {
        if (bytes_equal(lists[list].known[i].name, name)) {
            *ret = lists[list].known[i];
            return true;
        }
    }
    return false;
}

static const char *name_of(const struct known *known, size_t count, unsigned kind)
{
    for (size_t i = 0; i < count; i++)
        if (known[i].kind == kind)
            return (const char *)known[i].name.data;
    return "none";
}

const char *ssh_cipher_name(enum ssh_cipher_kind kind)
{
    return name_of(ciphers, ARRAY_LEN(ciphers), kind);
}

const char *ssh_mac_name(enum ssh_mac_kind kind)
{
    return name_of(macs, ARRAY_LEN(macs), kind);
}

const char *ssh_list_text(enum ssh_list list)
{
    return lists[list].text;
}

/* -- messages -- */

/* RFC 4251 6: printable US-ASCII without blanks. */
static bool is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] <= 0x20 || name.data[i] > 0x7e)
            return false;
    return name.len > 0 && name.len <= SSH_NAME_MAX;
}

static bool is_list(struct bytes list)
{
    if (list.len > 0 && list.data[list.len - 1] == ',')
        return false;
    while (list.len > 0)
        if (!is_name(bytes_take_until(&list, ',')))
            return false;
    return true;
}

int ssh_kexinit_parse(struct bytes payload, struct ssh_kexinit *ret)
{
    struct wire_reader r = ssh_message_reader(payload, SSH_MSG_KEXINIT);
    if (payload.len > SSH_KEXINIT_MAX)
        return -FERRY_EPROTO;
    struct ssh_kexinit k = {0};
    struct bytes cookie = wire_get_bytes(&r, SSH_COOKIE_BYTES);
    bool are_lists = true;
    for (int i = 0; i < SSH_LIST_COUNT; i++) {
        k.lists[i] = wire_get_string(&r, SSH_NAME_LIST_MAX);
        are_lists = are_lists && is_list(k.lists[i]);
    }
    for (int i = 0; i < SSH_DIRECTION_COUNT; i++) /* languages */
        are_lists = is_list(wire_get_string(&r, SSH_NAME_LIST_MAX)) && are_lists;
    k.first_kex_packet_follows = wire_get_bool(&r);
    wire_get_u32(&r); /* for extensions to come: not looked at */
    int rc = wire_read_end(&r);
    if (rc < 0 || !are_lists)
        return -FERRY_EPROTO;
    memcpy(k.cookie, cookie.data, sizeof(k.cookie));
    *ret = k;
    return 0;
}

void ssh_kexinit_write(struct wire_writer *w, const struct ssh_kexinit *k)
{
    wire_put_u8(w, SSH_MSG_KEXINIT);
    wire_put_bytes(w, bytes_of(k->cookie, sizeof(k->cookie)));
    for (int i = 0; i < SSH_LIST_COUNT; i++)
        wire_put_string(w, k->lists[i]);
    for (int i = 0; i < SSH_DIRECTION_COUNT; i++)
        wire_put_string(w, BYTES_NONE);
    wire_put_bool(w, k->first_kex_packet_follows);
    wire_put_u32(w, 0);
}

/* -- choosing -- */

bool ssh_list_has(struct bytes list, struct bytes name)
{
    while (list.len > 0)
        if (bytes_equal(bytes_take_until(&list, ','), name) && name.len > 0)
            return true;
    return false;
}

struct bytes ssh_list_choose(struct bytes client, struct bytes server)
{
    while (client.len > 0) {
        struct bytes name = bytes_take_until(&client, ',');
        if (ssh_list_has(server, name))
            return name;
    }
    return BYTES_NONE;
}

/* The first of the client's names that the server has and that can be used here. */
static bool choose_known(const struct ssh_kexinit *client, const struct ssh_kexinit *server,
                         enum ssh_list list, struct known *ret)
{
    struct bytes rest = client->lists[list];
    while (rest.len > 0) {
        struct bytes name = bytes_take_until(&rest, ',');
        if (ssh_list_has(server->lists[list], name) && find_known(list, name, ret))
            return true;
    }
    return false;
}

static bool has_own_mac(enum ssh_cipher_kind kind)
{
    return kind == SSH_CIPHER_AES128_GCM || kind == SSH_CIPHER_AES256_GCM ||
           kind == SSH_CIPHER_CHACHA20;
}

static bool is_cbc(enum ssh_cipher_kind kind)
{
    return kind == SSH_CIPHER_AES128_CBC || kind == SSH_CIPHER_AES256_CBC ||
           kind == SSH_CIPHER_3DES_CBC;
}

bool ssh_chosen_needs_strict(const struct ssh_chosen *c)
{
    for (int d = 0; d < SSH_DIRECTION_COUNT; d++)
        if (is_cbc(c->cipher[d]) &&
            (c->mac[d] == SSH_MAC_SHA256_ETM || c->mac[d] == SSH_MAC_SHA512_ETM))
            return true;
    return false;
}

/* A guess is right when both sides put the same names first (RFC 4253 7). */
static bool is_guess_wrong(const struct ssh_kexinit *client, const struct ssh_kexinit *server)
{
    for (enum ssh_list list = SSH_LIST_KEX; list <= SSH_LIST_HOST_KEY; list++) {
        struct bytes ours = client->lists[list], theirs = server->lists[list];
        if (!bytes_equal(bytes_take_until(&ours, ','), bytes_take_until(&theirs, ',')))
            return true;
    }
    return false;
}

int ssh_choose(const struct ssh_kexinit *client, const struct ssh_kexinit *server,
               enum ssh_role peer, struct ssh_chosen *ret, enum ssh_list *ret_list)
{
    struct known known[SSH_LIST_COUNT];
    for (enum ssh_list list = 0; list < SSH_LIST_COUNT; list++) {
        bool is_found = choose_known(client, server, list, &known[list]);
        bool is_mac = list == SSH_LIST_MAC_TO_SERVER || list == SSH_LIST_MAC_TO_CLIENT;
        /* The cipher of the same direction stands two lists before. */
        bool is_needless = is_mac && has_own_mac((enum ssh_cipher_kind)known[list - 2].kind);
        if (!is_found && !is_needless) {
            *ret_list = list;
            return -FERRY_EPROTO;
        }
    }
    const struct ssh_kexinit *guess = peer == SSH_CLIENT ? client : server;
    struct ssh_chosen c = {
        .kex = (enum ssh_kex_kind)known[SSH_LIST_KEX].kind,
        .kex_name = (const char *)known[SSH_LIST_KEX].name.data,
        .host_key_name = (const char *)known[SSH_LIST_HOST_KEY].name.data,
        .server_has_zlib = true,
        .is_guess_wrong = guess->first_kex_packet_follows && is_guess_wrong(client, server),
    };
    for (int d = 0; d < SSH_DIRECTION_COUNT; d++) {
        c.cipher[d] = (enum ssh_cipher_kind)known[SSH_LIST_CIPHER_TO_SERVER + d].kind;
        c.mac[d] = has_own_mac(c.cipher[d])
                       ? SSH_MAC_NONE
                       : (enum ssh_mac_kind)known[SSH_LIST_MAC_TO_SERVER + d].kind;
        c.compression[d] =
            (enum ssh_compression_kind)known[SSH_LIST_COMPRESSION_TO_SERVER + d].kind;
        c.server_has_zlib =
            c.server_has_zlib && ssh_list_has(server->lists[SSH_LIST_COMPRESSION_TO_SERVER + d],
                                              BYTES_LIT(SSH_ZLIB_DELAYED));
    }
    *ret = c;
    return 0;
}
