#include "ssh/client_auth.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ssh/transport_internal.h"
#include "ssh/wire/auth.h"
#include "ssh/wire/key.h"
#include "ssh/wire/signature.h"
#include "ssh/wire/transport.h"

/* So many keys are signed with at once. Of more, the server is asked first which would do: each
 * wrong signature counts as a failure there, a question does not. */
#define SIGNED_AT_ONCE 4
#define BANNERS_MAX    64
#define REQUEST_MAX    (SSH_KEY_BLOB_MAX + SSH_SIGNATURE_BLOB_MAX + 1024)

struct login {
    struct ssh_transport *transport;
    struct stream *lower;
    const struct ssh_client_settings *settings;
    bool takes_keys, takes_passwords; /* as far as the server has said */
    unsigned banners;
};

/* What is tried: a key of ours, or one that somebody else signs with. */
struct candidate {
    struct crypto_key *key;
    const struct ssh_signer *signer; /* NULL: the key has its secret */
};

/* -- messages -- */

static int next_message(struct login *l, struct ssh_packet *ret)
{
    for (;;) {
        int r = ssh_transport_next(l->transport, ret);
        if (r == SSH_NEXT_PACKET || r < 0)
            return r;
        if (r == SSH_NEXT_OPENED)
            continue;
        if (clock_now() >= l->settings->deadline)
            return -ETIMEDOUT;
        r = stream_wait(l->lower, NULL, l->settings->deadline);
        if (r == 0)
            r = ssh_transport_fill(l->transport);
        if (r < 0)
            return r;
    }
}

static int ask_for_service(struct login *l)
{
    uint8_t payload[64];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    struct ssh_packet packet;
    struct bytes name;
    ssh_service_write(&w, SSH_MSG_SERVICE_REQUEST, BYTES_LIT("ssh-userauth"));
    int r = ssh_transport_say_written(l->transport, &w);
    if (r == 0)
        r = next_message(l, &packet);
    if (r != 0)
        return r;
    if (ssh_service_parse(packet.payload, &name) < 0 ||
        !bytes_equal(name, BYTES_LIT("ssh-userauth")))
        return ssh_transport_fail(l->transport, -FERRY_EPROTO, "a malformed SERVICE_ACCEPT");
    ssh_transport_service_accepted(l->transport);
    return 0;
}

enum answer { ANSWER_NO, ANSWER_IN, ANSWER_GO_ON };

static int on_failure(struct login *l, struct bytes payload)
{
    struct ssh_auth_failure failure;
    if (ssh_auth_failure_parse(payload, &failure) < 0)
        return ssh_transport_fail(l->transport, -FERRY_EPROTO, "a malformed USERAUTH_FAILURE");
    l->takes_keys = ssh_list_has(failure.methods, BYTES_LIT("publickey"));
    l->takes_passwords = ssh_list_has(failure.methods, BYTES_LIT("password"));
    return ANSWER_NO;
}

/* One of enum answer, or a failure. Banners are for people. */
static int read_answer(struct login *l)
{
    struct ssh_packet packet;
    int r = next_message(l, &packet);
    while (r >= 0 && packet.payload.data[0] == SSH_MSG_USERAUTH_BANNER) {
        if (l->banners++ == BANNERS_MAX)
            return ssh_transport_fail(l->transport, -FERRY_ELIMIT, "banners without end");
        r = next_message(l, &packet);
    }
    if (r < 0)
        return r;
    switch (packet.payload.data[0]) {
    case SSH_MSG_USERAUTH_SUCCESS:
        r = ssh_transport_auth_succeeded(l->transport);
        return r < 0 ? r : ANSWER_IN;
    case SSH_MSG_USERAUTH_FAILURE:
        return on_failure(l, packet.payload);
    case SSH_MSG_USERAUTH_PK_OK:
        return ANSWER_GO_ON;
    default:
        return ssh_transport_fail(l->transport, -FERRY_EPROTO, "%s as an answer to a login",
                                  ssh_message_name(packet.payload.data[0]));
    }
}

/* -- keys -- */

/* A signature, as a job that owns all it needs. */
struct sign_job {
    struct job job;
    struct crypto_key *key;
    const char *algorithm; /* static text */
    struct buf data, signature;
    int result;
};

static void sign_run(struct job *job)
{
    struct sign_job *s = (struct sign_job *)(void *)job;
    struct wire_writer w = wire_writer_of(s->signature.data, SSH_SIGNATURE_BLOB_MAX);
    s->result = ssh_sign(s->key, bytes_str(s->algorithm), buf_bytes(&s->data), &w);
    if (s->result == 0)
        s->result = wire_write_end(&w);
    buf_added(&s->signature, w.len);
}

static void sign_free(struct job *job)
{
    struct sign_job *s = (struct sign_job *)(void *)job;
    crypto_key_unref(s->key);
    buf_done(&s->data);
    buf_done(&s->signature);
    mem_free(s);
}

static struct sign_job *sign_new(struct crypto_key *key, const char *algorithm)
{
    struct sign_job *s = mem_new(sizeof(*s));
    if (s == NULL)
        return NULL;
    s->job.run = sign_run;
    s->job.free = sign_free;
    s->key = crypto_key_ref(key);
    s->algorithm = algorithm;
    buf_init(&s->data, REQUEST_MAX);
    buf_init(&s->signature, SSH_SIGNATURE_BLOB_MAX);
    if (buf_reserve(&s->data, REQUEST_MAX) < 0 ||
        buf_reserve(&s->signature, SSH_SIGNATURE_BLOB_MAX) < 0) {
        sign_free(&s->job);
        return NULL;
    }
    return s;
}

/* Somebody else's signature, in the place of the job's. */
static PARKS int sign_elsewhere(const struct ssh_signer *signer, struct sign_job *s)
{
    struct wire_writer w = wire_writer_of(s->signature.data, SSH_SIGNATURE_BLOB_MAX);
    int r = signer->sign(signer->arg, signer->key, bytes_str(s->algorithm), buf_bytes(&s->data),
                         &w);
    if (r == 0)
        r = wire_write_end(&w);
    buf_added(&s->signature, w.len);
    return r;
}

/* Takes the job on failure. */
static PARKS int sign(struct login *l, const struct candidate *try, struct sign_job *s)
{
    struct pool *pool = l->settings->transport.pool;
    int r;
    if (try->signer == NULL && pool != NULL) {
        r = job_run(pool, &s->job, NULL, l->settings->deadline);
        if (r < 0)
            return r; /* it is gone */
        r = s->result;
    } else if (try->signer == NULL) {
        sign_run(&s->job);
        r = s->result;
    } else {
        r = sign_elsewhere(try->signer, s);
    }
    if (r < 0)
        sign_free(&s->job);
    return r;
}

/* What is signed is written first, and the request then over it. */
static PARKS int sign_and_say(struct login *l, const struct candidate *try, struct sign_job *s,
                              struct ssh_auth_request *request)
{
    struct wire_writer w = wire_writer_of(s->data.data, REQUEST_MAX);
    request->has_signature = true;
    ssh_auth_signed_write(&w, ssh_transport_session_id(l->transport), request);
    buf_added(&s->data, w.len);
    int r = wire_write_end(&w);
    if (r < 0)
        sign_free(&s->job);
    else
        r = sign(l, try, s);
    if (r < 0)
        return r;
    w = wire_writer_of(s->data.data, REQUEST_MAX);
    request->signature = buf_bytes(&s->signature);
    ssh_auth_request_write(&w, request);
    r = ssh_transport_say_written(l->transport, &w);
    sign_free(&s->job);
    return r;
}

/* The best of those that the server names, or the best if it names none; else the last. */
static const char *algorithm_of(const struct login *l, const struct crypto_key *key)
{
    struct bytes known = ssh_transport_signature_algorithms(l->transport);
    const char *last = NULL;
    for (unsigned i = 0; i < SSH_SIGNATURE_COUNT; i++) {
        const struct ssh_signature *s = &ssh_signatures[i];
        if (s->kind != crypto_key_public(key).kind || s->use == SSH_SIGNATURE_LEGACY)
            continue;
        last = s->name;
        if (known.len == 0 || ssh_list_has(known, bytes_str(last)))
            break;
    }
    return last;
}

/* Would this key do? */
static int ask_for_key(struct login *l, const struct ssh_auth_request *request)
{
    struct buf payload;
    buf_init(&payload, REQUEST_MAX);
    int r = buf_reserve(&payload, REQUEST_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(payload.data, REQUEST_MAX);
    ssh_auth_request_write(&w, request);
    r = ssh_transport_say_written(l->transport, &w);
    buf_done(&payload);
    return r == 0 ? read_answer(l) : r;
}

static int try_key_blob(struct login *l, const struct candidate *try, struct bytes blob)
{
    const struct ssh_client_settings *settings = l->settings;
    const char *algorithm = algorithm_of(l, try->key);
    struct ssh_auth_request request = {
        .user = bytes_str(settings->user),
        .service = BYTES_LIT("ssh-connection"),
        .method = SSH_AUTH_PUBLICKEY,
        .algorithm = bytes_str(algorithm),
        .blob = blob,
    };
    if (settings->key_count + settings->signer_count > SIGNED_AT_ONCE) {
        int r = ask_for_key(l, &request);
        if (r != ANSWER_GO_ON)
            return r;
    }
    struct sign_job *s = sign_new(try->key, algorithm);
    if (s == NULL)
        return -ENOMEM;
    int r = sign_and_say(l, try, s, &request);
    if (r == -FERRY_EREFUSED && try->signer != NULL)
        return ANSWER_NO;
    return r == 0 ? read_answer(l) : r;
}

static int try_key(struct login *l, const struct candidate *try)
{
    struct buf blob;
    buf_init(&blob, SSH_KEY_BLOB_MAX);
    int r = buf_reserve(&blob, SSH_KEY_BLOB_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(blob.data, SSH_KEY_BLOB_MAX);
    ssh_key_write(&w, try->key);
    r = wire_write_end(&w);
    if (r == 0)
        r = try_key_blob(l, try, bytes_of(w.data, w.len));
    buf_done(&blob);
    return r;
}

/* -- password -- */

static int try_password(struct login *l, struct bytes password)
{
    uint8_t payload[1024];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const struct ssh_auth_request request = {
        .user = bytes_str(l->settings->user),
        .service = BYTES_LIT("ssh-connection"),
        .method = SSH_AUTH_PASSWORD,
        .password = password,
    };
    ssh_auth_request_write(&w, &request);
    int r = ssh_transport_say_written(l->transport, &w);
    mem_wipe(payload, sizeof(payload));
    return r == 0 ? read_answer(l) : r;
}

static PARKS int ask_and_try(struct login *l)
{
    const struct ssh_client_settings *settings = l->settings;
    int r = ANSWER_NO;
    for (unsigned tries = 0; r == ANSWER_NO && l->takes_passwords; tries++) {
        struct buf password;
        buf_init(&password, PASSWORD_MAX);
        bool has_one = buf_reserve(&password, PASSWORD_MAX) == 0 &&
                       settings->ask_password(settings->ask_arg, tries, &password);
        if (has_one)
            r = try_password(l, buf_bytes(&password));
        buf_wipe(&password);
        if (!has_one)
            break;
    }
    return r;
}

/* -- in their order -- */

int ssh_client_authenticate(struct ssh_transport *t, struct stream *lower,
                            const struct ssh_client_settings *settings)
{
    struct login l = {.transport = t,
                      .lower = lower,
                      .settings = settings,
                      .takes_keys = true,
                      .takes_passwords = true};
    int r = ask_for_service(&l);
    if (r < 0)
        return r;
    r = ANSWER_NO;
    for (unsigned i = 0; i < settings->signer_count && l.takes_keys && r == ANSWER_NO; i++) {
        const struct ssh_signer *signer = &settings->signers[i];
        r = try_key(&l, &(struct candidate){signer->key, signer});
    }
    for (unsigned i = 0; i < settings->key_count && l.takes_keys && r == ANSWER_NO; i++)
        r = try_key(&l, &(struct candidate){settings->keys[i], NULL});
    if (r == ANSWER_NO && settings->password.len > 0 && l.takes_passwords)
        r = try_password(&l, settings->password);
    if (r == ANSWER_NO && settings->ask_password != NULL)
        r = ask_and_try(&l);
    if (r < 0)
        return r;
    return r == ANSWER_IN ? 0 : ssh_transport_fail(t, -FERRY_EAUTH, "the server let nobody in");
}
