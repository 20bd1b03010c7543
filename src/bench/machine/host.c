#include "bench/machine/host.h"

#include "base/text.h"
#include "bench/machine/file.h"

#define CPUINFO_BYTES_MAX (8 * 1024 * 1024)
#define RELEASE_BYTES_MAX 256

static struct bytes trim(struct bytes s)
{
    while (s.len > 0 && (s.data[0] == ' ' || s.data[0] == '\t'))
        s = bytes_skip(s, 1);
    while (s.len > 0 && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
        s = bytes_first(s, s.len - 1);
    return s;
}

void host_parse_cpuinfo(struct bytes text, struct host *host)
{
    while (text.len > 0) {
        struct bytes line = bytes_take_until(&text, '\n');
        size_t colon;
        if (!bytes_find(line, ':', &colon))
            continue;
        struct bytes key = trim(bytes_first(line, colon));
        if (bytes_equal(key, BYTES_LIT("processor")))
            host->cores++;
        else if (bytes_equal(key, BYTES_LIT("model name")) && host->cpu[0] == '\0')
            text_copy_printable(host->cpu, sizeof(host->cpu),
                                trim(bytes_skip(line, colon + 1)));
    }
}

void host_read(struct host *ret)
{
    struct buf b;
    *ret = (struct host){0};
    buf_init(&b, CPUINFO_BYTES_MAX);
    if (file_read("/proc/cpuinfo", &b) == 0)
        host_parse_cpuinfo(buf_bytes(&b), ret);
    buf_done(&b);
    buf_init(&b, RELEASE_BYTES_MAX);
    if (file_read("/proc/sys/kernel/osrelease", &b) == 0) {
        struct bytes rest = buf_bytes(&b);
        text_copy_printable(ret->kernel, sizeof(ret->kernel),
                            trim(bytes_take_until(&rest, '\n')));
    }
    buf_done(&b);
}
