/* What both directions of the client have in common. */
#include <stdio.h>

#include "base/err.h"
#include "base/text.h"
#include "scp/client_internal.h"

#define COMPLAINT_MAX 512

enum { COMPLAINS = 1, COMPLAINS_AND_LEAVES = 2 }; /* first byte of an answer that is no NUL */

void scp_dialogue_note(struct scp_dialogue *d, struct bytes text)
{
    char printable[SCP_CLIENT_WHY_MAX];
    (void)text_copy_printable(printable, sizeof(printable), text);
    d->has_complained = true;
    d->complaint(d->arg, printable);
}

int scp_dialogue_hear(struct scp_dialogue *d)
{
    struct bytes text;
    uint8_t first;
    int r = scp_lines_read_first(&d->lines, &first);
    if (r <= 0)
        return r < 0 ? r : -FERRY_ECLOSED;
    if (first == '\0')
        return 0;
    if (first != COMPLAINS && first != COMPLAINS_AND_LEAVES)
        return -FERRY_EPROTO;
    r = scp_lines_read_rest(&d->lines, &text);
    if (r < 0)
        return r;
    scp_dialogue_note(d, text);
    return first == COMPLAINS ? SCP_SKIP : -FERRY_EREFUSED;
}

int scp_dialogue_ask(struct scp_dialogue *d, const struct scp_line *line)
{
    int r = scp_lines_say(&d->lines, line);
    return r < 0 ? r : scp_dialogue_hear(d);
}

int scp_dialogue_complain(struct scp_dialogue *d, struct bytes path, const char *why)
{
    char text[COMPLAINT_MAX];
    int path_len = (int)bytes_first(path, COMPLAINT_MAX / 2).len;
    (void)snprintf(text, sizeof(text), "scp: %.*s: %s", path_len, (const char *)path.data,
                   why[0] != '\0' ? why : "skipped");
    const struct scp_line line = {.kind = SCP_LINE_WARNING, .text = bytes_str(text)};
    return scp_lines_say(&d->lines, &line);
}
