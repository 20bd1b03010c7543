/* ferry bench peers: what there is to be compared with, and how to get it. */
#include "client/bench_peers.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/ftp/suite.h"
#include "bench/peers/peer.h"
#include "bench/peers/peer_inside.h"
#include "bench/peers/peer_install.h"
#include "bench/ssh/suite.h"
#include "bench/study/recipes.h"
#include "client/command.h"
#include "task/runtime.h"
#include "task/sys.h"

#define PEER_NAME_MAX 48 /* "ssh/proftpd" */

static const char usage[] =
    "usage: ferry bench peers [--install | --run NAME[:VARIANT] [--disk DIR]]\n"
    "\n"
    "The servers that 'ferry bench ftp' starts and compares ferryd with, and those of\n"
    "'ferry bench ssh', which are called ssh/NAME.\n"
    "\n"
    "  --install    fetch Debian's packages of those that are missing, for this use\n"
    "               only: unpacked beneath " PEERS_FOLDER ", nothing is installed\n"
    "  --run NAME   start one as the benchmark does (VARIANT: plain, no-sendfile or\n"
    "               hashed), say how to reach it, and stop it on Ctrl-C\n"
    "  --disk DIR   a folder on a disk for it (default /var/tmp)\n";

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "ferry bench peers: %s: %s\n", what, why);
    return EXIT_FAILED;
}

static int misused(const char *what, const char *why)
{
    (void)complain(what, why);
    fputs("Try 'ferry bench peers --help'.\n", stderr);
    return EXIT_USAGE;
}

/* -- their names -- */

/* Those of FTP go without their suite's name, as they did when there was no other. */
static const struct recipe_list *const lists[] = {&ftp_recipes, &ssh_recipes,
                                                  &study_rsync_recipes};

static const char *name_of(const struct recipe_list *list, const struct recipe *recipe,
                           char dst[PEER_NAME_MAX])
{
    bool is_first = list == lists[0];
    snprintf(dst, PEER_NAME_MAX, "%s%s%s", is_first ? "" : list->suite, is_first ? "" : "/",
             recipe->name);
    return dst;
}

/* NULL: there is none of that name. */
static const struct recipe *find(const char *name, const struct recipe_list **ret_list)
{
    char one[PEER_NAME_MAX];
    for (unsigned k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < lists[k]->count; i++) {
            *ret_list = lists[k];
            if (strcmp(name_of(lists[k], &lists[k]->recipes[i], one), name) == 0)
                return &lists[k]->recipes[i];
        }
    return NULL;
}

/* -- the table -- */

static void list_peer(const char *name, const struct recipe *recipe)
{
    struct peer_place place;
    peer_place_find(recipe, &place);
    if (recipe->is_floor)
        return;
    const char *where = place.root[0] != '\0' ? place.root : "/";
    if (place.is_installed)
        printf("%-10s %-24s %s\n", name, place.version, where);
    else
        printf("%-10s %s\n", name,
               recipe->package != NULL ? "not installed: ferry bench peers --install"
                                       : "is not there, beside this program");
}

/* ferryd is listed once. */
static int list_peers(void)
{
    char name[PEER_NAME_MAX];
    for (unsigned k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            if (k == 0 || lists[k]->recipes[i].package != NULL)
                list_peer(name_of(lists[k], &lists[k]->recipes[i], name),
                          &lists[k]->recipes[i]);
    return EXIT_OK;
}

static int install_one(const char *name, const struct recipe *recipe)
{
    struct peer_place place;
    peer_place_find(recipe, &place);
    if (recipe->package == NULL || place.is_installed)
        return EXIT_OK;
    printf("%s\n", name);
    char error[PEER_INSTALL_ERROR_MAX];
    return peer_install(recipe, stdout, error) < 0 ? complain(name, error) : EXIT_OK;
}

static int install(void)
{
    int code = EXIT_OK;
    char name[PEER_NAME_MAX];
    for (unsigned k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < lists[k]->count; i++) {
            const struct recipe *recipe = &lists[k]->recipes[i];
            int one = install_one(name_of(lists[k], recipe, name), recipe);
            code = one != EXIT_OK ? one : code;
        }
    int listed = list_peers();
    return code != EXIT_OK ? code : listed;
}

/* -- one of them -- */

static int wait_for_signal(void)
{
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGHUP);
    int fd = sys_signalfd(&ends);
    int epoll = fd < 0 ? fd : sys_epoll_create();
    struct epoll_event event = {.events = EPOLLIN};
    int r = epoll < 0 ? epoll : sys_epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    while (r == 0 || r == -EINTR)
        r = sys_epoll_wait(epoll, &event, 1, -1);
    sys_close(epoll);
    sys_close(fd);
    return r < 0 ? r : 0;
}

static int serve(const struct stage *stage, const struct recipe_list *list,
                 const struct recipe *recipe, enum recipe_variant variant)
{
    struct peer peer;
    int r = peer_start(&peer, stage, list, recipe, variant);
    if (r < 0) {
        r = complain(recipe->name, peer.error);
    } else {
        char text[ADDR_TEXT_MAX];
        printf("%s %s at %s, process %u\n", recipe->name, peer.version,
               addr_format(&peer.addr, text), peer.pid);
        printf("user %s to " STAGE_USER "%u, password %s\n", STAGE_USER, STAGE_ACCOUNTS - 1,
               stage->password);
        printf("files %s, on disk %s\n", stage->files, stage->disk);
        printf("ready\n");
        fflush(stdout);
        r = wait_for_signal();
        if (r < 0)
            r = complain(recipe->name, err_text(r));
    }
    peer_stop(&peer);
    return r;
}

static int run(const char *what, const char *disk)
{
    char name[PEER_NAME_MAX];
    const struct recipe_list *list;
    enum recipe_variant variant = RECIPE_PLAIN;
    size_t len = strcspn(what, ":");
    text_copy(name, sizeof(name), bytes_of(what, len));
    const struct recipe *recipe = find(name, &list);
    if (recipe == NULL)
        return misused(what, "there is no recipe of that name");
    if (what[len] == ':' && recipe_variant_find(what + len + 1, &variant) < 0)
        return misused(what, "there is no variant of that name");
    struct stage *stage = mem_new(sizeof(*stage));
    if (stage == NULL)
        return complain(what, err_text(-ENOMEM));
    /* From here on Ctrl-C waits until it can be answered by clearing up. */
    bool is_of_disk = false;
    int r = runtime_signals_setup();
    if (r == 0)
        r = stage_open(stage, disk, &is_of_disk);
    if (r == 0 && list->furnish != NULL)
        r = list->furnish(stage);
    if (r == -EPERM)
        r = complain(what, "only root can start it in a name space of its own");
    else if (r < 0)
        r = complain(is_of_disk ? "--disk" : "its accounts and folders", err_text(r));
    else
        r = serve(stage, list, recipe, variant);
    stage_close(stage);
    mem_free(stage);
    return r;
}

int command_bench_peers(int argc, char **argv)
{
    static const struct option options[] = {
        {"install", no_argument, NULL, 'i'},
        {"run", required_argument, NULL, 'r'},
        {"disk", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *what = NULL, *disk = NULL;
    bool installs = false;
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        switch (c) {
        case 'i':
            installs = true;
            break;
        case 'r':
            what = optarg;
            break;
        case 'd':
            disk = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_OK;
        case ':':
            return misused(argv[optind - 1], "a value is missing");
        default:
            return misused(argv[optind - 1], "unknown option");
        }
    }
    if (optind < argc)
        return misused(argv[optind], "one argument too many");
    if (installs && what != NULL)
        return misused("--install and --run", "one or the other");
    if (disk != NULL && what == NULL)
        return misused("--disk", "it is for --run");
    return what != NULL ? run(what, disk) : installs ? install() : list_peers();
}

/* -- the child -- */

int command_bench_inside(int argc, char **argv)
{
    enum recipe_variant variant;
    struct addr listen;
    const struct recipe *recipe = NULL;
    for (unsigned k = 0; argc == 6 && k < ARRAY_LEN(lists); k++)
        if (strcmp(argv[1], lists[k]->suite) == 0)
            recipe = recipe_find(lists[k], argv[2]);
    if (argc == 6 && strcmp(argv[1], study_ssh_recipes.suite) == 0)
        recipe = recipe_find(&study_ssh_recipes, argv[2]);
    if (recipe == NULL || recipe_variant_find(argv[3], &variant) < 0 ||
        addr_parse(bytes_str(argv[5]), &listen) < 0) {
        fputs("ferry bench run-peer: for ferry's own use\n", stderr);
        return EXIT_USAGE;
    }
    return peer_inside_run(recipe, variant, argv[4], &listen) < 0 ? EXIT_FAILED : EXIT_OK;
}
