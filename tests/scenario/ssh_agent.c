/* The agent's client, against agents that are scripted, and a login that an agent signs. */
#include "ssh/agent.h"
#include "ssh/wire/key.h"
#include "ssh_dialogue.h"

#define AGENT_STALL_US (5 * USEC_PER_S)

struct agent_row {
    const char *what;
    struct bytes list; /* the whole answer to the first request; empty: an honest one */

    enum { SIGNS, REFUSES, SIGNS_OTHER_DATA, SIGNS_WITH_SHA1, SAYS_NOTHING, LEAVES } then;

    int listed, signed_with_ed25519, signed_with_rsa;
};

struct scripted {
    const struct agent_row *row;
    struct stream *stream;
};

static const struct agent_row *current;
static uint64_t cut;
static int listed, results[2];
static unsigned key_count;

/* -- the agent -- */

static bool read_all(struct stream *s, uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = stream_read(s, data + done, len - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool say_message(struct stream *s, struct bytes message)
{
    uint8_t length[4];
    wire_set_u32(length, (uint32_t)message.len);
    return stream_write_bytes(s, bytes_of(length, 4)) == 0 &&
           stream_write_bytes(s, message) == 0;
}

static void put_key(struct wire_writer *w, enum crypto_key_kind kind)
{
    static uint8_t blob[SSH_KEY_BLOB_MAX];
    struct wire_writer b = wire_writer_of(blob, sizeof(blob));
    ssh_key_write(&b, test_key(kind));
    wire_put_string(w, bytes_of(blob, b.len));
    wire_put_string(w, BYTES_LIT("a comment"));
}

static bool say_keys(struct scripted *a)
{
    static uint8_t answer[8192];
    struct wire_writer w = wire_writer_of(answer, sizeof(answer));
    if (a->row->list.len > 0)
        return stream_write_bytes(a->stream, a->row->list) == 0;
    wire_put_u8(&w, 12);
    wire_put_u32(&w, 3);
    put_key(&w, CRYPTO_ED25519);
    wire_put_string(&w, BYTES_LIT("\0\0\0\7ssh-dss........"));
    wire_put_string(&w, BYTES_LIT("of a kind that is not known"));
    put_key(&w, CRYPTO_RSA);
    return say_message(a->stream, bytes_of(answer, w.len));
}

static void put_signature(struct scripted *a, struct bytes request, struct wire_writer *w)
{
    static uint8_t signature[SSH_SIGNATURE_BLOB_MAX];
    struct wire_writer s = wire_writer_of(signature, sizeof(signature));
    struct wire_reader r = wire_reader_of(request);
    struct crypto_key *public;
    TASK_ASSERT(wire_get_u8(&r) == 13);
    TASK_ASSERT(ssh_key_parse(wire_get_string(&r, SSH_KEY_BLOB_MAX), &public) == 0);
    struct bytes data = wire_get_string(&r, 4096);
    uint32_t flags = wire_get_u32(&r);
    TASK_ASSERT(wire_read_end(&r) == 0);
    enum crypto_key_kind kind = crypto_key_public(public).kind;
    crypto_key_unref(public);
    TASK_ASSERT(flags == (kind == CRYPTO_RSA ? 4u : 0u));
    const char *algorithm = kind == CRYPTO_RSA ? "rsa-sha2-512" : ssh_key_type(test_key(kind));
    if (a->row->then == SIGNS_OTHER_DATA)
        data = bytes_skip(data, 1);
    TASK_ASSERT(ssh_sign(test_key(kind), bytes_str(algorithm), data, &s) == 0);
    if (a->row->then == SIGNS_WITH_SHA1 && kind == CRYPTO_RSA) {
        s = wire_writer_of(signature, sizeof(signature));
        wire_put_string(&s, BYTES_LIT("ssh-rsa"));
        wire_put_string(&s, BYTES_LIT("................"));
    }
    wire_put_u8(w, 14);
    wire_put_string(w, bytes_of(signature, s.len));
}

static bool answer_sign(struct scripted *a, struct bytes request)
{
    static uint8_t answer[8192];
    struct wire_writer w = wire_writer_of(answer, sizeof(answer));
    if (a->row->then == LEAVES)
        return false;
    if (a->row->then == SAYS_NOTHING)
        return true;
    if (a->row->then == REFUSES)
        wire_put_u8(&w, 5);
    else
        put_signature(a, request, &w);
    return say_message(a->stream, bytes_of(answer, w.len));
}

static void agent_main(void *arg)
{
    static uint8_t request[16384];
    struct scripted *a = arg;
    uint8_t length[4];
    bool goes_on = true;
    while (goes_on && read_all(a->stream, length, sizeof(length))) {
        size_t len = wire_u32(length);
        TASK_ASSERT(len > 0 && len <= sizeof(request));
        if (!read_all(a->stream, request, len))
            break;
        goes_on = request[0] == 11 ? say_keys(a) : answer_sign(a, bytes_of(request, len));
    }
    (void)(stream_end(a->stream, 0) < 0);
}

/* -- the client -- */

static struct ssh_agent *start_agent(struct scripted *a, struct scope *scope, int *ret)
{
    struct stream *stream;
    struct ssh_agent *agent = NULL;
    TASK_ASSERT(memory_pair_new(4096, cut, &stream, &a->stream) == 0);
    stream->stall_us = AGENT_STALL_US;
    TASK_ASSERT(scope_start(scope, "agent", TASK_NORMAL, agent_main, a, NULL) == 0);
    *ret = ssh_agent_start(stream, &agent);
    return agent;
}

static int sign_once(const struct ssh_signer *signer)
{
    static uint8_t signature[SSH_SIGNATURE_BLOB_MAX];
    struct wire_writer w = wire_writer_of(signature, sizeof(signature));
    bool is_rsa = crypto_key_public(signer->key).kind == CRYPTO_RSA;
    struct bytes algorithm = bytes_str(is_rsa ? "rsa-sha2-512" : "ssh-ed25519");
    int r = signer->sign(signer->arg, signer->key, algorithm, BYTES_LIT("what is signed"), &w);
    if (r == 0)
        TASK_ASSERT(ssh_signature_verify(signer->key, algorithm, BYTES_LIT("what is signed"),
                                         bytes_of(signature, w.len)) == 0);
    return r;
}

static void run_agent(void *arg)
{
    struct scripted a = {.row = current};
    struct scope scope;
    (void)arg;
    scope_init(&scope);
    struct ssh_agent *agent = start_agent(&a, &scope, &listed);
    key_count = 0;
    results[0] = results[1] = 0;
    if (agent != NULL) {
        const struct ssh_signer *signers = ssh_agent_signers(agent, &key_count);
        for (unsigned i = 0; i < key_count && i < 2; i++)
            results[i] = sign_once(&signers[i]);
    }
    TASK_ASSERT(ssh_agent_free(agent) == NULL);
    TASK_ASSERT(scope_wait(&scope, USEC_NEVER) == 0);
    scope_leave(&scope);
    (void)stream_free(a.stream);
}

static const struct agent_row agent_rows[] = {
    {"signs", {0}, SIGNS, 0, 0, 0},
    {"refuses", {0}, REFUSES, 0, -FERRY_EREFUSED, -FERRY_EREFUSED},
    {"other data", {0}, SIGNS_OTHER_DATA, 0, -FERRY_EREFUSED, -FERRY_EREFUSED},
    {"sha-1", {0}, SIGNS_WITH_SHA1, 0, 0, -FERRY_EREFUSED},
    {"silent", {0}, SAYS_NOTHING, 0, -FERRY_ESTALLED, -FERRY_ESTALLED},
    {"leaves", {0}, LEAVES, 0, -FERRY_ECLOSED, -FERRY_ECLOSED},
    {"no agent", BYTES_LIT("HTTP/1.0 400 no"), SIGNS, -FERRY_EPROTO, 0, 0},
    {"empty", BYTES_LIT("\0\0\0\0"), SIGNS, -FERRY_EPROTO, 0, 0},
    {"failure", BYTES_LIT("\0\0\0\1\5"), SIGNS, -FERRY_EPROTO, 0, 0},
    {"no keys", BYTES_LIT("\0\0\0\5\x0c\0\0\0\0"), SIGNS, 0, 0, 0},
    {"keys that are not there", BYTES_LIT("\0\0\0\5\x0c\xff\xff\xff\xff"), SIGNS, -FERRY_EPROTO,
     0, 0},
    {"a key too long", BYTES_LIT("\0\0\0\xb\x0c\0\0\0\1\0\0\xff\xffxx"), SIGNS, -FERRY_EPROTO,
     0, 0},
};

static void each_agent_gets_what_it_earns(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(agent_rows); i++) {
        for (cut = 0; cut < 3; cut++) {
            current = &agent_rows[i];
            run_deterministic(cut + 1, run_agent, NULL);
            if (listed != current->listed)
                print_message("%s: %s\n", current->what, err_name(listed));
            assert_int_equal(listed, current->listed);
            assert_int_equal(results[0], current->signed_with_ed25519);
            assert_int_equal(results[1], current->signed_with_rsa);
            assert_int_equal(key_count, listed == 0 && current->list.len == 0 ? 2 : 0);
        }
    }
}

static unsigned tried;

static int count_and_refuse(void *arg, const struct crypto_key *key, struct bytes algorithm,
                            struct bytes data, struct wire_writer *signature)
{
    (void)arg, (void)key, (void)algorithm, (void)data, (void)signature;
    tried++;
    return -FERRY_EREFUSED;
}

static int count_and_fail(void *arg, const struct crypto_key *key, struct bytes algorithm,
                          struct bytes data, struct wire_writer *signature)
{
    (void)count_and_refuse(arg, key, algorithm, data, signature);
    return -FERRY_ESTALLED;
}

static int no_dialogue(struct link *l)
{
    (void)l;
    return 0;
}

static int log_in_with(const struct ssh_signer *signers, unsigned count, struct link *l)
{
    *l = link_of(no_dialogue);
    l->signers = signers;
    l->signer_count = count;
    link_run(l, 1);
    return l->connected;
}

static void a_signer_that_refuses_is_passed_over(void **state)
{
    (void)state;
    static struct link l;
    const struct ssh_signer refusing = {test_key(CRYPTO_ED25519), count_and_refuse, NULL};
    const struct ssh_signer failing = {test_key(CRYPTO_RSA), count_and_fail, NULL};
    const struct ssh_signer both[] = {refusing, failing};
    tried = 0;
    assert_int_equal(log_in_with(&refusing, 1, &l), 0); /* the password does */
    assert_int_equal(tried, 1);
    assert_int_equal(log_in_with(both, 2, &l), -FERRY_ESTALLED);
    assert_int_equal(tried, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_agent_gets_what_it_earns),
        cmocka_unit_test(a_signer_that_refuses_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
