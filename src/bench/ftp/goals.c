/* What ferryd is to reach as a server of FTP. */
#include "bench/report/goals.h"

#include "base/attr.h"
#include "bench/ftp/suite.h"

#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define MS  1000.0

static const struct goal goals[] = {
    {"stor", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"stor", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"stor", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"retr", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"retr", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"retr", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"stor_idle", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"stor_idle", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"stor_idle", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"retr_idle", GOAL_PEERS, .target = 0.95, .what = "at least 0.95 of every peer"},
    {"retr_idle", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"retr_idle", GOAL_CPU_PEERS, .target = 1, .what = "less CPU than every peer"},
    {"login_first", GOAL_FLOOR, .target = 1 / 1.2, .what = "at most 1.2 times the hash"},
    {"login", GOAL_FLOOR, .target = 1 / 1.25, .what = "at most 1.25 times the floor"},
    {"login", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"login", GOAL_CPU_PEERS, .target = 1 / 0.6, .what = "at most 0.6 of pyftpdlib's CPU",
     .peer = "pyftpdlib"},
    {"login_window", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"login_hashed", GOAL_PEERS, .target = 1, .what = "as many as vsftpd", .peer = "vsftpd"},
    {"login_hashed", GOAL_PEERS, .target = 1, .what = "as many as proftpd", .peer = "proftpd"},
    {"login_hashed", GOAL_CPU_BEYOND, .target = 5, .what = "5 times less CPU beyond the hash",
     .peer = "vsftpd", .other = "login_first"},
    {"login_hashed", GOAL_CPU_BEYOND, .target = 5, .what = "5 times less CPU beyond the hash",
     .peer = "proftpd", .other = "login_first"},
    {"login_hashed", GOAL_NOOP_P99, .target = 5 * MS, .what = "NOOP p99 at most 5 ms"},
    {"retr_many", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"retr_many", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"retr_many", GOAL_NOOP_P99, .target = 50 * MS, .what = "NOOP p99 at most 50 ms",
     .clients_min = 300},
    {"stor_many", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"stor_many", GOAL_FLOOR, .target = 0.90, .what = "at least 0.90 of the floor"},
    {"stor_many", GOAL_NOOP_P99, .target = 50 * MS, .what = "NOOP p99 at most 50 ms",
     .clients_min = 300},
    {"memory", GOAL_MEMORY, .target = 4 * MIB, .what = "at most 4M of memory",
     .clients_min = 300},
    {"memory", GOAL_MEMORY_PEERS, .target = 4, .what = "a quarter of pyftpdlib's memory",
     .peer = "pyftpdlib", .clients_min = 300},
    {"memory", GOAL_SLOPE, .target = 1.5 * KIB, .what = "at most 1.5K a session",
     .clients_min = 300},
    {"memory_10k", GOAL_MEMORY, .target = 20 * MIB, .what = "at most 20M of memory",
     .clients_min = 10000},
    {"memory_10k", GOAL_SLOPE, .target = 1.5 * KIB, .what = "at most 1.5K a session",
     .clients_min = 10000},
    {"idle_100k", GOAL_MEMORY, .target = 200 * MIB, .what = "at most 200M of memory",
     .clients_min = 100000},
    {"idle_100k", GOAL_ONCE, .target = 1.5, .what = "a login: at most 1.5 times alone",
     .clients_min = 100000},
    {"retr_10k", GOAL_CPU_OTHER, .target = 1 / 1.05, .what = "CPU within 5 % of RETR alone",
     .other = "retr"},
    {"list_100k", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"list_100k", GOAL_MEMORY, .target = MIB, .what = "at most 1M more memory"},
    {"mlsd_100k", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"mlsd_100k", GOAL_MEMORY, .target = MIB, .what = "at most 1M more memory"},
    {"small_up_1", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_up_1", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"small_down_1", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_down_1", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"small_up_10", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_up_10", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"small_down_10", GOAL_PEERS, .target = 1, .what = "faster than every peer"},
    {"small_down_10", GOAL_FLOOR, .target = 1 / 1.5, .what = "at most 1.5 times the floor"},
    {"noop_downloads", GOAL_VALUE, .target = 50, .what = "at most 50 ms", .clients_min = 300},
    {"noop_hashes", GOAL_VALUE, .target = 5, .what = "at most 5 ms"},
    {"noop_stopped", GOAL_VALUE, .target = 5, .what = "at most 5 ms"},
};

_Static_assert(ARRAY_LEN(goals) <= GOALS_MAX, "a result for each");

const struct goal_table ftp_goals = {goals, ARRAY_LEN(goals)};
