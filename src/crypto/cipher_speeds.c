#include <pthread.h>
#include <stdbool.h>

#include <openssl/crypto.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crypto/cipher.h"
#include "crypto/digest.h"

#define PIECE_BYTES (128 * 1024)
#define PIECES_MAX  64 /* a clock that stands still ends it, too */

struct trial {
    struct crypto_gcm *gcm;
    struct crypto_chacha *chacha;
    struct crypto_ctr *ctr;
    struct crypto_hmac *hmac;
    uint8_t *data;
};

typedef int step_fn(struct trial *);

static int seal_gcm(struct trial *t)
{
    static const uint8_t nonce[CRYPTO_NONCE_BYTES];
    uint8_t tag[CRYPTO_TAG_BYTES];
    return crypto_gcm_seal(t->gcm, nonce, BYTES_NONE, t->data, PIECE_BYTES, tag);
}

static int seal_chacha(struct trial *t)
{
    uint8_t tag[CRYPTO_TAG_BYTES];
    return crypto_chacha_seal(t->chacha, 0, t->data, PIECE_BYTES, tag);
}

static int seal_ctr_hmac(struct trial *t)
{
    struct bytes all = {t->data, PIECE_BYTES};
    uint8_t mac[CRYPTO_DIGEST_MAX];
    int r = crypto_ctr_apply(t->ctr, t->data, PIECE_BYTES);
    return r != 0 ? r : crypto_hmac(t->hmac, &all, 1, mac);
}

/* The fastest piece counts: whatever else the machine does makes it only slower. */
static uint64_t measure(step_fn *step, struct trial *t)
{
    usec_t begin = clock_now(), best = USEC_NEVER, before = begin;
    for (unsigned i = 0; i < PIECES_MAX && before - begin < USEC_PER_MS; i++) {
        if (step(t) != 0)
            return 0;
        usec_t after = clock_now();
        best = after - before < best ? after - before : best;
        before = after;
    }
    return PIECE_BYTES * USEC_PER_S / (best != 0 ? best : 1);
}

static uint64_t measure_gcm(size_t key_len, struct trial *t)
{
    static const uint8_t key[32];
    if (crypto_gcm_new(bytes_of(key, key_len), true, &t->gcm) != 0)
        return 0;
    uint64_t speed = measure(seal_gcm, t);
    t->gcm = crypto_gcm_free(t->gcm);
    return speed;
}

static uint64_t measure_chacha(struct trial *t)
{
    static const uint8_t key[CRYPTO_CHACHA_KEY_BYTES];
    if (crypto_chacha_new(bytes_of(key, sizeof(key)), &t->chacha) != 0)
        return 0;
    uint64_t speed = measure(seal_chacha, t);
    t->chacha = crypto_chacha_free(t->chacha);
    return speed;
}

static uint64_t measure_ctr_hmac(struct trial *t)
{
    static const uint8_t key[32];
    uint64_t speed = 0;
    if (crypto_ctr_new(bytes_of(key, 16), key, &t->ctr) == 0 &&
        crypto_hmac_new(CRYPTO_SHA256, bytes_of(key, 32), &t->hmac) == 0)
        speed = measure(seal_ctr_hmac, t);
    t->ctr = crypto_ctr_free(t->ctr);
    t->hmac = crypto_hmac_free(t->hmac);
    return speed;
}

static struct crypto_speeds speeds;
static bool is_known; /* from an earlier process */

static void measure_all(void)
{
    struct trial t = {.data = mem_new(PIECE_BYTES)};
    if (t.data == NULL)
        return;
    speeds.gcm128 = measure_gcm(16, &t);
    speeds.gcm256 = measure_gcm(32, &t);
    speeds.chacha = measure_chacha(&t);
    speeds.ctr_hmac = measure_ctr_hmac(&t);
    mem_free(t.data);
}

void crypto_speeds_remember(const struct crypto_speeds *known)
{
    speeds = *known;
    is_known = true;
}

const char *crypto_library(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}

struct crypto_speeds crypto_speeds(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!is_known)
        (void)pthread_once(&once, measure_all);
    return speeds;
}
