/* Bounds on what a peer can make us hold, wait for or do, in one place. Those of one protocol's
 * own objects stand at their head: of ssh in ssh/connection.h and ssh/wire/, of SFTP in
 * sftp/internal.h and sftp/wire/message.h.
 * Bounds that an operator may change are settings (server/settings.h); their defaults stand
 * here. */
#pragma once
#include "base/clock.h"

/* names and paths */
#define PATH_LEN_MAX   4095 /* bytes of a virtual path, as the kernel's PATH_MAX less the NUL */
#define NAME_LEN_MAX   255  /* bytes of one component */
#define GLOB_STEPS_MAX 200000 /* pattern steps of one listing or command */

/* a tree that is walked */
#define WALK_DEPTH_MAX   256           /* directories in directories */
#define WALK_NAMES_BYTES (1024 * 1024) /* directories that wait for their turn */

/* ftp */
#define FTP_LINE_MAX              4608 /* longest command line: a verb and a path of PATH_LEN_MAX */
#define FTP_LINE_PRELOGIN_MAX     520   /* before login no path is needed */
#define FTP_PRELOGIN_COMMANDS_MAX 32    /* commands before login, then 421 */
#define FTP_LOGIN_TRIES_MAX       3     /* wrong passwords, then 421 */
#define FTP_REPLY_MAX             16384 /* bytes of one multi-line reply */
#define FTP_ANSWER_LINES_MAX      1024  /* lines of one that a server sends us */

/* what comes compressed: a file of zeros is no crime, but beyond so many bytes one of nothing
 * else is taken for a bomb, since it costs its sender next to nothing */
#define EXPAND_FREE_BYTES (256 * UINT64_C(1024) * 1024)
#define EXPAND_RATIO_MAX  200
#define DEFLATE_AT_ONCE   256 /* transfers of one worker: each may want 1 MB */

/* scp, and commands on ssh channels */
#define SCP_LINE_MAX     2048          /* as OpenSSH's; names are at most NAME_LEN_MAX of it */
#define SCP_DEPTH_MAX    256           /* directories in directories, as they come */
#define EXEC_NAMES_BYTES (1024 * 1024) /* what the patterns of one command stand for */
#define EXEC_NAMES_MAX   65536
#define TAR_AT_ONCE      16 /* of one worker: each may want some TAR_WINDOW_BYTES */
#define TAR_PER_SESSION  2
#define TAR_WINDOW_BYTES                                                                       \
    (8 * 1024 * 1024) /* of a zstd frame: what RFC 8878 3.1.1.1.2 asks for */
#define TAR_HEADER_BYTES (4 * 1024 * 1024) /* before one entry of an archive */

/* accounts */
#define USER_NAME_MAX    128
#define PASSWORD_MAX     511 /* what crypt(3) reads */
#define ACCOUNT_KEYS_MAX 256
#define HASH_QUEUE_MAX   64                /* waiting password checks, then 421 */
#define REMEMBERED_MAX   4096              /* digests of right passwords */
#define BAN_WINDOW_US    (60 * USEC_PER_S) /* failed logins are counted over so long */
#define BAN_US           (60 * USEC_PER_S) /* and then refused for so long */
#define BANS_MAX         4096              /* hosts whose failures are remembered */

/* defaults of settings: DESIGN 2 */
#define DEFAULT_LOGIN_US        (60 * USEC_PER_S)
#define DEFAULT_IDLE_US         (300 * USEC_PER_S)
#define DEFAULT_STALL_US        (60 * USEC_PER_S)
#define DEFAULT_CONNECT_US      (30 * USEC_PER_S)
#define DEFAULT_SESSIONS        5000
#define DEFAULT_PER_ADDRESS     50
#define DEFAULT_PER_ACCOUNT     20
#define DEFAULT_UNAUTHENTICATED 100
#define DEFAULT_REMEMBER_US     (300 * USEC_PER_S)
#define DEFAULT_BAN_FAILURES    10 /* failed logins of a host within BAN_WINDOW_US */

/* runtime */
#define WORKERS_MAX            8
#define TASK_STACK_BYTES       (64 * 1024)
#define TASK_STACK_LARGE_BYTES (256 * 1024)
#define TASK_GUARD_BYTES       (64 * 1024)
#define TASK_TURN_US           500          /* a resume may take this long */
#define TASK_TURN_BYTES        (512 * 1024) /* or move this much */
#define POOL_QUEUE_MAX         65536        /* jobs waiting; sessions are bounded far below */
#define POOL_SESSION_SHARE     2            /* jobs of one session at once */
#define MOVE_JOB_BYTES         (4 * 1024 * 1024)
#define MOVE_JOB_US            (20 * USEC_PER_MS)
