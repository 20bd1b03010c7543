/* Which program moves a folder fastest: scp, tar through ssh, tar through netcat, rsync, ferry;
 * with compression in ssh, in gzip, in both and in neither; of files that cannot be compressed,
 * of zeros, and of very many small ones. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/study/commands.h"
#include "bench/study/data.h"
#include "bench/study/goals.h"
#include "bench/study/links.h"
#include "bench/study/results.h"

#define FILES       200
#define FILE_BYTES  (UINT64_C(10) * 1024 * 1024)
#define QUICK_FILES 20
#define SMALL_FILES 20000
#define SMALL_QUICK 2000
#define SMALL_BYTES 2048
#define FILES_MIN   2

#define FAR_TRIP_US (100 * USEC_PER_MS)
#define FAR_FROM_S  2 /* TCP's and ssh's windows have opened by then */
#define FAR_UNTIL_S 20
#define FAR_QUICK_S 5
#define FAR_SPARE_S 2 /* more of the link in the file: it does not end before */
#define FAR_TABLE   "One file over 100 ms"
#define SMALL_TITLE "%u small files"

#define SCP_R(compression) SCP "-r -o Compression=" compression SCP_TO
#define TAR(flags, options, far)                                                               \
    "/usr/bin/tar c" flags "f - -C @DATADIR@ @NAME@ | /usr/bin/ssh @SSH@ " options             \
    " @HOST@ 'tar x" far "f - -C in'"
#define NC_TAKES(flags)   "nc -l -p @PORT@ | tar x" flags "f - -C @INTO@"
#define NC_SENDS(flags)   "/usr/bin/tar c" flags "f - -C @DATADIR@ @NAME@ | nc -q 0 @HOST@ @PORT@"
#define RSYNC_SSH         "/usr/bin/rsync -a -e '/usr/bin/ssh @SSH@' @DATA@ @HOST@:in/"
#define FERRY_BY(options) FERRY_SSH "-r " options FERRY_SSH_TO
#define FERRY_SFTP        FERRY_BY("--compress none --method sftp")
#define FERRY_TAR         FERRY_BY("--compress none --method tar")

enum { RANDOM = 1, ZERO = 2, SMALL = 4, ONE = 8, ALL = 7, STUDIED = 3 };

static const struct row {
    const char *label, *program, *command, *receiver;
    bool is_shell;
    enum study_server server;
    unsigned tables; /* in which it is of interest */
    const char *retired;
} rows[] = {
    {"scp | no", "scp", SCP_R("no"), NULL, false, STUDY_SSHD, ALL, NULL},
    {"scp | ssh", "scp", SCP_R("yes"), NULL, false, STUDY_SSHD, ALL, NULL},
    {"tar | no", "tar ssh", TAR("", "", ""), NULL, true, STUDY_SSHD, ALL, NULL},
    {"tar | ssh", "tar ssh", TAR("", "-C", ""), NULL, true, STUDY_SSHD, ALL, NULL},
    {"tar | gzip", "tar ssh gzip", TAR("z", "", "z"), NULL, true, STUDY_SSHD, ALL, NULL},
    {"tar | ssh and gzip", "tar ssh gzip", TAR("z", "-C", "z"), NULL, true, STUDY_SSHD, ALL,
     NULL},
    {"tar | no, blowfish encryption", "tar ssh", NULL, NULL, true, STUDY_SSHD, STUDIED,
     SSH_RETIRED_BLOWFISH},
    {"nc | no", "tar nc", NC_SENDS(""), NC_TAKES(""), true, STUDY_NO_SERVER, ALL, NULL},
    {"nc | gzip", "tar nc gzip", NC_SENDS("z"), NC_TAKES("z"), true, STUDY_NO_SERVER, ALL,
     NULL},
    {"rsync by ssh | no", "rsync ssh", RSYNC_SSH, NULL, true, STUDY_SSHD, ALL, NULL},
    {"rsync daemon | no", "rsync", "/usr/bin/rsync -a @DATA@ rsync://@HOST@:@PORT@/data/in/",
     NULL, false, STUDY_RSYNCD, ALL, NULL},
    {"ferry cp to sshd | no", NULL, FERRY_BY("--compress none"), NULL, false, STUDY_SSHD, ALL,
     NULL},
    {"ferry cp to sshd | automatic", NULL, FERRY_BY("--compress auto"), NULL, false, STUDY_SSHD,
     ALL, NULL},
    {"ferry cp to sshd | no, by SFTP", NULL, FERRY_SFTP, NULL, false, STUDY_SSHD, ALL, NULL},
    {"ferry cp to sshd | no, by tar", NULL, FERRY_TAR, NULL, false, STUDY_SSHD, ALL, NULL},
    {"ferry cp to ferryd | no", NULL, FERRY_BY("--compress none"), NULL, false,
     STUDY_FERRYD_SSH, ALL, NULL},
    {"ferry cp to ferryd | automatic", NULL, FERRY_BY("--compress auto"), NULL, false,
     STUDY_FERRYD_SSH, ALL, NULL},
    {"ferry cp to ferryd | no, by SFTP", NULL, FERRY_SFTP, NULL, false, STUDY_FERRYD_SSH, ALL,
     NULL},
    {"ferry cp to ferryd | no, by tar", NULL, FERRY_TAR, NULL, false, STUDY_FERRYD_SSH, ALL,
     NULL},
    {"scp to ferryd | no", "scp", SCP_R("no"), NULL, false, STUDY_FERRYD_SSH, ALL, NULL},
    {"tar to ferryd | no", "tar ssh", TAR("", "", ""), NULL, true, STUDY_FERRYD_SSH, ALL, NULL},
    /* the study's table 3 */
    {"scp | no", "scp", NULL, NULL, false, STUDY_SSHD, ONE, SSH_RETIRED_ONE},
    {"scp | ssh", "scp", NULL, NULL, false, STUDY_SSHD, ONE, SSH_RETIRED_ONE},
    {"tar | no", "tar ssh", NULL, NULL, true, STUDY_SSHD, ONE, SSH_RETIRED_ONE},
    {"tar | ssh", "tar ssh", NULL, NULL, true, STUDY_SSHD, ONE, SSH_RETIRED_ONE},
    {"tar | gzip", "tar ssh gzip", NULL, NULL, true, STUDY_SSHD, ONE, SSH_RETIRED_ONE},
    {"tar | ssh and gzip", "tar ssh gzip", NULL, NULL, true, STUDY_SSHD, ONE, SSH_RETIRED_ONE},
};

/* One file, over a relay with a round trip. */
static const struct far_row {
    const char *label, *program, *command;
    enum study_server server;
} far_rows[] = {
    {"scp to sshd", "scp", SCP SCP_FREE SCP_TO, STUDY_SSHD},
    {"scp to ferryd", "scp", SCP SCP_FREE SCP_TO, STUDY_FERRYD_SSH},
    {"ferry cp to sshd", NULL, FERRY_SSH "--compress none" FERRY_SSH_TO, STUDY_SSHD},
    {"ferry cp to ferryd", NULL, FERRY_SSH "--compress none" FERRY_SSH_TO, STUDY_FERRYD_SSH},
};

static int add_table(struct study *s, const char *title, unsigned which, int data)
{
    const struct study_heading table = {.title = title, .corner = "command | compression"};
    int number = data < 0 ? data : study_add_table(s, &table);
    int r = number < 0 ? number : 0;
    for (unsigned i = 0; r == 0 && i < ARRAY_LEN(rows); i++)
        if ((rows[i].tables & which) != 0)
            r = study_add(s, &(struct study_what){
                                 .table = (unsigned)number,
                                 .row = rows[i].label,
                                 .column = "time",
                                 .program = rows[i].program,
                                 .command = rows[i].command,
                                 .receiver = rows[i].receiver,
                                 .is_shell = rows[i].is_shell,
                                 .server = rows[i].server,
                                 .data = (unsigned)data,
                                 .retired = rows[i].retired,
                             });
    return r;
}

static int add_far(struct study *s, int table, int link, int data, struct study_window window)
{
    int r = link < 0 ? link : data < 0 ? data : 0;
    for (unsigned i = 0; r == 0 && i < ARRAY_LEN(far_rows); i++)
        r = study_add(s, &(struct study_what){.table = (unsigned)table,
                                              .row = far_rows[i].label,
                                              .column = s->links[link].name,
                                              .program = far_rows[i].program,
                                              .command = far_rows[i].command,
                                              .server = far_rows[i].server,
                                              .link = (unsigned)link,
                                              .data = (unsigned)data,
                                              .window = window});
    return r;
}

/* -s: all of the file is timed, with the login. */
static int add_far_table(struct study *s)
{
    static const struct study_heading heading = {
        .title = FAR_TABLE, .corner = "command", .is_rate = true};

    static const struct {
        const char *name, *file;
        uint64_t bytes_per_s;
    } links[] = {{LINK_100M_NAME ", 100 ms", "far-100", LINK_100M},
                 {LINK_1G_NAME ", 100 ms", "far-1000", LINK_1G}};
    const struct study_options *o = s->options;
    struct study_window window = {FAR_FROM_S, o->quick ? FAR_QUICK_S : FAR_UNTIL_S};
    unsigned seconds = window.until_s + FAR_SPARE_S;
    if (o->bytes > 0)
        window = (struct study_window){0, 0};
    int table = study_add_table(s, &heading), r = table < 0 ? table : 0;
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(links); i++)
        r = add_far(s, table,
                    study_add_far_link(s, links[i].name, links[i].bytes_per_s, FAR_TRIP_US),
                    data_hole(s, links[i].file,
                              o->bytes > 0 ? o->bytes : links[i].bytes_per_s * seconds),
                    window);
    return r;
}

/* -s: bytes of all files of a folder; the files stay as long as they are, down to two. */
static unsigned count_of(const struct study_options *o, unsigned whole, unsigned quick,
                         uint64_t each)
{
    uint64_t count = o->bytes > 0 ? o->bytes / each : o->quick ? quick : whole;
    return count < FILES_MIN ? FILES_MIN : count > whole ? whole : (unsigned)count;
}

static int fill(struct study *s)
{
    const struct study_options *o = s->options;
    uint64_t each =
        o->bytes > 0 && o->bytes < FILES_MIN * FILE_BYTES ? o->bytes / FILES_MIN : FILE_BYTES;
    char title[STUDY_LABEL_MAX];
    unsigned count = count_of(o, FILES, QUICK_FILES, each);
    unsigned small = count_of(o, SMALL_FILES, SMALL_QUICK, SMALL_BYTES);
    if (each == 0 || study_add_link(s, "loopback", 0) < 0)
        return -EINVAL;
    int r = add_table(s, "Table 1. Random files", RANDOM,
                      data_folder(s, "random", count, each, false));
    if (r == 0)
        r = add_table(s, "Table 2. Files of zeros", ZERO,
                      data_folder(s, "zero", count, each, true));
    if (r == 0)
        r = add_table(s, "Table 3. SSH-1 and zeros", ONE, 1);
    snprintf(title, sizeof(title), SMALL_TITLE, small);
    if (r == 0)
        r = add_table(s, title, SMALL, data_folder(s, "small", small, SMALL_BYTES, false));
    if (r == 0)
        r = add_far_table(s);
    study_note(s,
               "tables 1 to 3 and the small files are over loopback; the study had 200 files "
               "of 10 MB, 1 Gbit/s and four hops");
    study_note(s,
               "over 100 ms: a relay of our own ends TCP, so that no loss and no window of "
               "TCP is in it, but those of ssh and SFTP; %s",
               o->bytes > 0 ? "all of the file is timed (-s)"
               : o->quick   ? "seconds 2 to 5 are counted"
                            : "seconds 2 to 20 are counted, and the client is ended then");
    study_note(s, "the server's CPU of nc is that of its receiver, with tar");
    return r;
}

static void judge(struct study *s)
{
    const char *small = "";
    for (unsigned i = 0; i < s->table_count; i++)
        if (strstr(s->tables[i].title, "small files") != NULL)
            small = s->tables[i].title;

    static const struct {
        const char *text, *what, *than;
        double least;
    } goals[] = {
        {"small files to sshd: times as fast as scp -r", "ferry cp to sshd | no", "scp | no",
         5},
        {"small files to sshd: not slower than tar", "ferry cp to sshd | no", "tar | no", 1},
        {"small files to ferryd: times as fast as tar to sshd", "ferry cp to ferryd | no",
         "tar | no", 1.5},
        {"small files to ferryd: times as fast as tar to ferryd", "ferry cp to ferryd | no",
         "tar to ferryd | no", 1.5},
    };

    for (size_t i = 0; i < ARRAY_LEN(goals); i++)
        study_judge_pair(s, goals[i].text,
                         &(struct study_pair){.table = small,
                                              .column = "time",
                                              .what = goals[i].what,
                                              .than = goals[i].than,
                                              .field = STUDY_REAL,
                                              .least = goals[i].least});
    study_judge_link(s, "one file over 100 ms to ferryd: of the link", FAR_TABLE,
                     "ferry cp to ferryd", 0.9);
}

const struct study_suite study_methods = {
    .name = "methods",
    .title = "Methods",
    .origin = "two hundred files of 10 MB, random and of zeros, by scp, tar over ssh and tar "
              "over netcat, with compression in ssh, in gzip, in both and in neither (2007)",
    .fill = fill,
    .judge = judge,
};
