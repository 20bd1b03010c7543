#include "client/place/host_key.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "client/place/ask.h"
#include "client/place/files.h"
#include "crypto/random.h"

#define ANSWER_MAX    128
#define QUESTIONS_MAX 5
#define LINE_CAP      (64 * 1024)

/* A new line in known_hosts. That it cannot be written is said and no failure. */
static void remember(const struct host_key *k)
{
    uint8_t salt[SSH_SALT_BYTES];
    struct buf line;
    if (k->file == NULL)
        return;
    buf_init(&line, LINE_CAP);
    int r;
    if (k->hashes) {
        r = crypto_random(salt, sizeof(salt));
        if (r == 0)
            r = ssh_known_hosts_line_hashed(bytes_str(k->host), k->port, salt, k->blob, &line);
    } else {
        r = ssh_known_hosts_line(bytes_str(k->host), k->port, k->blob, &line);
    }
    if (r == 0)
        r = place_file_append(k->file, buf_bytes(&line));
    buf_done(&line);
    if (r < 0)
        fprintf(stderr, "ferry: the key of %s could not be added to %s: %s\n", k->host, k->file,
                err_text(r));
    else
        fprintf(stderr, "ferry: the key of %s was added to %s\n", k->host, k->file);
}

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_NONE };

static enum answer understand(struct bytes answer, const char *fingerprint)
{
    while (answer.len > 0 && answer.data[answer.len - 1] == ' ')
        answer.len--;
    if (bytes_equal_nocase(answer, BYTES_LIT("yes")) ||
        bytes_equal(answer, bytes_str(fingerprint)))
        return ANSWER_YES;
    return bytes_equal_nocase(answer, BYTES_LIT("no")) ? ANSWER_NO : ANSWER_NONE;
}

static PARKS bool ask(const struct host_key *k, const char *type, const char *fingerprint)
{
    char question[512];
    (void)snprintf(question, sizeof(question),
                   "%.200s is not in known_hosts yet. It shows this %s key:\n    %s\n"
                   "Is that its key, and shall it be remembered (yes/no/[fingerprint])? ",
                   k->host, type, fingerprint);
    for (unsigned i = 0; i < QUESTIONS_MAX; i++) {
        struct buf line;
        enum answer answer = ANSWER_NO;
        buf_init(&line, ANSWER_MAX);
        if (buf_reserve(&line, ANSWER_MAX) == 0 && ask_line(question, false, &line) == 0)
            answer = understand(buf_bytes(&line), fingerprint);
        buf_done(&line);
        if (answer != ANSWER_NONE)
            return answer == ANSWER_YES;
        (void)text_copy(question, sizeof(question),
                        BYTES_LIT("Please type yes, no, or the fingerprint: "));
    }
    return false;
}

static PARKS bool take_unknown(void *arg, const char *host, const char *type,
                               const char *fingerprint)
{
    struct host_key *k = arg;
    (void)host;
    k->is_unknown = true;
    bool is_taken = k->strict == SSH_STRICT_ACCEPT_NEW;
    if (!is_taken && k->strict != SSH_STRICT_YES && k->may_ask)
        is_taken = ask(k, type, fingerprint);
    k->is_refused = !is_taken;
    if (is_taken)
        remember(k);
    return is_taken;
}

int host_key_init(struct host_key *k, struct ssh_trust_settings *settings)
{
    settings->take_unknown = take_unknown;
    settings->arg = k;
    return ssh_trust_new(settings, &k->trust);
}

void host_key_done(struct host_key *k)
{
    k->trust = ssh_trust_free(k->trust);
    crypto_key_unref(k->taken);
    k->taken = NULL;
}

int host_key_check(void *host_key, const struct crypto_key *key, struct bytes blob)
{
    struct host_key *k = host_key;
    k->blob = blob;
    k->is_unknown = k->is_refused = false;
    int r = k->trust == NULL ? -FERRY_EAUTH : ssh_trust_check(k->trust, key, blob);
    if (r < 0)
        return r;
    crypto_key_unref(k->taken);
    k->taken = crypto_key_ref((struct crypto_key *)(uintptr_t)key);
    return 0;
}

void host_key_why(const struct host_key *k, size_t cap, char *ret)
{
    const char *why = ssh_trust_why(k->trust);
    if (cap > 0)
        ret[0] = '\0';
    if (why[0] == '\0')
        return;
    if (k->is_unknown)
        (void)snprintf(ret, cap,
                       "%.300s. If that is right, say yes on a terminal, or add it to "
                       "known_hosts (ssh-keyscan)",
                       why);
    else
        (void)snprintf(ret, cap,
                       "%.350s. Somebody may be between you and the server, or it has a new "
                       "key. Ask its administrator; then remove the line with ssh-keygen -R",
                       why);
}
