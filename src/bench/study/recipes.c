#include "bench/study/recipes.h"

#include "base/attr.h"
#include "bench/ssh/stage_keys.h"

#define PLAIN (1u << RECIPE_PLAIN)
#define KEYS  "@WORK@/../ssh/"

/* As in the suite of ssh: defaults but for limits and patience. */
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

/* As in the suite of ssh, but for Ciphers: what a study used is let in where it is still there;
 * sftp is a program of its own, as Debian has it; a tree of its own /etc has no PAM. */
static const char sshd_conf[] = "ListenAddress @ADDRESS@\n"
                                "Port @PORT@\n"
                                "HostKey " KEYS "state/ssh_host_ed25519_key\n"
                                "AuthorizedKeysFile " KEYS "authorized_keys\n"
                                "Ciphers +aes128-cbc,3des-cbc\n"
                                "StrictModes no\n"
                                "PidFile none\n"
                                "UsePAM no\n"
                                "KbdInteractiveAuthentication no\n"
                                "PrintMotd no\n"
                                "MaxStartups 100000\n"
                                "MaxSessions 100000\n"
                                "LoginGraceTime 0\n"
                                "UseDNS no\n"
                                "LogLevel ERROR\n"
                                "Subsystem sftp @ROOT@/usr/lib/openssh/sftp-server\n";

/* The study's daemon: no password, no limit, and no log of files. */
static const char rsyncd_conf[] = "address = @ADDRESS@\n"
                                  "port = @PORT@\n"
                                  "use chroot = no\n"
                                  "reverse lookup = no\n"
                                  "log file = /dev/null\n"
                                  "[data]\n"
                                  "    path = @FOLDER@\n"
                                  "    read only = no\n"
                                  "    uid = @UID@\n"
                                  "    gid = @GID@\n";

static const struct recipe ssh_recipe[] = {
    {
        .name = "ferryd",
        .program = "ferryd",
        .variants = PLAIN,
        .is_event_driven = true,
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
};

static const struct recipe rsync_recipe[] = {
    {
        .name = "rsyncd",
        .package = "rsync",
        .program = "usr/bin/rsync",
        .variants = PLAIN,
        .files = {{"rsyncd.conf", rsyncd_conf}},
        .args = {"@ROOT@/usr/bin/rsync", "--daemon", "--no-detach", "--config",
                 "@WORK@/rsyncd.conf"},
    },
};

const struct recipe_list study_ssh_recipes = {
    .suite = "studies",
    .recipes = ssh_recipe,
    .count = ARRAY_LEN(ssh_recipe),
    .greeting = "SSH-2.0-",
    .parting = "bye\r\n",
    .furnish = stage_ssh_make,
};

const struct recipe_list study_rsync_recipes = {
    .suite = "rsync",
    .recipes = rsync_recipe,
    .count = ARRAY_LEN(rsync_recipe),
    .greeting = "@RSYNCD:",
    .parting = "@RSYNCD: 31.0\n#exit\n",
};
