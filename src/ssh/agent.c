#include "ssh/agent.h"

#include <errno.h>
#include <sys/un.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/wire.h"
#include "io/fd_stream.h"
#include "ssh/wire/key.h"
#include "ssh/wire/signature.h"
#include "task/sys.h"

enum agent_message {
    AGENT_REQUEST_IDENTITIES = 11,
    AGENT_IDENTITIES = 12,
    AGENT_SIGN_REQUEST = 13,
    AGENT_SIGNATURE = 14,
};

enum agent_flag { AGENT_RSA_SHA2_256 = 1 << 1, AGENT_RSA_SHA2_512 = 1 << 2 };

#define LENGTH_BYTES 4
#define COMMENT_MAX  4096

struct ssh_agent {
    struct stream *stream;
    struct buf message; /* the request, then its answer */
    struct ssh_signer signers[SSH_AGENT_KEYS_MAX];
    unsigned count;
};

/* -- requests and answers -- */

static PARKS int read_all(struct stream *s, uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = stream_read(s, data + done, len - done);
        if (n <= 0)
            return n == 0 ? -FERRY_ECLOSED : (int)n;
        done += (size_t)n;
    }
    return 0;
}

static PARKS int read_message(struct ssh_agent *a)
{
    uint8_t length[LENGTH_BYTES];
    buf_clear(&a->message);
    int r = read_all(a->stream, length, sizeof(length));
    if (r < 0)
        return r;
    size_t len = wire_u32(length);
    if (len == 0 || len > SSH_AGENT_MESSAGE_MAX)
        return -FERRY_EPROTO;
    r = buf_reserve(&a->message, len);
    if (r == 0)
        r = read_all(a->stream, a->message.data, len);
    if (r == 0)
        buf_added(&a->message, len);
    return r;
}

/* Sends what w has behind its length. *ret: at the answer's fields. -FERRY_EREFUSED: the answer
 * is of another kind. */
static PARKS int ask(struct ssh_agent *a, struct wire_writer *w, enum agent_message kind,
                     struct wire_reader *ret)
{
    int r = wire_write_end(w);
    if (r < 0)
        return r;
    wire_set_u32(w->data, (uint32_t)(w->len - LENGTH_BYTES));
    r = stream_write_bytes(a->stream, bytes_of(w->data, w->len));
    if (r == 0)
        r = read_message(a);
    if (r < 0)
        return r;
    *ret = wire_reader_of(buf_bytes(&a->message));
    return wire_get_u8(ret) == (uint8_t)kind ? 0 : -FERRY_EREFUSED;
}

/* -- signing -- */

static uint32_t flags_of(struct bytes algorithm)
{
    static const uint32_t flags[] = {[CRYPTO_SIGN_RSA_SHA256] = AGENT_RSA_SHA2_256,
                                     [CRYPTO_SIGN_RSA_SHA512] = AGENT_RSA_SHA2_512};
    const struct ssh_signature *s = ssh_signature_find(algorithm);
    return s != NULL && s->scheme < ARRAY_LEN(flags) ? flags[s->scheme] : 0;
}

static int write_request(struct buf *request, const struct crypto_key *key,
                         struct bytes algorithm, struct bytes data, struct wire_writer *ret)
{
    size_t max = 64 + SSH_KEY_BLOB_MAX + data.len;
    int r = buf_reserve(request, max);
    if (r < 0)
        return r;
    *ret = wire_writer_of(request->data, max);
    wire_put_u32(ret, 0);
    wire_put_u8(ret, AGENT_SIGN_REQUEST);
    size_t blob_at = ret->len;
    wire_put_u32(ret, 0);
    ssh_key_write(ret, key);
    wire_set_u32(ret->data + blob_at, (uint32_t)(ret->len - blob_at - LENGTH_BYTES));
    wire_put_string(ret, data);
    wire_put_u32(ret, flags_of(algorithm));
    return 0;
}

/* An agent that does not know the flags signs with SHA-1: that is no signature for us. */
static PARKS int sign(void *arg, const struct crypto_key *key, struct bytes algorithm,
                      struct bytes data, struct wire_writer *signature)
{
    struct ssh_agent *a = arg;
    struct buf request;
    struct wire_writer w;
    struct wire_reader answer;
    buf_init(&request, SSH_AGENT_MESSAGE_MAX);
    int r = write_request(&request, key, algorithm, data, &w);
    if (r == 0)
        r = ask(a, &w, AGENT_SIGNATURE, &answer);
    buf_done(&request);
    if (r < 0)
        return r;
    struct bytes blob = wire_get_string(&answer, SSH_SIGNATURE_BLOB_MAX);
    if (wire_read_end(&answer) < 0)
        return -FERRY_EPROTO;
    r = ssh_signature_verify(key, algorithm, data, blob);
    if (r < 0)
        return r == -ENOMEM ? r : -FERRY_EREFUSED;
    wire_put_bytes(signature, blob);
    return 0;
}

/* -- life -- */

static int add_key(struct ssh_agent *a, struct bytes blob)
{
    struct crypto_key *key;
    int r = ssh_key_parse(blob, &key);
    if (r == 0)
        a->signers[a->count++] = (struct ssh_signer){key, sign, a};
    return r == -ENOMEM ? r : 0;
}

static PARKS int list_keys(struct ssh_agent *a)
{
    uint8_t request[LENGTH_BYTES + 1];
    struct wire_writer w = wire_writer_of(request, sizeof(request));
    struct wire_reader answer;
    wire_put_u32(&w, 0);
    wire_put_u8(&w, AGENT_REQUEST_IDENTITIES);
    int r = ask(a, &w, AGENT_IDENTITIES, &answer);
    if (r < 0)
        return r == -FERRY_EREFUSED ? -FERRY_EPROTO : r;
    uint32_t count = wire_get_u32(&answer);
    for (uint32_t i = 0; i < count && a->count < SSH_AGENT_KEYS_MAX && r == 0; i++) {
        struct bytes blob = wire_get_string(&answer, SSH_AGENT_MESSAGE_MAX);
        (void)wire_get_string(&answer, COMMENT_MAX);
        if (answer.has_failed)
            return -FERRY_EPROTO;
        r = add_key(a, blob);
    }
    return r;
}

int ssh_agent_start(struct stream *stream, struct ssh_agent **ret)
{
    struct ssh_agent *a = mem_new(sizeof(*a));
    if (a == NULL) {
        (void)stream_free(stream);
        return -ENOMEM;
    }
    a->stream = stream;
    buf_init(&a->message, SSH_AGENT_MESSAGE_MAX);
    int r = list_keys(a);
    if (r < 0) {
        (void)ssh_agent_free(a);
        return r;
    }
    *ret = a;
    return 0;
}

int ssh_agent_connect(const char *path, usec_t stall_us, struct ssh_agent **ret)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct stream *stream;
    size_t len = strlen(path);
    if (len >= sizeof(addr.sun_path))
        return -ENAMETOOLONG;
    memcpy(addr.sun_path, path, len);
    int fd = sys_socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return fd;
    int r = sys_connect(fd, (const struct sockaddr *)&addr, sizeof(addr));
    if (r < 0) {
        sys_close(fd);
        return r;
    }
    r = fd_stream_new(fd, fd, stall_us, &stream);
    return r < 0 ? r : ssh_agent_start(stream, ret);
}

const struct ssh_signer *ssh_agent_signers(const struct ssh_agent *a, unsigned *ret_count)
{
    *ret_count = a->count;
    return a->signers;
}

struct ssh_agent *ssh_agent_free(struct ssh_agent *a)
{
    if (a == NULL)
        return NULL;
    for (unsigned i = 0; i < a->count; i++)
        crypto_key_unref(a->signers[i].key);
    buf_done(&a->message);
    (void)stream_free(a->stream);
    mem_free(a);
    return NULL;
}
