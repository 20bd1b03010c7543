/* What ferryd is to reach as a server of ssh. */
#include "bench/report/goals.h"

#include "base/attr.h"
#include "bench/ssh/suite.h"

#define KIB 1024.0

/* Beside OpenSSH's server, which is what people have. */
#define BESIDE(row_name, goal_kind, ratio, words)                                              \
    {                                                                                          \
        row_name, goal_kind, .target = (ratio), .what = words, .peer = "sshd"                  \
    }

static const struct goal goals[] = {
    BESIDE("sftp_get", GOAL_PEERS, 1.3, "at least 1.3 times sshd"),
    BESIDE("sftp_get", GOAL_CPU_PEERS, 2, "at most half of sshd's CPU"),
    BESIDE("sftp_put", GOAL_PEERS, 1.3, "at least 1.3 times sshd"),
    BESIDE("sftp_put", GOAL_CPU_PEERS, 2, "at most half of sshd's CPU"),
    BESIDE("scp_get", GOAL_PEERS, 1.3, "at least 1.3 times sshd"),
    BESIDE("scp_get", GOAL_CPU_PEERS, 2, "at most half of sshd's CPU"),
    BESIDE("scp_put", GOAL_PEERS, 1.3, "at least 1.3 times sshd"),
    BESIDE("scp_put", GOAL_CPU_PEERS, 2, "at most half of sshd's CPU"),
    {"cat", GOAL_CPU, .target = 1 / 1.8, .what = "1.8 GB/s of a core of the server"},
    BESIDE("both_ends", GOAL_PEERS, 2.5, "at least 2.5 times OpenSSH"),
    BESIDE("both_get", GOAL_PEERS, 2.5, "at least 2.5 times OpenSSH"),
    BESIDE("both_put", GOAL_PEERS, 2.5, "at least 2.5 times OpenSSH"),
    {"login", GOAL_PEERS, .target = 20, .what = "20 times faster than sshd", .peer = "sshd",
     .clients_min = 300},
    BESIDE("login", GOAL_CPU_PEERS, 10, "a tenth of sshd's CPU"),
    {"memory", GOAL_SLOPE, .target = 8 * KIB, .what = "at most 8K a session",
     .clients_min = 300},
    {"memory", GOAL_SLOPE_PEERS, .target = 100, .what = "a hundredth of sshd's a session",
     .peer = "sshd", .clients_min = 300},
    BESIDE("put_100ms", GOAL_PEERS, 4, "at least 4 times sshd"),
    BESIDE("small_get", GOAL_PEERS, 1.5, "at least 1.5 times sshd"),
    BESIDE("small_put", GOAL_PEERS, 1.5, "at least 1.5 times sshd"),
};

_Static_assert(ARRAY_LEN(goals) <= GOALS_MAX, "a result for each");

const struct goal_table ssh_goals = {goals, ARRAY_LEN(goals)};
