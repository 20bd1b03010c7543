#include "ssh/offer.h"

#include <assert.h>
#include <errno.h>

#include "base/mem.h"
#include "base/text.h"
#include "crypto/agree.h"
#include "crypto/cipher.h"
#include "ssh/wire/signature.h"

#define LIST_TEXT    384 /* all names of a list, and the markers */
#define MARKERS_TEXT 64

struct ssh_offer {
    enum ssh_role role;
    char kex_first[LIST_TEXT], kex[LIST_TEXT]; /* with and without markers */
    char host_keys[LIST_TEXT];                 /* a client's */
    char ciphers[LIST_TEXT], gcm[LIST_TEXT];   /* gcm: those of AES-GCM alone, or empty */
    char macs[LIST_TEXT];
};

/* When something is offered. */
enum when {
    ALWAYS,
    IF_MLKEM,    /* the library has it */
    IF_NISTP256, /* or asked for by its name */
    IF_LEGACY,   /* or asked for by its name */
    ONLY_LEGACY  /* the name alone does not do */
};

/* In the order of the default offer. */
struct known {
    const char *name;
    enum when when;
};

static const struct known kex_known[] = {
    {"mlkem768x25519-sha256", IF_MLKEM},          {"curve25519-sha256", ALWAYS},
    {"curve25519-sha256@libssh.org", ALWAYS},     {"ecdh-sha2-nistp256", IF_NISTP256},
    {"diffie-hellman-group16-sha512", ALWAYS},    {"diffie-hellman-group14-sha256", IF_LEGACY},
    {"diffie-hellman-group14-sha1", ONLY_LEGACY},
};
static const struct known mac_known[] = {
    {"hmac-sha2-256-etm@openssh.com", ALWAYS},
    {"hmac-sha2-512-etm@openssh.com", ALWAYS},
    {"hmac-sha2-256", ALWAYS}, /* for who knows no etm, as libssh2 before 1.11 */
    {"hmac-sha2-512", ALWAYS},
    {"hmac-sha1", ONLY_LEGACY},
};

/* -- lists -- */

static void list_add(char list[LIST_TEXT], const char *name)
{
    size_t len = strlen(list);
    assert(len + 1 + strlen(name) < LIST_TEXT);
    if (len > 0)
        list[len++] = ',';
    (void)text_copy(list + len, LIST_TEXT - len, bytes_str(name));
}

static bool is_offered(enum when when, const struct ssh_offer_settings *settings)
{
    switch (when) {
    case ALWAYS:
        return true;
    case IF_MLKEM:
        return crypto_agree_is_known(CRYPTO_AGREE_MLKEM768_X25519);
    case IF_NISTP256:
        return settings->nistp256;
    case IF_LEGACY:
    case ONLY_LEGACY:
        break;
    }
    return settings->legacy;
}

static bool may_be_named(enum when when, const struct ssh_offer_settings *settings)
{
    bool needs_all = when == ONLY_LEGACY || when == IF_MLKEM;
    return !needs_all || is_offered(when, settings);
}

static bool add_named(const struct known *known, unsigned count, struct bytes name,
                      const struct ssh_offer_settings *settings, char ret[LIST_TEXT])
{
    for (unsigned i = 0; i < count; i++) {
        if (bytes_equal(bytes_str(known[i].name), name) &&
            may_be_named(known[i].when, settings)) {
            list_add(ret, known[i].name);
            return true;
        }
    }
    return false;
}

/* Names of `only`, each of which must be known; or the default ones. */
static int list_make(const struct known *known, unsigned count, const char *only,
                     const struct ssh_offer_settings *settings, char ret[LIST_TEXT])
{
    ret[0] = '\0';
    if (only == NULL) {
        for (unsigned i = 0; i < count; i++)
            if (is_offered(known[i].when, settings))
                list_add(ret, known[i].name);
        return 0;
    }
    struct bytes rest = bytes_str(only);
    if (rest.len > LIST_TEXT - MARKERS_TEXT)
        return -EINVAL;
    while (rest.len > 0)
        if (!add_named(known, count, bytes_take_until(&rest, ','), settings, ret))
            return -EINVAL;
    return ret[0] != '\0' ? 0 : -EINVAL;
}

/* The fastest on this machine first: without AES instructions that is ChaCha20. What is there
 * for old peers comes last. */
static void order_ciphers(struct known ret[SSH_CIPHER_COUNT], unsigned *ret_count)
{
    struct crypto_speeds speeds = crypto_speeds();

    const struct {
        enum ssh_cipher_kind kind;
        uint64_t speed;
    } all[] = {
        {SSH_CIPHER_AES128_GCM, speeds.gcm128},   {SSH_CIPHER_AES256_GCM, speeds.gcm256},
        {SSH_CIPHER_CHACHA20, speeds.chacha},     {SSH_CIPHER_AES128_CTR, speeds.ctr_hmac},
        {SSH_CIPHER_AES192_CTR, speeds.ctr_hmac}, {SSH_CIPHER_AES256_CTR, speeds.ctr_hmac},
    };

    static const enum ssh_cipher_kind old[] = {SSH_CIPHER_AES128_CBC, SSH_CIPHER_AES256_CBC,
                                               SSH_CIPHER_3DES_CBC};

    bool is_taken[ARRAY_LEN(all)] = {false};
    unsigned n = 0;
    for (; n < ARRAY_LEN(all); n++) {
        unsigned best = ARRAY_LEN(all);
        for (unsigned i = 0; i < ARRAY_LEN(all); i++)
            if (!is_taken[i] && (best == ARRAY_LEN(all) || all[i].speed > all[best].speed))
                best = i;
        is_taken[best] = true;
        ret[n] = (struct known){ssh_cipher_name(all[best].kind), ALWAYS};
    }
    for (unsigned i = 0; i < ARRAY_LEN(old); i++)
        ret[n++] = (struct known){ssh_cipher_name(old[i]), ONLY_LEGACY};
    *ret_count = n;
}

static void list_signatures(struct known ret[SSH_SIGNATURE_COUNT])
{
    static const enum when by_use[] = {[SSH_SIGNATURE_USUAL] = ALWAYS,
                                       [SSH_SIGNATURE_NISTP256] = IF_NISTP256,
                                       [SSH_SIGNATURE_LEGACY] = ONLY_LEGACY};

    for (unsigned i = 0; i < SSH_SIGNATURE_COUNT; i++)
        ret[i] = (struct known){ssh_signatures[i].name, by_use[ssh_signatures[i].use]};
}

static void pick_gcm(struct ssh_offer *o)
{
    struct bytes rest = bytes_str(o->ciphers);
    while (rest.len > 0) {
        struct bytes name = bytes_take_until(&rest, ',');

        static const enum ssh_cipher_kind kinds[] = {SSH_CIPHER_AES128_GCM,
                                                     SSH_CIPHER_AES256_GCM};

        for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
            if (bytes_equal(name, bytes_str(ssh_cipher_name(kinds[i]))))
                list_add(o->gcm, ssh_cipher_name(kinds[i]));
    }
    /* only where it is what we want most */
    if (!bytes_start_with(bytes_str(o->ciphers), bytes_str(o->gcm)))
        o->gcm[0] = '\0';
}

static void add_markers(struct ssh_offer *o)
{
    memcpy(o->kex_first, o->kex, LIST_TEXT);
    bool is_server = o->role == SSH_SERVER;
    list_add(o->kex_first, is_server ? SSH_EXT_INFO_SERVER : SSH_EXT_INFO_CLIENT);
    list_add(o->kex_first, is_server ? SSH_STRICT_SERVER : SSH_STRICT_CLIENT);
}

int ssh_offer_new(enum ssh_role role, const struct ssh_offer_settings *settings,
                  struct ssh_offer **ret)
{
    struct known ciphers[SSH_CIPHER_COUNT], signatures[SSH_SIGNATURE_COUNT];
    unsigned cipher_count;
    struct ssh_offer *o = mem_new(sizeof(*o));
    if (o == NULL)
        return -ENOMEM;
    o->role = role;
    order_ciphers(ciphers, &cipher_count);
    list_signatures(signatures);
    int r = list_make(kex_known, ARRAY_LEN(kex_known), settings->only_kex, settings, o->kex);
    if (r == 0)
        r = list_make(signatures, SSH_SIGNATURE_COUNT, settings->only_host_keys, settings,
                      o->host_keys);
    if (r == 0)
        r = list_make(ciphers, cipher_count, settings->only_ciphers, settings, o->ciphers);
    if (r == 0)
        r = list_make(mac_known, ARRAY_LEN(mac_known), settings->only_macs, settings, o->macs);
    if (r < 0) {
        mem_free(o);
        return r;
    }
    pick_gcm(o);
    add_markers(o);
    *ret = o;
    return 0;
}

struct ssh_offer *ssh_offer_free(struct ssh_offer *o)
{
    mem_free(o);
    return NULL;
}

/* -- one KEXINIT -- */

static bool has_gcm(const struct ssh_kexinit *peer)
{
    static const enum ssh_list lists[] = {SSH_LIST_CIPHER_TO_SERVER, SSH_LIST_CIPHER_TO_CLIENT};

    for (unsigned i = 0; i < ARRAY_LEN(lists); i++)
        if (!ssh_list_has(peer->lists[lists[i]], BYTES_LIT("aes128-gcm@openssh.com")) &&
            !ssh_list_has(peer->lists[lists[i]], BYTES_LIT("aes256-gcm@openssh.com")))
            return false;
    return true;
}

void ssh_offer_lists(const struct ssh_offer *o, bool is_first, const struct ssh_kexinit *peer,
                     const char *host_keys, struct ssh_kexinit *ret)
{
    bool gcm_alone = peer != NULL && o->gcm[0] != '\0' && has_gcm(peer);
    struct bytes ciphers = bytes_str(gcm_alone ? o->gcm : o->ciphers);
    ret->lists[SSH_LIST_KEX] = bytes_str(is_first ? o->kex_first : o->kex);
    ret->lists[SSH_LIST_HOST_KEY] = bytes_str(host_keys != NULL ? host_keys : o->host_keys);
    ret->lists[SSH_LIST_CIPHER_TO_SERVER] = ret->lists[SSH_LIST_CIPHER_TO_CLIENT] = ciphers;
    ret->lists[SSH_LIST_MAC_TO_SERVER] = ret->lists[SSH_LIST_MAC_TO_CLIENT] =
        bytes_str(o->macs);
    ret->first_kex_packet_follows = false;
}
