/* layers: ssh_wire */
/* known_hosts: whatever stands in a file, a line behind it that revokes or names the key
 * counts. Input: a line with a host, then the file. */
#include <errno.h>

#include "base/buf.h"
#include "crypto/key.h"
#include "invariant.h"
#include "ssh/wire/known_hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define INPUT_MAX 16384

/* ssh-ed25519, and a point that is not looked at */
static const uint8_t key_bytes[] = "\0\0\0\x0bssh-ed25519\0\0\0\x04"
                                   "abcd";
static const char key_text[] = " ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAABGFiY2Q=\n";

static enum ssh_known find(struct bytes file, struct bytes host, uint16_t port,
                           unsigned *ret_line)
{
    enum ssh_known known = SSH_KNOWN_UNKNOWN;
    struct bytes key = bytes_of(key_bytes, sizeof(key_bytes) - 1);
    int r = ssh_known_hosts_find(file, host, port, key, &known, ret_line);
    INVARIANT(r == 0);
    return known;
}

static unsigned count_lines(struct bytes file)
{
    unsigned n = 0;
    for (; file.len > 0; n++)
        bytes_take_until(&file, '\n');
    return n;
}

static enum ssh_known find_with(struct bytes file, const char *hosts, struct bytes host,
                                uint16_t port)
{
    struct buf b;
    unsigned line;
    buf_init(&b, INPUT_MAX + 256);
    INVARIANT(buf_append_bytes(&b, file) == 0 && buf_append_str(&b, "\n") == 0);
    INVARIANT(buf_append_str(&b, hosts) == 0 && buf_append_str(&b, key_text) == 0);
    enum ssh_known known = find(buf_bytes(&b), host, port, &line);
    INVARIANT(line > 0 && line <= count_lines(buf_bytes(&b)));
    buf_done(&b);
    return known;
}

static void check_own_line(struct bytes host, uint16_t port)
{
    struct buf b;
    unsigned line;
    buf_init(&b, 1024);
    int r = ssh_known_hosts_line(host, port, bytes_of(key_bytes, sizeof(key_bytes) - 1), &b);
    INVARIANT(r == 0 || r == -EINVAL);
    if (r == 0) {
        INVARIANT(find(buf_bytes(&b), host, port, &line) == SSH_KNOWN_MATCH && line == 1);
        INVARIANT(count_lines(buf_bytes(&b)) == 1);
    }
    buf_done(&b);
}

static void check(struct bytes file, struct bytes host, uint16_t port)
{
    unsigned line;
    enum ssh_known known = find(file, host, port, &line);
    INVARIANT((known == SSH_KNOWN_UNKNOWN) == (line == 0) && line <= count_lines(file));
    unsigned types = ssh_known_hosts_types(file, host, port);
    INVARIANT(types < 1u << (CRYPTO_RSA + 1));
    INVARIANT(known != SSH_KNOWN_MATCH || (types & 1u << CRYPTO_ED25519) != 0);
    INVARIANT(find_with(file, "@revoked *", host, port) == SSH_KNOWN_REVOKED);
    INVARIANT(find_with(file, "*", host, port) ==
              (known == SSH_KNOWN_REVOKED ? SSH_KNOWN_REVOKED : SSH_KNOWN_MATCH));
    check_own_line(host, port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes file = bytes_of(data, len);
    if (len > INPUT_MAX)
        return 0;
    struct bytes host = bytes_take_until(&file, '\n');
    if (host.len > SSH_HOST_MAX)
        return 0;
    check(file, host, 22);
    check(file, host, 2222);
    return 0;
}
