#include "ssh/kex.h"

#include <assert.h>
#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/wire.h"
#include "crypto/random.h"
#include "ssh/kex_job.h"
#include "ssh/transport_internal.h"
#include "ssh/wire/key.h"
#include "ssh/wire/signature.h"
#include "ssh/wire/transport.h"

#define KEX_US (60 * USEC_PER_S) /* from our KEXINIT to both NEWKEYS */

static bool is_first(const struct ssh_transport *t)
{
    return t->session_id.len == 0;
}

static bool is_client(const struct ssh_transport *t)
{
    return t->settings->role == SSH_CLIENT;
}

usec_t ssh_transport_deadline(const struct ssh_transport *t)
{
    return t->kex != NULL ? t->kex->deadline : USEC_NEVER;
}

/* -- KEXINIT -- */

/* What a client is known to have when its own message has not come: what was agreed on. */
static struct ssh_kexinit as_agreed(const struct ssh_transport *t)
{
    struct ssh_kexinit m = {0};
    for (unsigned i = 0; i < SSH_DIRECTION_COUNT; i++)
        m.lists[SSH_LIST_CIPHER_TO_SERVER + i] =
            bytes_str(ssh_cipher_name(t->chosen.cipher[i]));
    return m;
}

static int write_kexinit(struct ssh_transport *t, const struct ssh_kexinit *peer,
                         struct buf *ret)
{
    struct ssh_kexinit m = {0}, agreed = as_agreed(t);
    const struct ssh_host_keys *keys = t->settings->host_keys;
    bool may_steer = ssh_transport_quirks(t) & SSH_QUIRK_GCM_LAST && !is_client(t);
    if (peer == NULL && !is_first(t))
        peer = &agreed;
    ssh_offer_lists(t->settings->offer, is_first(t), may_steer ? peer : NULL,
                    keys != NULL ? keys->names : NULL, &m);
    m.lists[SSH_LIST_COMPRESSION_TO_SERVER] = m.lists[SSH_LIST_COMPRESSION_TO_CLIENT] =
        ssh_transport_compressions(t);
    int r = crypto_random(m.cookie, sizeof(m.cookie));
    if (r == 0)
        r = buf_reserve(ret, SSH_KEXINIT_OWN_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(ret->data, SSH_KEXINIT_OWN_MAX);
    ssh_kexinit_write(&w, &m);
    buf_added(ret, w.len);
    return wire_write_end(&w);
}

int ssh_kex_begin(struct ssh_transport *t, const struct ssh_kexinit *peer)
{
    assert(t->kex == NULL);
    struct ssh_kex *k = ssh_kex_new();
    if (k == NULL)
        return -ENOMEM;
    t->kex = k;
    t->is_open = t->wants_keys = false;
    ssh_transport_read_on(t);
    k->deadline = clock_after(KEX_US);
    int r = write_kexinit(t, peer, &k->own_kexinit);
    return r == 0 ? ssh_transport_say(t, buf_bytes(&k->own_kexinit)) : r;
}

static bool both_strict(const struct ssh_kexinit *client, const struct ssh_kexinit *server)
{
    return ssh_list_has(client->lists[SSH_LIST_KEX], BYTES_LIT(SSH_STRICT_CLIENT)) &&
           ssh_list_has(server->lists[SSH_LIST_KEX], BYTES_LIT(SSH_STRICT_SERVER));
}

static int choose(struct ssh_transport *t, const struct ssh_kexinit *own,
                  const struct ssh_kexinit *peer)
{
    const struct ssh_kexinit *client = is_client(t) ? own : peer;
    const struct ssh_kexinit *server = is_client(t) ? peer : own;
    enum ssh_list missing;
    int r = ssh_choose(client, server, is_client(t) ? SSH_SERVER : SSH_CLIENT, &t->kex->chosen,
                       &missing);
    if (r < 0)
        return ssh_transport_fail(t, -FERRY_EREFUSED, "nothing in common: %s",
                                  ssh_list_text(missing));
    t->drops_next = t->kex->chosen.is_guess_wrong;
    if (is_first(t)) {
        t->is_strict = both_strict(client, server);
        t->wants_ext_info =
            ssh_list_has(client->lists[SSH_LIST_KEX], BYTES_LIT(SSH_EXT_INFO_CLIENT));
    }
    if (!t->is_strict && ssh_chosen_needs_strict(&t->kex->chosen))
        return ssh_transport_fail(t, -FERRY_EREFUSED, "CBC with an etm MAC, not strict");
    return 0;
}

/* The client's INIT. */
static int say_init(struct ssh_transport *t)
{
    struct ssh_kex *k = t->kex;
    int r = crypto_agree_new(ssh_kex_agree(k->chosen.kex), &k->agree);
    if (r < 0)
        return r;
    uint8_t payload[16 + CRYPTO_AGREE_PUBLIC_MAX];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    wire_put_u8(&w, SSH_MSG_KEXDH_INIT);
    ssh_kex_put_public(&w, k->chosen.kex, crypto_agree_public(k->agree));
    return ssh_transport_say_written(t, &w);
}

/* In strict mode it is the peer's first packet of all (draft-miller-sshm-strict-kex): what came
 * before it had no effect, but counts. */
static int check_strict(struct ssh_transport *t)
{
    if (t->is_strict && is_first(t) && t->receive_sequence != 1)
        return ssh_transport_fail(t, -FERRY_EPROTO, "KEXINIT was not the first packet");
    return 0;
}

int ssh_kex_on_kexinit(struct ssh_transport *t, struct bytes payload)
{
    struct ssh_kexinit own, peer;
    if (ssh_kexinit_parse(payload, &peer) < 0)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a malformed KEXINIT");
    int r = ssh_transport_claim(t);
    if (r == 0 && t->kex == NULL)
        r = ssh_kex_begin(t, &peer);
    if (r == 0)
        r = buf_append_bytes(&t->kex->peer_kexinit, payload);
    if (r == 0)
        r = ssh_kexinit_parse(buf_bytes(&t->kex->own_kexinit), &own);
    if (r == 0)
        r = choose(t, &own, &peer);
    if (r == 0)
        r = check_strict(t);
    if (r < 0)
        return r;
    t->phase = t->phase == SSH_PHASE_KEXINIT ? SSH_PHASE_KEX : SSH_PHASE_RUNNING_KEX;
    return is_client(t) ? say_init(t) : 0;
}

/* -- the exchange -- */

/* While the job runs it is nobody's but the pool's. */
static int run_job(struct ssh_transport *t, enum ssh_kex_step step)
{
    struct ssh_kex *k = t->kex;
    k->step = step;
    k->role = t->settings->role;
    k->peer_ident = *t->peer_ident;
    k->session_id = t->session_id;
    k->own_ident = ssh_transport_own_ident();
    if (t->settings->pool == NULL)
        return ssh_kex_run(k);
    const struct pool_shares shares = {.session = t->share};
    t->kex = NULL;
    int r = job_run(t->settings->pool, &k->job, &shares, k->deadline);
    if (r < 0)
        return r;
    t->kex = k;
    return k->result;
}

static int switch_sealing(struct ssh_transport *t)
{
    struct ssh_kex *k = t->kex;
    const uint8_t newkeys = SSH_MSG_NEWKEYS;
    int r = ssh_transport_say(t, bytes_of(&newkeys, 1));
    if (r < 0)
        return r;
    ssh_cipher_free(t->sealing);
    t->sealing = k->sealing;
    k->sealing = NULL;
    t->next_opening = k->opening;
    k->opening = NULL;
    if (t->is_strict)
        t->send_sequence = 0;
    t->sent_bytes = t->sent_packets = 0;
    if (is_first(t))
        t->session_id = k->hash;
    if (t->phase == SSH_PHASE_RUNNING_KEX)
        r = ssh_transport_start_packing(t, &k->chosen);
    if (r < 0)
        return r;
    t->phase = t->phase == SSH_PHASE_KEX ? SSH_PHASE_NEWKEYS : SSH_PHASE_RUNNING_NEWKEYS;
    t->is_open = t->has_opened = true;
    event_set(&t->opened);
    return 0;
}

/* RFC 8308 2.4: the first message after our first NEWKEYS. */
static int say_ext_info(struct ssh_transport *t)
{
    char signatures[SSH_SIGNATURE_NAMES];
    size_t len = ssh_signature_names(SSH_SIGNATURE_ALL_KINDS, t->settings->host_keys->legacy,
                                     sizeof(signatures), signatures);
    const struct ssh_extension extensions[] = {
        {BYTES_LIT("server-sig-algs"), bytes_of(signatures, len)},
        {BYTES_LIT("ping@openssh.com"), BYTES_LIT("0")},
    };
    uint8_t payload[256];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_ext_info_write(&w, extensions, ARRAY_LEN(extensions));
    return ssh_transport_say_written(t, &w);
}

static int say_reply(struct ssh_transport *t)
{
    struct ssh_kex *k = t->kex;
    struct buf payload;
    buf_init(&payload, SSH_KEX_REPLY_MAX);
    int r = buf_reserve(&payload, SSH_KEX_REPLY_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(payload.data, SSH_KEX_REPLY_MAX);
    wire_put_u8(&w, SSH_MSG_KEXDH_REPLY);
    wire_put_string(&w, buf_bytes(&k->host_key));
    ssh_kex_put_public(&w, k->chosen.kex, crypto_agree_public(k->agree));
    wire_put_string(&w, buf_bytes(&k->signature));
    r = ssh_transport_say_written(t, &w);
    buf_done(&payload);
    return r;
}

int ssh_kex_on_dh_init(struct ssh_transport *t, struct bytes payload)
{
    struct ssh_kex *k = t->kex;
    struct wire_reader r = wire_reader_of(bytes_skip(payload, 1));
    struct bytes public = ssh_kex_get_public(&r, k->chosen.kex);
    if (wire_read_end(&r) < 0)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a malformed KEXDH_INIT");
    struct crypto_key *key =
        ssh_host_keys_find(t->settings->host_keys, bytes_str(k->chosen.host_key_name));
    if (key == NULL)
        return ssh_transport_fail(t, -FERRY_EREFUSED, "no host key of that kind");
    k->signer = crypto_key_ref(key);
    int result = buf_append_bytes(&k->peer_public, public);
    if (result == 0)
        result = run_job(t, SSH_KEX_ANSWER);
    if (result < 0)
        return ssh_transport_fail(t, result, "the key exchange failed");
    bool was_first = is_first(t);
    result = say_reply(t);
    if (result == 0)
        result = switch_sealing(t);
    if (result == 0 && was_first && t->wants_ext_info)
        result = say_ext_info(t);
    return result;
}

/* The first time the caller judges the key; later it must be the same. */
static int check_host_key(struct ssh_transport *t)
{
    struct ssh_kex *k = t->kex;
    struct bytes blob = buf_bytes(&k->host_key);
    if (!is_first(t)) {
        if (bytes_equal(blob, buf_bytes(&t->host_key)))
            return 0;
        return ssh_transport_fail(t, -FERRY_EAUTH, "the server changed its host key");
    }
    int r = buf_append_bytes(&t->host_key, blob);
    if (r == 0 && t->settings->check_host_key != NULL)
        r = t->settings->check_host_key(t->settings->check_arg, k->peer_key, blob);
    return r < 0 ? ssh_transport_fail(t, r, "the server's host key was not taken") : 0;
}

int ssh_kex_on_dh_reply(struct ssh_transport *t, struct bytes payload)
{
    struct ssh_kex *k = t->kex;
    struct wire_reader r = wire_reader_of(bytes_skip(payload, 1));
    struct bytes host_key = wire_get_string(&r, SSH_KEY_BLOB_MAX);
    struct bytes public = ssh_kex_get_public(&r, k->chosen.kex);
    struct bytes signature = wire_get_string(&r, SSH_SIGNATURE_BLOB_MAX);
    if (wire_read_end(&r) < 0)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a malformed KEXDH_REPLY");
    int result = buf_append_bytes(&k->host_key, host_key);
    if (result == 0)
        result = buf_append_bytes(&k->peer_public, public);
    if (result == 0)
        result = buf_append_bytes(&k->signature, signature);
    if (result == 0)
        result = run_job(t, SSH_KEX_CHECK);
    if (result < 0)
        return ssh_transport_fail(t, result, "the key exchange failed: %s", err_text(result));
    result = check_host_key(t);
    return result == 0 ? switch_sealing(t) : result;
}

int ssh_kex_on_newkeys(struct ssh_transport *t, struct bytes payload)
{
    if (payload.len != 1)
        return ssh_transport_fail(t, -FERRY_EPROTO, "a malformed NEWKEYS");
    ssh_cipher_free(t->opening);
    t->opening = t->next_opening;
    t->next_opening = NULL;
    if (t->is_strict)
        t->receive_sequence = 0;
    t->received_bytes = t->received_packets = 0;
    t->keys_at = clock_now();
    t->chosen = t->kex->chosen;
    t->traffic.exchanges++;
    t->kex = ssh_kex_free(t->kex);
    bool is_over = t->phase == SSH_PHASE_RUNNING_NEWKEYS;
    t->phase = is_over ? SSH_PHASE_RUNNING : SSH_PHASE_SERVICE;
    return is_over ? ssh_transport_start_unpacking(t, &t->chosen) : 0;
}
