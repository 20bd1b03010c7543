/* layers: ssh_wire */
/* A peer's first lines: each is found at its end and nowhere before, and what is taken for an
 * ident is printable. */
#include "invariant.h"
#include "ssh/wire/ident.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_found(struct bytes line, const struct ssh_ident *ident)
{
    INVARIANT(ident->len < line.len && ident->text[ident->len] == '\0');
    INVARIANT(memcmp(ident->text, line.data, ident->len) == 0);
    for (size_t i = 0; i < ident->len; i++)
        INVARIANT(ident->text[i] >= 0x20 && ident->text[i] < 0x7f);
    INVARIANT(ssh_ident_quirks(ident) < 2 * SSH_QUIRK_GCM_LAST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data, len);
    for (;;) {
        struct ssh_ident ident, again;
        size_t used, used_again;
        int rc = ssh_ident_parse(in, &used, &ident);
        if (rc == SSH_IDENT_MORE)
            INVARIANT(in.len < SSH_IDENT_MAX);
        if (rc != SSH_IDENT_FOUND && rc != SSH_IDENT_OTHER)
            return 0;
        INVARIANT(used > 0 && used <= in.len && used <= SSH_IDENT_MAX);
        INVARIANT(ssh_ident_parse(bytes_first(in, used), &used_again, &again) == rc);
        INVARIANT(used_again == used && in.data[used - 1] == '\n');
        INVARIANT(ssh_ident_parse(bytes_first(in, used - 1), &used_again, &again) ==
                  SSH_IDENT_MORE);
        if (rc == SSH_IDENT_FOUND)
            check_found(bytes_first(in, used), &ident);
        in = bytes_skip(in, used);
    }
}
