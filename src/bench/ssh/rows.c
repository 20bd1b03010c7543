/* The rows. */
#include "bench/ssh/rows.h"

#include "base/attr.h"
#include "bench/options/options.h"
#include "bench/ssh/suite.h"

#define OF(kind)  (1u << (kind))
#define UPLOADS   (OF(BENCH_TRANSFER) | OF(BENCH_UPLOAD) | OF(BENCH_ALL))
#define DOWNLOADS (OF(BENCH_TRANSFER) | OF(BENCH_DOWNLOAD) | OF(BENCH_ALL))
#define CROWDS    (OF(BENCH_CONCURRENCE) | OF(BENCH_ALL))
#define PROBED    (ROW_STAGED | ROW_PROBED)

static const struct ssh_row_detail aes128 = {.cipher = "aes128-gcm@openssh.com"};
static const struct ssh_row_detail aes256 = {.cipher = "aes256-gcm@openssh.com"};
static const struct ssh_row_detail chacha = {.cipher = "chacha20-poly1305@openssh.com"};
static const struct ssh_row_detail ctr = {.cipher = "aes128-ctr",
                                          .mac = "hmac-sha2-256-etm@openssh.com"};
static const struct ssh_row_detail external = {.cipher = "aes128-gcm@openssh.com",
                                               .is_external = true};
static const struct ssh_row_detail disk = {.cipher = "aes128-gcm@openssh.com",
                                           .is_on_disk = true};
static const struct ssh_row_detail far[] = {
    {.cipher = "aes128-gcm@openssh.com", .round_trip_ms = 10},
    {.cipher = "aes128-gcm@openssh.com", .round_trip_ms = 50},
    {.cipher = "aes128-gcm@openssh.com", .round_trip_ms = 100},
    {.cipher = "aes128-gcm@openssh.com", .round_trip_ms = 200},
};

/* One file by a client of OpenSSH: a session that stays, or a login for each. */
#define SFTP(way, sets, row, words, of, lacking)                                               \
    {                                                                                          \
        .name = row, .label = "sftp " words, .unit = BENCH_MB_PER_S, .kinds = sets,            \
        .traits = PROBED, .needs = lacking, .detail = of, .prepare = ssh_row_prepare_sftp,     \
        .sample = ssh_row_sftp_##way, .leave = ssh_row_leave_stream                            \
    }
#define SCP(way, sets, row, words, of, lacking)                                                \
    {                                                                                          \
        .name = row, .label = "scp " words, .quick_label = "scp " words ", a shorter file",    \
        .unit = BENCH_MB_PER_S, .kinds = sets, .traits = ROW_STAGED, .needs = lacking,         \
        .detail = of, .prepare = ssh_row_prepare_scp, .sample = ssh_row_scp_##way,             \
        .leave = ssh_row_leave_stream                                                          \
    }
#define FAR(way, row, words, i)                                                                \
    {                                                                                          \
        .name = row, .label = "sftp " words, .quick_label = "sftp " words ", a shorter file",  \
        .unit = BENCH_MB_PER_S, .kinds = OF(BENCH_ALL), .traits = ROW_STAGED,                  \
        .detail = &far[i], .prepare = ssh_row_prepare_sftp, .sample = ssh_row_sftp_##way,      \
        .leave = ssh_row_leave_stream                                                          \
    }
#define OWN(row, whose, sets, words)                                                           \
    {                                                                                          \
        .name = #row, .label = words " (aes128-gcm)", .unit = BENCH_MB_PER_S, .kinds = sets,   \
        .traits = ROW_STAGED, .detail = &aes128, .prepare = ssh_row_prepare_##whose,           \
        .sample = ssh_row_##row, .leave = ssh_row_leave_own                                    \
    }
#define CAT(row, words, of, lacking)                                                           \
    {                                                                                          \
        .name = row, .label = "cat on a channel, ferry's client (" words ")",                  \
        .unit = BENCH_MB_PER_S, .kinds = DOWNLOADS, .traits = ROW_STAGED,                      \
        .needs = SSH_CAT | (lacking), .detail = of, .prepare = ssh_row_prepare_cat,            \
        .sample = ssh_row_cat, .leave = ssh_row_leave_cat                                      \
    }

static const struct row_kind kinds[] = {
    /* before anything else leaves memory behind in the servers */
    {.name = "memory",
     .label = "# idle sessions with an sftp channel (memory)",
     .unit = BENCH_MB,
     .kinds = CROWDS,
     .traits = ROW_STAGED | ROW_NEEDS_PID | ROW_ONCE,
     .detail = &aes128,
     .prepare = ssh_row_prepare_memory,
     .sample = ssh_row_memory,
     .conclude = ssh_row_conclude_memory,
     .leave = ssh_row_leave_crowd},
    /* one big file by OpenSSH's clients */
    SFTP(get, DOWNLOADS, "sftp_get", "get (aes128-gcm)", &aes128, 0),
    SFTP(put, UPLOADS, "sftp_put", "put (aes128-gcm)", &aes128, 0),
    SCP(get, DOWNLOADS, "scp_get", "get, with a login (aes128-gcm)", &aes128, 0),
    SCP(put, UPLOADS, "scp_put", "put, with a login (aes128-gcm)", &aes128, 0),
    {.name = "cat_ssh",
     .label = "ssh HOST cat FILE, with a login (aes128-gcm)",
     .quick_label = "ssh HOST cat FILE, with a login (aes128-gcm), a shorter file",
     .unit = BENCH_MB_PER_S,
     .kinds = DOWNLOADS,
     .traits = ROW_STAGED,
     .needs = SSH_CAT,
     .detail = &aes128,
     .prepare = ssh_row_prepare_cat_ssh,
     .sample = ssh_row_cat_ssh,
     .leave = ssh_row_leave_cat},
    /* by ferry's client */
    CAT("cat", "aes128-gcm", &aes128, 0),
    {.name = "both_ends",
     .label = "cat FILE, with a login, each server's own client",
     .quick_label = "cat FILE, with a login, each server's own client, a shorter file",
     .unit = BENCH_MB_PER_S,
     .kinds = DOWNLOADS,
     .traits = ROW_STAGED,
     .needs = SSH_CAT,
     .detail = &aes128,
     .prepare = ssh_row_prepare_both_ends,
     .sample = ssh_row_both_ends,
     .leave = ssh_row_leave_cat},
    OWN(own_get, own, DOWNLOADS, "sftp get, ferry's client"),
    OWN(own_put, own, UPLOADS, "sftp put, ferry's client"),
    OWN(both_get, both, DOWNLOADS, "sftp get, each server's own client"),
    OWN(both_put, both, UPLOADS, "sftp put, each server's own client"),
    /* logins: publickey, ferry's client for all servers */
    {.name = "login",
     .label = "# logins by key, one by one",
     .unit = BENCH_SECS,
     .kinds = CROWDS,
     .traits = ROW_STAGED,
     .detail = &aes128,
     .before = ssh_row_before_login,
     .sample = ssh_row_login,
     .leave = ssh_row_leave_crowd},
    {.name = "login_window",
     .label = "# logins by key, & at once",
     .unit = BENCH_SECS,
     .kinds = CROWDS,
     .traits = ROW_STAGED,
     .detail = &aes128,
     .before = ssh_row_before_login,
     .sample = ssh_row_login_window,
     .leave = ssh_row_leave_crowd},
    /* many small files */
    {.name = "small_get",
     .label = "sftp get -r (2,000 files of 4 KB)",
     .quick_label = "sftp get -r (100 files of 4 KB)",
     .unit = BENCH_SECS,
     .kinds = OF(BENCH_ALL),
     .traits = ROW_STAGED,
     .detail = &aes128,
     .prepare = ssh_row_prepare_small,
     .before = ssh_row_before_small,
     .sample = ssh_row_small_get,
     .after = ssh_row_after_small_get,
     .leave = ssh_row_leave_small},
    {.name = "small_put",
     .label = "sftp put -r (2,000 files of 4 KB)",
     .quick_label = "sftp put -r (100 files of 4 KB)",
     .unit = BENCH_SECS,
     .kinds = OF(BENCH_ALL),
     .traits = ROW_STAGED,
     .detail = &aes128,
     .prepare = ssh_row_prepare_small,
     .before = ssh_row_before_small,
     .sample = ssh_row_small_put,
     .after = ssh_row_after_small_put,
     .leave = ssh_row_leave_small},
    {.name = "tar_get",
     .label = "ssh HOST tar cf - (2,000 files of 4 KB), with a login",
     .quick_label = "ssh HOST tar cf - (100 files of 4 KB), with a login",
     .unit = BENCH_SECS,
     .kinds = OF(BENCH_ALL),
     .traits = ROW_STAGED,
     .needs = SSH_TAR,
     .detail = &aes128,
     .prepare = ssh_row_prepare_tar_get,
     .sample = ssh_row_tar_get,
     .leave = ssh_row_leave_small},
    {.name = "tar_put",
     .label = "ssh HOST tar xf - (2,000 files of 4 KB), with a login",
     .quick_label = "ssh HOST tar xf - (100 files of 4 KB), with a login",
     .unit = BENCH_SECS,
     .kinds = OF(BENCH_ALL),
     .traits = ROW_STAGED,
     .needs = SSH_TAR,
     .detail = &aes128,
     .prepare = ssh_row_prepare_tar_put,
     .before = ssh_row_before_small,
     .sample = ssh_row_tar_put,
     .after = ssh_row_after_small_put,
     .leave = ssh_row_leave_small},
    /* a long way */
    FAR(put, "put_100ms", "put over 100 ms", 2),
    FAR(get, "get_100ms", "get over 100 ms", 2),
    FAR(put, "put_10ms", "put over 10 ms", 0),
    FAR(get, "get_10ms", "get over 10 ms", 0),
    FAR(put, "put_50ms", "put over 50 ms", 1),
    FAR(get, "get_50ms", "get over 50 ms", 1),
    FAR(put, "put_200ms", "put over 200 ms", 3),
    FAR(get, "get_200ms", "get over 200 ms", 3),
    /* the other ciphers, and servers and files of another kind */
    SFTP(get, DOWNLOADS, "sftp_get_aes256", "get (aes256-gcm)", &aes256, 0),
    SFTP(put, UPLOADS, "sftp_put_aes256", "put (aes256-gcm)", &aes256, 0),
    SFTP(get, DOWNLOADS, "sftp_get_chacha", "get (chacha20-poly1305)", &chacha, SSH_CHACHA),
    SFTP(put, UPLOADS, "sftp_put_chacha", "put (chacha20-poly1305)", &chacha, SSH_CHACHA),
    SFTP(get, DOWNLOADS, "sftp_get_ctr", "get (aes128-ctr, hmac-sha2-256-etm)", &ctr, 0),
    SFTP(put, UPLOADS, "sftp_put_ctr", "put (aes128-ctr, hmac-sha2-256-etm)", &ctr, 0),
    SCP(get, OF(BENCH_ALL), "scp_get_aes256", "get, with a login (aes256-gcm)", &aes256, 0),
    SCP(put, OF(BENCH_ALL), "scp_put_aes256", "put, with a login (aes256-gcm)", &aes256, 0),
    SCP(get, OF(BENCH_ALL), "scp_get_chacha", "get, with a login (chacha20-poly1305)", &chacha,
        SSH_CHACHA),
    SCP(put, OF(BENCH_ALL), "scp_put_chacha", "put, with a login (chacha20-poly1305)", &chacha,
        SSH_CHACHA),
    SCP(get, OF(BENCH_ALL), "scp_get_ctr", "get, with a login (aes128-ctr, etm)", &ctr, 0),
    SCP(put, OF(BENCH_ALL), "scp_put_ctr", "put, with a login (aes128-ctr, etm)", &ctr, 0),
    CAT("cat_aes256", "aes256-gcm", &aes256, 0),
    CAT("cat_chacha", "chacha20-poly1305", &chacha, SSH_CHACHA),
    CAT("cat_ctr", "aes128-ctr, etm", &ctr, 0),
    SFTP(get, OF(BENCH_ALL), "sftp_get_external", "get (sftp-server as a program)", &external,
         0),
    SFTP(put, OF(BENCH_ALL), "sftp_put_external", "put (sftp-server as a program)", &external,
         0),
    SFTP(get, OF(BENCH_ALL), "sftp_get_disk", "get (of a disk, in the cache)", &disk, 0),
    SFTP(put, OF(BENCH_ALL), "sftp_put_disk", "put (to a disk)", &disk, 0),
};

_Static_assert(ARRAY_LEN(kinds) <= BENCH_ROWS_MAX, "a row for each");

const struct row_table ssh_rows = {kinds, ARRAY_LEN(kinds)};
