#include "bench/study/place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/ftp/suite.h"
#include "bench/machine/file.h"
#include "bench/machine/folder.h"
#include "bench/machine/usage.h"
#include "bench/peers/peer_program.h"
#include "bench/ssh/stage_keys.h"
#include "bench/study/recipes.h"
#include "task/sys.h"

#define RECEIVER_HOST "127.0.0.9"
#define RECEIVER_PORT 45777
#define NAMES_MAX     (8 * 1024 * 1024)
#define BELOW_MAX     (STUDY_PATH_MAX + 64)
#define DEPTH_MAX     8
#define SETTLE_US     (2 * USEC_PER_S)
#define POLL_MS       5
#define LAST_ADDRESS  16
#define NET_TABLE_MAX (4 * 1024 * 1024)

static const struct {
    const char *name;
    const struct recipe_list *list;
    const char *recipe;
} servers[STUDY_SERVERS] = {
    [STUDY_NO_SERVER] = {"a receiver", NULL, NULL},
    [STUDY_SSHD] = {"sshd", &study_ssh_recipes, "sshd"},
    [STUDY_FERRYD_SSH] = {"ferryd", &study_ssh_recipes, "ferryd"},
    [STUDY_VSFTPD] = {"vsftpd", &ftp_recipes, "vsftpd"},
    [STUDY_FERRYD_FTP] = {"ferryd", &ftp_recipes, "ferryd"},
    [STUDY_RSYNCD] = {"rsync daemon", &study_rsync_recipes, "rsyncd"},
};

const char *place_server_name(enum study_server server)
{
    return servers[server].name;
}

/* -- making it -- */

static int write_home(const struct place *p, const char *name, mode_t mode,
                      const struct buf *text)
{
    char path[STUDY_PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/%s", p->home, name);
    return file_write(path, mode, buf_bytes(text));
}

/* Passwords go to programs by files where they take one. */
static int write_passwords(const struct place *p)
{
    struct buf text;
    buf_init(&text, 16384);
    int r = 0;
    for (unsigned i = 2; r == 0 && i <= LAST_ADDRESS; i++)
        r = buf_printf(&text, "machine 127.0.0.%u login " STAGE_USER " password %s\n", i,
                       p->stage->password);
    if (r == 0)
        r = write_home(p, ".netrc", 0600, &text);
    buf_clear(&text);
    if (r == 0)
        r = buf_printf(&text, "%s\n", p->stage->password);
    if (r == 0)
        r = write_home(p, "password", 0600, &text);
    buf_wipe(&text);
    return r;
}

static int write_ssh_config(const struct place *p)
{
    struct buf text;
    char key[STAGE_SSH_PATH_MAX], known[STAGE_SSH_PATH_MAX];
    buf_init(&text, 16384);
    int r = buf_printf(&text,
                       "Host *\n    User " STAGE_USER "\n    IdentityFile %s\n"
                       "    UserKnownHostsFile %s\n",
                       stage_ssh_path(p->stage, "client_key", key),
                       stage_ssh_path(p->stage, "known_hosts", known));
    if (r == 0)
        r = buf_append_str(&text, "    GlobalKnownHostsFile /dev/null\n"
                                  "    StrictHostKeyChecking yes\n"
                                  "    UpdateHostKeys no\n"
                                  "    IdentitiesOnly yes\n"
                                  "    IdentityAgent none\n"
                                  "    PreferredAuthentications publickey\n"
                                  "    ControlMaster no\n"
                                  "    ControlPath none\n");
    if (r == 0)
        r = write_home(p, "ssh_config", 0644, &text);
    buf_done(&text);
    return r;
}

/* "256 SHA256:... comment (ED25519)", by ssh-keygen(1); without it PuTTY's programs refuse. */
static void read_fingerprint(struct place *p)
{
    char known[STAGE_SSH_PATH_MAX];
    stage_ssh_path(p->stage, "known_hosts", known);
    const char *const argv[] = {"/usr/bin/ssh-keygen", "-l", "-f", known, NULL};
    struct buf said;
    buf_init(&said, NET_TABLE_MAX);
    if (peer_program_run(argv, NULL, SETTLE_US, &said) == 0) {
        struct bytes rest = buf_bytes(&said);
        (void)bytes_take_until(&rest, ' ');
        text_copy_printable(p->hostkey, sizeof(p->hostkey), bytes_take_until(&rest, ' '));
    }
    buf_done(&said);
}

static int make_folders(struct place *p)
{
    snprintf(p->home, sizeof(p->home), "%s/home", p->stage->base);
    snprintf(p->datadir, sizeof(p->datadir), "%s/data", p->stage->base);
    snprintf(p->empty, sizeof(p->empty), "%s/empty", p->stage->base);
    snprintf(p->into, sizeof(p->into), "%s/" PLACE_IN, p->stage->files);
    int r = folder_make(p->home, 0755);
    if (r == 0)
        r = folder_make(p->datadir, 0755);
    if (r == 0)
        r = folder_make(p->empty, 0755);
    if (r == 0)
        r = write_passwords(p);
    return r == 0 ? write_ssh_config(p) : r;
}

static void open_link(struct place *p)
{
    struct buf said;
    buf_init(&said, NAMES_MAX);
    p->link_result = link_open(&p->link, &said);
    if (p->link_result < 0)
        snprintf(p->link_error, sizeof(p->link_error), "no shaped link: %s %.*s",
                 err_text(p->link_result), said.len < 100 ? (int)said.len : 100,
                 said.len > 0 ? (const char *)said.data : "");
    buf_done(&said);
}

static int open_signals(struct place *p)
{
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGHUP);
    p->signals = sys_signalfd(&ends);
    return p->signals < 0 ? p->signals : 0;
}

int place_open(struct place *p, unsigned cpu_share)
{
    memset(p, 0, sizeof(*p)); /* a literal would be built on the stack */
    p->signals = p->link.servers = p->link.clients = -1;
    for (unsigned i = 0; i < STUDY_SERVERS; i++)
        p->results[i] = 1;
    p->stage = mem_new(sizeof(*p->stage));
    if (p->stage == NULL)
        return -ENOMEM;
    bool is_of_disk;
    ssize_t n = sys_readlinkat(AT_FDCWD, "/proc/self/exe", p->ferry, sizeof(p->ferry) - 1);
    int r = n < 0 ? (int)n : open_signals(p);
    if (r == 0)
        r = stage_open(p->stage, NULL, &is_of_disk);
    if (r == 0)
        r = stage_ssh_make(p->stage);
    if (r == 0)
        r = make_folders(p);
    if (r < 0)
        return r;
    read_fingerprint(p);
    open_link(p);
    if (cpu_share > 0)
        p->share_result = share_open(&p->share, cpu_share);
    return 0;
}

void place_close(struct place *p)
{
    for (unsigned i = 0; i < STUDY_SERVERS; i++)
        if (p->results[i] == 0)
            peer_stop(&p->peers[i]);
    shaper_stop(&p->shaper);
    share_close(&p->share);
    link_close(&p->link);
    sys_fd_close(&p->signals);
    if (p->stage != NULL)
        stage_close(p->stage);
    mem_free(p->stage);
    p->stage = NULL;
}

/* -- servers -- */

int place_server(struct place *p, enum study_server server, const struct peer **ret)
{
    struct peer *peer = &p->peers[server];
    *ret = peer;
    if (p->results[server] <= 0)
        return p->results[server];
    const struct recipe_list *list = servers[server].list;
    const struct recipe *recipe = recipe_find(list, servers[server].recipe);
    int r = peer_start(peer, p->stage, list, recipe, RECIPE_PLAIN);
    if (r < 0)
        peer_stop(peer);
    p->results[server] = r;
    return r;
}

static bool runs(const struct place *p, enum study_server server)
{
    return server != STUDY_NO_SERVER && p->results[server] == 0;
}

unsigned place_server_processes(const struct place *p, enum study_server server)
{
    struct usage seen;
    int r = runs(p, server) ? usage_read_tree("/proc", p->peers[server].keeper, false, &seen)
                            : -ENOENT;
    return r == 0 ? seen.processes : 0;
}

/* A process may end between the reading of its parent and its own, and is in neither then: two
 * readings must agree. */
void place_server_cpu(const struct place *p, enum study_server server, unsigned processes,
                      struct usage *ret)
{
    usec_t until = clock_after(SETTLE_US);
    struct usage last = {0};
    *ret = (struct usage){0};
    while (runs(p, server)) {
        if (usage_read_tree("/proc", p->peers[server].keeper, false, ret) < 0)
            return;
        bool is_settled = ret->processes <= processes && ret->processes == last.processes &&
                          ret->cpu_us == last.cpu_us;
        if (is_settled || clock_now() >= until)
            break;
        last = *ret;
        (void)!sys_poll(NULL, 0, POLL_MS);
    }
}

/* /proc/net/tcp of our name space: "sl local_address rem_address st", 0A listens. */
int place_wait_listener(const struct place *p)
{
    char wanted[32];
    usec_t until = clock_after(SETTLE_US);
    snprintf(wanted, sizeof(wanted), ":%04X 00000000:0000 0A", RECEIVER_PORT);
    while (clock_now() < until) {
        struct buf table;
        buf_init(&table, NET_TABLE_MAX);
        int r = file_read("/proc/self/net/tcp", &table);
        if (r == 0)
            r = buf_append_byte(&table, '\0');
        bool is_there = r == 0 && strstr((const char *)table.data, wanted) != NULL;
        buf_done(&table);
        if (is_there || r < 0)
            return r;
        if (sys_poll(&(struct pollfd){.fd = p->signals, .events = POLLIN}, 1, POLL_MS) > 0)
            return -ECANCELED;
    }
    return -ETIMEDOUT;
}

/* -- a cell -- */

int place_relay(struct place *p, enum study_server server, struct study_link *link)
{
    if (server != STUDY_SSHD && server != STUDY_FERRYD_SSH && server != STUDY_RSYNCD)
        return -EOPNOTSUPP;
    const struct shaper_path path = {link->bytes_per_s, link->round_trip_us};
    int r = shaper_use(&p->shaper, &p->peers[server].addr, &path);
    link->measured = p->shaper.measured;
    link->measured_trip_us = p->shaper.measured_trip_us;
    return r;
}

void place_words(const struct place *p, enum study_server server, const struct study_data *data,
                 bool is_relayed, bool is_empty, char datadir[STUDY_PATH_MAX],
                 struct client_words *ret)
{
    *ret = (struct client_words){
        .data = data->path,
        .datadir = datadir,
        .home = p->home,
        .password = p->stage->password,
        .ferry = p->ferry,
        .into = p->into,
        .hostkey = p->hostkey,
    };
    snprintf(datadir, STUDY_PATH_MAX, "%s", data->path);
    *strrchr(datadir, '/') = '\0';
    ret->name = strrchr(data->path, '/') + 1;
    if (is_empty) {
        snprintf(datadir, STUDY_PATH_MAX, "%.300s/file", p->empty);
        ret->data = datadir;
        ret->name = "file";
    }
    if (server == STUDY_NO_SERVER) {
        snprintf(ret->host, sizeof(ret->host), RECEIVER_HOST);
        snprintf(ret->port, sizeof(ret->port), "%u", RECEIVER_PORT);
    } else {
        char text[ADDR_TEXT_MAX];
        const struct addr *at = is_relayed ? &p->shaper.addr : &p->peers[server].addr;
        snprintf(ret->host, sizeof(ret->host), "%.60s", addr_format_host(at, text));
        snprintf(ret->port, sizeof(ret->port), "%u", addr_port(at));
    }
}

int place_clean(const struct place *p)
{
    folder_remove(p->into);
    int r = folder_make(p->into, 0755);
    return r == 0 ? sys_fchownat(AT_FDCWD, p->into, p->stage->uid, p->stage->gid,
                                 AT_SYMLINK_NOFOLLOW)
                  : r;
}

static int add_up(const char *path, unsigned depth, uint64_t *sum)
{
    struct stat st;
    int r = sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
    if (r < 0 || !S_ISDIR(st.st_mode)) {
        *sum += r == 0 ? (uint64_t)st.st_size : 0;
        return r;
    }
    struct buf names;
    buf_init(&names, NAMES_MAX);
    r = depth == DEPTH_MAX ? -FERRY_ELIMIT : folder_list(path, &names);
    char *below = r == 0 ? mem_raw(BELOW_MAX) : NULL;
    if (r == 0 && below == NULL)
        r = -ENOMEM;
    for (size_t at = 0; r == 0 && at < names.len;
         at += strlen((const char *)names.data + at) + 1) {
        snprintf(below, BELOW_MAX, "%.300s/%s", path, (const char *)names.data + at);
        r = add_up(below, depth + 1, sum);
    }
    mem_free(below);
    buf_done(&names);
    return r;
}

int place_count(const struct place *p, uint64_t *ret)
{
    *ret = 0;
    return add_up(p->into, 0, ret);
}

int place_check(const struct place *p, uint64_t bytes)
{
    uint64_t sum;
    int r = place_count(p, &sum);
    return r < 0 ? r : sum == bytes ? 0 : -FERRY_ETRUNCATED;
}
