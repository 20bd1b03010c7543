#include "server/own_ports.h"

#include <linux/openat2.h>

#include "base/text.h"
#include "crypto/random.h"
#include "task/sys.h"

#define LOWEST     1024
#define TEXT_BYTES 64

static bool cut_number(struct bytes *text, uint64_t *ret)
{
    size_t len = 0;
    while (text->len > 0 && (text->data[0] == ' ' || text->data[0] == '\t'))
        *text = bytes_skip(*text, 1);
    while (len < text->len && text->data[len] >= '0' && text->data[len] <= '9')
        len++;
    struct bytes digits = bytes_first(*text, len);
    *text = bytes_skip(*text, len);
    return text_u64(digits, 10, UINT16_MAX, ret) == 0;
}

struct own_ports own_ports_within(struct bytes range, struct bytes reserved, uint32_t random)
{
    const struct own_ports none = {0, 0};
    uint64_t first, last;
    bool has_reserved = reserved.len != 0 && reserved.data[0] != '\n';
    if (has_reserved || !cut_number(&range, &first) || !cut_number(&range, &last) ||
        first < LOWEST || last <= first)
        return none;
    uint64_t count = (last - first + 1) / OWN_PORTS_STEP;
    first++; /* the first that bind(2) would give */
    if (count > OWN_PORTS_MAX) {
        first += random % (count - OWN_PORTS_MAX + 1) * OWN_PORTS_STEP;
        count = OWN_PORTS_MAX;
    }
    last = first + (count - 1) * OWN_PORTS_STEP;
    return (struct own_ports){(uint16_t)first, (uint16_t)last};
}

/* More than fits is as good as anything else that is not empty. */
static bool read_text(const char *path, uint8_t dst[TEXT_BYTES], struct bytes *ret)
{
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
    int fd = sys_openat2(AT_FDCWD, path, &how);
    if (fd < 0)
        return false;
    ssize_t n = sys_read(fd, dst, TEXT_BYTES);
    sys_close(fd);
    *ret = bytes_of(dst, n > 0 ? (size_t)n : 0);
    return n >= 0;
}

struct own_ports own_ports_choose(void)
{
    uint8_t texts[2][TEXT_BYTES];
    struct bytes range, reserved;
    uint32_t random;
    if (!read_text("/proc/sys/net/ipv4/ip_local_port_range", texts[0], &range) ||
        !read_text("/proc/sys/net/ipv4/ip_local_reserved_ports", texts[1], &reserved) ||
        crypto_random(&random, sizeof(random)) < 0)
        return (struct own_ports){0, 0};
    return own_ports_within(range, reserved, random);
}
