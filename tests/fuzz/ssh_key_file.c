/* layers: ssh_wire */
/* Files of private keys: what is read can be written and read again. Input: a letter, then a
 * file ('f'), or the bytes of an openssh-key-v1 that gets its marks and its base64 here ('b').
 * What encrypts has a key of zeros, so that a mutation need not be worth 10 ms. */
#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "crypto/key_cipher.h"
#include "invariant.h"
#include "ssh/wire/base64.h"
#include "ssh/wire/key.h"
#include "ssh/wire/key_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define PASSPHRASE BYTES_LIT("secret")
/* In two parts: no file of the tree but test data has the mark of a private key. */
#define MARK(word)                                                                             \
    "-----" word " OPENSSH PRIVATE "                                                           \
    "KEY-----\n"

static void check_key(const struct crypto_key *key)
{
    struct buf text;
    struct crypto_key *again;
    buf_init(&text, SSH_KEY_FILE_MAX);
    INVARIANT(crypto_key_is_private(key));
    INVARIANT(ssh_key_file_write(key, BYTES_LIT("x"), 1, &text) == 0);
    INVARIANT(ssh_key_file_parse(buf_bytes(&text), BYTES_NONE, &again) == 0);
    INVARIANT(crypto_key_is_private(again) && crypto_key_equal(key, again));
    crypto_key_unref(again);
    buf_clear(&text);
    INVARIANT(ssh_public_line_write(key, BYTES_LIT("x"), &text) == 0);
    INVARIANT(bytes_start_with(buf_bytes(&text), bytes_str(ssh_key_type(key))));
    buf_wipe(&text);
}

static int key_of_zeros(struct bytes passphrase, struct bytes salt, uint32_t rounds,
                        uint8_t *ret, size_t len)
{
    INVARIANT(passphrase.len > 0 && salt.len > 0 && rounds > 0);
    INVARIANT(len > 0 && len <= CRYPTO_KEY_CIPHER_SECRET_MAX);
    memset(ret, 0, len);
    return 0;
}

static void check_file(struct bytes text)
{
    struct crypto_key *key;
    int r = ssh_key_file_unlock(text, PASSPHRASE, key_of_zeros, &key);
    INVARIANT(r == 0 || r == -FERRY_EPROTO || r == -FERRY_EAUTH || r == -EPROTONOSUPPORT);
    if (r == 0) {
        check_key(key);
        crypto_key_unref(key);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct buf text;
    if (len == 0 || len > SSH_KEY_FILE_MAX / 2)
        return 0;
    struct bytes rest = bytes_of(data + 1, len - 1);
    if (data[0] == 'f')
        check_file(rest);
    if (data[0] != 'b')
        return 0;
    buf_init(&text, SSH_KEY_FILE_MAX);
    INVARIANT(buf_append_str(&text, MARK("BEGIN")) == 0);
    INVARIANT(ssh_base64_encode(rest, &text) == 0);
    INVARIANT(buf_append_str(&text, "\n" MARK("END")) == 0);
    check_file(buf_bytes(&text));
    buf_done(&text);
    return 0;
}
