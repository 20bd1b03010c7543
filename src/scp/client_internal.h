/* The client's dialogue from inside. */
#pragma once
#include "scp/client.h"
#include "scp/lines.h"

struct scp_dialogue {
    struct scp_lines lines;
    scp_complaint *complaint;
    void *arg;
    bool has_complained; /* the server, or of a source of ours */
};

/* The last component: what a server calls it. BYTES_NONE: it may be anything. */
struct bytes scp_path_name(struct bytes path);

/* Of the server, or of a source; text: any bytes. */
void scp_dialogue_note(struct scp_dialogue *, struct bytes text);
/* 0: done; SCP_SKIP: the server complained. -FERRY_EREFUSED: it leaves. -FERRY_EPROTO,
 * -FERRY_ECLOSED. */
PARKS MUST_CHECK int scp_dialogue_hear(struct scp_dialogue *);
/* Says a line, and hears the answer. */
PARKS MUST_CHECK int scp_dialogue_ask(struct scp_dialogue *, const struct scp_line *);
/* Complains of the path to the server: 0. */
PARKS MUST_CHECK int scp_dialogue_complain(struct scp_dialogue *, struct bytes path,
                                           const char *why);
