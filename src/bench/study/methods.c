/* Which program moves a folder fastest: scp, tar through ssh, tar through netcat, rsync, ferry;
 * with compression in ssh, in gzip, in both and in neither; of files that cannot be compressed,
 * of zeros, and of very many small ones. */
#include <errno.h>
#include <stdio.h>

#include "bench/study/commands.h"
#include "bench/study/data.h"

#define FILES       200
#define FILE_BYTES  (UINT64_C(10) * 1024 * 1024)
#define QUICK_FILES 20
#define SMALL_FILES 20000
#define SMALL_QUICK 2000
#define SMALL_BYTES 2048
#define FILES_MIN   2

#define SCP_R(compression) SCP "-r -o Compression=" compression SCP_TO
#define TAR(flags, options, far)                                                               \
    "/usr/bin/tar c" flags "f - -C @DATADIR@ @NAME@ | /usr/bin/ssh @SSH@ " options             \
    " @HOST@ 'tar x" far "f - -C in'"
#define NC_TAKES(flags) "nc -l -p @PORT@ | tar x" flags "f - -C @INTO@"
#define NC_SENDS(flags) "/usr/bin/tar c" flags "f - -C @DATADIR@ @NAME@ | nc -q 0 @HOST@ @PORT@"
#define RSYNC_SSH       "/usr/bin/rsync -a -e '/usr/bin/ssh @SSH@' @DATA@ @HOST@:in/"
#define FERRY(method)   FERRY_SSH "-r --compress none --method " method FERRY_SSH_TO

enum { RANDOM = 1, ZERO = 2, SMALL = 4, ALL = 7, STUDIED = 3 };

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
    {"tar | no, SSH-1", "tar ssh", NULL, NULL, true, STUDY_SSHD, STUDIED, SSH_RETIRED_ONE},
    {"nc | no", "tar nc", NC_SENDS(""), NC_TAKES(""), true, STUDY_NO_SERVER, ALL, NULL},
    {"nc | gzip", "tar nc gzip", NC_SENDS("z"), NC_TAKES("z"), true, STUDY_NO_SERVER, ALL,
     NULL},
    {"rsync by ssh | no", "rsync ssh", RSYNC_SSH, NULL, true, STUDY_SSHD, ALL, NULL},
    {"rsync daemon | no", "rsync", "/usr/bin/rsync -a @DATA@ rsync://@HOST@:@PORT@/data/in/",
     NULL, false, STUDY_RSYNCD, ALL, NULL},
    {"ferry cp to sshd | automatic", NULL, FERRY_SSH "-r" FERRY_SSH_TO, NULL, false, STUDY_SSHD,
     ALL, NULL},
    {"ferry cp to sshd | no, by SFTP", NULL, FERRY("sftp"), NULL, false, STUDY_SSHD, ALL, NULL},
    {"ferry cp to sshd | no, by tar", NULL, FERRY("tar"), NULL, false, STUDY_SSHD, ALL, NULL},
    {"ferry cp to ferryd | automatic", NULL, FERRY_SSH "-r" FERRY_SSH_TO, NULL, false,
     STUDY_FERRYD_SSH, ALL, NULL},
    {"ferry cp to ferryd | no, by SFTP", NULL, FERRY("sftp"), NULL, false, STUDY_FERRYD_SSH,
     ALL, NULL},
    {"ferry cp to ferryd | no, by tar", NULL, FERRY("tar"), NULL, false, STUDY_FERRYD_SSH, ALL,
     NULL},
    {"tar to ferryd | no", "tar ssh", TAR("", "", ""), NULL, true, STUDY_FERRYD_SSH, ALL, NULL},
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
    snprintf(title, sizeof(title), "%u small files", small);
    if (r == 0)
        r = add_table(s, title, SMALL, data_folder(s, "small", small, SMALL_BYTES, false));
    study_note(s, "over loopback; the study had 200 files of 10 MB, 1 Gbit/s and four hops");
    study_note(s, "the server's CPU of nc is that of its receiver, with tar");
    return r;
}

const struct study_suite study_methods = {
    .name = "methods",
    .title = "Methods",
    .origin = "two hundred files of 10 MB, random and of zeros, by scp, tar over ssh and tar "
              "over netcat, with compression in ssh, in gzip, in both and in neither (2007)",
    .fill = fill,
};
