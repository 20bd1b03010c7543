#include "ssh/wire/signature.h"

#include "base/text.h"

const struct ssh_signature ssh_signatures[SSH_SIGNATURE_COUNT] = {
    {"ssh-ed25519", CRYPTO_ED25519, CRYPTO_SIGN_ED25519, SSH_SIGNATURE_USUAL},
    {"ecdsa-sha2-nistp256", CRYPTO_ECDSA_P256, CRYPTO_SIGN_ECDSA_SHA256,
     SSH_SIGNATURE_NISTP256},
    {"rsa-sha2-512", CRYPTO_RSA, CRYPTO_SIGN_RSA_SHA512, SSH_SIGNATURE_USUAL},
    {"rsa-sha2-256", CRYPTO_RSA, CRYPTO_SIGN_RSA_SHA256, SSH_SIGNATURE_USUAL},
    {"ssh-rsa", CRYPTO_RSA, CRYPTO_SIGN_RSA_SHA1, SSH_SIGNATURE_LEGACY},
};

const struct ssh_signature *ssh_signature_find(struct bytes name)
{
    for (size_t i = 0; i < SSH_SIGNATURE_COUNT; i++)
        if (bytes_equal(bytes_str(ssh_signatures[i].name), name))
            return &ssh_signatures[i];
    return NULL;
}

size_t ssh_signature_names(unsigned kinds, bool legacy, size_t cap, char *ret)
{
    size_t len = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < SSH_SIGNATURE_COUNT; i++) {
        const struct ssh_signature *s = &ssh_signatures[i];
        bool is_on = legacy || s->use != SSH_SIGNATURE_LEGACY;
        if (!is_on || (kinds & 1u << s->kind) == 0)
            continue;
        if (len > 0)
            len += text_copy(ret + len, cap - len, BYTES_LIT(","));
        len += text_copy(ret + len, cap - len, bytes_str(s->name));
    }
    return len;
}
