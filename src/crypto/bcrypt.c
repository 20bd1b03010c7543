#include "crypto/bcrypt.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "base/err.h"

/* Debian 12's and 13's, then whichever a link names. The function and its arguments are the
 * same in all of them. */
static const char *const sonames[] = {
    "libbotan-2.so.19",
    "libbotan-3.so.7",
    "libbotan-3.so",
    "libbotan-2.so",
};

#define ALGORITHM     "Bcrypt-PBKDF"
#define OUT_OF_MEMORY (-23) /* BOTAN_FFI_ERROR_OUT_OF_MEMORY */

/* Botan's C interface: name, three parameters (the first: rounds), output, passphrase, salt. */
typedef int pwdhash_fn(const char *, size_t, size_t, size_t, uint8_t *, size_t, const char *,
                       size_t, const uint8_t *, size_t);

struct derivation {
    struct bytes passphrase, salt;
    uint32_t rounds;
    uint8_t *out;
    size_t len;
    int result;
};

/* A library is never unloaded, and loading it again finds it loaded. */
static pwdhash_fn *find_pwdhash(void)
{
    for (size_t i = 0; i < ARRAY_LEN(sonames); i++) {
        void *library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "botan_pwdhash") : NULL;
        if (symbol != NULL)
            return (pwdhash_fn *)symbol;
    }
    return NULL;
}

static int derive(const struct derivation *d)
{
    pwdhash_fn *pwdhash = find_pwdhash();
    if (pwdhash == NULL)
        return -ELIBACC;
    if (d->passphrase.len == 0) /* which Botan takes for a string that ends with NUL */
        return -FERRY_EAUTH;
    int r =
        pwdhash(ALGORITHM, d->rounds, 0, 0, d->out, d->len, (const char *)d->passphrase.data,
                d->passphrase.len, d->salt.data, d->salt.len);
    if (r == 0)
        return 0;
    return r == OUT_OF_MEMORY ? -ENOMEM : -ELIBACC; /* one that was built without it */
}

static void *derive_in_thread(void *arg)
{
    struct derivation *d = arg;
    d->result = derive(d);
    return NULL;
}

/* In a thread of its own: loading and computing want 40 KB of stack, too much for a task. */
int crypto_bcrypt_pbkdf(struct bytes passphrase, struct bytes salt, uint32_t rounds,
                        uint8_t *ret, size_t len)
{
    struct derivation d = {passphrase, salt, rounds, ret, len, 0};
    pthread_t thread;
    if (salt.len == 0 || rounds == 0 || len == 0)
        return -EINVAL;
    if (salt.len > CRYPTO_BCRYPT_SALT_MAX || rounds > CRYPTO_BCRYPT_ROUNDS_MAX ||
        len > CRYPTO_BCRYPT_BYTES_MAX)
        return -FERRY_ELIMIT;
    int r = pthread_create(&thread, NULL, derive_in_thread, &d);
    if (r != 0)
        return -r;
    (void)pthread_join(thread, NULL);
    return d.result;
}
