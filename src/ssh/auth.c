/* Authentication, the server's side (RFC 4252): passwords and keys of the accounts of auth/.
 *
 * A name that does not exist gets the answers of one that does. One function lets in. */
#include "ssh/wire/auth.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/wire.h"
#include "ssh/session.h"
#include "ssh/wire/authorized_keys.h"
#include "ssh/wire/key.h"
#include "ssh/wire/signature.h"
#include "ssh/wire/transport.h"

#define REFUSALS_MAX  6    /* wrong passwords and signatures */
#define QUESTIONS_MAX 64   /* all requests: an agent may offer many keys */
#define ANSWER_MAX    1536 /* the largest RSA key fits */
#define SIGNED_MAX    (SSH_KEY_BLOB_MAX + 1024)

static int refuse(struct ssh_session *s)
{
    uint8_t payload[128];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    const char *methods = s->server->keys_only ? "publickey" : "publickey,password";
    ssh_auth_failure_write(&w, bytes_str(methods), false);
    return ssh_transport_say_written(s->transport, &w);
}

/* The one place that lets in: the session has its account. */
static int let_in(struct ssh_session *s)
{
    const uint8_t success = SSH_MSG_USERAUTH_SUCCESS;
    int r = ssh_transport_say(s->transport, bytes_of(&success, 1));
    return r == 0 ? ssh_transport_auth_succeeded(s->transport) : r;
}

/* 0, or the end of the session: wrong answers are counted. */
static int count_refusal(struct ssh_session *s)
{
    if (++s->refusals >= REFUSALS_MAX)
        return -FERRY_EAUTH;
    return refuse(s);
}

/* -- password -- */

static int try_password(struct ssh_session *s, const struct ssh_auth_request *request)
{
    if (s->server->keys_only || request->wants_password_change)
        return count_refusal(s);
    struct auth_request question = {0};
    (void)text_copy(question.user, sizeof(question.user), request->user);
    int r = secret_copy(request->password, &question.password);
    if (r == 0)
        r = session_login(&s->base, &question);
    secret_done(&question.password);
    if (r == -FERRY_EAUTH)
        return count_refusal(s);
    return r == 0 ? let_in(s) : r;
}

/* -- public key -- */

/* The check of a signature, as a job that owns all it needs. */
struct verify_job {
    struct job job;
    struct buf blob, algorithm, data, signature;
    int result;
};

static void verify_run(struct job *job)
{
    struct verify_job *v = (struct verify_job *)(void *)job;
    struct crypto_key *key;
    v->result = ssh_key_parse(buf_bytes(&v->blob), &key);
    if (v->result < 0)
        return;
    v->result = ssh_signature_verify(key, buf_bytes(&v->algorithm), buf_bytes(&v->data),
                                     buf_bytes(&v->signature));
    crypto_key_unref(key);
}

static void verify_free(struct job *job)
{
    struct verify_job *v = (struct verify_job *)(void *)job;
    buf_done(&v->blob);
    buf_done(&v->algorithm);
    buf_done(&v->data);
    buf_done(&v->signature);
    mem_free(v);
}

static int verify_fill(struct verify_job *v, const struct ssh_session *s,
                       const struct ssh_auth_request *request)
{
    int r = buf_append_bytes(&v->blob, request->blob);
    if (r == 0)
        r = buf_append_bytes(&v->algorithm, request->algorithm);
    if (r == 0)
        r = buf_append_bytes(&v->signature, request->signature);
    if (r == 0)
        r = buf_reserve(&v->data, SIGNED_MAX);
    if (r < 0)
        return r;
    struct wire_writer w = wire_writer_of(v->data.data, SIGNED_MAX);
    ssh_auth_signed_write(&w, ssh_transport_session_id(s->transport), request);
    buf_added(&v->data, w.len);
    return wire_write_end(&w) < 0 ? -FERRY_EAUTH : 0;
}

/* 0: the signature is right. -FERRY_EAUTH, -FERRY_EPROTO: it is not. */
static PARKS int verify(struct ssh_session *s, const struct ssh_auth_request *request)
{
    struct verify_job *v = mem_new(sizeof(*v));
    if (v == NULL)
        return -ENOMEM;
    v->job.run = verify_run;
    v->job.free = verify_free;
    buf_init(&v->blob, SSH_KEY_BLOB_MAX);
    buf_init(&v->algorithm, SSH_NAME_MAX);
    buf_init(&v->data, SIGNED_MAX);
    buf_init(&v->signature, SSH_SIGNATURE_BLOB_MAX);
    int r = verify_fill(v, s, request);
    if (r < 0) {
        verify_free(&v->job);
        return r;
    }
    struct pool *pool = s->server->transport.pool;
    if (pool != NULL) {
        const struct pool_shares shares = {.session = s->host_share};
        r = job_run(pool, &v->job, &shares, s->base.login_deadline);
        if (r < 0)
            return r;
    } else {
        verify_run(&v->job);
    }
    r = v->result;
    verify_free(&v->job);
    return r;
}

static bool may_come_from(const struct account_key *key, const struct addr *peer)
{
    char text[ADDR_TEXT_MAX];
    if (key->from == NULL)
        return true;
    addr_format_host(peer, text);
    return ssh_from_matches(bytes_str(key->from), text);
}

/* The first line of the key that fits counts, as in OpenSSH: its command may be meant to be the
 * only one. All keys are looked at, whatever is found. */
static const struct account_key *find_key(const struct account *a, const struct ssh_session *s,
                                          struct bytes blob)
{
    const struct account_key *found = NULL;
    int64_t now_s = clock_wall_us() / (int64_t)USEC_PER_S;
    for (unsigned i = 0; a != NULL && i < a->key_count; i++) {
        const struct account_key *key = &a->keys[i];
        bool fits = bytes_equal(bytes_of(key->blob, key->blob_len), blob) &&
                    key->expires_s > now_s && may_come_from(key, &s->base.peer);
        if (fits && found == NULL)
            found = key;
    }
    return found;
}

/* Of a key of that kind, and one that is taken here. */
static bool may_sign(const struct ssh_session *s, const struct ssh_auth_request *request)
{
    const struct ssh_signature *signature = ssh_signature_find(request->algorithm);
    struct wire_reader r = wire_reader_of(request->blob);
    enum crypto_key_kind kind;
    return signature != NULL && ssh_key_kind_of(wire_get_string(&r, SSH_NAME_MAX), &kind) &&
           signature->kind == kind &&
           (signature->use != SSH_SIGNATURE_LEGACY || s->server->transport.host_keys->legacy);
}

static int say_pk_ok(struct ssh_session *s, const struct ssh_auth_request *request)
{
    uint8_t payload[ANSWER_MAX];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    ssh_auth_pk_ok_write(&w, request->algorithm, request->blob);
    return ssh_transport_say_written(s->transport, &w);
}

static int enter_by_key(struct ssh_session *s, struct account *a, const struct account_key *key)
{
    if (key->command != NULL) {
        s->base.command = mem_strdup(key->command);
        if (s->base.command == NULL) {
            account_unref(a);
            return -ENOMEM;
        }
    }
    int r = session_login_account(&s->base, a, "publickey");
    return r == 0 ? let_in(s) : r;
}

/* A question costs nothing and counts as one; a signature that is wrong counts as a refusal. */
static int try_key(struct ssh_session *s, const struct ssh_auth_request *request)
{
    char user[USER_NAME_MAX + 1];
    (void)text_copy(user, sizeof(user), request->user);
    struct account *a = auth_find(s->server->auth, user);
    const struct account_key *key = find_key(a, s, request->blob);
    if (key == NULL || !may_sign(s, request)) {
        account_unref(a);
        return request->has_signature ? count_refusal(s) : refuse(s);
    }
    if (!request->has_signature) {
        account_unref(a);
        return say_pk_ok(s, request);
    }
    int r = verify(s, request);
    if (r == 0)
        return enter_by_key(s, a, key);
    account_unref(a);
    if (r != -FERRY_EAUTH && r != -FERRY_EPROTO)
        return r;
    session_login_failed(&s->base, user, "publickey");
    return count_refusal(s);
}

/* -- the dialogue -- */

/* A NUL would end the name of an account early. */
static bool may_be_name(struct bytes user)
{
    size_t at;
    return user.len <= USER_NAME_MAX && !bytes_find(user, '\0', &at);
}

static int on_request(struct ssh_session *s, struct bytes payload)
{
    struct ssh_auth_request request;
    if (++s->questions > QUESTIONS_MAX)
        return -FERRY_EAUTH;
    if (ssh_auth_request_parse(payload, &request) < 0)
        return -FERRY_EPROTO;
    if (!bytes_equal(request.service, BYTES_LIT("ssh-connection")) ||
        !may_be_name(request.user))
        return refuse(s);
    switch (request.method) {
    case SSH_AUTH_PASSWORD:
        return try_password(s, &request);
    case SSH_AUTH_PUBLICKEY:
        return try_key(s, &request);
    case SSH_AUTH_NONE: /* asks for the list */
    case SSH_AUTH_OTHER:
        break;
    }
    return refuse(s);
}

static int on_service(struct ssh_session *s, struct bytes payload)
{
    struct bytes name;
    if (ssh_service_parse(payload, &name) < 0)
        return -FERRY_EPROTO;
    if (!bytes_equal(name, BYTES_LIT("ssh-userauth")))
        return -FERRY_EREFUSED;
    uint8_t accept[64];
    struct wire_writer w = wire_writer_of(accept, sizeof(accept));
    ssh_service_write(&w, SSH_MSG_SERVICE_ACCEPT, name);
    int r = ssh_transport_say_written(s->transport, &w);
    ssh_transport_service_accepted(s->transport);
    return r;
}

static int say_banner(struct ssh_session *s)
{
    uint8_t payload[1024];
    struct wire_writer w = wire_writer_of(payload, sizeof(payload));
    if (s->server->banner == NULL)
        return 0;
    wire_put_u8(&w, SSH_MSG_USERAUTH_BANNER);
    wire_put_string(&w, bytes_first(bytes_str(s->server->banner), 512));
    wire_put_string(&w, BYTES_NONE);
    return ssh_transport_say_written(s->transport, &w);
}

int ssh_auth_serve(struct ssh_session *s)
{
    int r = 0;
    while (r == 0 && ssh_transport_phase(s->transport) < SSH_PHASE_RUNNING) {
        struct ssh_packet packet;
        r = ssh_session_next(s, s->base.login_deadline, &packet);
        if (r < 0)
            break;
        if (packet.payload.data[0] == SSH_MSG_SERVICE_REQUEST) {
            r = on_service(s, packet.payload);
            if (r == 0)
                r = say_banner(s);
        } else {
            r = on_request(s, packet.payload);
        }
        mem_wipe(packet.chunk->data + (packet.payload.data - packet.chunk->data),
                 packet.payload.len); /* it may be a password */
    }
    return r;
}
