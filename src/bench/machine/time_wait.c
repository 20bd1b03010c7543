#include "bench/machine/time_wait.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "bench/machine/aside.h"
#include "bench/machine/file.h"

#define TOTAL_MAX 4096
#define TABLE_MAX (64 * 1024 * 1024)
#define WORTH     1000 /* a table is read for more than these */
/* Of "0200007F:0015 0100007F:8000 06 ...", a line of the table behind its number. */
#define ADDRESS_LEN 8
#define STATE_AT    28
#define STATE       BYTES_LIT("06")

unsigned time_wait_parse_total(struct bytes text)
{
    while (text.len > 0) {
        struct bytes line = bytes_take_until(&text, '\n');
        if (!bytes_equal(bytes_take_until(&line, ' '), BYTES_LIT("TCP:")))
            continue;
        while (line.len > 0) {
            struct bytes name = bytes_take_until(&line, ' ');
            struct bytes value = bytes_take_until(&line, ' ');
            uint64_t count;
            if (bytes_equal(name, BYTES_LIT("tw")) &&
                text_u64(value, 10, UINT32_MAX, &count) == 0)
                return (unsigned)count;
        }
    }
    return 0;
}

unsigned time_wait_parse_table(struct bytes text, const struct addr *addr)
{
    char local[ADDRESS_LEN + 2];
    unsigned count = 0;
    snprintf(local, sizeof(local), "%08" PRIX32 ":", addr->u.v4.sin_addr.s_addr);
    while (text.len > 0) {
        struct bytes line = bytes_take_until(&text, '\n');
        size_t colon;
        if (!bytes_find(line, ':', &colon)) /* behind the number, which may be long */
            continue;
        line = bytes_skip(line, colon + 2);
        if (line.len < STATE_AT + STATE.len)
            continue;
        struct bytes state = bytes_first(bytes_skip(line, STATE_AT), STATE.len);
        count += bytes_equal(bytes_first(line, ADDRESS_LEN + 1), bytes_str(local)) &&
                 bytes_equal(state, STATE);
    }
    return count;
}

/* -- reading them -- */

struct question {
    const struct addr *addr;
    unsigned count;
};

static int read_total(unsigned *ret)
{
    struct buf text;
    buf_init(&text, TOTAL_MAX);
    int r = file_read("/proc/net/sockstat", &text);
    *ret = time_wait_parse_total(buf_bytes(&text));
    buf_done(&text);
    return r;
}

static int count(void *arg)
{
    struct question *q = arg;
    int r = read_total(&q->count);
    if (r < 0 || q->count < WORTH)
        return r;
    struct buf text;
    buf_init(&text, TABLE_MAX);
    r = file_read("/proc/net/tcp", &text);
    q->count = time_wait_parse_table(buf_bytes(&text), q->addr);
    buf_done(&text);
    return r;
}

int time_wait_count(struct pool *pool, const struct addr *addr, unsigned *ret)
{
    struct question q = {.addr = addr};
    int r = aside_run(pool, count, &q);
    *ret = q.count;
    return r;
}
