/* The servers of ssh. All have one host key and let in one key (stage_keys.h). */
#include "base/attr.h"
#include "bench/peers/proftpd_conf.h"
#include "bench/peers/recipe.h"
#include "bench/ssh/stage_keys.h"
#include "bench/ssh/suite.h"

#define PLAIN (1u << RECIPE_PLAIN)
#define KEYS  "@WORK@/../ssh/"

/* Defaults but for limits and patience. Its audit records cannot be turned off: they go to a
 * file. */
static const char ferryd_conf[] =
    "state = \"" KEYS "state\"\n"
    "listen \"ssh\" { address = {\"@ADDRESS@:@PORT@\"} }\n"
    "defaults { root = \"@FOLDER@\" }\n"
    "limits {\n"
    "    sessions = 0\n"
    "    per_address = 0\n"
    "    per_account = 0\n"
    "    unauthenticated = 0\n"
    "    ban_failures = 0\n"
    "}\n"
    "timeouts { login_s = 0  idle_s = 0 }\n"
    "!each account \"@NAME@\" { hash = \"@HASH@\"  authorized_keys = \"" KEYS
    "authorized_keys\" }\n";

/* Debian's file, but for: PAM, which would cost each login more; limits, look-ups and logs off;
 * sftp within the session's process, which takes no program to be started (Debian starts one,
 * which is there as another subsystem). StrictModes cannot be: the keys lie beneath /dev/shm,
 * where everybody may write. */
static const char sshd_conf[] =
    "ListenAddress @ADDRESS@\n"
    "Port @PORT@\n"
    "HostKey " KEYS "state/ssh_host_ed25519_key\n"
    "AuthorizedKeysFile " KEYS "authorized_keys\n"
    "StrictModes no\n"
    "PidFile none\n"
    "UsePAM no\n"
    "KbdInteractiveAuthentication no\n"
    "X11Forwarding yes\n"
    "PrintMotd no\n"
    "MaxStartups 100000\n"
    "MaxSessions 100000\n"
    "LoginGraceTime 0\n"
    "UseDNS no\n"
    "LogLevel ERROR\n"
    "Subsystem sftp internal-sftp\n"
    "Subsystem " SSH_SFTP_EXTERNAL " @ROOT@/usr/lib/openssh/sftp-server\n";

/* The settings of the FTP suite, but for those of FTP alone, and mod_sftp's; which takes a
 * limit of 0 seconds at its word. */
static const char proftpd_conf[] =
    "ModulePath @ROOT@/usr/lib/proftpd\n"
    "LoadModule mod_sftp.c\n" PROFTPD_CONF_SHARED "TimeoutLogin 86400\n"
    "TimeoutIdle 86400\n"
    "TimeoutNoTransfer 86400\n"
    "TimeoutStalled 86400\n"
    "SFTPEngine on\n"
    "SFTPHostKey " KEYS "state/ssh_host_ed25519_key\n"
    "SFTPAuthorizedUserKeys file:" KEYS "authorized_keys.ssh2\n"
    "SFTPAuthMethods publickey\n";

static const struct recipe recipes[] = {
    {
        .name = "ferryd",
        .program = "ferryd",
        .variants = PLAIN,
        .is_event_driven = true,
        .lacks = SSH_EXTERNAL,
        .files = {{"ferryd.conf", ferryd_conf}},
        .args = {"@ROOT@/ferryd", "--config", "@WORK@/ferryd.conf"},
    },
    {
        .name = "sshd",
        .package = "openssh-server",
        .program = "usr/sbin/sshd",
        .variants = PLAIN,
        .files = {{"sshd_config", sshd_conf}},
        .folders = {"/run/sshd"},
        .args = {"@ROOT@/usr/sbin/sshd", "-D", "-e", "-f", "@WORK@/sshd_config"},
    },
    {
        .name = "proftpd",
        .package = "proftpd-mod-crypto",
        .program = "usr/lib/proftpd/mod_sftp.so",
        .variants = PLAIN,
        .lacks = SSH_CAT | SSH_TAR | SSH_CHACHA | SSH_EXTERNAL,
        .files = {{"proftpd.conf", proftpd_conf}},
        .folders = {"/run/proftpd", "/var/log/proftpd"},
        .args = {"@ROOT@/usr/sbin/proftpd", "--nodaemon", "--quiet", "--config",
                 "@WORK@/proftpd.conf"},
    },
};

const struct recipe_list ssh_recipes = {
    .suite = "ssh",
    .recipes = recipes,
    .count = ARRAY_LEN(recipes),
    .greeting = "SSH-2.0-",
    .parting = "bye\r\n", /* no version of the protocol: they hang up */
    .furnish = stage_ssh_make,
};
