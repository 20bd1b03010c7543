/* layers: ssh_wire */
/* authorized_keys: whatever stands there, a key that is taken reads the same when it is written
 * in one form again, and a "!" keeps out. Input: lines. */
#include <stdio.h>

#include "base/buf.h"
#include "base/civil.h"
#include "base/err.h"
#include "invariant.h"
#include "ssh/wire/authorized_keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const addresses[] = {"192.0.2.9", "10.0.0.1", "2001:db8::1",
                                        "::ffff:192.0.2.9"};

static void expect_within(struct bytes part, struct bytes line)
{
    INVARIANT(part.len == 0 ||
              (part.data >= line.data && part.data + part.len <= line.data + line.len));
}

static void check_from(struct bytes from)
{
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        struct buf list;
        bool matches = ssh_from_matches(from, addresses[i]);
        buf_init(&list, 2 * SSH_AUTHORIZED_LINE_MAX);
        INVARIANT(buf_append_bytes(&list, from) == 0);
        INVARIANT(buf_printf(&list, ",!%s", addresses[i]) == 0);
        INVARIANT(!ssh_from_matches(buf_bytes(&list), addresses[i]));
        buf_clear(&list);
        INVARIANT(buf_append_bytes(&list, from) == 0);
        INVARIANT(buf_append_str(&list, ",never.matches") == 0);
        INVARIANT(ssh_from_matches(buf_bytes(&list), addresses[i]) == matches);
        buf_done(&list);
    }
}

static void put(struct buf *b, const char *before, struct bytes text, const char *behind)
{
    INVARIANT(buf_append_str(b, before) == 0);
    INVARIANT(buf_append_bytes(b, text) == 0);
    INVARIANT(buf_append_str(b, behind) == 0);
}

static void put_options(struct buf *b, const struct ssh_authorized *a)
{
    put(b, "restrict", BYTES_NONE, "");
    if (a->from.len > 0)
        put(b, ",from=\"", a->from, "\"");
    if (a->has_command)
        put(b, ",command=\"", a->command, "\"");
    if (a->expires_s != INT64_MAX) {
        struct civil c;
        clock_utc(a->expires_s * 1000000, &c);
        INVARIANT(buf_printf(b, ",expiry-time=\"%04u%02u%02u%02u%02u%02uZ\"", c.year, c.month,
                             c.day, c.hour, c.minute, c.second) == 0);
    }
}

static void check_again(const struct ssh_authorized *a)
{
    struct buf line;
    struct ssh_authorized b;
    const char *why;
    buf_init(&line, 2 * SSH_AUTHORIZED_LINE_MAX);
    put_options(&line, a);
    put(&line, " ", a->type, " ");
    put(&line, "", a->blob_text, " x"); /* a CR at the line's end would not count */
    enum ssh_authorized_result r = ssh_authorized_parse(buf_bytes(&line), &b, &why);
    if (line.len <= SSH_AUTHORIZED_LINE_MAX) {
        INVARIANT(r == SSH_AUTHORIZED_KEY);
        INVARIANT(bytes_equal(a->type, b.type) && bytes_equal(a->blob_text, b.blob_text));
        INVARIANT(bytes_equal(a->from, b.from) && bytes_equal(a->command, b.command));
        INVARIANT(a->has_command == b.has_command && a->expires_s == b.expires_s);
    }
    buf_done(&line);
}

static void check_line(struct bytes line)
{
    struct ssh_authorized a;
    struct buf command, blob;
    const char *why = NULL;
    enum ssh_authorized_result result = ssh_authorized_parse(line, &a, &why);
    INVARIANT(result != SSH_AUTHORIZED_REFUSED || why != NULL);
    if (result != SSH_AUTHORIZED_KEY)
        return;
    expect_within(a.blob_text, line);
    expect_within(a.type, line);
    expect_within(a.comment, line);
    expect_within(a.from, line);
    expect_within(a.command, line);
    buf_init(&command, SSH_AUTHORIZED_LINE_MAX);
    buf_init(&blob, SSH_AUTHORIZED_LINE_MAX);
    INVARIANT(ssh_authorized_command(&a, &command) == 0 && command.len <= a.command.len);
    int r = ssh_base64_decode(a.blob_text, &blob);
    INVARIANT(r == 0 || r == -FERRY_EPROTO);
    buf_done(&command);
    buf_done(&blob);
    check_from(a.from);
    check_again(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes text = bytes_of(data, len);
    if (len > SSH_AUTHORIZED_LINE_MAX)
        return 0;
    check_from(text);
    while (text.len > 0)
        check_line(bytes_take_until(&text, '\n'));
    return 0;
}
