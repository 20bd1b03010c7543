/* What ssh-keygen made, in tests/data/ssh. Memory that is handed out lives until files_done().
 */
#pragma once
#include <stdio.h>

#include "base/buf.h"
#include "base/wire.h"
#include "crypto/digest.h"
#include "ssh/wire/base64.h"
#include "ssh/wire/key.h"
#include "ssh_bytes.h"

static const struct key_sample {
    const char *name, *algorithm, *type, *comment, *fingerprint;
} key_samples[] = {
    {"ed25519", "ssh-ed25519", "ssh-ed25519", "alice@example.org",
     "SHA256:1wU+EB2vZVaztUmbU2BHSpN01lt91tgRZLljZt0aEV0"},
    {"ecdsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", "bob@example.org",
     "SHA256:bXkvS20MYnPTFqVSWKJc2iuNWPwpnGVwhQRjqLSmmz8"},
    {"rsa2048", "rsa-sha2-512", "ssh-rsa", "carol@example.org",
     "SHA256:XHy/FGn5H4c6wQPpIJDvN7jNXbI2RjqwTOaXpRyhzmg"},
    {"rsa3072", "rsa-sha2-512", "ssh-rsa", "dave@example.org",
     "SHA256:OU6MHekaCxe2cMvTECHUjroLeJKjDT/zvSkTXbfnZAE"},
};

#define FILES_MAX 64

static struct buf files[FILES_MAX];
static unsigned file_count;

static inline struct buf *file_new(void)
{
    assert_true(file_count < FILES_MAX);
    buf_init(&files[file_count], 1024 * 1024);
    return &files[file_count++];
}

static inline void files_done(void)
{
    while (file_count > 0)
        buf_done(&files[--file_count]);
}

/* NAME and SUFFIX one behind the other. */
static inline struct bytes file_read(const char *name, const char *suffix)
{
    char path[128];
    uint8_t data[8192];
    snprintf(path, sizeof(path), "tests/data/ssh/%s%s", name, suffix);
    FILE *f = fopen(path, "rbe");
    assert_non_null(f);
    size_t len = fread(data, 1, sizeof(data), f);
    fclose(f);
    assert_true(len > 0 && len < sizeof(data));
    struct buf *b = file_new();
    assert_int_equal(buf_append(b, data, len), 0);
    return buf_bytes(b);
}

/* The blob of a NAME.pub. */
static inline struct bytes file_blob(const char *name)
{
    struct bytes line = file_read(name, ".pub");
    struct buf *b = file_new();
    bytes_take_until(&line, ' ');
    assert_int_equal(ssh_base64_decode(bytes_take_until(&line, ' '), b), 0);
    return buf_bytes(b);
}

static inline struct crypto_key *file_public(const char *name)
{
    struct crypto_key *key;
    assert_int_equal(ssh_key_parse(file_blob(name), &key), 0);
    return key;
}

/* The signature's blob of a NAME.sig, and what it was made over (OpenSSH's PROTOCOL.sshsig). */
static inline struct bytes file_signature(const char *name, struct bytes *ret_signed)
{
    struct bytes text = file_read(name, ".sig");
    struct bytes message = file_read("message", "");
    struct buf *base64 = file_new(), *blob = file_new(), *data = file_new();
    for (bytes_take_until(&text, '\n'); text.len > 0 && text.data[0] != '-';)
        assert_int_equal(buf_append_bytes(base64, bytes_take_until(&text, '\n')), 0);
    assert_int_equal(ssh_base64_decode(buf_bytes(base64), blob), 0);

    struct wire_reader r = wire_reader_of(buf_bytes(blob));
    wire_get_bytes(&r, 6 + 4); /* "SSHSIG", version */
    wire_get_string(&r, 4096); /* key */
    struct bytes space = wire_get_string(&r, 64), reserved = wire_get_string(&r, 64);
    struct bytes hash_name = wire_get_string(&r, 64), signature = wire_get_string(&r, 4096);
    assert_int_equal(wire_read_end(&r), 0);

    uint8_t hash[CRYPTO_DIGEST_MAX];
    assert_int_equal(crypto_digest(CRYPTO_SHA512, &message, 1, hash), 0);
    assert_int_equal(buf_reserve(data, 512), 0);
    struct wire_writer w = wire_writer_of(data->data, 512);
    wire_put_bytes(&w, BYTES_LIT("SSHSIG"));
    wire_put_string(&w, space);
    wire_put_string(&w, reserved);
    wire_put_string(&w, hash_name);
    wire_put_string(&w, bytes_of(hash, 64));
    buf_added(data, w.len);
    *ret_signed = buf_bytes(data);
    return signature;
}
