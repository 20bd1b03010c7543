/* A line of scp: what is taken has a name that stays in its directory, and written again it is
 * taken as the same. */
/* layers: scp_wire */
#include "base/clock.h"
#include "base/err.h"
#include "invariant.h"
#include "scp/wire/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_name(struct bytes name)
{
    size_t at;
    INVARIANT(name.len > 0 && !bytes_find(name, '/', &at) && !bytes_find(name, '\0', &at));
    INVARIANT(!bytes_equal(name, BYTES_LIT(".")) && !bytes_equal(name, BYTES_LIT("..")));
}

static bool has_name(const struct scp_line *line)
{
    return line->kind == SCP_LINE_FILE || line->kind == SCP_LINE_DIRECTORY;
}

static void check_again(const struct scp_line *line, struct bytes text)
{
    struct scp_line again;
    INVARIANT(text.len > 0 && text.data[text.len - 1] == '\n');
    text.len--;
    size_t at;
    INVARIANT(!bytes_find(text, '\n', &at)); /* whatever the name holds */
    INVARIANT(scp_line_parse(text, &again) == 0 && again.kind == line->kind);
    INVARIANT(again.mode == line->mode);
    if (line->kind == SCP_LINE_FILE)
        INVARIANT(again.size_bytes == line->size_bytes);
    INVARIANT(again.mtime_us / (int64_t)USEC_PER_S == line->mtime_us / (int64_t)USEC_PER_S);
    if (has_name(line) && !bytes_find(line->text, '\n', &at))
        INVARIANT(bytes_equal(again.text, line->text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct scp_line line;
    struct buf out;

    if (len > 4096)
        return 0;
    int r = scp_line_parse(bytes_of(data, len), &line);
    INVARIANT(r == 0 || r == -FERRY_EPROTO || r == -FERRY_EBADNAME);
    if (r < 0)
        return 0;
    if (has_name(&line))
        check_name(line.text);
    INVARIANT(line.mode <= 07777 && line.size_bytes <= INT64_MAX);
    INVARIANT(line.mtime_us >= 0 && line.atime_us >= 0);
    buf_init(&out, 3 * len + 64);
    INVARIANT(scp_line_append(&out, &line) == 0);
    check_again(&line, buf_bytes(&out));
    buf_done(&out);
    return 0;
}
