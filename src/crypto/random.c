#include "crypto/random.h"

#include <errno.h>
#include <sys/random.h>

#include "base/fault.h"

/* Straight from the kernel: no generator of ours that a thread, a fork or a wipe could upset.
 * One of the few system calls outside task/sys.c, hence the fault point. */
int crypto_random(void *dst, size_t len)
{
    uint8_t *at = dst;
    if (fault_hits(FAULT_SYSCALL))
        return -EIO;
    while (len != 0) {
        ssize_t got = getrandom(at, len, 0);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        at += got;
        len -= (size_t)got;
    }
    return 0;
}

int crypto_random_base32(char *dst, size_t len)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567"; /* RFC 4648 section 6 */
    int r = crypto_random(dst, len);
    if (r != 0)
        return r;
    /* 256 is a multiple of 32: each letter is as likely as the others. */
    for (size_t i = 0; i < len; i++)
        dst[i] = alphabet[(uint8_t)dst[i] % 32];
    dst[len] = '\0';
    return 0;
}
