#include "bench/study/record.h"

#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "bench/peers/peer_program.h"
#include "bench/study/place.h"

#define TOOL_US  (20 * USEC_PER_S)
#define SAID_MAX 4096

/* As Debian counts them: not every program says its own. */
static const char ask_packages[] =
    "dpkg-query -W -f='${db:Status-Abbrev} ${Package} ${Version}\n' openssh-client putty-tools "
    "tar gzip netcat-openbsd netcat-traditional rsync lftp curl ncftp 2>/dev/null | "
    "sed -n 's/^ii *//p'";
static const char ask_ssh[] = "ssh -V 2>&1";

static void ask_versions(struct study *s)
{
    static const char *const scripts[] = {ask_ssh, ask_packages};
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        const char *const argv[] = {"/bin/sh", "-c", scripts[i], NULL};
        struct buf said;
        char line[128];
        buf_init(&said, SAID_MAX);
        int r = peer_program_run(argv, NULL, TOOL_US, &said);
        struct bytes rest = r == 0 ? buf_bytes(&said) : BYTES_NONE;
        while (rest.len > 0) {
            text_copy_printable(line, sizeof(line), bytes_take_until(&rest, '\n'));
            study_version(s, "client: %s", line);
        }
        buf_done(&said);
    }
    study_version(s, "client: ferry %s", FERRY_VERSION);
}

static void note_surroundings(struct study *s)
{
    const struct place *p = s->place;
    if (s->options->cpu_share > 0 && p->share_result < 0)
        study_note(s, "--cpu-share: not done: no cpu controller can be used here (%s)",
                   err_text(p->share_result));
    else if (s->options->cpu_share > 0)
        study_note(s, "the sender has %u %% of one core, by a control group",
                   s->options->cpu_share);
    study_note(s,
               "user and system time of the client are of its process tree, those of the "
               "server of what it spent meanwhile; files are received %s",
               p->stage->is_memory ? "on tmpfs" : "on a disk: there is no tmpfs");
    if (p->link_result < 0)
        study_note(s, "%.160s; a relay of our own stands in", p->link_error);
    for (unsigned i = 0; i < s->data_count; i++)
        if (s->data[i].note[0] != '\0' && strncmp(s->data[i].name, "group-", 6) != 0)
            study_note(s, "data: %.240s", s->data[i].note);
}

void study_record(struct study *s)
{
    ask_versions(s);
    note_surroundings(s);
}
