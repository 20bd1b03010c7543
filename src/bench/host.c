#include "bench/host.h"

#include "base/text.h"
#include "bench/file.h"

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

/* The first line, without its end; *rest is what follows. */
static struct bytes take_line(struct bytes *rest)
{
    size_t end = rest->len;
    (void)bytes_find(*rest, '\n', &end);
    struct bytes line = bytes_first(*rest, end);
    *rest = bytes_skip(*rest, end + 1);
    return line;
}

void host_parse_cpuinfo(struct bytes text, struct host *host)
{
    while (text.len > 0) {
        struct bytes line = take_line(&text);
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
        text_copy_printable(ret->kernel, sizeof(ret->kernel), trim(take_line(&rest)));
    }
    buf_done(&b);
}
