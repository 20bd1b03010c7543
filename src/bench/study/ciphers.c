/* What a cipher costs: one large file by scp and by ferry with each, and by protocols that have
 * none; and the ciphers that ssh no longer has, by themselves. */
#include <errno.h>
#include <linux/openat2.h>

#include "base/mem.h"
#include "bench/study/commands.h"
#include "bench/study/data.h"
#include "bench/study/goals.h"
#include "bench/study/place.h"
#include "bench/study/results.h"
#include "crypto/retired.h"
#include "task/sys.h"

#define STUDY_BYTES UINT64_C(3921247501)
#define QUICK_BYTES UINT64_C(64000000)
#define ROOM_PART   4 /* of the room in memory: the file lies there twice */

#define ALONE_PIECE  (16 * 1024)
#define ALONE_PIECES 512

#define SCP_BY(cipher) SCP "-c " cipher " " SCP_FREE SCP_TO
#define FERRY_BY(cipher)                                                                       \
    "@FERRY@ cp -q -B -F @HOME@/ssh_config -P @PORT@ --compress none --cipher " cipher         \
    " @DATA@ @HOST@:in/"

#define WHOLE            "One file by cipher"
#define FERRY_TO(server) "ferry cp to " server
#define FTP_TO_VSFTPD    "ferry cp ftp: to vsftpd"
#define FTP_TO_FERRYD    "ferry cp ftp: to ferryd"

static const struct row {
    const char *label, *program, *command;
    const char *retired;
    enum study_server server;
    bool is_shell;
} rows[] = {
    {"scp -o Compression=no", "scp", SCP SCP_FREE SCP_TO, NULL, STUDY_SSHD, false},
    {"scp -c arcfour -o Compression=no", "scp", NULL, SSH_RETIRED_ARCFOUR, STUDY_SSHD, false},
    {"scp -c blowfish-cbc -o Compression=no", "scp", NULL, SSH_RETIRED_BLOWFISH, STUDY_SSHD,
     false},
    {"scp -c aes128-cbc -o Compression=no", "scp", SCP_BY("aes128-cbc"), NULL, STUDY_SSHD,
     false},
    {"scp -c 3des-cbc -o Compression=no", "scp", SCP_BY("3des-cbc"), NULL, STUDY_SSHD, false},
    {"scp -c aes128-ctr -o Compression=no", "scp", SCP_BY("aes128-ctr"), NULL, STUDY_SSHD,
     false},
    {"scp -c aes256-ctr -o Compression=no", "scp", SCP_BY("aes256-ctr"), NULL, STUDY_SSHD,
     false},
    {"scp -c aes128-gcm@openssh.com -o Compression=no", "scp", SCP_BY("aes128-gcm@openssh.com"),
     NULL, STUDY_SSHD, false},
    {"scp -c aes256-gcm@openssh.com -o Compression=no", "scp", SCP_BY("aes256-gcm@openssh.com"),
     NULL, STUDY_SSHD, false},
    {"scp -c chacha20-poly1305@openssh.com -o Compression=no", "scp",
     SCP_BY("chacha20-poly1305@openssh.com"), NULL, STUDY_SSHD, false},
    {FERRY_TO("sshd"), NULL, FERRY_BY("auto"), NULL, STUDY_SSHD, false},
    {FERRY_TO("ferryd"), NULL, FERRY_BY("auto"), NULL, STUDY_FERRYD_SSH, false},
    {"ferry cp --cipher aes128-ctr to ferryd", NULL, FERRY_BY("aes128-ctr"), NULL,
     STUDY_FERRYD_SSH, false},
    {"ferry cp --cipher aes128-gcm@openssh.com to ferryd", NULL,
     FERRY_BY("aes128-gcm@openssh.com"), NULL, STUDY_FERRYD_SSH, false},
    {"ferry cp --cipher aes256-gcm@openssh.com to ferryd", NULL,
     FERRY_BY("aes256-gcm@openssh.com"), NULL, STUDY_FERRYD_SSH, false},
    {"ferry cp --cipher chacha20-poly1305@openssh.com to ferryd", NULL,
     FERRY_BY("chacha20-poly1305@openssh.com"), NULL, STUDY_FERRYD_SSH, false},
    {"scp to ferryd -o Compression=no", "scp", SCP SCP_FREE SCP_TO, NULL, STUDY_FERRYD_SSH,
     false},
    {"ncftpput -m to vsftpd", "ncftpput", NCFTPPUT, NULL, STUDY_VSFTPD, false},
    {"curl -T ftp: to vsftpd", "curl", CURL_FTP, NULL, STUDY_VSFTPD, false},
    {"lftp put to vsftpd", "lftp", LFTP("set ftp:use-mode-z no"), NULL, STUDY_VSFTPD, true},
    {FTP_TO_VSFTPD, NULL, FERRY_FTP "--compress none" FERRY_FTP_TO, NULL, STUDY_VSFTPD, false},
    {"ncftpput -m to ferryd", "ncftpput", NCFTPPUT, NULL, STUDY_FERRYD_FTP, false},
    {"curl -T ftp: to ferryd", "curl", CURL_FTP, NULL, STUDY_FERRYD_FTP, false},
    {"lftp put to ferryd", "lftp", LFTP("set ftp:use-mode-z no"), NULL, STUDY_FERRYD_FTP, true},
    {FTP_TO_FERRYD, NULL, FERRY_FTP "--compress none" FERRY_FTP_TO, NULL, STUDY_FERRYD_FTP,
     false},
    {"rsync --stats -a to its daemon", "rsync",
     "/usr/bin/rsync --stats -a @DATA@ rsync://@HOST@:@PORT@/data/in/", NULL, STUDY_RSYNCD,
     false},
};

/* OpenSSL's name, and ssh's. */
static const struct alone {
    const char *name, *label;
} alone[] = {
    {"RC4", "arcfour (RC4), retired"}, {"BF-CBC", "blowfish-cbc, retired"},
    {"DES-EDE3-CBC", "3des-cbc"},      {"AES-128-CBC", "aes128-cbc"},
    {"AES-128-CTR", "aes128-ctr"},     {"AES-256-CTR", "aes256-ctr"},
};

/* The seconds that the file would take, by 8 MiB in pieces that fit the cache. 0: it cannot be
 * measured here. */
static double measure_alone(const struct study *s, const struct study_cell *cell)
{
    struct crypto_retired *cipher = NULL;
    uint8_t *piece = mem_new(ALONE_PIECE);
    int r = piece == NULL ? -ENOMEM : crypto_retired_new(alone[cell->detail].name, &cipher);
    uint64_t began = sys_thread_cpu_ns();
    for (unsigned i = 0; r == 0 && i < ALONE_PIECES; i++)
        r = crypto_retired_apply(cipher, piece, ALONE_PIECE);
    double took_s = (double)(sys_thread_cpu_ns() - began) / 1e9;
    (void)crypto_retired_free(cipher);
    mem_free(piece);
    return r < 0 ? 0
                 : took_s * (double)s->data[cell->data].bytes / (ALONE_PIECE * ALONE_PIECES);
}

/* The study's length, if memory has room for the file and what comes of it. */
static uint64_t choose_bytes(struct study *s)
{
    const struct study_options *o = s->options;
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC};
    uint64_t room = 0, bytes = o->bytes > 0 ? o->bytes : o->quick ? QUICK_BYTES : STUDY_BYTES;
    int fd = sys_openat2(AT_FDCWD, s->place->stage->files, &how);
    int r = fd < 0 ? fd : sys_fstatfs_free(fd, &room);
    sys_close(fd);
    if (r == 0 && bytes > room / ROOM_PART)
        bytes = room / ROOM_PART;
    study_note(s, "the file has %llu bytes; the study's had 3921247501",
               (unsigned long long)bytes);
    return bytes;
}

static int add_rows(struct study *s, unsigned table, unsigned data)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < ARRAY_LEN(rows); i++)
        r = study_add(s, &(struct study_what){
                             .table = table,
                             .row = rows[i].label,
                             .column = "real",
                             .program = rows[i].program,
                             .command = rows[i].command,
                             .is_shell = rows[i].is_shell,
                             .server = rows[i].server,
                             .data = data,
                             .retired = rows[i].retired,
                         });
    return r;
}

static int add_alone(struct study *s, unsigned table, unsigned data)
{
    int r = 0;
    for (unsigned i = 0; r == 0 && i < ARRAY_LEN(alone); i++)
        r = study_add(s, &(struct study_what){.table = table,
                                              .row = alone[i].label,
                                              .column = "KB/s",
                                              .data = data,
                                              .measure = measure_alone,
                                              .detail = i});
    return r;
}

static int fill(struct study *s)
{
    static const struct study_heading whole = {
        .title = WHOLE, .corner = "Xfer type", .lists_runs = true};
    static const struct study_heading primitives = {
        .title = "Ciphers alone, one core", .corner = "cipher", .is_rate = true};
    int data = data_noise(s, "bigdata.tar.bz2", choose_bytes(s));
    int link = study_add_link(s, "loopback", 0);
    int first = study_add_table(s, &whole), second = study_add_table(s, &primitives);
    if (data < 0 || link < 0 || first < 0 || second < 0)
        return data < 0 ? data : -E2BIG;
    int r = add_rows(s, (unsigned)first, (unsigned)data);
    if (r == 0)
        r = add_alone(s, (unsigned)second, (unsigned)data);
    study_note(s, "over loopback: both ends share this machine's cores; rsync's daemon and FTP "
                  "encrypt nothing; scp is that of OpenSSH, whose protocol is SFTP since 9.0");
    study_note(s, "sshd lets in aes128-cbc and 3des-cbc for these rows alone");
    return r;
}

static void judge(struct study *s)
{
    static const struct {
        const char *text, *what, *than;
        enum study_field field;
        double least;
    } goals[] = {
        {"one file to sshd: times as fast as scp", FERRY_TO("sshd"), "scp -o Compression=no",
         STUDY_REAL, 1.2},
        {"one file to ferryd: times as fast as scp to sshd", FERRY_TO("ferryd"),
         "scp -o Compression=no", STUDY_REAL, 2.5},
        {"client's CPU to vsftpd: ncftpput's beside ours", FTP_TO_VSFTPD,
         "ncftpput -m to vsftpd", STUDY_CLIENT, 1},
        {"client's CPU to vsftpd: curl's beside ours", FTP_TO_VSFTPD, "curl -T ftp: to vsftpd",
         STUDY_CLIENT, 1},
        {"client's CPU to vsftpd: lftp's beside ours", FTP_TO_VSFTPD, "lftp put to vsftpd",
         STUDY_CLIENT, 1},
        {"client's CPU to ferryd: ncftpput's beside ours", FTP_TO_FERRYD,
         "ncftpput -m to ferryd", STUDY_CLIENT, 1},
        {"client's CPU to ferryd: curl's beside ours", FTP_TO_FERRYD, "curl -T ftp: to ferryd",
         STUDY_CLIENT, 1},
        {"client's CPU to ferryd: lftp's beside ours", FTP_TO_FERRYD, "lftp put to ferryd",
         STUDY_CLIENT, 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(goals); i++)
        study_judge_pair(s, goals[i].text,
                         &(struct study_pair){.table = WHOLE,
                                              .column = "real",
                                              .what = goals[i].what,
                                              .than = goals[i].than,
                                              .field = goals[i].field,
                                              .least = goals[i].least});
}

const struct study_suite study_ciphers = {
    .name = "ciphers",
    .title = "Ciphers",
    .origin = "one compressed file of 3.9 GB by scp under several ciphers, by FTP and by the "
              "rsync daemon: real, user and system time of three runs and their average (2013)",
    .fill = fill,
    .judge = judge,
};
