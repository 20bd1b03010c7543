/* Whether compression pays: one archive of sources over loopback and over 100 Mbit/s, with
 * none, with level 1, with the default, and chosen while it runs. */
#include <errno.h>

#include "bench/study/commands.h"
#include "bench/study/data.h"
#include "bench/study/links.h"

#define STUDY_BYTES UINT64_C(101806080)
#define QUICK_BYTES UINT64_C(20000000)

static const struct row {
    const char *label, *program, *command;
    bool is_shell;
    enum study_server server;
    const char *retired;
} rows[] = {
    {"scp, compression off", "scp", SCP "-o Compression=no" SCP_TO, false, STUDY_SSHD, NULL},
    {"scp, level 1", "scp", NULL, false, STUDY_SSHD, SSH_RETIRED_LEVEL},
    {"scp, compression on", "scp", SCP "-o Compression=yes" SCP_TO, false, STUDY_SSHD, NULL},
    {"pscp (PuTTY), compression off", "pscp",
     "/usr/bin/pscp -batch -q -P @PORT@ -hostkey @HOSTKEY@ -l bench -pwfile "
     "@HOME@/password" SCP_TO,
     false, STUDY_SSHD, NULL},
    {"pscp (PuTTY), level 1", "pscp", NULL, false, STUDY_SSHD,
     "PuTTY's compression has one level"},
    {"pscp (PuTTY), compression on", "pscp",
     "/usr/bin/pscp -batch -q -C -P @PORT@ -hostkey @HOSTKEY@ -l bench -pwfile "
     "@HOME@/password" SCP_TO,
     false, STUDY_SSHD, NULL},
    {"ferry cp to sshd, none", NULL, FERRY_SSH "--compress none" FERRY_SSH_TO, false,
     STUDY_SSHD, NULL},
    {"ferry cp to sshd, zlib level 1", NULL, FERRY_SSH "--compress zlib:1" FERRY_SSH_TO, false,
     STUDY_SSHD, NULL},
    {"ferry cp to sshd, automatic", NULL, FERRY_SSH "--compress auto" FERRY_SSH_TO, false,
     STUDY_SSHD, NULL},
    {"ferry cp to ferryd, none", NULL, FERRY_SSH "--compress none" FERRY_SSH_TO, false,
     STUDY_FERRYD_SSH, NULL},
    {"ferry cp to ferryd, zlib level 1", NULL, FERRY_SSH "--compress zlib:1" FERRY_SSH_TO,
     false, STUDY_FERRYD_SSH, NULL},
    {"ferry cp to ferryd, automatic", NULL, FERRY_SSH "--compress auto" FERRY_SSH_TO, false,
     STUDY_FERRYD_SSH, NULL},
    {"FTP, curl to vsftpd", "curl", CURL_FTP, false, STUDY_VSFTPD, NULL},
    {"FTP, lftp to ferryd", "lftp", LFTP("set ftp:use-mode-z no"), true, STUDY_FERRYD_FTP,
     NULL},
    {"FTP, lftp to ferryd, MODE Z level 1", "lftp",
     LFTP("set ftp:use-mode-z yes; set ftp:mode-z-level 1"), true, STUDY_FERRYD_FTP, NULL},
    {"FTP, lftp to ferryd, MODE Z level 6", "lftp",
     LFTP("set ftp:use-mode-z yes; set ftp:mode-z-level 6"), true, STUDY_FERRYD_FTP, NULL},
    {"FTP, ferry cp to ferryd, none", NULL, FERRY_FTP "--compress none" FERRY_FTP_TO, false,
     STUDY_FERRYD_FTP, NULL},
    {"FTP, ferry cp to ferryd, MODE Z level 1", NULL,
     FERRY_FTP "--compress zlib:1" FERRY_FTP_TO, false, STUDY_FERRYD_FTP, NULL},
    {"FTP, ferry cp to ferryd, MODE Z automatic", NULL,
     FERRY_FTP "--compress auto" FERRY_FTP_TO, false, STUDY_FERRYD_FTP, NULL},
};

static int add_cells(struct study *s, unsigned link, unsigned data)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < ARRAY_LEN(rows); i++)
        r = study_add(s, &(struct study_what){
                             .row = rows[i].label,
                             .column = s->links[link].name,
                             .program = rows[i].program,
                             .command = rows[i].command,
                             .is_shell = rows[i].is_shell,
                             .server = rows[i].server,
                             .link = link,
                             .data = data,
                             .retired = rows[i].retired,
                         });
    return r;
}

static int fill(struct study *s)
{
    static const struct study_heading table = {.title = "scp of an archive of sources",
                                               .corner = "seconds (KB/s)",
                                               .tells_rate = true};
    const struct study_options *o = s->options;
    int data = data_source_tar(s, o->bytes > 0 ? o->bytes
                                  : o->quick   ? QUICK_BYTES
                                               : STUDY_BYTES);
    if (data < 0)
        return data;
    int loopback = study_add_link(s, "loopback", 0);
    int cable = study_add_link(s, LINK_100M_NAME, LINK_100M);
    int r = study_add_table(s, &table);
    if (loopback < 0 || cable < 0 || r < 0)
        return -E2BIG;
    r = add_cells(s, (unsigned)loopback, (unsigned)data);
    if (r == 0)
        r = add_cells(s, (unsigned)cable, (unsigned)data);
    study_note(s, "lftp 4.9 keeps the last block of a MODE Z upload back for what is left of a "
                  "second");
    study_note(s, "files are received in memory; the study sent them to /dev/null");
    return r;
}

const struct study_suite study_compression = {
    .name = "compression",
    .title = "Compression",
    .origin = "scp of a source archive of 101,806,080 bytes over loopback and 100 Mbit/s, with "
              "compression off and at level 1 (secure-shell list, 2002)",
    .fill = fill,
};
