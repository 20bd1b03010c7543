#include "auth/password.h"

#include <assert.h>
#include <crypt.h>
#include <errno.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "crypto/random.h"

/* Bytes that yescrypt's salt is made of; crypt_gensalt(3) would ask the system itself, past the
 * fault points. */
#define SALT_BYTES 16

bool password_is_usable(struct bytes password)
{
    size_t at;
    static_assert(PASSWORD_MAX < CRYPT_MAX_PASSPHRASE_SIZE, "or the end is not looked at");
    return password.len != 0 && password.len <= PASSWORD_MAX &&
           !bytes_find(password, '\0', &at);
}

bool password_hash_is_usable(const char *hash)
{
    int r = crypt_checksalt(hash);
    return r != CRYPT_SALT_INVALID && r != CRYPT_SALT_METHOD_DISABLED;
}

int password_setting_new(char **ret)
{
    uint8_t salt[SALT_BYTES];
    int r = crypto_random(salt, sizeof(salt));
    if (r < 0)
        return r;
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    if (crypt_gensalt_rn("$y$", 0, (const char *)salt, sizeof(salt), setting,
                         sizeof(setting)) == NULL)
        return -errno;
    *ret = mem_strdup(setting);
    return *ret != NULL ? 0 : -ENOMEM;
}

/* struct crypt_data is 32 KB: never on a stack. The result lies in it. A failure is NULL or a
 * text with '*', which no hash begins with. */
static bool compute_one(const struct secret *password, const char *setting,
                        struct crypt_data *data, struct bytes *ret)
{
    const char *out = crypt_r((const char *)password->data, setting, data);
    if (out == NULL || out[0] == '*')
        return false;
    *ret = bytes_str(out);
    return true;
}

/* crypt(3) says EINVAL of a spoilt setting and for want of memory, which yescrypt takes 16 MB
 * of. A setting that is known to be good tells them apart, so that nobody's right password is
 * called wrong; and a spoilt one costs as much as any. */
static int compute(const struct secret *password, const char *setting, struct crypt_data *data,
                   struct bytes *ret)
{
    static const char good[] = "$y$j9T$k2XAnEHBqQ1Ct2aMXFKNa/";
    if (compute_one(password, setting, data, ret))
        return 0;
    return compute_one(password, good, data, ret) ? -FERRY_EAUTH : -ENOMEM;
}

static int hash_secret(const struct secret *password, char **ret)
{
    char *setting;
    int r = password_setting_new(&setting);
    if (r < 0)
        return r;
    struct crypt_data *data = mem_new(sizeof(*data));
    r = -ENOMEM;
    if (data != NULL) {
        struct bytes out;
        r = compute(password, setting, data, &out);
        if (r == 0 && (*ret = mem_strdup((const char *)out.data)) == NULL)
            r = -ENOMEM;
        mem_wipe_free(data, sizeof(*data));
    }
    mem_free(setting);
    return r;
}

int password_hash(struct bytes password, char **ret)
{
    if (!password_is_usable(password))
        return -EINVAL;
    struct secret copy; /* for its NUL */
    int r = secret_copy(password, &copy);
    if (r < 0)
        return r;
    r = hash_secret(&copy, ret);
    secret_done(&copy);
    return r;
}

int password_verify(const struct secret *password, const char *hash)
{
    struct crypt_data *data = mem_new(sizeof(*data));
    if (data == NULL)
        return -ENOMEM;
    struct bytes out;
    int r = compute(password, hash, data, &out);
    if (r == 0 && !secret_equal(out, bytes_str(hash)))
        r = -FERRY_EAUTH;
    mem_wipe_free(data, sizeof(*data));
    return r;
}
